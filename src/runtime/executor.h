// An executor owns buffers and runs kernels in one place. Executors share it where their options are the same, and the
// process's thread pool; one executor may be used by one thread at a time.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/launch_config.h"
#include "base/result.h"
#include "ir/program.h"
#include "runtime/argument.h"
#include "runtime/source.h"

namespace frazil::runtime {

using frazil::Buffer;
using frazil::Dim3;
using frazil::Element;
using frazil::LaunchConfig;

class Home;
class LoadedKernel;
class ProgramCache;

// Slots of circuits: c00 to c95.
constexpr int SlotCount = 96;

struct ExecutorOptions {
  // cpu (the engine), or a target: isa, interp, cuda and what else is registered (registry/targets.h).
  std::string backend = "cpu";
  // Where the backend cannot be had, or cannot do a kernel: the CPU, and reason() of the executor or of the kernel says
  // why; false: an error.
  bool fall_back = true;
  // Whether a worker may compile, and where compiled forms are kept (empty: the user's store).
  bool compile = true;
  std::string store = {};
};

class Executor {
 public:
  static Result<std::unique_ptr<Executor>> Create(const ExecutorOptions& options = {});
  ~Executor();

  std::string_view backend() const;  // the one that answers
  const std::string& reason() const {
    return reason_;
  }  // why it is not the one that was asked for; empty: it is

  // Zeroed memory, as many buffers as there is room for.
  template <Element T>
  Result<Buffer<T>> Allocate(int64_t length) {
    return Buffer<T>(TRY(AllocateStorage(KindOf<T>(), length)));
  }

  // For circuits: a slot is a name, c00 to c95, under which LaunchSlots finds a buffer. It is free again when the last
  // copy of its buffer is gone.
  template <Element T>
  Result<Buffer<T>> AllocateAt(int slot, int64_t length) {
    TRY_VOID(CheckFree(slot));
    auto storage = TRY(AllocateStorage(KindOf<T>(), length));
    TRY_VOID(Place(slot, storage));
    return Buffer<T>(std::move(storage));
  }
  // The slot for a buffer that an executor gave; it leaves the one that it had.
  template <Element T>
  Result<void> PlaceAt(int slot, const Buffer<T>& buffer) {
    return Place(slot, buffer.storage());
  }
  // The buffer that is in a slot, if it has this type.
  template <Element T>
  Result<Buffer<T>> At(int slot) const {
    return Buffer<T>(TRY(StorageAt(slot, KindOf<T>())));
  }
  int free_slots() const;

  // A kernel for this executor's backend, from its cache where it has it. A source is found by what it is; a program may
  // have changed since, so that it is digested again.
  Result<std::shared_ptr<const LoadedKernel>> Load(const Source& source);
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program);
  // A kernel in a file of any door, by its ending (.frz, .frzb, .py ..); FILE:NAME picks one of several. Shared libraries are
  // refused, whatever they promise.
  Result<std::shared_ptr<const LoadedKernel>> LoadFile(const std::string& path);

  // Arguments in the order of the kernel's parameters; those that the launch configuration gives are left out, extents
  // may be (an Argument without a value, or missing at the end).
  Result<void> Launch(const LoadedKernel& kernel, const LaunchConfig& config,
                      std::span<const Argument> arguments);
  Result<void> Launch(const LoadedKernel& kernel, const LaunchConfig& config,
                      std::initializer_list<Argument> arguments) {
    return Launch(kernel, config, std::span(arguments.begin(), arguments.size()));
  }
  // Buffer parameters named c00 .. c95 are the buffers in those slots: how circuits are run. Other parameters must be
  // extents or come from the configuration.
  Result<void> LaunchSlots(const LoadedKernel& kernel, const LaunchConfig& config);

  ProgramCache& cache();

 private:
  Executor() = default;
  Result<std::shared_ptr<Storage>> AllocateStorage(Kind kind, int64_t length);
  Result<void> CheckFree(int slot) const;
  Result<void> Place(int slot, const std::shared_ptr<Storage>& storage);
  Result<std::shared_ptr<Storage>> StorageAt(int slot, Kind kind) const;

  using Slots = std::array<std::weak_ptr<Storage>, SlotCount>;
  std::unique_ptr<Slots> slots_;  // made for the first buffer that is in one

  // Kernels that were loaded last, each at the place of its source's number.
  struct Recent {
    uint64_t source = 0;
    uint64_t generation = 0;  // of the backend's cache
    std::shared_ptr<const LoadedKernel> kernel;
  };
  std::array<Recent, 16> recent_;
  std::shared_ptr<Home> home_;
  std::string reason_;
};

}  // namespace frazil::runtime
