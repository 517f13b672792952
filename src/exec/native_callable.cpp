// Values to words, a run from the limits, the call, and back.
#include "exec/native_callable.h"

#include "exec/word_call.h"
#include "ir/lower.h"

namespace frazil::exec {
namespace {

class NativeCallable : public Callable {
 public:
  NativeCallable(std::shared_ptr<const NativeCode> code, std::shared_ptr<const ir::Program> source,
                 StackNeed need, bool polls)
      : code_(std::move(code)), source_(std::move(source)), need_(need), polls_(polls) {}

  Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) override {
    LoweredCall call = TRY(LoweredCall::Create(*source_, arguments, context.limits));
    const std::vector<uint64_t> in = ArgumentWords(call);
    std::vector<uint64_t> out(WordCount(call.scalar_results()));
    const StreamWords input(context.input);
    const StreamWords hints(context.hints);
    NativeRun run;
    run.fuel = context.limits.fuel;
    run.depth_left = context.limits.depth;
    run.memory_left = context.limits.memory_bytes;
    run.input = &input;
    run.hints = &hints;
    std::unique_ptr<Watchdog> watchdog;
    if (polls_) {
      watchdog = std::make_unique<Watchdog>(context);
      run.stop = watchdog->flag();
    }
    const int32_t status = TRY(CallOnStack(need_, context.limits, [&](uint64_t stack_end) {
      run.stack_limit = stack_end;
      return code_->entry()(in.data(), out.data(), &run);
    }));
    watchdog.reset();
    const auto op =
        run.trap_op < ir::OpCount ? std::optional(static_cast<ir::Op>(run.trap_op)) : std::nullopt;
    const auto trap = TRY(TrapOfStatus(status, op, run.trap_index));
    StreamWords output;
    output.words = std::move(run.output);
    output.types = std::move(run.output_types);
    return std::move(call).Finish(trap, ValuesFromWords(call.scalar_results(), out),
                                  output.Values());
  }

 private:
  std::shared_ptr<const NativeCode> code_;
  std::shared_ptr<const ir::Program> source_;
  StackNeed need_;
  bool polls_;
};

// Is there anything that looks at the stop flag?
bool Polls(const ir::Program& program, bool metered) {
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      const bool counts =
          inst.op == ir::Op::For || inst.op == ir::Op::Parallel || inst.op == ir::Op::Call;
      if ((inst.op == ir::Op::While || (metered && counts)) && !function.is_prelude) return true;
    }
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Callable>> MakeNativeCallable(std::shared_ptr<const NativeCode> code,
                                                     std::shared_ptr<const ir::Program> source) {
  const ir::Program lowered = TRY(ir::LowerForTarget(*source));
  const bool polls = Polls(lowered, code->metered());
  return std::make_unique<NativeCallable>(std::move(code), std::move(source),
                                          FindStackNeed(lowered), polls);
}

int32_t CallNative(const NativeCode& code, const uint64_t* arguments, uint64_t* results,
                   NativeRun* run) {
  if (!code.uses_run()) return code.entry()(arguments, results, nullptr);
  if (run != nullptr) {
    // The caller may have changed threads since the last call.
    run->stack_limit = embed::StackLimitOfThread();
    const uint64_t depth = run->depth_left;
    const int32_t status = code.entry()(arguments, results, run);
    if (status != 0) [[unlikely]] {
      run->ReleaseScratch();
      run->depth_left = depth;
    }
    return status;
  }
  NativeRun local;
  local.stack_limit = embed::StackLimitOfThread();
  return code.entry()(arguments, results, &local);
}

}  // namespace frazil::exec
