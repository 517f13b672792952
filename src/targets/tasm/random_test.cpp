// Random programs of every type the machine has, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/sanitized.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/text/text.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

// 2026-11-15: under a sanitizer 2,000 of them take two minutes.
constexpr uint64_t DefaultCount = Sanitized ? 100 : 2000;

struct Tally {
  int ran = 0, refused = 0, trapped = 0;
};

bool HasTensors(const ir::Program& program) {
  for (const ir::Function& function : program.functions)
    for (const ir::ValueInfo& value : function.values)
      if (value.type.is_tensor()) return true;
  return false;
}

// Empty: the same outcome, or the target refuses.
std::string Compare(const ir::Program& program, uint64_t seed, exec::Target& target, Tally& tally) {
  if (!target.Refuses(program).empty()) return ++tally.refused, "";
  const auto lowered = Lower(program);
  if (!lowered) return "lower: " + lowered.error().ToString();
  for (uint64_t run = 0; run < 2; ++run) {
    const auto arguments = exec::RandomArguments(program, seed + run);
    const auto again = exec::RandomArguments(program, seed + run);
    exec::RunContext context = exec::RandomContext(program, seed + run);
    const auto expected = exec::Interpret(program, arguments, context);
    if (!expected) return "";
    const auto inputs = ToInputs(program, again, context);
    if (!inputs && inputs.error().diag == Diag::Unsupported) continue;  // one buffer twice
    if (!inputs) return "inputs: " + inputs.error().ToString();
    const auto actual = ToOutcome(program, *lowered, mt::Run(lowered->program, *inputs), again);
    if (!actual) return "outcome: " + actual.error().ToString();
    ++tally.ran;
    // Tensor ops have become loops by then, which name other ops.
    auto same = [&](const exec::TrapInfo& a, const exec::TrapInfo& b) {
      return a.kind == b.kind && a.index == b.index && (a.op == b.op || HasTensors(program));
    };
    if (expected->trap.has_value() != actual->trap.has_value() ||
        (expected->trap && !same(*expected->trap, *actual->trap)))
      return fmt::format("trap: {} against {}",
                         expected->trap ? expected->trap->ToString() : "none",
                         actual->trap ? actual->trap->ToString() : "none");
    if (expected->output != actual->output) return "output";
    if (expected->trap) {
      ++tally.trapped;
      continue;
    }
    if (expected->results != actual->results) {
      std::string text = "results";
      for (size_t i = 0; i < expected->results.size(); ++i)
        text += fmt::format(" {}/{}", exec::PrintValue(expected->results[i]),
                            exec::PrintValue(actual->results[i]));
      return text;
    }
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!(arguments[i] == again[i])) return fmt::format("argument {} afterwards", i);
  }
  return "";
}

TEST(TasmRandom, ProgramsMeanTheSame) {
  const char* count_text = std::getenv("FRAZIL_TASM_RANDOM");
  const char* first_text = std::getenv("FRAZIL_TASM_FIRST");
  const uint64_t count =
      count_text != nullptr ? std::strtoull(count_text, nullptr, 10) : DefaultCount;
  const uint64_t first = first_text != nullptr ? std::strtoull(first_text, nullptr, 10) : 0;
  auto target = MakeTarget();
  Tally tally;
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 5; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 4 + seed % 16;
    options.allow_math = false;
    options.allow_traps = seed % 3 != 0;
    options.allow_tensors = seed % 4 == 0;
    options.allow_buffers = seed % 2 == 0;
    options.allow_parallel = seed % 5 == 0;
    options.types = ir::sets::Any & ~ir::sets::Float;
    if (seed % 7 < 3)
      options.types =
          ir::Only(ir::Scalar::Field) | ir::Only(ir::Scalar::U32) | ir::Only(ir::Scalar::I32);
    const ir::Program program = generator::Generate(options);
    const std::string difference = Compare(program, seed, *target, tally);
    if (difference.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << difference << "\n"
                  << (count == 1 ? ir::PrintText(program) : "");
  }
  fmt::print("{} runs, {} trapped, {} programs refused\n", tally.ran, tally.trapped, tally.refused);
  EXPECT_GT(tally.ran, tally.refused);
}

}  // namespace
}  // namespace frazil::targets::tasm
