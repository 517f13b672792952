// Runs for calls that bring none of their own: one for each depth of calls within calls, made once for each thread and
// made ready again after every call, so that limits are those that the slot was given.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "exec/native/native_code.h"

namespace frazil::dispatch {

struct ThreadRecord;

class DefaultRuns {
 public:
  DefaultRuns();
  ~DefaultRuns();
  // As exec::CallNative.
  std::optional<int32_t> Call(const exec::NativeFunction& function, uint64_t depth,
                              uint64_t memory_bytes, const uint64_t* arguments, uint64_t* results);

 private:
  std::vector<std::unique_ptr<exec::NativeRun>> runs_;  // by depth
  size_t depth_ = 0;
};

DefaultRuns& RunsOf(ThreadRecord& me);

}  // namespace frazil::dispatch
