// The parts of frazil-gpu. Each prints its lines and gives the number of failures.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "targets/cuda/driver/callable.h"

namespace frazil::gpu {

using DevicePtr = std::shared_ptr<targets::cuda::Device>;

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
// Every digest program over all inputs, against the digests beside it; what the GPU computes goes to `out`.
int Sweep(DevicePtr device, const std::filesystem::path& folder, const std::filesystem::path& out);
// Bandwidth, latency, replay.
int Measure(DevicePtr device, const std::filesystem::path& folder);

}  // namespace frazil::gpu
