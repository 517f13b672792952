// Values to words, a run from the limits, the call, and back.
#include "exec/native/native_callable.h"

#include "exec/native/judged_call.h"
#include "exec/word_call.h"
#include "ir/lower/lower.h"

namespace frazil::exec {
namespace {

class NativeCallable : public Callable {
 public:
  NativeCallable(std::shared_ptr<const NativeCode> code, std::shared_ptr<const ir::Program> source,
                 bool polls)
      : code_(std::move(code)), source_(std::move(source)), polls_(polls) {}

  Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) override {
    LoweredCall call = TRY(LoweredCall::Create(*source_, arguments, context.limits));
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
    JudgedCall judged(ArgumentWords(call), WordCount(call.scalar_results()), run);
    const int32_t status =
        TRY(CallOnStack(code_->function().stack, context.limits, [&](uint64_t limit) {
          run.stack_limit = limit;
          return judged.Enter(*code_);
        }));
    TRY_VOID(judged.Check(status));
    const auto op =
        run.trap_op < ir::OpCount ? std::optional(static_cast<ir::Op>(run.trap_op)) : std::nullopt;
    auto trap = TRY(TrapOfStatus(status, op, run.trap_index));
    if (watchdog) watchdog->Explain(trap);
    StreamWords output;
    output.words = std::move(run.output);
    output.types = std::move(run.output_types);
    return std::move(call).Finish(trap, ValuesFromWords(call.scalar_results(), judged.results()),
                                  output.Values());
  }

 private:
  std::shared_ptr<const NativeCode> code_;
  std::shared_ptr<const ir::Program> source_;
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
  return std::make_unique<NativeCallable>(std::move(code), std::move(source), polls);
}

std::optional<int32_t> CallNative(const NativeFunction& function, const uint64_t* arguments,
                                  uint64_t* results, NativeRun* run) {
  if (function.uses_run && run == nullptr) {
    NativeRun local;
    return CallNative(function, arguments, results, &local);
  }
  const uint64_t depth = run == nullptr ? 0 : run->depth_left;
  int32_t status = 0;
  if (function.stack.is_small()) {
    status = function.entry(arguments, results, run);
  } else if (!RunOnStack(function.stack, depth, [&](uint64_t limit) {
               if (run != nullptr) run->stack_limit = limit;
               status = function.entry(arguments, results, run);
             })) {
    return std::nullopt;
  }
  if (status != 0 && run != nullptr) [[unlikely]] {
    run->ReleaseScratch();
    run->depth_left = depth;
  }
  return status;
}

int32_t CallNative(const NativeCode& code, const uint64_t* arguments, uint64_t* results,
                   NativeRun* run) {
  return CallNative(code.function(), arguments, results, run)
      .value_or(1 + static_cast<int32_t>(ir::Trap::Depth));
}

}  // namespace frazil::exec
