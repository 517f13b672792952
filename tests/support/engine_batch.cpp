// The batch interpreter as an engine: the same arguments in several lanes, which must all agree. It takes
// programs from scalars to scalars without streams; of a trap it tells kind and op.

#include "support/engine_batch.h"

#include <algorithm>

#include "exec/batch/batch.h"

namespace frazil::tests {
namespace {

using exec::Memory;
using exec::Value;

// More than one, and no power of two: a last partial vector is there too.
constexpr size_t LaneCount = 5;

bool IsBatchProgram(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    if (!entry.param_type(i).is_scalar()) return false;
  for (ir::Type type : entry.results)
    if (!type.is_scalar()) return false;
  return std::none_of(
      program.functions.begin(), program.functions.end(), [](const ir::Function& function) {
        return std::any_of(function.insts.begin(), function.insts.end(), [](const ir::Inst& inst) {
          return ir::Info(inst.op).effect == ir::Effect::Io;
        });
      });
}

class BatchCall : public exec::Callable {
 public:
  explicit BatchCall(const ir::Program& program) : program_(program) {}

  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    TRY_VOID(exec::CheckLaunch(program_, arguments));
    exec::BatchProgram batch = TRY(exec::BatchProgram::Create(program_, context.limits));
    std::vector<Memory> inputs, outputs;
    for (const Value& argument : arguments) {
      inputs.emplace_back(argument.type, LaneCount);
      for (size_t lane = 0; lane < LaneCount; ++lane)
        inputs.back().Set(static_cast<int64_t>(lane), argument.scalar_words());
    }
    const ir::Function& entry = program_.entry_function();
    for (ir::Type type : entry.results) outputs.emplace_back(type, LaneCount);
    std::vector<const void*> input_data;
    std::vector<void*> output_data;
    for (Memory& memory : inputs) input_data.push_back(memory.data());
    for (Memory& memory : outputs) output_data.push_back(memory.data());
    std::vector<uint8_t> traps(LaneCount, 0xff), ops(LaneCount, 0xff);
    TRY_VOID(batch.Run(LaneCount, input_data, output_data, traps, ops));
    return Collect(outputs, traps, ops);
  }

 private:
  Result<exec::Outcome> Collect(const std::vector<Memory>& outputs,
                                const std::vector<uint8_t>& traps,
                                const std::vector<uint8_t>& ops) {
    exec::Outcome outcome;
    const auto differ = [](const std::vector<uint8_t>& codes) {
      return std::any_of(codes.begin(), codes.end(),
                         [&](uint8_t code) { return code != codes[0]; });
    };
    if (differ(traps) || (traps[0] != 0 && differ(ops)))
      return Fail(Diag::Mismatch, "the lanes of a batch trap differently");
    if (traps[0] != 0) {
      outcome.trap =
          exec::TrapInfo{static_cast<ir::Trap>(traps[0] - 1), static_cast<ir::Op>(ops[0]), -1};
      return outcome;
    }
    for (const Memory& memory : outputs) {
      std::vector<uint64_t> first(ir::WordsOf(memory.element())), words = first;
      memory.Get(0, first);
      for (size_t lane = 1; lane < LaneCount; ++lane) {
        memory.Get(static_cast<int64_t>(lane), words);
        if (words != first)
          return Fail(Diag::Mismatch, "the lanes of a batch give different results");
      }
      outcome.results.push_back(Value::Scalar(memory.element(), first));
    }
    return outcome;
  }

  ir::Program program_;
};

class BatchEngine : public Engine {
 public:
  std::string_view name() const override { return "batch"; }
  bool may_refuse() const override { return true; }
  TrapDetail trap_detail(const ir::Program&) const override { return TrapDetail::KindAndOp; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs, bool) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) {
      if (IsBatchProgram(*program))
        result.push_back(std::make_unique<BatchCall>(*program));
      else
        result.push_back(Fail(Diag::Unsupported, "not from scalars to scalars, or with streams"));
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<Engine> MakeBatchEngine() { return std::make_unique<BatchEngine>(); }

}  // namespace frazil::tests
