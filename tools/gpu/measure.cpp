// Bandwidth of elementwise kernels beside a device-to-device copy of the same run, interleaved; launch latency beside
// the driver's own call; replay of recorded sequences.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "measure.h"

namespace frazil::gpu {
namespace {

using targets::cuda::BoundCall;
using targets::cuda::CudaKernel;
using targets::cuda::Device;
using targets::cuda::DeviceArgument;
using targets::cuda::DeviceMemory;
using targets::cuda::Launch;

constexpr int Rounds = 15;

double Seconds(const std::chrono::steady_clock::time_point& start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<Buffers> MakeBuffers(Device& device) {
  Buffers buffers;
  for (DeviceMemory* memory : {&buffers.x, &buffers.y, &buffers.z})
    *memory = TRY(device.Allocate(4 * Elements));
  std::vector<float> values(1 << 22);
  std::mt19937 random(7);
  for (float& value : values) value = std::uniform_real_distribution<float>(-4, 4)(random);
  for (uint64_t at = 0; at < Elements; at += values.size())
    for (DeviceMemory* memory : {&buffers.x, &buffers.y})
      TRY_VOID(device.CopyIn(memory->address() + 4 * at, values.data(), 4 * values.size()));
  TRY_VOID(device.Wait());
  return buffers;
}

std::vector<DeviceArgument> Arguments(const Buffers& buffers, uint64_t n) {
  const float a = 1.5f;
  uint32_t bits;
  std::memcpy(&bits, &a, 4);
  return {{{bits}},
          {{n}},
          {{buffers.x.address(), n}},
          {{buffers.y.address(), n}},
          {{buffers.z.address(), n}}};
}

Result<void> Bandwidth(DevicePtr device, const std::filesystem::path& folder,
                       const Buffers& buffers) {
  fmt::print("{:18} {:>9} {:>9} {:>9} {:>7}   n = 2^28\n", "kernel", "ms", "GB/s", "copy GB/s",
             "ratio");
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("map")) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    auto kernel = TRY(CudaKernel::Load(device, TRY(ReadModule(path))));
    BoundCall call = TRY(kernel->Bind(Arguments(buffers, Elements), {}));
    const double moved = path.filename().string().starts_with("map1") ? 8.0 : 12.0;
    Times ours, copies;
    auto copy = [&]() -> Result<void> {
      return device->CopyInside(buffers.z.address(), buffers.x.address(), 4 * Elements);
    };
    auto run = [&]() -> Result<void> { return device->Run(call.launches[0]); };
    for (int round = 0; round < Rounds; ++round) {
      const double c = TRY(device->Time(copy));
      const double k = TRY(device->Time(run));
      if (round < 3) continue;
      copies.values.push_back(c);
      ours.values.push_back(k);
    }
    const double rate = moved * Elements / ours.median() / 1e6;
    const double copy_rate = 8.0 * Elements / copies.median() / 1e6;
    fmt::print("{:18} {:9.3f} {:9.0f} {:9.0f} {:7.3f}\n", path.stem().string(), ours.median(), rate,
               copy_rate, rate / copy_rate);
    std::fflush(stdout);
  }
  return {};
}

Result<void> Latency(DevicePtr device, const std::filesystem::path& folder,
                     const Buffers& buffers) {
  auto kernel = TRY(CudaKernel::Load(device, TRY(ReadModule(folder / "empty.ptxm"))));
  BoundCall call = TRY(kernel->Bind(Arguments(buffers, 1), {}));
  const Launch& launch = call.launches[0];
  // The same kernel by the driver's own call, its parameters in the usual form.
  std::vector<void*> params;
  for (const uint64_t& word : launch.words) params.push_back(const_cast<uint64_t*>(&word));
  const targets::cuda::Api& api = device->api();
  auto raw = [&] {
    return api.Launch(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1, 0,
                      device->stream(), params.data(), nullptr);
  };
  constexpr int Batch = 500;
  Times ours_issue, raw_issue, ours_whole, raw_whole;
  for (int round = 0; round < 60; ++round) {
    auto batch = [&](auto&& one, Times& issue) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < Batch; ++i) one();
      const double taken = Seconds(start) / Batch;
      (void)device->Wait();
      if (round >= 5) issue.values.push_back(taken);
    };
    auto whole = [&](auto&& one, Times& times) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 50; ++i) {
        one();
        (void)device->Wait();
      }
      if (round >= 5) times.values.push_back(Seconds(start) / 50);
    };
    auto ours = [&] { return device->Start(launch); };
    batch(raw, raw_issue);
    batch(ours, ours_issue);
    whole(raw, raw_whole);
    whole(ours, ours_whole);
  }
  fmt::print(
      "launch, issued without waiting: {:.2f} us, raw {:.2f} us, ratio {:.3f} (minima {:.2f}, "
      "{:.2f})\n",
      ours_issue.median() * 1e6, raw_issue.median() * 1e6, ours_issue.median() / raw_issue.median(),
      ours_issue.least() * 1e6, raw_issue.least() * 1e6);
  fmt::print(
      "launch and wait:                {:.2f} us, raw {:.2f} us, ratio {:.3f} (minima {:.2f}, "
      "{:.2f})\n",
      ours_whole.median() * 1e6, raw_whole.median() * 1e6, ours_whole.median() / raw_whole.median(),
      ours_whole.least() * 1e6, raw_whole.least() * 1e6);
  for (size_t length : {1u, 10u, 100u}) {
    const std::vector<Launch> sequence(length, launch);
    auto recording = TRY(device->Record(sequence));
    Times replay;
    for (int round = 0; round < 60; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 20; ++i) TRY_VOID(device->Replay(*recording));
      TRY_VOID(device->Wait());
      if (round >= 5) replay.values.push_back(Seconds(start) / 20);
    }
    fmt::print("recorded sequence of {:3}: {:.2f} us a replay, {:.3f} us a kernel\n", length,
               replay.median() * 1e6, replay.median() * 1e6 / static_cast<double>(length));
  }
  return {};
}

Result<void> Sums(DevicePtr device, const std::filesystem::path& folder, const Buffers& buffers) {
  auto kernel = TRY(CudaKernel::Load(device, TRY(ReadModule(folder / "sum.ptxm"))));
  for (uint64_t n : {uint64_t{1} << 20, uint64_t{1} << 24, uint64_t{1} << 28}) {
    BoundCall call =
        TRY(kernel->Bind(std::vector<DeviceArgument>{{{n}}, {{buffers.x.address(), n}}}, {}));
    Times times;
    for (int round = 0; round < 5; ++round)
      times.values.push_back(TRY(device->Time([&]() -> Result<void> {
        for (const Launch& launch : call.launches) TRY_VOID(device->Run(launch));
        return {};
      })));
    fmt::print("sum of 2^{:.0f} in the defined tree: {:.3f} ms, {:.0f} GB/s\n",
               std::log2(static_cast<double>(n)), times.median(),
               4.0 * static_cast<double>(n) / times.median() / 1e6);
  }
  return {};
}

}  // namespace

int Measure(DevicePtr device, const std::filesystem::path& folder) {
  int failures = 0;
  auto buffers = MakeBuffers(*device);
  if (!buffers) {
    fmt::print("FAIL {}\n", buffers.error().ToString());
    return 1;
  }
  for (auto part : {Bandwidth, Latency, Sums, Rows, Products}) {
    const auto done = part(device, folder, *buffers);
    if (done) continue;
    ++failures;
    fmt::print("FAIL {}\n", done.error().ToString());
  }
  return failures;
}

}  // namespace frazil::gpu
