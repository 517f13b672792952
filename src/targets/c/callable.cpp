// Calls compiled code through the uniform entry form; arguments, streams, stack and time are exec/word_call's.
#include "targets/c/callable.h"

#include <cstdlib>

#include "exec/word_call.h"
#include "targets/c/run_layout.h"

namespace frazil::targets::c {
namespace {

using exec::StreamWords;
using exec::Value;

StreamLayout LayoutOf(const StreamWords& stream) {
  return {stream.words.data(), stream.words.size(), stream.types.data()};
}

class CCallable : public exec::Callable {
 public:
  CCallable(CompiledProgram program, EntryFunction entry)
      : program_(std::move(program)),
        entry_(entry),
        stack_need_(exec::FindStackNeed(*program_.lowered)) {}

  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    exec::LoweredCall call =
        TRY(exec::LoweredCall::Create(*program_.source, arguments, context.limits));
    const std::vector<uint64_t> in = exec::ArgumentWords(call);
    std::vector<uint64_t> out(exec::WordCount(call.scalar_results()));
    const StreamWords input(context.input);
    const StreamWords hints(context.hints);
    RunLayout run;
    run.fuel = context.limits.fuel;
    run.depth = context.limits.depth;
    run.memory_bytes = context.limits.memory_bytes;
    run.input = LayoutOf(input);
    run.hints = LayoutOf(hints);
    std::unique_ptr<exec::Watchdog> watchdog;
    if (program_.polls) {
      watchdog = std::make_unique<exec::Watchdog>(context);
      run.stop = watchdog->flag();
    }
    const Result<int32_t> status =
        exec::CallOnStack(stack_need_, context.limits, [&](uint64_t stack_end) {
          run.stack_end = stack_end;
          return entry_(in.data(), out.data(), &run);
        });
    StreamWords output;
    if (status) {
      output.words.assign(run.output, run.output + run.output_words);
      output.types.assign(run.output_types, run.output_types + run.output_values);
    }
    std::free(run.output);
    std::free(run.output_types);
    const auto op = run.trap_op != nullptr ? ir::OpNamed(run.trap_op) : std::nullopt;
    auto trap = TRY(exec::TrapOfStatus(TRY(status), op, run.trap_index));
    if (watchdog) watchdog->Explain(trap);
    return std::move(call).Finish(trap, exec::ValuesFromWords(call.scalar_results(), out),
                                  output.Values());
  }

 private:
  CompiledProgram program_;
  EntryFunction entry_;
  exec::StackNeed stack_need_;
};

}  // namespace

Result<std::unique_ptr<exec::Callable>> MakeCallable(CompiledProgram program) {
  using Layout = uint64_t (*)();
  using Entry = EntryFunction (*)(uint64_t);
  const auto layout = reinterpret_cast<Layout>(program.object->Find("frz_layout"));
  const auto entry = reinterpret_cast<Entry>(program.object->Find("frz_entry"));
  if (layout == nullptr || entry == nullptr || layout() != sizeof(RunLayout))
    return Fail(Diag::BadArtifact, "compiled code has no entry point of this version");
  const EntryFunction function = entry(program.number);
  if (function == nullptr) return Fail(Diag::BadArtifact, "compiled code has no such entry point");
  return std::make_unique<CCallable>(std::move(program), function);
}

}  // namespace frazil::targets::c
