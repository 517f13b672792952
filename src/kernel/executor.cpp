// Slots, arguments and launches. Everything about a launch is checked here, in one place, before any backend sees it.
#include "kernel/executor.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/fork.h"
#include "exec/kernel_launch.h"
#include "exec/target.h"
#include "ir/text.h"
#include "kernel/backend.h"
#include "kernel/internal.h"
#include "kernel/program_cache.h"
#include "machines/simt/module.h"
#include "targets/isa/isa.h"

namespace frazil::kernel {

struct Executor::Slots {
  mutable ForkMutex mutex;
  std::array<std::weak_ptr<internal::Storage>, SlotCount> slots;
};

namespace internal {

constexpr uint64_t Alignment = 64;

Storage::Storage(std::shared_ptr<Backend> backend, int slot, ir::Type element, int64_t length)
    : backend(std::move(backend)), slot(slot), element(element), length(length) {
  const uint64_t bytes = static_cast<uint64_t>(length) * ir::BytesOf(element);
  const uint64_t rounded = (bytes / Alignment + 1) * Alignment;
  data = static_cast<std::byte*>(std::aligned_alloc(Alignment, rounded));
  if (data != nullptr) std::memset(data, 0, rounded);
}

Storage::~Storage() { std::free(data); }

std::unexpected<Error> WrongLength(int64_t given, int64_t expected) {
  return Fail(Diag::BadLaunch,
              fmt::format("{} elements are given where the buffer has {}", given, expected));
}

}  // namespace internal

namespace {

Result<exec::LaunchShape> ShapeOf(const LaunchConfig& config) {
  exec::LaunchShape shape;
  shape.grid = {config.grid.x, config.grid.y, config.grid.z};
  shape.block = {config.block.x, config.block.y, config.block.z};
  const std::optional<int64_t> lanes[] = {config.lanes(),
                                          config.LanesOf(config.grid.y, config.block.y),
                                          config.LanesOf(config.grid.z, config.block.z)};
  for (size_t axis = 0; axis < 3; ++axis) {
    if (!lanes[axis])
      return Fail(Diag::BadLaunch, fmt::format("{} blocks of {} lanes are more than can be counted",
                                               *shape.grid[axis], shape.block[axis]));
    shape.lanes[axis] = *lanes[axis];
  }
  return shape;
}

// "c07" -> 7
std::optional<int> SlotNamed(std::string_view name) {
  if (name.size() != 3 || name[0] != 'c' || name[1] < '0' || name[1] > '9' || name[2] < '0' ||
      name[2] > '9')
    return std::nullopt;
  const int slot = (name[1] - '0') * 10 + (name[2] - '0');
  return slot < SlotCount ? std::optional(slot) : std::nullopt;
}

bool HasSuffix(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix;
}

exec::Value ValueOf(const internal::Storage& storage) {
  return exec::Value::Buffer(
      std::make_shared<exec::Memory>(storage.element, storage.length, storage.data));
}

}  // namespace

exec::Value Argument::Scalar(ir::Type type, const void* bytes, size_t size) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  if (ir::IsSigned(type.scalar) && size < 8) {
    const int shift = 64 - 8 * static_cast<int>(size);
    word = static_cast<uint64_t>(static_cast<int64_t>(word << shift) >> shift);
  }
  return exec::Value::Word(type, word);
}

exec::Value Argument::Borrow(ir::Type type, void* data, size_t length) {
  return exec::Value::Buffer(
      std::make_shared<exec::Memory>(type, static_cast<int64_t>(length), data));
}

Result<std::unique_ptr<Executor>> Executor::Create(const ExecutorOptions& options) {
  std::unique_ptr<Executor> executor(new Executor());
  executor->slots_ = std::make_unique<Slots>();
  Result<std::shared_ptr<Backend>> backend = MakeBackend(options);
  if (!backend) {
    if (!options.fall_back) return std::unexpected(std::move(backend.error()));
    executor->reason_ = backend.error().message;
    ExecutorOptions cpu = options;
    cpu.backend = "cpu";
    backend = MakeBackend(cpu);
    if (!backend) return std::unexpected(std::move(backend.error()));
  }
  executor->backend_ = std::move(*backend);
  return executor;
}

Executor::~Executor() = default;

std::string_view Executor::backend() const { return backend_->name(); }

ProgramCache& Executor::cache() { return backend_->cache(); }

int Executor::free_slots() const {
  const std::lock_guard lock(slots_->mutex);
  int count = 0;
  for (const auto& slot : slots_->slots) count += slot.expired() ? 1 : 0;
  return count;
}

Result<std::shared_ptr<internal::Storage>> Executor::AllocateStorage(ir::Type type, int64_t length,
                                                                     int slot) {
  if (length < 0 || length > std::numeric_limits<int64_t>::max() / 64)
    return Fail(Diag::BadLaunch, fmt::format("a buffer cannot have {} elements", length));
  if (slot < -1 || slot >= SlotCount)
    return Fail(Diag::BadLaunch,
                fmt::format("there is no slot {}: slots are c00 to c{}", slot, SlotCount - 1));
  const std::lock_guard lock(slots_->mutex);
  for (int i = 0; slot == -1 && i < SlotCount; ++i)
    if (slots_->slots[static_cast<size_t>(i)].expired()) slot = i;
  if (slot == -1)
    return Fail(Diag::BadLaunch, fmt::format("all {} slots of the executor are in use", SlotCount));
  std::weak_ptr<internal::Storage>& place = slots_->slots[static_cast<size_t>(slot)];
  if (!place.expired()) return Fail(Diag::BadLaunch, fmt::format("slot c{:02} is in use", slot));
  auto storage = std::make_shared<internal::Storage>(backend_, slot, type, length);
  if (storage->data == nullptr)
    return Fail(Diag::LimitReached, fmt::format("there is no memory for {} elements of {}", length,
                                                ir::ScalarName(type.scalar)));
  place = storage;
  return storage;
}

