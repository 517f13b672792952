// The template lowering means what the IR means: random programs of field elements and integers, with structure and calls.
#include "targets/tasm/templates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/generator.h"
#include "exec/interpreter.h"
#include "ir/text.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {
namespace {

// Empty: the same outcome, but for the iteration of a parallel, which templates do not keep.
std::string Difference(const ir::Program& program, uint64_t seed, const Lowered& lowered) {
  const auto arguments = exec::RandomArguments(program, seed),
             again = exec::RandomArguments(program, seed);
  const exec::RunContext context = exec::RandomContext(program, seed);
  const auto expected = exec::Interpret(program, arguments, context);
  if (!expected) return "";
  const auto inputs = ToInputs(program, again, context);
  if (!inputs) return inputs.error().diag == Diag::Unsupported ? "" : inputs.error().ToString();
  mt::RunLimits limits;
  limits.cycles = 50'000'000;
  const auto actual = ToOutcome(program, lowered, mt::Run(lowered.program, *inputs, limits), again);
  if (!actual) return actual.error().diag == Diag::Unsupported ? "" : actual.error().ToString();
  if (expected->trap.has_value() != actual->trap.has_value() ||
      (expected->trap && expected->trap->kind != actual->trap->kind)) {
    return fmt::format("trap: {} against {}", expected->trap ? expected->trap->ToString() : "none",
                       actual->trap ? actual->trap->ToString() : "none");
  }
  if (expected->output != actual->output) return "output";
  if (expected->trap) return "";
  if (expected->results != actual->results) return "results";
  return "";
}

TEST(Templates, ProgramsMeanTheSame) {
  int compared = 0, failures = 0;
  for (uint64_t seed = 0; seed < 200 && failures < 5; ++seed) {
    exec::GeneratorOptions generator;
    generator.seed = seed;
    generator.size = 4 + seed % 16;
    generator.allow_math = false;
    generator.allow_tensors = false;
    generator.allow_parallel = false;
    generator.allow_traps = seed % 3 != 0;
    generator.allow_buffers = seed % 2 == 0;
    generator.types = ir::Only(ir::Scalar::Field) | ir::Only(ir::Scalar::XField) |
                      ir::Only(ir::Scalar::Digest) | ir::Only(ir::Scalar::U32) |
                      ir::Only(ir::Scalar::U64) | ir::Only(ir::Scalar::Bool);
    const ir::Program program = exec::Generate(generator);
    if (!MakeTarget()->Refuses(program).empty()) continue;
    TasmOptions options;
    options.templates = true;
    const Result<Lowered> lowered = Lower(program, options);
    ASSERT_TRUE(lowered) << seed << ": " << lowered.error().ToString();
    for (uint64_t run = 0; run < 2; ++run) {
      const std::string difference = Difference(program, seed + run, *lowered);
      ++compared;
      if (difference.empty()) continue;
      ++failures;
      ADD_FAILURE() << "seed " << seed << ": " << difference;
    }
  }
  EXPECT_GE(compared, 200);
}

}  // namespace
}  // namespace frazil::targets::tasm
