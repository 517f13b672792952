// Where an executor's kernels run: in slots of an engine ("cpu"), or as forms of a target of the registry ("isa", "interp",
// "cuda" and whatever else is registered there).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/system/fork.h"
#include "engine/engine.h"
#include "exec/target.h"
#include "runtime/executor.h"
#include "runtime/loaded_kernel.h"
#include "runtime/program_cache.h"

namespace frazil::runtime {

class Home {
 public:
  // Fails with a sentence where there is no such place or its machine is not here. Executors with the same options that
  // live at the same time share one.
  static Result<std::shared_ptr<Home>> Find(const ExecutorOptions& options);

  Home(ExecutorOptions options, const exec::Target* target, std::shared_ptr<Home> cpu);
  const std::string& name() const { return options_.backend; }
  bool is_cpu() const { return target_ == nullptr; }

  Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source);
  Result<std::shared_ptr<const LoadedKernel>> LoadCached(const Source& source);
  // What was made ready here, and nowhere else.
  ProgramCache& cache() { return cache_; }

 private:
  Result<std::shared_ptr<const LoadedKernel>> LoadSlot(const Source& source, std::string reason);
  Result<std::shared_ptr<const LoadedKernel>> LoadForm(const Source& source);
  Result<exec::Artifact> EmitByWorker(const ir::Program& program) const;

  const ExecutorOptions options_;
  const exec::Target* const target_;  // null: the engine
  const std::shared_ptr<Home> cpu_;   // answers where the target cannot; null: nobody does
  // Made when they are first needed: an executor that only has buffers needs neither.
  ForkOnce once_;
  std::optional<engine::Engine> engine_;
  std::unique_ptr<store::Store> store_;
  ProgramCache cache_;
};

}  // namespace frazil::runtime
