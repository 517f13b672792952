// The built-in backends: the engine (native where it can be had), and interpreters. Registered ones come last, so that
// none can take the place of a built-in one.
#include "runtime/backend.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/system/fork.h"
#include "engine/engine.h"
#include "engine/fluid.h"
#include "runtime/executor.h"
#include "runtime/isa_backend.h"

namespace frazil::runtime {
namespace {

std::unexpected<Error> Trapped(const ir::KernelSignature& signature, std::string_view what) {
  return Fail(Diag::Trapped, fmt::format("{}: {}", signature.name, what));
}

class EngineKernel final : public LoadedKernel {
 public:
  EngineKernel(const Source& source, std::shared_ptr<engine::Site> site)
      : LoadedKernel(source), site_(std::move(site)), layout_(site_->entry()) {
    takes_words_ = true;
  }
  Result<void> Run(std::span<const exec::Value> arguments) const override {
    const std::vector<uint64_t> words = layout_.Words(arguments);
    std::vector<uint64_t> results(std::max(1u, layout_.result_words()));
    return Told(site_->Call(words.data(), results.data()));
  }
  Result<void> RunWords(const uint64_t* words) const override {
    uint64_t results[internal::MostLaunchResults];
    return Told(site_->Call(words, results));
  }

 private:
  Result<void> Told(int32_t status) const {
    if (status == 0) [[likely]]
      return {};
    if (status == engine::LaunchFailed)
      return Fail(Diag::BadLaunch, engine::InterpreterFluid::LastLaunchError());
    return Trapped(signature(), ir::TrapName(static_cast<ir::Trap>(status - 1)));
  }

  std::shared_ptr<engine::Site> site_;
  engine::CallLayout layout_;
};

// A kernel that somebody still holds outlives its executor, as sites do their engine: it stays as it is. The engine is
// made for the first kernel: an executor that only has buffers needs none.
class EngineBackend final : public Backend {
 public:
  explicit EngineBackend(const ExecutorOptions& options) {
    options_.compile = options.compile;
    options_.store.directory = options.store;
  }
  std::string_view name() const override { return "cpu"; }
  Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source) override {
    once_.Call([this] { engine_.emplace(options_); });
    return std::make_shared<EngineKernel>(source, TRY(engine_->Load(source.program())));
  }

 private:
  engine::EngineOptions options_;
  ForkOnce once_;
  std::optional<engine::Engine> engine_;
};

// What a built-in backend was made with.
using Key = std::tuple<std::string, bool, std::string>;

struct Registry {
  ForkMutex mutex;
  std::map<std::string, BackendFactory, std::less<>> factories;
  std::map<Key, std::weak_ptr<Backend>> living;
  static Registry& Get() {
    static Registry registry;
    return registry;
  }
};

constexpr std::string_view BuiltIn[] = {"cpu", "isa", "interp"};

Result<std::shared_ptr<Backend>> MakeBuiltIn(const ExecutorOptions& options) {
  if (options.backend == "cpu") return std::make_shared<EngineBackend>(options);
  if (options.backend == "isa") return MakeIsaBackend();
  return MakeInterpreterBackend();
}

Result<std::shared_ptr<Backend>> FindBuiltIn(const ExecutorOptions& options) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  std::weak_ptr<Backend>& place =
      registry.living[Key(options.backend, options.compile, options.store)];
  if (std::shared_ptr<Backend> living = place.lock()) return living;
  Result<std::shared_ptr<Backend>> made = MakeBuiltIn(options);
  if (made) place = *made;
  return made;
}

}  // namespace

LoadedKernel::LoadedKernel(Source source)
    : source_(std::move(source)),
      signature_(ir::SignatureOf(source_.program())),
      plan_(source_.program(), signature_) {}

Result<void> LoadedKernel::RunWords(const uint64_t*) const {
  return Fail(Diag::Unsupported, "this backend takes values");
}

Result<void> LoadedKernel::Launch(const LaunchConfig& config,
                                  std::span<const Argument> arguments) const {
  uint64_t words[internal::MostLaunchWords];
  if (takes_words_ && plan_.Words(config, arguments, words)) [[likely]]
    return RunWords(words);
  return internal::LaunchByRules(*this, config, arguments);
}

Result<std::shared_ptr<const LoadedKernel>> Backend::LoadCached(const Source& source) {
  return cache_.FindOrMake(source.exact(), [&] { return Load(source); });
}

Result<std::shared_ptr<Backend>> FindBackend(const ExecutorOptions& options) {
  for (const std::string_view name : BuiltIn)
    if (options.backend == name) return FindBuiltIn(options);
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

}  // namespace frazil::runtime
