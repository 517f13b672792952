// What runs kernels for an executor. Three are built in; others are registered from above, because what they need (a GPU
// driver, a code generator) is not linked here.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/value.h"
#include "ir/kernel.h"
#include "ir/program.h"
#include "runtime/launch.h"
#include "runtime/program_cache.h"
#include "runtime/source.h"

namespace frazil::runtime {

struct ExecutorOptions;

// A program made ready on one backend. Immutable; launches may come from any thread.
class LoadedKernel {
 public:
  explicit LoadedKernel(Source source);
  virtual ~LoadedKernel() = default;
  const ir::Program& program() const { return source_.program(); }
  const ir::KernelSignature& signature() const { return signature_; }
  const std::string& exact() const { return source_.exact(); }

  // Every launch comes this way: checked, then run. A trap is an error here; buffers are as it left them.
  Result<void> Launch(const LaunchConfig& config, std::span<const Argument> arguments) const;

  // Arguments that passed exec::CheckLaunch.
  virtual Result<void> Run(std::span<const exec::Value> arguments) const = 0;

 protected:
  // The same call in words, for backends that take them (takes_words).
  virtual Result<void> RunWords(const uint64_t* words) const;
  bool takes_words_ = false;

 private:
  Source source_;
  ir::KernelSignature signature_;
  internal::LaunchPlan plan_;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source) = 0;

  // What this backend made ready, and nobody else's.
  ProgramCache& cache() { return cache_; }
  Result<std::shared_ptr<const LoadedKernel>> LoadCached(const Source& source);

 private:
  ProgramCache cache_;
};

// Fails with a sentence where there is no such backend or it cannot be used here. Executors with the same options that
// live at the same time share a built-in one.
Result<std::shared_ptr<Backend>> FindBackend(const ExecutorOptions& options);

using BackendFactory =
    std::function<Result<std::shared_ptr<Backend>>(const ExecutorOptions& options)>;
// Replaces an earlier one of that name; built-in names cannot be taken.
bool RegisterBackend(std::string name, BackendFactory factory);
std::vector<std::string> BackendNames();

}  // namespace frazil::runtime
