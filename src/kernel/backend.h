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
#include "exec/target.h"
#include "exec/value.h"
#include "ir/kernel.h"
#include "ir/program.h"

namespace frazil::kernel {

struct ExecutorOptions;
class ProgramCache;

// A program made ready on one backend. Immutable; launches may come from any thread.
class LoadedKernel {
 public:
  explicit LoadedKernel(const ir::Program& program);
  virtual ~LoadedKernel() = default;
  const ir::Program& program() const { return program_; }
  const ir::KernelSignature& signature() const { return signature_; }
  const std::string& exact() const { return exact_; }

  // Arguments that passed exec::CheckLaunch. A trap is an error here; buffers are as it left them.
  virtual Result<void> Run(std::span<const exec::Value> arguments) const = 0;

 private:
  ir::Program program_;
  ir::KernelSignature signature_;
  std::string exact_;
};

class Backend {
 public:
  Backend();
  virtual ~Backend();
  virtual std::string_view name() const = 0;
  virtual Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program) = 0;

  // What this backend made ready, and nobody else's.
  ProgramCache& cache() const { return *cache_; }
  Result<std::shared_ptr<const LoadedKernel>> LoadCached(const ir::Program& program);

 private:
  std::unique_ptr<ProgramCache> cache_;
};

// Fails with a sentence where there is no such backend or it cannot be used here.
Result<std::shared_ptr<Backend>> MakeBackend(const ExecutorOptions& options);

using BackendFactory =
    std::function<Result<std::shared_ptr<Backend>>(const ExecutorOptions& options)>;
// Replaces an earlier one of that name; built-in names cannot be taken.
bool RegisterBackend(std::string name, BackendFactory factory);
std::vector<std::string> BackendNames();

// A backend over any target: one Emit and Load for each kernel.
std::shared_ptr<Backend> MakeTargetBackend(std::shared_ptr<const exec::Target> target);

}  // namespace frazil::kernel
