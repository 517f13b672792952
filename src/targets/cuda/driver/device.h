// A GPU: memory, kernels, launches, recorded sequences. Everything happens in one stream, in order, unless said
// otherwise; a call that waits says so. Handles free themselves and must not outlive their device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "targets/cuda/driver/api.h"

namespace frazil::targets::cuda {

class Device;

// Memory of a device, at a multiple of 256 bytes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Api* api, DevicePointer address, uint64_t bytes)
      : api_(api), address_(address), bytes_(bytes) {}
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  DevicePointer address() const { return address_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const Api* api_ = nullptr;
  DevicePointer address_ = 0;
  uint64_t bytes_ = 0;
};

class LoadedModule {
 public:
  LoadedModule(const Api* api, ModuleHandle* handle, uint32_t most_shared_bytes)
      : api_(api), handle_(handle), most_shared_bytes_(most_shared_bytes) {}
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  // The kernel may be launched with all the shared memory that a block can have.
  Result<FunctionHandle*> Find(const std::string& kernel) const;

 private:
  const Api* api_;
  ModuleHandle* handle_;
  uint32_t most_shared_bytes_;
};

// One launch, ready to be made again and again: its words are the kernel's parameters.
struct Launch {
  FunctionHandle* function = nullptr;
  uint32_t blocks = 1, threads = 1, shared_bytes = 0;
  std::vector<uint64_t> words;
};

// A recorded sequence of launches, replayed by one call.
class Recording {
 public:
  Recording(const Api* api, GraphHandle* graph, GraphExecHandle* exec)
      : api_(api), graph_(graph), exec_(exec) {}
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  GraphExecHandle* exec() const { return exec_; }

 private:
  const Api* api_;
  GraphHandle* graph_;
  GraphExecHandle* exec_;
};

class Device {
 public:
  // The first GPU of the machine, or NoDevice.
  static Result<std::shared_ptr<Device>> Open(const std::string& library = "libcuda.so.1");
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }
  const std::string& driver() const { return driver_; }  // "libcuda.so.580.159.03, CUDA 13.0"
  int multiprocessors() const { return multiprocessors_; }
  int compute() const { return compute_; }  // 90 for 9.0
  uint32_t most_shared_bytes() const { return most_shared_bytes_; }
  const Api& api() const { return *api_; }
  StreamHandle* stream() const { return stream_; }

  // The driver compiles the PTX; its log is in the error.
  Result<std::unique_ptr<LoadedModule>> Load(const std::string& ptx);

  Result<DeviceMemory> Allocate(uint64_t bytes);
  Result<void> CopyIn(DevicePointer to, const void* from, uint64_t bytes);
  Result<void> CopyOut(void* to, DevicePointer from, uint64_t bytes);  // waits
  Result<void> CopyInside(DevicePointer to, DevicePointer from, uint64_t bytes);
  Result<void> Fill(DevicePointer to, uint8_t value, uint64_t bytes);

  // 0, or the driver's status: the quick way.
  int Start(const Launch& launch) const {
    size_t size = launch.words.size() * sizeof(uint64_t);
    void* extra[] = {reinterpret_cast<void*>(1), const_cast<uint64_t*>(launch.words.data()),
                     reinterpret_cast<void*>(2), &size, nullptr};
    return api_->Launch(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1,
                        launch.shared_bytes, stream_, nullptr, extra);
  }
  Result<void> Run(const Launch& launch);
  Result<std::unique_ptr<Recording>> Record(std::span<const Launch> launches);
  Result<void> Replay(const Recording& recording);
  Result<void> Wait();
  // Waits at most that long; false: still running.
  Result<bool> WaitFor(uint64_t milliseconds);
  // Writes a word beside the running stream, and waits for that.
  Result<void> Poke(DevicePointer to, uint64_t word);
  // Milliseconds that the device takes for what `body` starts; waits.
  template <typename Body>
  Result<double> Time(const Body& body);

 private:
  Device() = default;
  Result<void> Check(int status, const char* what) const;
  Result<double> Elapsed();
  Result<void> Mark(int which);

  const Api* api_ = nullptr;
  ContextHandle* context_ = nullptr;
  StreamHandle* stream_ = nullptr;
  StreamHandle* side_ = nullptr;
  EventHandle* events_[2] = {};
  int device_ = 0;
  int multiprocessors_ = 0;
  int compute_ = 0;
  uint32_t most_shared_bytes_ = 0;
  std::string name_, driver_;
};

template <typename Body>
Result<double> Device::Time(const Body& body) {
  TRY_VOID(Mark(0));
  TRY_VOID(body());
  TRY_VOID(Mark(1));
  return Elapsed();
}

}  // namespace frazil::targets::cuda
