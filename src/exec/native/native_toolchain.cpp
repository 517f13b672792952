// LLVM is linked statically (cmake/FrazilLlvm.cmake), so that its code takes part in the build id as ours does.
#include "exec/native/native_toolchain.h"

#include "base/system/build_id.h"

namespace frazil::exec {
namespace {

std::string Named(const std::string& id) { return id.empty() ? id : "build " + id; }

}  // namespace

std::string NativeToolchain() { return Named(OwnBuildId()); }
std::string NativeToolchainOf(const std::string& program) { return Named(BuildIdOfFile(program)); }

}  // namespace frazil::exec
