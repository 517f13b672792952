// The built-in backends: the engine (native where it can be had), and targets. Registered ones come last, so that none
// can take the place of a built-in one.
#include "kernel/backend.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/fork.h"
#include "engine/engine.h"
#include "engine/fluid.h"
#include "exec/interpreter.h"
#include "ir/digest.h"
#include "kernel/executor.h"
#include "kernel/isa_backend.h"
#include "kernel/program_cache.h"

namespace frazil::kernel {
namespace {

std::unexpected<Error> Trapped(const ir::KernelSignature& signature, std::string_view what) {
  return Fail(Diag::Trapped, fmt::format("{}: {}", signature.name, what));
}

class TargetKernel final : public LoadedKernel {
 public:
  TargetKernel(const ir::Program& program, std::unique_ptr<exec::Callable> callable)
      : LoadedKernel(program), callable_(std::move(callable)) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    // A callable has state of its own.
    const std::lock_guard lock(mutex_);
    const exec::Outcome outcome = TRY(callable_->Run(arguments, {}));
    if (outcome.trap) return Trapped(signature(), outcome.trap->ToString());
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<exec::Callable> callable_;
};

class TargetBackend final : public Backend {
 public:
  explicit TargetBackend(std::shared_ptr<const exec::Target> target) : target_(std::move(target)) {}
  std::string_view name() const override { return target_->name(); }
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program) override {
    const std::string refusal = target_->Refuses(program);
    if (!refusal.empty()) return Fail(Diag::Unsupported, refusal);
    const exec::Artifact artifact = TRY(target_->Emit(program));
    return std::make_shared<TargetKernel>(program, TRY(target_->Load(artifact)));
  }

 private:
  std::shared_ptr<const exec::Target> target_;
};

class EngineKernel final : public LoadedKernel {
 public:
  EngineKernel(const ir::Program& program, std::shared_ptr<engine::Site> site)
      : LoadedKernel(program), site_(std::move(site)), layout_(site_->entry()) {}
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    const std::vector<uint64_t> words = layout_.Words(arguments);
    std::vector<uint64_t> results(std::max(1u, layout_.result_words()));
    const int32_t status = site_->Call(words.data(), results.data());
    if (status == engine::LaunchFailed)
      return Fail(Diag::BadLaunch, engine::InterpreterFluid::LastLaunchError());
    if (status != 0) return Trapped(signature(), ir::TrapName(static_cast<ir::Trap>(status - 1)));
    return {};
  }

 private:
  std::shared_ptr<engine::Site> site_;
  engine::CallLayout layout_;
};

// A kernel that somebody still holds outlives its executor, as sites do their engine: it stays as it is.
class EngineBackend final : public Backend {
 public:
  explicit EngineBackend(const ExecutorOptions& options) : engine_(OptionsOf(options)) {}
  std::string_view name() const override { return "cpu"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program) override {
    return std::make_shared<EngineKernel>(program, TRY(engine_.Load(program)));
  }

 private:
  static engine::EngineOptions OptionsOf(const ExecutorOptions& options) {
    engine::EngineOptions result;
    result.compile = options.compile;
    result.store.directory = options.store;
    return result;
  }
  engine::Engine engine_;
};

struct Registry {
  ForkMutex mutex;
  std::map<std::string, BackendFactory, std::less<>> factories;
  static Registry& Get() {
    static Registry registry;
    return registry;
  }
};

constexpr std::string_view BuiltIn[] = {"cpu", "isa", "interp"};

}  // namespace

LoadedKernel::LoadedKernel(const ir::Program& program)
    : program_(program), signature_(ir::SignatureOf(program)), exact_(ir::ExactDigest(program)) {}

Backend::Backend() : cache_(std::make_unique<ProgramCache>()) {}
Backend::~Backend() = default;

Result<std::shared_ptr<const LoadedKernel>> Backend::LoadCached(const ir::Program& program) {
  return cache_->FindOrMake(ir::ExactDigest(program), [&] { return Load(program); });
}

std::shared_ptr<Backend> MakeTargetBackend(std::shared_ptr<const exec::Target> target) {
  return std::make_shared<TargetBackend>(std::move(target));
}

Result<std::shared_ptr<Backend>> MakeBackend(const ExecutorOptions& options) {
  if (options.backend == "cpu") return std::make_shared<EngineBackend>(options);
  if (options.backend == "isa") return MakeIsaBackend();
  if (options.backend == "interp") return MakeTargetBackend(exec::MakeInterpreterTarget());
  BackendFactory factory;
  {
    Registry& registry = Registry::Get();
    const std::lock_guard lock(registry.mutex);
    if (const auto found = registry.factories.find(options.backend);
        found != registry.factories.end())
      factory = found->second;
  }
  if (factory) return factory(options);
  return Fail(Diag::NoDevice, fmt::format("there is no backend '{}' in this program; it has {}",
                                          options.backend, fmt::join(BackendNames(), ", ")));
}

bool RegisterBackend(std::string name, BackendFactory factory) {
  for (const std::string_view taken : BuiltIn)
    if (name == taken) return false;
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  registry.factories[std::move(name)] = std::move(factory);
  return true;
}

std::vector<std::string> BackendNames() {
  std::vector<std::string> names(std::begin(BuiltIn), std::end(BuiltIn));
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  for (const auto& [name, factory] : registry.factories) names.push_back(name);
  return names;
}

}  // namespace frazil::kernel
