// Symbols by name. The library is never closed: its threads would outlive it.
#include "targets/cuda/driver/api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace frazil::targets::cuda {
namespace {

Result<std::unique_ptr<Api>> Open(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return NoGpu(
        fmt::format("the driver's library is missing ({})", why != nullptr ? why : library));
  }
  auto api = std::make_unique<Api>();
  std::string missing;
  auto find = [&]<typename F>(F*& function, const char* symbol) {
    function = reinterpret_cast<F*>(dlsym(handle, symbol));
    if (function == nullptr && missing.empty()) missing = symbol;
  };
#define FRAZIL_CUDA_FIND(name, symbol, params) find(api->name, symbol);
  FRAZIL_CUDA_FUNCTIONS(FRAZIL_CUDA_FIND)
#undef FRAZIL_CUDA_FIND
  if (!missing.empty())
    return NoGpu(fmt::format("{} has no {}: the driver is too old", library, missing));
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(api->Init), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
    api->file = (error ? std::filesystem::path(info.dli_fname) : path).filename();
  }
  if (const int status = api->Init(0); status != 0) {
    const char* text = nullptr;
    api->GetErrorText(status, &text);
    return NoGpu(
        fmt::format("the driver does not start: {}", text != nullptr ? text : "unknown error"));
  }
  return api;
}

}  // namespace

std::unexpected<Error> NoGpu(const std::string& why) {
  return Fail(Diag::NoDevice, fmt::format("no usable NVIDIA GPU: {}", why));
}

std::unexpected<Error> DriverError(const Api& api, int status, const std::string& what) {
  const char* text = nullptr;
  api.GetErrorText(status, &text);
  return NoGpu(
      fmt::format("{} failed: {}", what, text != nullptr ? text : fmt::format("error {}", status)));
}

Result<const Api*> OpenApi(const std::string& library) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, Result<std::unique_ptr<Api>>>;
  const std::lock_guard lock(mutex);
  auto place = opened->find(library);
  if (place == opened->end()) place = opened->emplace(library, Open(library)).first;
  if (!place->second) return std::unexpected(place->second.error());
  return place->second->get();
}

}  // namespace frazil::targets::cuda
