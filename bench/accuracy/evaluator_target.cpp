// The product's evaluators. "batch" is the meaning itself: the prelude function as the entry of a
// program, in the batch interpreter. A target's name: a program with one math op in a loop over
// buffers, through the same door that users take, the prelude expanded by the target.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "evaluator.h"
#include "exec/batch/batch.h"
#include "exec/meaning/interpreter.h"
#include "ir/lower/prelude.h"
#include "ir/text/text.h"
#include "targets/c/c.h"
#include "targets/wasm/wasm.h"

namespace frazil::bench {
namespace {

// out[i] = op(in0[i], ...), all of one type but for random.*, whose operands are u64.
std::string ProgramText(const std::string& op, const std::string& type, const std::string& operand,
                        size_t count) {
  std::string params, loads, names;
  for (size_t i = 0; i < count; ++i) {
    params += fmt::format("%in{}: in buffer<{}>, ", i, operand);
    loads += fmt::format("    %a{0} = load %in{0}, %i : {1}\n", i, operand);
    names += fmt::format("{}%a{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "frz 1\nfunc @main({0}%out: out buffer<{2}>) {{\n  %lo = const 0 : index\n  %n = length %out "
      ": {2}\n"
      "  parallel %i = %lo to %n {{\n{3}    %r = {1} {4} : {2}\n    store %out, %i, %r : {2}\n    "
      "yield\n  }}\n"
      "  return\n}}\n",
      params, op, type, loads, names);
}

class TargetEvaluator : public Evaluator {
 public:
  TargetEvaluator(std::unique_ptr<exec::Callable> callable, ir::Type operand, ir::Type result)
      : callable_(std::move(callable)), operand_(operand), result_(result) {}

  Result<void> Run(std::span<const void* const> inputs, void* output, size_t count) override {
    const auto length = static_cast<int64_t>(count);
    std::vector<exec::Value> arguments;
    for (const void* input : inputs) {
      // Memory has no read-only form; the program's parameter is `in`.
      arguments.push_back(exec::Value::Buffer(
          std::make_shared<exec::Memory>(operand_, length, const_cast<void*>(input))));
    }
    arguments.push_back(
        exec::Value::Buffer(std::make_shared<exec::Memory>(result_, length, output)));
    const exec::Outcome outcome = TRY(callable_->Run(arguments, {}));
    if (outcome.trap) return Fail(Diag::Trapped, outcome.trap->ToString());
    return {};
  }

 private:
  std::unique_ptr<exec::Callable> callable_;
  ir::Type operand_;
  ir::Type result_;
};

class BatchEvaluator : public Evaluator {
 public:
  explicit BatchEvaluator(exec::BatchProgram program) : program_(std::move(program)) {}

  Result<void> Run(std::span<const void* const> inputs, void* output, size_t count) override {
    traps_.assign(count, 0);
    TRY_VOID(program_.Run(count, inputs, std::span(&output, 1), traps_));
    for (size_t i = 0; i < count; ++i) {
      if (traps_[i] != 0) return Fail(Diag::Trapped, fmt::format("element {} trapped", i));
    }
    return {};
  }

 private:
  exec::BatchProgram program_;
  std::vector<uint8_t> traps_;
};

Result<std::unique_ptr<exec::Target>> MakeTarget(const std::string& name) {
  if (name == "interp") return exec::MakeInterpreterTarget();
  if (name == "c") return targets::c::MakeCTarget();
  if (name == "wasm") return targets::wasm::MakeWasmTarget();
  return Fail(Diag::UnknownTarget,
              "there is no target '" + name + "'; there are batch, interp, c, wasm");
}

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeEvaluator(const std::string& name,
                                                 const std::string& target_name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos)
    return Fail(Diag::UnknownSymbol, "'" + name + "' is not an op and a type, such as exp.f32");
  const std::string op = name.substr(0, dot);
  const std::string type = name.substr(dot + 1);
  if (target_name == "batch") {
    const std::optional<ir::Op> math = ir::OpNamed(op);
    if (!math) return Fail(Diag::UnknownOp, "there is no op " + op);
    const ir::Program* program = TRY(ir::LoadPrelude(*math, TRY(ir::ParseType(type))));
    return std::make_unique<BatchEvaluator>(TRY(exec::BatchProgram::Create(*program)));
  }
  const bool random = op.starts_with("random.");
  const std::string operand = random ? "u64" : type;
  const size_t count = random ? 3 : op == "pow" ? 2 : 1;
  const ir::Program program = TRY(ir::ParseText(ProgramText(op, type, operand, count)));
  const std::unique_ptr<exec::Target> target = TRY(MakeTarget(target_name));
  const exec::Artifact artifact = TRY(target->Emit(program));
  std::unique_ptr<exec::Callable> callable = TRY(target->Load(artifact));
  return std::make_unique<TargetEvaluator>(std::move(callable), TRY(ir::ParseType(operand)),
                                           TRY(ir::ParseType(type)));
}

std::string DefaultEvaluator() { return "batch"; }

}  // namespace frazil::bench
