// Compiled programs as callables.
#pragma once

#include <memory>

#include "exec/target.h"
#include "targets/c/toolchain.h"

namespace frazil::targets::c {

struct CompiledProgram {
  std::shared_ptr<const ir::Program> source;   // as the caller sees it
  std::shared_ptr<const ir::Program> lowered;  // as it was compiled
  std::shared_ptr<SharedObject> object;
  uint64_t number = 0;  // in the object's table of entry points
  bool polls = false;   // looks at the stop flag, so that a run can be ended
};

Result<std::unique_ptr<exec::Callable>> MakeCallable(CompiledProgram program);

}  // namespace frazil::targets::c
