// A PTX module on a device: called with values, or bound to memory that is already there.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/target.h"
#include "targets/cuda/driver/device.h"
#include "targets/cuda/driver/module.h"

namespace frazil::targets::cuda {

// An argument of the lowered entry: a scalar's words, or a buffer on the device.
struct DeviceArgument {
  std::vector<uint64_t> words;  // scalar: its words; buffer: address and length
};

// The launches of one call: words and shapes are fixed, so that it can be started again, or recorded.
struct BoundCall {
  std::vector<Launch> launches;
  std::vector<DeviceMemory> scratch;
  DeviceMemory run;
  uint64_t run_words = 0;
  // A scratch buffer could not be had: this trap comes after the launches, unless one of them trapped.
  std::optional<ir::Op> out_of_memory;  // the op whose scratch cannot be had
};

class CudaKernel {
 public:
  static Result<std::unique_ptr<CudaKernel>> Load(std::shared_ptr<Device> device, PtxModule module);

  const PtxModule& module() const { return module_; }
  Device& device() { return *device_; }
  // Buffers must be disjoint or identical, at multiples of 16 bytes, each with whole 16 bytes behind its last element.
  Result<BoundCall> Bind(std::span<const DeviceArgument> arguments, const Limits& limits);
  // Makes the run block new, starts everything, waits, and tells the trap; result words are then in `results`.
  Result<std::optional<exec::TrapInfo>> Run(BoundCall& call, const exec::RunContext& context,
                                            std::vector<uint64_t>& results);

 private:
  Result<void> CheckConditions(std::span<const DeviceArgument> arguments) const;
  Result<void> CheckShapes(std::span<const DeviceArgument> arguments) const;
  Result<std::vector<int64_t>> Sizes(std::span<const DeviceArgument> arguments) const;
  Result<void> AddLaunch(const PtxStep& step, std::span<const int64_t> sizes,
                         BoundCall& call) const;
  Result<void> NewRun(BoundCall& call);

  std::shared_ptr<Device> device_;
  PtxModule module_;
  std::unique_ptr<LoadedModule> loaded_;
  std::vector<FunctionHandle*> functions_;  // by step; null for Alloc
  std::vector<FunctionHandle*> long_rows_;  // by step; null but for Rows
  std::vector<ir::Type> params_;            // of the lowered entry
};

Result<std::unique_ptr<exec::Callable>> MakeCudaCallable(std::shared_ptr<Device> device,
                                                         PtxModule module);

}  // namespace frazil::targets::cuda
