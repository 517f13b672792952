// An executor owns buffers and runs kernels on one backend. Executors share nothing but the process's thread pool; one
// executor may be used by one thread at a time.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/value.h"
#include "ir/kernel.h"
#include "ir/program.h"
#include "kernel/buffer.h"
#include "kernel/launch_config.h"

namespace frazil::kernel {

class Backend;
class LoadedKernel;
class ProgramCache;

// Slots that an executor has: c00 to c95.
constexpr int SlotCount = 96;

// One argument of a launch: a scalar, a buffer, memory of the caller, or nothing: then an extent is the common length of
// the buffers that it bounds.
class Argument {
 public:
  Argument() = default;
  template <Element T>
  Argument(T value) : value_(Scalar(TypeOf<T>(), &value, sizeof(T))) {}
  template <Element T>
  Argument(const Buffer<T>& buffer) : storage_(buffer.storage_), is_buffer_(true) {}
  template <Element T>
  Argument(std::span<T> memory) : value_(Borrow(TypeOf<T>(), memory.data(), memory.size())) {}
  template <Element T>
  Argument(std::span<const T> memory)
      : value_(Borrow(TypeOf<T>(), const_cast<T*>(memory.data()), memory.size())),
        is_const_(true) {}

 private:
  friend class Executor;
  static exec::Value Scalar(ir::Type type, const void* bytes, size_t size);
  static exec::Value Borrow(ir::Type type, void* data, size_t length);
  std::optional<exec::Value> value_;
  std::shared_ptr<internal::Storage> storage_;
  bool is_buffer_ = false;
  bool is_const_ = false;
};

struct ExecutorOptions {
  std::string backend = "cpu";  // cpu, isa, interp, or a registered one such as cuda
  bool fall_back =
      true;  // where the backend cannot be had: the CPU, and reason() says why; false: an error
  // cpu only: whether a worker may compile hot kernels, and where compiled forms are kept (empty: the user's store).
  bool compile = true;
  std::string store;
};

class Executor {
 public:
  static Result<std::unique_ptr<Executor>> Create(const ExecutorOptions& options = {});
  ~Executor();

  std::string_view backend() const;  // the one that answers
  const std::string& reason() const {
    return reason_;
  }  // why it is not the one that was asked for; empty: it is

  // In the first free slot, or in a given one; zeroed. A slot is free again when the last copy of its buffer is gone.
  template <Element T>
  Result<Buffer<T>> Allocate(int64_t length) {
    return Buffer<T>(TRY(AllocateStorage(TypeOf<T>(), length, -1)));
  }
  template <Element T>
  Result<Buffer<T>> AllocateAt(int slot, int64_t length) {
    return Buffer<T>(TRY(AllocateStorage(TypeOf<T>(), length, slot)));
  }
  // The buffer that is in a slot, if it has this type.
  template <Element T>
  Result<Buffer<T>> At(int slot) const {
    return Buffer<T>(TRY(StorageAt(slot, TypeOf<T>())));
  }
  int free_slots() const;

  // A kernel for this executor's backend, from its cache where it has it.
  Result<std::shared_ptr<const LoadedKernel>> Load(const ir::Program& program);
  // A program in a file: text (.frz), or a module of the portable machine (.frzb). Shared libraries are refused, whatever they promise.
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
  Result<std::shared_ptr<internal::Storage>> AllocateStorage(ir::Type type, int64_t length,
                                                             int slot);
  Result<std::shared_ptr<internal::Storage>> StorageAt(int slot, ir::Type type) const;

  struct Slots;
  std::unique_ptr<Slots> slots_;
  std::shared_ptr<Backend> backend_;
  std::string reason_;
};

}  // namespace frazil::kernel
