// The interpreter on a program and on its images under printing, canonical form and lowering.

#include "support/engine.h"

#include <fmt/format.h>

#include "exec/marshal.h"
#include "exec/meaning/interpreter.h"
#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "support/engine_optimized.h"
#include "support/engine_targets.h"

namespace frazil::tests {
namespace {

using exec::Value;

class InterpreterCall : public exec::Callable {
 public:
  explicit InterpreterCall(ir::Program program) : program_(std::move(program)) {}
  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    return exec::Interpret(program_, arguments, context);
  }

 private:
  ir::Program program_;
};

class LoweredInterpreterCall : public exec::Callable {
 public:
  LoweredInterpreterCall(ir::Program source, ir::Program lowered)
      : source_(std::move(source)), lowered_(std::move(lowered)) {}
  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    exec::LoweredCall call = TRY(exec::LoweredCall::Create(source_, arguments, context.limits));
    exec::Outcome outcome = TRY(exec::Interpret(lowered_, call.arguments(), context));
    return std::move(call).Finish(outcome.trap, std::move(outcome.results),
                                  std::move(outcome.output));
  }

 private:
  ir::Program source_;
  ir::Program lowered_;
};

class ImageEngine : public Engine {
 public:
  using Image = Result<ir::Program> (*)(const ir::Program&);
  ImageEngine(std::string_view name, Image image) : name_(name), image_(image) {}
  std::string_view name() const override { return name_; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs, bool) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) result.push_back(PrepareOne(*program));
    return result;
  }

 private:
  Prepared PrepareOne(const ir::Program& program) {
    ir::Program image = TRY(image_(program));
    TRY_VOID(ir::Check(image));
    return std::make_unique<InterpreterCall>(std::move(image));
  }

  std::string_view name_;
  Image image_;
};

class LoweredEngine : public Engine {
 public:
  std::string_view name() const override { return "lowered"; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs, bool) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) result.push_back(PrepareOne(*program));
    return result;
  }

 private:
  Prepared PrepareOne(const ir::Program& program) {
    ir::Program lowered = TRY(ir::LowerForTarget(program));
    TRY_VOID(ir::Check(lowered));
    return std::make_unique<LoweredInterpreterCall>(program, std::move(lowered));
  }
};

Result<ir::Program> AsIs(const ir::Program& program) { return program; }

Result<ir::Program> Reprinted(const ir::Program& program) {
  std::string text = ir::PrintText(program);
  ir::Program again = TRY(ir::ParseText(text));
  if (ir::PrintText(again) != text)
    return Fail(Diag::Internal, "the text changes when it is printed again");
  if (ir::ExactDigest(again) != ir::ExactDigest(program))
    return Fail(Diag::Internal, "the digest changes when the program is printed and read");
  return again;
}

// A wrong engine, for the tests of the tests.
Result<ir::Program> Planted(const ir::Program& program) {
  ir::Program wrong = program;
  for (ir::Function& function : wrong.functions)
    for (ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Xor) inst.op = ir::Op::Or;
  return wrong;
}

Result<ir::Program> Canonical(const ir::Program& program) {
  ir::Program canonical = ir::Canonicalize(program);
  if (ir::ExactDigest(canonical) != ir::ExactDigest(program))
    return Fail(Diag::Internal, "the canonical form has another digest");
  return canonical;
}

}  // namespace

std::vector<std::string> EngineNames() {
  return {"interp",          "batch",       "reprinted",     "canonical",    "optimized", "lowered",
          "isa-lanes",       "isa",         "tasm",          "wasm",         "c-gcc",     "c-clang",
          "native-baseline", "native-avx2", "native-avx512", "native-first", "fused",     "offered",
          "native-fused"};
}

Result<std::unique_ptr<Engine>> MakeEngine(std::string_view name) {
  if (name == "interp") return std::make_unique<ImageEngine>("interp", AsIs);
  if (name == "reprinted") return std::make_unique<ImageEngine>("reprinted", Reprinted);
  if (name == "canonical") return std::make_unique<ImageEngine>("canonical", Canonical);
  if (name == "planted") return std::make_unique<ImageEngine>("planted", Planted);
  if (name == "optimized") return MakeOptimizedEngine();
  if (name == "fused") return MakeFusedEngine();
  if (name == "offered") return std::make_unique<ImageEngine>("offered", OfferedProgram);
  if (name == "lowered") return std::make_unique<LoweredEngine>();
  return MakeTargetEngine(name);
}

}  // namespace frazil::tests
