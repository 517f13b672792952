// Row kernels beside a device-to-device copy of as many bytes, interleaved; products of matrices in tiles. What was timed is
// compared with the CPU's bits: some rows with the interpreter, products element by element with chains of fma.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "exec/meaning/interpreter.h"
#include "measure.h"

namespace frazil::gpu {
namespace {

using targets::cuda::BoundCall;
using targets::cuda::CudaKernel;
using targets::cuda::Device;
using targets::cuda::DeviceArgument;
using targets::cuda::Launch;

constexpr int Rounds = 15;

Result<double> TimeCall(Device& device, const BoundCall& call) {
  return device.Time([&]() -> Result<void> {
    for (const Launch& launch : call.launches) TRY_VOID(device.Run(launch));
    return {};
  });
}

exec::Value TensorOf(std::span<const float> values, std::vector<int64_t> dims) {
  auto memory = std::make_shared<exec::Memory>(ir::types::F32, static_cast<int64_t>(values.size()));
  std::memcpy(memory->data(), values.data(), values.size() * sizeof(float));
  return exec::Value::Tensor(memory, std::move(dims));
}

Result<std::vector<float>> Floats(Device& device, targets::cuda::DevicePointer from,
                                  uint64_t count) {
  std::vector<float> values(count);
  TRY_VOID(device.CopyOut(values.data(), from, count * sizeof(float)));
  return values;
}

// How many of some rows differ from what the interpreter makes of them.
Result<uint64_t> WrongRows(Device& device, const ir::Program& program, const Buffers& buffers,
                           uint64_t m, uint64_t n, bool has_scales) {
  constexpr uint64_t Some = 3;
  const uint64_t out =
      program.entry_function().shape(program.entry_function().results[0]).size() == 1 ? 1 : n;
  uint64_t wrong = 0;
  for (const uint64_t first : {uint64_t{0}, m / 2 + 1, m - Some}) {
    const auto in = TRY(Floats(device, buffers.x.address() + 4 * first * n, Some * n));
    const auto got = TRY(Floats(device, buffers.z.address() + 4 * first * out, Some * out));
    std::vector<exec::Value> arguments = {
        exec::Value::Int(ir::types::Index, Some),
        exec::Value::Int(ir::types::Index, static_cast<int64_t>(n)),
        TensorOf(in, {Some, static_cast<int64_t>(n)})};
    if (has_scales)
      for (const uint64_t at : {uint64_t{0}, n})
        arguments.push_back(TensorOf(TRY(Floats(device, buffers.y.address() + 4 * at, n)),
                                     {static_cast<int64_t>(n)}));
    const exec::Outcome expected = TRY(exec::Interpret(program, arguments));
    if (expected.trap) return Fail(Diag::Internal, expected.trap->ToString());
    for (uint64_t r = 0; r < Some; ++r)
      wrong += std::memcmp(expected.results[0].memory->data() + 4 * r * out, got.data() + r * out,
                           4 * out) != 0;
  }
  return wrong;
}

}  // namespace

Result<void> Rows(DevicePtr device, const std::filesystem::path& folder, const Buffers& buffers) {
  fmt::print("{:16} {:>6} {:>9} {:>9} {:>9} {:>7}\n", "rows", "n", "ms", "GB/s", "copy GB/s",
             "ratio");
  for (const auto& path : Modules(folder)) {
    const std::string name = path.stem().string();
    if (!name.starts_with("rows")) continue;
    auto kernel = TRY(CudaKernel::Load(device, TRY(ReadModule(path))));
    const bool has_scales = name.starts_with("rows-layernorm");
    const bool is_sum = name.starts_with("rows-sum");
    for (const uint64_t n : {uint64_t{64}, uint64_t{768}, uint64_t{1024}, uint64_t{4096},
                             uint64_t{16384}, uint64_t{1001}}) {
      const uint64_t m = Elements / n;
      std::vector<DeviceArgument> arguments = {{{m}}, {{n}}, {{buffers.x.address(), m * n}}};
      if (has_scales)
        for (const uint64_t at : {uint64_t{0}, n})
          arguments.push_back({{buffers.y.address() + 4 * (at + 3) / 16 * 16, n}});
      arguments.push_back({{buffers.z.address(), is_sum ? m : m * n}});
      BoundCall call = TRY(kernel->Bind(arguments, {}));
      std::vector<uint64_t> results;
      TRY_VOID(device->Fill(buffers.z.address(), 0xff, 4 * m * (is_sum ? 1 : n)));
      if (auto trap = TRY(kernel->Run(call, {}, results)); trap)
        return Fail(Diag::Internal, trap->ToString());
      uint64_t wrong = 0;
      if (!has_scales || n % 4 == 0)
        wrong = TRY(WrongRows(*device, kernel->module().source, buffers, m, n, has_scales));
      Times ours, copies;
      for (int round = 0; round < Rounds; ++round) {
        const double c = TRY(device->Time([&]() -> Result<void> {
          return device->CopyInside(buffers.z.address(), buffers.x.address(), 4 * m * n);
        }));
        const double k = TRY(TimeCall(*device, call));
        if (round < 3) continue;
        copies.values.push_back(c);
        ours.values.push_back(k);
      }
      const double moved = (is_sum ? 4.0 : 8.0) * static_cast<double>(m * n);
      const double rate = moved / ours.median() / 1e6;
      const double copy_rate = 8.0 * static_cast<double>(m * n) / copies.median() / 1e6;
      fmt::print(
          "{:16} {:6} {:9.3f} {:9.0f} {:9.0f} {:7.3f}  {} of 9 rows differ, {} x {} threads, {} "
          "bytes\n",
          name, n, ours.median(), rate, copy_rate, rate / copy_rate, wrong,
          call.launches.back().blocks, call.launches.back().threads,
          call.launches.back().shared_bytes);
      std::fflush(stdout);
      if (wrong != 0) return Fail(Diag::Internal, "rows differ from the CPU's");
    }
  }
  return {};
}

namespace {

// All elements of a product, or every n-th row of it, by chains of fma.
uint64_t WrongElements(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                       uint64_t size, uint64_t every) {
  std::atomic<uint64_t> wrong = 0, next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      std::vector<float> row(size);
      for (uint64_t i; (i = next.fetch_add(1) * every) < size;) {
        std::ranges::fill(row, 0.0f);
        for (uint64_t k = 0; k < size; ++k)
          for (uint64_t j = 0; j < size; ++j)
            row[j] = std::fma(a[i * size + k], b[k * size + j], row[j]);
        for (uint64_t j = 0; j < size; ++j)
          wrong += std::memcmp(&row[j], &c[i * size + j], 4) != 0 ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

}  // namespace

Result<void> Products(DevicePtr device, const std::filesystem::path& folder,
                      const Buffers& buffers) {
  std::vector<std::filesystem::path> paths;
  for (const auto& path : Modules(folder))
    if (path.filename().string().starts_with("matmul")) paths.push_back(path);
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    auto loaded = CudaKernel::Load(device, TRY(ReadModule(path)));
    if (!loaded) {
      fmt::print("FAIL {}: {}\n", path.stem().string(), loaded.error().ToString());
      continue;
    }
    CudaKernel& kernel = **loaded;
    for (const uint64_t size : {uint64_t{1024}, uint64_t{2048}, uint64_t{4096}}) {
      const uint64_t count = size * size;
      const std::vector<DeviceArgument> arguments = {{{size}},
                                                     {{size}},
                                                     {{size}},
                                                     {{buffers.x.address(), count}},
                                                     {{buffers.y.address(), count}},
                                                     {{buffers.z.address(), count}}};
      BoundCall call = TRY(kernel.Bind(arguments, {}));
      std::vector<uint64_t> results;
      TRY_VOID(device->Fill(buffers.z.address(), 0xff, 4 * count));
      if (auto trap = TRY(kernel.Run(call, {}, results)); trap)
        return Fail(Diag::Internal, trap->ToString());
      const auto a = TRY(Floats(*device, buffers.x.address(), count));
      const auto b = TRY(Floats(*device, buffers.y.address(), count));
      const auto c = TRY(Floats(*device, buffers.z.address(), count));
      // Whole at 1024 for the usual tile; else a row out of each tile.
      const uint64_t every = size == 1024 && path.stem() == "matmul" ? 1 : size / 16 + 1;
      const uint64_t wrong = WrongElements(a, b, c, size, every);
      Times times;
      for (int round = 0; round < 8; ++round) {
        const double taken = TRY(TimeCall(*device, call));
        if (round >= 2) times.values.push_back(taken);
      }
      fmt::print(
          "{:28} {:5}: {:8.3f} ms, {:5.1f} TFLOP/s, {} elements differ in {} rows\n",
          path.stem().string(), size, times.median(),
          2.0 * static_cast<double>(count) * static_cast<double>(size) / times.median() / 1e9,
          wrong, (size + every - 1) / every);
      std::fflush(stdout);
      if (wrong != 0) return Fail(Diag::Internal, "a product differs from the CPU's");
    }
  }
  return {};
}

}  // namespace frazil::gpu
