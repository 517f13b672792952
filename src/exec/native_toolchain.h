// Who makes native code for this build. Known without the compiler being there: a process that only runs stored
// code asks the store for this toolchain's.
#pragma once

#include <string_view>

namespace frazil::exec {

std::string_view NativeToolchain();  // "llvm 22.1.8, frazil 1"

}  // namespace frazil::exec
