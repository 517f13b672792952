// Runs for calls that bring none of their own: one for each depth of calls within calls, made once for each thread and
// made ready again after every call, so that limits are those of a fresh run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/native_code.h"

namespace frazil::dispatch {

struct ThreadRecord;

class DefaultRuns {
 public:
  DefaultRuns();
  ~DefaultRuns();
  int32_t Call(exec::NativeEntry entry, const uint64_t* arguments, uint64_t* results);

 private:
  std::vector<std::unique_ptr<exec::NativeRun>> runs_;  // by depth
  size_t depth_ = 0;
};

int32_t CallWithDefaultRun(ThreadRecord& me, exec::NativeEntry entry, const uint64_t* arguments,
                           uint64_t* results);

}  // namespace frazil::dispatch
