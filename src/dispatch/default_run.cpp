// A run is large and may own memory, so it is kept. What a call that ended well changes is put back by hand; one that
// trapped may have left anything, and its run is made anew.
#include "dispatch/default_run.h"

#include "base/limits.h"
#include "dispatch/threads.h"
#include "exec/native/native_callable.h"

namespace frazil::dispatch {

DefaultRuns::DefaultRuns() = default;
DefaultRuns::~DefaultRuns() = default;

std::optional<int32_t> DefaultRuns::Call(const exec::NativeFunction& function, uint64_t depth,
                                         uint64_t memory_bytes, const uint64_t* arguments,
                                         uint64_t* results) {
  if (depth_ == runs_.size()) runs_.push_back(std::make_unique<exec::NativeRun>());
  const size_t mine = depth_++;
  exec::NativeRun* run = runs_[mine].get();
  run->depth_left = depth;
  run->memory_left = memory_bytes;
  const std::optional<int32_t> status = function.stack.is_small()
                                            ? function.entry(arguments, results, run)
                                            : exec::CallNative(function, arguments, results, run);
  --depth_;
  run->fuel = Limits().fuel;
  if (status != 0 || !run->output_types.empty()) [[unlikely]]
    runs_[mine] = std::make_unique<exec::NativeRun>();
  return status;
}

DefaultRuns& RunsOf(ThreadRecord& me) {
  if (me.runs == nullptr) me.runs = new DefaultRuns;
  return *me.runs;
}

}  // namespace frazil::dispatch
