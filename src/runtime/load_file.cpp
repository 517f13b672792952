// Kernels from files. On its own, so that programs that load none do not link every door's reader.
#include <fmt/format.h>

#include "runtime/executor.h"
#include "runtime/home.h"
#include "sources/sources.h"

namespace frazil::runtime {

Result<Source> Source::Read(const std::string& path) {
  for (const std::string suffix : {".so", ".dll", ".dylib"})
    if (path.ends_with(suffix) || path.find(suffix + ".") != std::string::npos)
      return Fail(Diag::BadLaunch, fmt::format("'{}' is a shared library: machine code of others "
                                               "is never loaded, because nothing can "
                                               "be checked about it; give the kernel as a program",
                                               path));
  return Source(TRY(sources::ReadProgram(path)));
}

Result<std::shared_ptr<const LoadedKernel>> Executor::LoadFile(const std::string& path) {
  return home_->LoadCached(TRY(Source::Read(path)));
}

}  // namespace frazil::runtime
