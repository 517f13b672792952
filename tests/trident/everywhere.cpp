// The machine's two secret streams come from the one of the IR: words and digests, each in the order of reading.
#include "everywhere.h"

#include <algorithm>

#include "exec/meaning/interpreter.h"
#include "exec/target.h"
#include "frontends/trident/trident.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"

namespace frazil::tests::trident {
namespace {

namespace trident = frontends::trident;

constexpr int64_t RamWords = 256;

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

machines::tasm::Inputs InputsOf(const Streams& streams) {
  machines::tasm::Inputs inputs;
  inputs.input = streams.input;
  for (const exec::Value& hint : streams.hints) {
    if (hint.type == ir::types::Digest)
      std::ranges::copy(hint.scalar_words(), inputs.digests.emplace_back().begin());
    else
      inputs.secret.push_back(hint.word);
  }
  for (const auto& [address, value] : streams.ram) inputs.ram[address] = value;
  return inputs;
}

// The machine itself, so that RAM the prover filled is there.
void OnMachine(const targets::tasm::Lowered& lowered, const Streams& streams,
               const Expected& expected, std::string_view where) {
  const machines::tasm::RunResult run = machines::tasm::Run(lowered.program, InputsOf(streams));
  EXPECT_EQ(run.crash.has_value(), expected.traps)
      << where << ": " << (run.crash ? run.crash->sentence : "no crash");
  EXPECT_EQ(run.output, expected.output) << where;
  EXPECT_TRUE(!run.crash || lowered.traps.contains(run.crash->instruction)) << where;
}

Result<std::unique_ptr<exec::Callable>> Natively(const ir::Program& program) {
  static const std::unique_ptr<exec::Target> native = targets::native::MakeNativeTarget();
  return native->Load(TRY(native->Emit(program, {})));
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
  const trident::Loader nothing = [](std::string_view) { return std::nullopt; };
  Result<trident::Package> package =
      trident::Load(text, "test.tri", library ? trident::DefaultLoader("") : nothing, &errors);
  trident::Options options;
  options.contracts = true;
  Result<trident::Built> built =
      package ? trident::Build(*package, options, &errors) : std::unexpected(package.error());
  for (const Error& error : errors) ADD_FAILURE() << error.ToString() << "\n" << text;
  if (!built) return std::nullopt;
  return std::move(built->program);
}

// One of the two.
struct Everywhere::Place {
  std::string_view name;
  std::optional<targets::tasm::Lowered> lowered;
  std::unique_ptr<exec::Callable> callable;
};

Everywhere::Everywhere(const ir::Program& program, const Where& where) : program_(program) {
  const auto machine = [&](std::string_view name, const targets::tasm::TasmOptions& options) {
    Result<targets::tasm::Lowered> lowered = targets::tasm::Lower(program, options);
    EXPECT_TRUE(lowered) << name << ": " << lowered.error().ToString();
    if (lowered) places_.push_back({name, std::move(*lowered), nullptr});
  };
  targets::tasm::TasmOptions options;
  if (where.typical != nullptr) options.typical = {InputsOf(*where.typical)};
  machine("tasm", options);
  options = {};
  options.profile = machines::tasm::Profile::Horner;
  if (where.horner) machine("tasm, profile horner", options);
  if (!where.native) return;
  Result<std::unique_ptr<exec::Callable>> native = Natively(program);
  EXPECT_TRUE(native) << native.error().ToString();
  if (native) places_.push_back({"native", std::nullopt, std::move(*native)});
}

Everywhere::~Everywhere() = default;

void Everywhere::Expect(const Streams& streams, const Expected& expected) const {
  exec::RunContext context;
  for (const uint64_t word : streams.input)
    context.input.push_back(exec::Value::Word(ir::types::Field, word));
  context.hints = streams.hints;
  Hold(exec::Interpret(program_, Arguments(program_, streams), context), expected, "interpreter");
  for (const Place& place : places_) {
    if (place.lowered)
      OnMachine(*place.lowered, streams, expected, place.name);
    else
      Hold(place.callable->Run(Arguments(program_, streams), context), expected, place.name);
  }
}

}  // namespace frazil::tests::trident
