// Opens the library. It is looked up when first needed, so that a program that never runs WASM
// never maps it; a failure is not remembered, so that a user can repair it and try again.
#include "targets/wasm/run/wasmtime_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace frazil::targets::wasm::wasmtime {
namespace {

constexpr const char* LibraryName = "libwasmtime.so";

std::string ExecutableFolder() {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return "";
  std::string text(path, static_cast<size_t>(size));
  return text.substr(0, text.rfind('/') + 1);
}

std::vector<std::string> Candidates() {
  // What the user names is meant: nothing else is tried.
  if (const char* named = std::getenv("FRAZIL_WASMTIME"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> paths;
  std::string folder = ExecutableFolder();
  if (!folder.empty()) {
    paths.push_back(folder + LibraryName);
    paths.push_back(folder + "../lib/frazil/" + LibraryName);
  }
#ifdef FRAZIL_WASMTIME_LIBRARY
  paths.push_back(FRAZIL_WASMTIME_LIBRARY);
#endif
  return paths;
}

Result<Api> Open() {
  std::string tried;
  for (const std::string& path : Candidates()) {
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", path);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Api api;
    const char* missing = nullptr;
#define FRAZIL_FIND(member, symbol, result, arguments)                        \
  api.member = reinterpret_cast<result(*) arguments>(dlsym(library, symbol)); \
  if (api.member == nullptr) missing = symbol;
    FRAZIL_WASMTIME_FUNCTIONS(FRAZIL_FIND)
#undef FRAZIL_FIND
    if (missing != nullptr) {
      dlclose(library);
      return Fail(Diag::MissingLibrary,
                  fmt::format("{} is not wasmtime 50.0.1: it has no function {}", path, missing));
    }
    return api;
  }
  return std::unexpected(
      frazil::Error{Diag::MissingLibrary,
                    fmt::format("the wasmtime library was not found (tried {})", tried),
                    {},
                    {},
                    "run scripts/setup.sh, or set FRAZIL_WASMTIME to the library"});
}

}  // namespace

Result<const Api*> LoadApi() {
  static std::mutex mutex;
  static Api api;
  static bool is_open = false;
  std::lock_guard lock(mutex);
  if (!is_open) {
    api = TRY(Open());
    is_open = true;
  }
  return &api;
}

}  // namespace frazil::targets::wasm::wasmtime
