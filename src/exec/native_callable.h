// Native code called with values, and called with words by those who have them.
#pragma once

#include <memory>

#include "exec/native_code.h"
#include "exec/native_run.h"
#include "exec/target.h"

namespace frazil::exec {

// `source` is the program as the caller sees it, tensors included.
Result<std::unique_ptr<Callable>> MakeNativeCallable(std::shared_ptr<const NativeCode> code,
                                                     std::shared_ptr<const ir::Program> source);

// One call on this thread's stack; gives 0, or 1 + ir::Trap. Without a run default limits hold.
int32_t CallNative(const NativeCode& code, const uint64_t* arguments, uint64_t* results,
                   NativeRun* run);

}  // namespace frazil::exec
