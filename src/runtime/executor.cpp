// Buffers, slots, and what was loaded. What a launch may be is decided in launch.cpp.
#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "ir/digest.h"
#include "ir/element.h"
#include "runtime/events.h"
#include "runtime/home.h"

namespace frazil::runtime {
namespace {

// "c07" -> 7
std::optional<int> SlotNamed(std::string_view name) {
  if (name.size() != 3 || name[0] != 'c' || name[1] < '0' || name[1] > '9' || name[2] < '0' ||
      name[2] > '9')
    return std::nullopt;
  const int slot = (name[1] - '0') * 10 + (name[2] - '0');
  return slot < SlotCount ? std::optional(slot) : std::nullopt;
}

std::string_view NameOf(Kind kind) { return ir::ScalarName(ir::TypeOf(kind).scalar); }

Result<size_t> SlotOf(int slot) {
  if (slot >= 0 && slot < SlotCount) return static_cast<size_t>(slot);
  return Fail(Diag::BadLaunch,
              fmt::format("there is no slot {}: slots are c00 to c{}", slot, SlotCount - 1));
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::Create(const ExecutorOptions& options) {
  std::unique_ptr<Executor> executor(new Executor());
  Result<std::shared_ptr<Home>> home = Home::Find(options);
  if (!home) {
    if (!options.fall_back) return std::unexpected(std::move(home.error()));
    executor->reason_ = std::move(home.error().message);
    TellOnce(engine::Verb::Refuse, options.backend, executor->reason_ + "; the CPU answers");
    ExecutorOptions cpu = options;
    cpu.backend = "cpu";
    home = Home::Find(cpu);
    if (!home) return std::unexpected(std::move(home.error()));
  }
  executor->home_ = std::move(*home);
  return executor;
}

Executor::~Executor() = default;

std::string_view Executor::backend() const { return home_->name(); }

ProgramCache& Executor::cache() { return home_->cache(); }

Result<std::shared_ptr<Storage>> Executor::AllocateStorage(Kind kind, int64_t length) {
  if (length < 0 || length > std::numeric_limits<int64_t>::max() / 64)
    return Fail(Diag::BadLaunch, fmt::format("a buffer cannot have {} elements", length));
  // Memory of the CPU is anybody's: only of other homes it is known where ops on it run.
  auto storage = std::make_shared<Storage>(kind, length, home_->is_cpu() ? nullptr : home_);
  if (storage->data == nullptr)
    return Fail(Diag::LimitReached,
                fmt::format("there is no memory for {} elements of {}", length, NameOf(kind)));
  return storage;
}

int Executor::free_slots() const {
  if (slots_ == nullptr) return SlotCount;
  return static_cast<int>(
      std::ranges::count_if(*slots_, [](const auto& slot) { return slot.expired(); }));
}

Result<void> Executor::CheckFree(int slot) const {
  const size_t place = TRY(SlotOf(slot));
  if (slots_ == nullptr || (*slots_)[place].expired()) return {};
  return Fail(Diag::BadLaunch, fmt::format("slot c{:02} is in use", slot));
}

Result<void> Executor::Place(int slot, const std::shared_ptr<Storage>& storage) {
  if (storage == nullptr)
    return Fail(Diag::BadLaunch, "only a buffer that an executor gave has a place in a slot");
  TRY_VOID(CheckFree(slot));
  if (slots_ == nullptr) slots_ = std::make_unique<Slots>();
  for (std::weak_ptr<Storage>& other : *slots_)
    if (other.lock() == storage) other.reset();
  storage->slot = slot;
  (*slots_)[static_cast<size_t>(slot)] = storage;
  return {};
}

Result<std::shared_ptr<Storage>> Executor::StorageAt(int slot, Kind kind) const {
  const size_t place = TRY(SlotOf(slot));
  std::shared_ptr<Storage> storage = slots_ != nullptr ? (*slots_)[place].lock() : nullptr;
  if (storage == nullptr) return Fail(Diag::BadLaunch, fmt::format("slot c{:02} is empty", slot));
  if (storage->element != kind)
    return Fail(Diag::BadLaunch, fmt::format("slot c{:02} holds {}, not {}", slot,
                                             NameOf(storage->element), NameOf(kind)));
  return storage;
}

Result<std::shared_ptr<const LoadedKernel>> Executor::Load(const Source& source) {
  Recent& recent = recent_[source.id() % recent_.size()];
  const uint64_t generation = home_->cache().generation();
  if (recent.source == source.id() && recent.generation == generation) [[likely]]
    return recent.kernel;
  auto kernel = TRY(home_->LoadCached(source));
  recent = {source.id(), generation, kernel};
  return kernel;
}

Result<std::shared_ptr<const LoadedKernel>> Executor::Load(const ir::Program& program) {
  return home_->cache().FindOrMake(KernelKey(program, ir::ExactDigest(program)),
                                   [&] { return home_->Load(Source(program)); });
}

Result<void> Executor::Launch(const LoadedKernel& kernel, const LaunchConfig& config,
                              std::span<const Argument> arguments) {
  return kernel.Launch(config, arguments);
}

Result<void> Executor::LaunchSlots(const LoadedKernel& kernel, const LaunchConfig& config) {
  std::vector<Argument> arguments;
  std::vector<std::shared_ptr<Storage>> kept;
  for (const ir::KernelParam& param : kernel.signature().params) {
    if (ir::IsLaunchRole(param.role)) continue;
    arguments.emplace_back();
    if (param.role != ir::ParamRole::Buffer) continue;
    const std::optional<int> slot = SlotNamed(param.name);
    if (!slot)
      return Fail(Diag::BadLaunch, fmt::format("buffer '{}' is not named after a slot, c00 to c{}",
                                               param.name, SlotCount - 1));
    const std::optional<Kind> kind = ir::KindOf(param.type.scalar);
    if (!kind)
      return Fail(Diag::BadLaunch, fmt::format("slot c{:02} cannot hold {}", *slot,
                                               ir::ScalarName(param.type.scalar)));
    kept.push_back(TRY(StorageAt(*slot, *kind)));
    const Storage& storage = *kept.back();
    arguments.back() =
        Argument::OfElements(*kind, storage.data, static_cast<size_t>(storage.length));
  }
  return kernel.Launch(config, arguments);
}

}  // namespace frazil::runtime
