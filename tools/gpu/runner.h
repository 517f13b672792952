// The parts of frazil-gpu. Each prints its lines and gives the number of failures.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "exec/value.h"
#include "ir/kernel.h"
#include "targets/cuda/driver/callable.h"

namespace frazil::gpu {

using DevicePtr = std::shared_ptr<targets::cuda::Device>;

// NVIDIA's; the program itself where that is its own driver, in a test.
#ifndef FRAZIL_GPU_LIBRARY
#define FRAZIL_GPU_LIBRARY "libcuda.so.1"
#endif

// Arguments of a kernel made from its signature; sizes are small and of all kinds.
class KernelArguments {
 public:
  explicit KernelArguments(const ir::KernelSignature& signature) : signature_(signature) {}
  std::vector<exec::Value> Next();

 private:
  const ir::KernelSignature& signature_;
  std::mt19937_64 random_{11};
};

std::string ReadFile(const std::filesystem::path& path);
Result<targets::cuda::PtxModule> ReadModule(const std::filesystem::path& path);
std::vector<std::filesystem::path> Modules(const std::filesystem::path& folder);  // sorted

// Programs with run lines, then random programs, against the interpreter.
int CheckPrograms(DevicePtr device, const std::filesystem::path& folder);
int CheckRandom(DevicePtr device, const std::filesystem::path& folder, int runs);
// Kernels with arguments made from their signatures; sizes are small and of all kinds, so some runs trap, on both sides.
int CheckKernels(DevicePtr device, const std::filesystem::path& folder, int runs);
// The same kernels before the judge of verify/: its evidence for each module.
int JudgeKernels(DevicePtr device, const std::filesystem::path& folder);
// The same kernels by the executor "cuda": proposed, judged, kept, launched; and planted wrong ones.
int CheckExecutor(const std::filesystem::path& folder);
// Every digest program over all inputs, against the digests beside it; what the GPU computes goes to `out`.
int Sweep(DevicePtr device, const std::filesystem::path& folder, const std::filesystem::path& out);
// Bandwidth, latency, replay.
int Measure(DevicePtr device, const std::filesystem::path& folder);

}  // namespace frazil::gpu
