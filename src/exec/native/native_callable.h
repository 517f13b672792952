// Native code called with values, and called with words by those who have them.
#pragma once

#include <memory>
#include <optional>

#include "exec/native/native_code.h"
#include "exec/native/native_run.h"
#include "exec/target.h"

namespace frazil::exec {

// `source` is the program as the caller sees it, tensors included.
Result<std::unique_ptr<Callable>> MakeNativeCallable(std::shared_ptr<const NativeCode> code,
                                                     std::shared_ptr<const ir::Program> source);

// One call; gives 0, or 1 + ir::Trap, and leaves the run as good as before. Without a run default limits hold. Nothing,
// and nothing has run: there is no stack for the depth that the run allows.
std::optional<int32_t> CallNative(const NativeFunction& function, const uint64_t* arguments,
                                  uint64_t* results, NativeRun* run);
// For those who measure: without a stack the depth was too much.
int32_t CallNative(const NativeCode& code, const uint64_t* arguments, uint64_t* results,
                   NativeRun* run);

}  // namespace frazil::exec
