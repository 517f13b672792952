// All 2^32 inputs of a function in one launch: 2^22 sums come back and become 4096 digests.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "digest.h"
#include "runner.h"

namespace frazil::gpu {
namespace {

constexpr uint64_t Chunks = DigestCount * ChunksPerDigest;

Result<std::vector<uint64_t>> DigestsOf(const DevicePtr& device, const std::filesystem::path& path,
                                        double& milliseconds) {
  auto kernel = TRY(targets::cuda::CudaKernel::Load(device, TRY(ReadModule(path))));
  const targets::cuda::DeviceMemory out = TRY(device->Allocate(Chunks * sizeof(uint64_t)));
  const targets::cuda::DeviceArgument arguments[] = {{{0}}, {{Chunks}}, {{out.address(), Chunks}}};
  targets::cuda::BoundCall call = TRY(kernel->Bind(arguments, {}));
  std::vector<uint64_t> results;
  TRY_VOID(device->Wait());
  std::optional<exec::TrapInfo> trap;
  milliseconds = TRY(device->Time([&]() -> Result<void> {
    trap = TRY(kernel->Run(call, {}, results));
    return {};
  }));
  if (trap) return Fail(Diag::Internal, "it traps: " + trap->ToString());
  std::vector<uint64_t> chunks(Chunks);
  TRY_VOID(device->CopyOut(chunks.data(), out.address(), Chunks * sizeof(uint64_t)));
  return FoldChunks(chunks);
}

}  // namespace

int Sweep(DevicePtr device, const std::filesystem::path& folder, const std::filesystem::path& out) {
  int failures = 0, compared = 0;
  std::string all;
  for (const UnaryFunction& function : UnaryFunctions()) {
    double milliseconds = 0;
    const auto digests = DigestsOf(device, folder / (function.name + ".ptxm"), milliseconds);
    if (!digests) {
      ++failures;
      fmt::print("FAIL {}: {}\n", function.name, digests.error().ToString());
      continue;
    }
    all += fmt::format("{}\n", function.name);
    all.append(reinterpret_cast<const char*>(digests->data()), digests->size() * sizeof(uint64_t));
    const std::string bytes = ReadFile(folder / (function.name + ".digests"));
    std::string verdict = "no digests to compare with";
    if (bytes.size() == DigestCount * sizeof(uint64_t)) {
      std::vector<uint64_t> expected(DigestCount);
      std::memcpy(expected.data(), bytes.data(), bytes.size());
      uint64_t differs = 0, first = 0;
      for (uint64_t d = DigestCount; d-- > 0;)
        if (expected[d] != (*digests)[d]) ++differs, first = d;
      ++compared;
      verdict = differs == 0
                    ? "0 of 4096 blocks differ"
                    : fmt::format("{} of 4096 blocks differ, the first is {}", differs, first);
      if (differs != 0) ++failures;
    }
    fmt::print("{:14} {:8.1f} ms, {:6.1f} G/s  {}\n", function.name, milliseconds,
               4294.967296 / milliseconds, verdict);
    std::fflush(stdout);
  }
  fmt::print("sweep: {} functions compared with digests of the CPU\n", compared);
  if (!out.empty()) std::ofstream(out / "gpu.digests", std::ios::binary) << all;
  return failures;
}

}  // namespace frazil::gpu