Result<std::shared_ptr<internal::Storage>> Executor::StorageAt(int slot, ir::Type type) const {
  if (slot < 0 || slot >= SlotCount)
    return Fail(Diag::BadLaunch,
                fmt::format("there is no slot {}: slots are c00 to c{}", slot, SlotCount - 1));
  const std::lock_guard lock(slots_->mutex);
  std::shared_ptr<internal::Storage> storage = slots_->slots[static_cast<size_t>(slot)].lock();
  if (storage == nullptr) return Fail(Diag::BadLaunch, fmt::format("slot c{:02} is empty", slot));
  if (storage->element != type)
    return Fail(Diag::BadLaunch,
                fmt::format("slot c{:02} holds {}, not {}", slot,
                            ir::ScalarName(storage->element.scalar), ir::ScalarName(type.scalar)));
  return storage;
}

Result<std::shared_ptr<const LoadedKernel>> Executor::Load(const ir::Program& program) {
  return backend_->LoadCached(program);
}

namespace {

// A module of the portable machine is verified before it is looked at, and lifts to the program that it came from.
Result<ir::Program> LiftModule(std::string_view bytes) {
  return targets::isa::Lift(TRY(machines::simt::LoadModule(bytes)));
}

}  // namespace

Result<std::shared_ptr<const LoadedKernel>> Executor::LoadFile(const std::string& path) {
  for (const std::string_view suffix : {".so", ".dll", ".dylib"})
    if (HasSuffix(path, suffix) || path.find(std::string(suffix) + ".") != std::string::npos)
      return Fail(Diag::BadLaunch, fmt::format("'{}' is a shared library: machine code of others "
                                               "is never loaded, because nothing can "
                                               "be checked about it; give the kernel as a program",
                                               path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Diag::FileUnreadable, fmt::format("'{}' cannot be opened", path));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return Fail(Diag::FileUnreadable, fmt::format("'{}' cannot be read", path));
  Result<ir::Program> program = HasSuffix(path, ".frzb") ? LiftModule(text) : ir::ParseText(text);
  if (!program) {
    program.error().file = path;
    return std::unexpected(std::move(program.error()));
  }
  return Load(*program);
}

Result<void> Executor::Launch(const LoadedKernel& kernel, const LaunchConfig& config,
                              std::span<const Argument> arguments) {
  const ir::KernelSignature& signature = kernel.signature();
  std::vector<std::optional<exec::Value>> given(signature.params.size());
  size_t next = 0;
  for (size_t i = 0; i < signature.params.size(); ++i) {
    const ir::KernelParam& param = signature.params[i];
    if (ir::IsLaunchRole(param.role) || next == arguments.size()) continue;
    const Argument& argument = arguments[next++];
    if (argument.is_const_ && param.type.is_buffer() && param.type.access != ir::Access::In)
      return Fail(Diag::BadLaunch,
                  fmt::format("'{}' is written to, but read-only memory is given", param.name));
    if (argument.is_buffer_ && argument.storage_ == nullptr)
      return Fail(Diag::BadLaunch, fmt::format("'{}' is a buffer of no executor", param.name));
    given[i] = argument.is_buffer_ ? std::optional(ValueOf(*argument.storage_)) : argument.value_;
  }
  if (next < arguments.size())
    return Fail(Diag::WrongArgumentCount, fmt::format("{} takes at most {} arguments, {} given",
                                                      signature.name, next, arguments.size()));
  return internal::LaunchValues(kernel, config, given);
}

Result<void> Executor::LaunchSlots(const LoadedKernel& kernel, const LaunchConfig& config) {
  std::vector<std::optional<exec::Value>> given;
  for (const ir::KernelParam& param : kernel.signature().params) {
    given.emplace_back();
    if (param.role != ir::ParamRole::Buffer) continue;
    const std::optional<int> slot = SlotNamed(param.name);
    if (!slot)
      return Fail(Diag::BadLaunch, fmt::format("buffer '{}' is not named after a slot, c00 to c{}",
                                               param.name, SlotCount - 1));
    given.back() = ValueOf(*TRY(StorageAt(*slot, param.type.element())));
  }
  return internal::LaunchValues(kernel, config, given);
}

Result<void> internal::LaunchValues(const LoadedKernel& kernel, const LaunchConfig& config,
                                    std::span<const std::optional<exec::Value>> given) {
  // A launch has no place for them.
  for (const ir::Type type : kernel.program().entry_function().results)
    if (type.is_tensor())
      return Fail(Diag::BadLaunch,
                  fmt::format("{} gives a tensor, but what a kernel makes it writes "
                              "to buffers",
                              kernel.signature().name));
  for (size_t i = 0; i < given.size(); ++i) {
    const ir::KernelParam& param = kernel.signature().params[i];
    if (given[i] && given[i]->type.element() != param.type.element() &&
        !exec::AreIntegers(given[i]->type, param.type))
      return Fail(Diag::WrongArgument, fmt::format("'{}' is {}, but {} is given", param.name,
                                                   ir::ScalarOrBufferName(param.type),
                                                   ir::ScalarOrBufferName(given[i]->type)));
  }
  exec::LaunchShape shape = TRY(ShapeOf(config));
  if (kernel.signature().needs_launch()) shape.n = config.lanes();
  const std::vector<exec::Value> arguments =
      TRY(exec::CompleteLaunch(kernel.signature(), given, shape));
  TRY_VOID(exec::CheckLaunch(kernel.program(), arguments));
  return kernel.Run(arguments);
}

}  // namespace frazil::kernel
