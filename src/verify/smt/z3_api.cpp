// Opens libz3 and fills the table. A library without one of the functions is as good as none.
#include "verify/smt/z3_api.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <fmt/format.h>

namespace frazil::verify::smt {

Result<Z3Api> OpenZ3(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return Fail(Diag::MissingLibrary,
                fmt::format("Z3 cannot be opened: {}", reason != nullptr ? reason : library));
  }
  Z3Api api;
#define FRAZIL_Z3_LOAD(name)                                                                       \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, "Z3_" #name));                     \
  if (api.name == nullptr) return Fail(Diag::MissingLibrary, library + " has no Z3_" #name ".");
  FRAZIL_Z3_FUNCTIONS(FRAZIL_Z3_LOAD)
#undef FRAZIL_Z3_LOAD
  return api;
}

Result<const Z3Api*> LoadZ3() {
  static const Result<Z3Api> loaded = [] {
    const char* chosen = getenv("FRAZIL_Z3");
    return OpenZ3(chosen != nullptr ? chosen : "libz3.so.4");
  }();
  if (!loaded) return std::unexpected(loaded.error());
  return &*loaded;
}

std::string Z3Version(const Z3Api& api) {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  api.get_version(&major, &minor, &build, &revision);
  return fmt::format("{}.{}.{}", major, minor, build);
}

}  // namespace frazil::verify::smt
