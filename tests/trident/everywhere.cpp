// The machine's two secret streams come from the one of the IR: words and digests, each in the order of reading.
#include "everywhere.h"

#include <algorithm>

#include "exec/interpreter.h"
#include "exec/target.h"
#include "frontends/field/field.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"

namespace frazil::tests::trident {
namespace {

namespace field = frontends::field;

constexpr int64_t RamWords = 64;

std::vector<exec::Value> Arguments(const ir::Program& program, const Streams& streams) {
  std::vector<exec::Value> arguments;
  if (program.entry_function().param_count() == 0) return arguments;
  auto memory = std::make_shared<exec::Memory>(ir::types::Field, RamWords);
  for (const auto& [address, value] : streams.ram)
    memory->Set(static_cast<int64_t>(address), std::span(&value, 1));
  arguments.push_back(exec::Value::Buffer(std::move(memory)));
  return arguments;
}

void Hold(const Result<exec::Outcome>& outcome, const Expected& expected, std::string_view where) {
  ASSERT_TRUE(outcome) << where << ": " << outcome.error().ToString();
  std::vector<uint64_t> output;
  for (const exec::Value& value : outcome->output) output.push_back(value.word);
  EXPECT_EQ(outcome->trap.has_value(), expected.traps)
      << where << ": " << (outcome->trap ? outcome->trap->ToString() : "no trap");
  EXPECT_EQ(output, expected.output) << where;
}

Result<exec::Outcome> RunOn(const exec::Target& target, const ir::Program& program,
                            const Streams& streams, const exec::RunContext& context) {
  const exec::Artifact artifact = TRY(target.Emit(program, {}));
  const std::unique_ptr<exec::Callable> callable = TRY(target.Load(artifact));
  return callable->Run(Arguments(program, streams), context);
}

// The machine itself, so that RAM the prover filled is there.
void OnMachine(const ir::Program& program, const Streams& streams, const Expected& expected,
               const targets::tasm::TasmOptions& options, std::string_view where) {
  const Result<targets::tasm::Lowered> lowered = targets::tasm::Lower(program, options);
  ASSERT_TRUE(lowered) << where << ": " << lowered.error().ToString();
  machines::tasm::Inputs inputs;
  inputs.input = streams.input;
  for (const exec::Value& hint : streams.hints) {
    if (hint.type == ir::types::Digest) {
      machines::tasm::Digest& digest = inputs.digests.emplace_back();
      std::ranges::copy(hint.scalar_words(), digest.begin());
    } else {
      inputs.secret.push_back(hint.word);
    }
  }
  for (const auto& [address, value] : streams.ram) inputs.ram[address] = value;
  const machines::tasm::RunResult run = machines::tasm::Run(lowered->program, inputs);
  EXPECT_EQ(run.crash.has_value(), expected.traps)
      << where << ": " << (run.crash ? run.crash->sentence : "no crash");
  EXPECT_EQ(run.output, expected.output) << where;
  if (run.crash) EXPECT_TRUE(lowered->traps.contains(run.crash->instruction)) << where;
}

}  // namespace

void AddWord(uint64_t word, Streams* streams) {
  streams->hints.push_back(exec::Value::Word(ir::types::Field, word));
}

void AddDigest(const std::array<uint64_t, 5>& digest, Streams* streams) {
  streams->hints.push_back(exec::Value::Scalar(ir::types::Digest, digest));
}

std::optional<ir::Program> BuildText(std::string_view text, bool library) {
  std::vector<Error> errors;
  const field::Loader nothing = [](std::string_view) { return std::nullopt; };
  Result<field::Package> package =
      field::Load(text, "test.tri", library ? field::DefaultLoader("") : nothing, &errors);
  Result<field::Built> built =
      package ? field::Build(*package, {}, &errors) : std::unexpected(package.error());
  for (const Error& error : errors) ADD_FAILURE() << error.ToString() << "\n" << text;
  if (!built) return std::nullopt;
  return std::move(built->program);
}

void ExpectEverywhere(const ir::Program& program, const Streams& streams, const Expected& expected,
                      const Where& where) {
  exec::RunContext context;
  for (const uint64_t word : streams.input)
    context.input.push_back(exec::Value::Word(ir::types::Field, word));
  context.hints = streams.hints;
  Hold(exec::Interpret(program, Arguments(program, streams), context), expected, "interpreter");
  targets::tasm::TasmOptions options;
  OnMachine(program, streams, expected, options, "tasm");
  if (where.templates) {
    options.templates = true;
    OnMachine(program, streams, expected, options, "tasm by templates");
  }
  if (where.horner) {
    options = {};
    options.profile = machines::tasm::Profile::Horner;
    OnMachine(program, streams, expected, options, "tasm, profile horner");
  }
  if (!where.native) return;
  static const std::unique_ptr<exec::Target> native = targets::native::MakeNativeTarget();
  Hold(RunOn(*native, program, streams, context), expected, "native");
}

}  // namespace frazil::tests::trident
