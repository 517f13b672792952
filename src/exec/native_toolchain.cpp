// The number after `frazil` changes whenever the emitter's output does: old entries of a store are then misses.
#include "exec/native_toolchain.h"

namespace frazil::exec {

std::string_view NativeToolchain() { return "llvm " FRAZIL_LLVM_VERSION ", frazil 1"; }

}  // namespace frazil::exec
