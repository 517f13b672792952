#include "runtime/home.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>

#include "base/system/process.h"
#include "engine/worker/find_worker.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "registry/targets.h"
#include "runtime/events.h"
#include "runtime/form_kernel.h"
#include "runtime/slot_kernel.h"
#include "runtime/tile_math.h"
#include "targets/cuda/driver/target.h"

namespace frazil::runtime {
namespace {

constexpr std::string_view CpuName = "cpu";
// Of one artifact: the worker starts in milliseconds, and large programs take hundreds of them.
constexpr uint64_t EmitMs = 20'000;
constexpr uint64_t EmitMemoryBytes = uint64_t{1} << 30;
constexpr size_t MostArtifactBytes = 64 << 20;

// What a home was made with.
using Key = std::tuple<std::string, bool, bool, std::string>;

struct Living {
  ForkMutex mutex;
  std::map<Key, std::weak_ptr<Home>> homes;
  static Living& Get() {
    static Living living;
    return living;
  }
};

Result<const exec::Target*> FindTarget(const std::string& name) {
  const Result<const exec::Target*> target = registry::FindTarget(name);
  if (!target)
    return Fail(Diag::NoDevice,
                fmt::format("there is no backend '{}' in this program; it has {}, {}", name,
                            CpuName, fmt::join(registry::TargetNames(), ", ")));
  TRY((*target)->Machine());
  if (name == "isa") internal::InstallTileMath();
  return *target;
}

// A program that is wrong is wrong everywhere; what is left is a matter of the target.
bool IsOfTarget(const Error& error) {
  return error.diag == Diag::Unsupported || error.diag == Diag::NotAdmitted ||
         error.diag == Diag::BadArtifact || ClassOf(error.diag) == ErrorClass::Environment;
}

}  // namespace

Home::Home(ExecutorOptions options, const exec::Target* target, std::shared_ptr<Home> cpu)
    : options_(std::move(options)), target_(target), cpu_(std::move(cpu)) {}

Result<std::shared_ptr<Home>> Home::Find(const ExecutorOptions& options) {
  Living& living = Living::Get();
  Key key(options.backend, options.compile, options.fall_back, options.store);
  {
    const std::lock_guard lock(living.mutex);
    if (const auto found = living.homes.find(key); found != living.homes.end())
      if (std::shared_ptr<Home> home = found->second.lock()) return home;
  }
  // Not under the lock: a GPU takes long to open.
  const exec::Target* target = nullptr;
  std::shared_ptr<Home> cpu;
  if (options.backend != CpuName) {
    target = TRY(FindTarget(options.backend));
    ExecutorOptions of_cpu = options;
    of_cpu.backend = CpuName;
    if (options.fall_back) cpu = TRY(Find(of_cpu));
  }
  auto made = std::make_shared<Home>(options, target, std::move(cpu));
  const std::lock_guard lock(living.mutex);
  std::weak_ptr<Home>& place = living.homes[std::move(key)];
  if (std::shared_ptr<Home> home = place.lock()) return home;
  place = made;
  return made;
}

Result<std::shared_ptr<const LoadedKernel>> Home::Load(const Source& source) {
  return is_cpu() ? LoadSlot(source, {}) : LoadForm(source);
}

Result<std::shared_ptr<const LoadedKernel>> Home::LoadCached(const Source& source) {
  return cache_.FindOrMake(source.key(), [&] { return Load(source); });
}

// A kernel that somebody still holds outlives its home, as sites do their engine: it stays as it is.
Result<std::shared_ptr<const LoadedKernel>> Home::LoadSlot(const Source& source,
                                                           std::string reason) {
  once_.Call([this] {
    engine::EngineOptions options;
    options.compile = options_.compile;
    options.store.directory = options_.store;
    options.on_event = Tell;
    engine_.emplace(options);
  });
  return std::make_shared<SlotKernel>(source, std::move(reason),
                                      TRY(engine_->Load(source.program())));
}

Result<std::shared_ptr<const LoadedKernel>> Home::LoadForm(const Source& source) {
  once_.Call([this] {
    // Only what was judged by runs is kept.
    const Result<std::string> machine = target_->Machine();
    store::StoreOptions options;
    options.directory = options_.store;
    if (machine && !machine->empty()) store_ = store::Store::Open(options);
  });
  EmitElsewhere emit_elsewhere;
  if (options_.compile)
    emit_elsewhere = [this](const ir::Program& program) { return EmitByWorker(program); };
  FormKernel::Instead instead;
  if (cpu_ != nullptr)
    instead = [cpu = cpu_, source](std::span<const exec::Value> arguments) -> Result<void> {
      return TRY(cpu->LoadCached(source))->Run(arguments);
    };
  Result<std::shared_ptr<const LoadedKernel>> loaded =
      [&]() -> Result<std::shared_ptr<const LoadedKernel>> {
    const engine::Admitted admitted =
        TRY(AdmitForm(*target_, source, store_.get(), emit_elsewhere));
    return TRY(FormKernel::Load(source, admitted, *target_, instead));
  }();
  if (loaded || cpu_ == nullptr || !IsOfTarget(loaded.error())) return loaded;
  std::string reason = std::move(loaded.error().message);
  Tell({MillisecondsNow(), ir::ShortDigest(source.exact()), engine::Verb::Refuse, name(),
        reason + "; the CPU answers"});
  return cpu_->LoadSlot(source, std::move(reason));
}

// A process of its own, as every compiler is: what is wrong with it costs a kernel its place on the target.
Result<exec::Artifact> Home::EmitByWorker(const ir::Program& program) const {
  const engine::WorkerSearch worker = engine::FindWorker({});
  if (worker.program.empty()) return Fail(Diag::MissingTool, worker.Sentence());
  const Command command{.program = worker.program,
                        .words = {"frazil-worker", fmt::format("--memory={}", EmitMemoryBytes),
                                  fmt::format("--emit={}", target_->name())}};
  const std::string text = ir::PrintText(program);
  const auto run = RunCommand(
      command,
      {.input = text, .deadline = Deadline::After(EmitMs), .most_bytes = MostArtifactBytes});
  if (!run)
    return Fail(Diag::WorkerFailed, "the worker cannot be started: " + run.error().message());
  if (run->timed_out)
    return Fail(Diag::WorkerFailed, fmt::format("the worker was killed after {} ms", EmitMs));
  if (!run->ending.is_success())
    return Fail(Diag::Unsupported, run->messages.empty()
                                       ? "the worker ended with " + run->ending.ToString()
                                       : run->messages.substr(0, run->messages.find('\n')));
  return targets::cuda::ArtifactOfModule(run->output);
}

}  // namespace frazil::runtime
