// A run is large and may own memory, so it is kept. What a call that ended well changes is put back by hand; one that
// trapped may have left anything, and its run is made anew.
#include "dispatch/default_run.h"

#include "base/limits.h"
#include "dispatch/threads.h"
#include "exec/native_run.h"

namespace frazil::dispatch {

DefaultRuns::DefaultRuns() = default;
DefaultRuns::~DefaultRuns() = default;

int32_t DefaultRuns::Call(exec::NativeEntry entry, const uint64_t* arguments, uint64_t* results) {
  if (depth_ == runs_.size()) runs_.push_back(std::make_unique<exec::NativeRun>());
  const size_t mine = depth_++;
  exec::NativeRun* run = runs_[mine].get();
  const int32_t status = entry(arguments, results, run);
  --depth_;
  if (status != 0 || !run->output_types.empty()) {
    runs_[mine] = std::make_unique<exec::NativeRun>();
    return status;
  }
  constexpr Limits limits;
  run->fuel = limits.fuel;
  run->depth_left = limits.depth;
  run->memory_left = limits.memory_bytes;
  return status;
}

int32_t CallWithDefaultRun(ThreadRecord& me, exec::NativeEntry entry, const uint64_t* arguments,
                           uint64_t* results) {
  if (me.runs == nullptr) me.runs = new DefaultRuns;
  return me.runs->Call(entry, arguments, results);
}

}  // namespace frazil::dispatch
