// The judge of every other target, on the GPU: edge values, lengths, aliasing and canaries of verify/, and its evidence for
// each module instead of a number of runs.
#include <fmt/format.h>

#include "runner.h"
#include "verify/verify.h"

namespace frazil::gpu {
namespace {

// Of one verdict: made-up inputs may ask for more memory or time than is sensible.
constexpr uint64_t JudgeFuel = 1 << 22;
constexpr uint64_t JudgeMemoryBytes = 64 << 20;
constexpr uint64_t JudgeMs = 6'000;

verify::VerifyOptions JudgeOptions() {
  verify::VerifyOptions options;
  options.limits.fuel = JudgeFuel;
  options.limits.memory_bytes = JudgeMemoryBytes;
  options.limits.verify_ms = JudgeMs;
  options.exhaustive = false;  // a launch for each input
  return options;
}

}  // namespace

int JudgeKernels(DevicePtr device, const std::filesystem::path& folder) {
  int judged = 0, refuted = 0, unknown = 0;
  for (const auto& path : Modules(folder)) {
    const std::string name = path.stem().string();
    const auto fault = [&](const std::string& what) {
      ++refuted;
      fmt::print("FAIL {}: {}\n", name, what);
    };
    auto module = ReadModule(path);
    if (!module) {
      fault(module.error().ToString());
      continue;
    }
    const ir::Program program = module->source;
    const auto callable = targets::cuda::MakeCudaCallable(device, std::move(*module));
    if (!callable) {
      fault(callable.error().ToString());
      continue;
    }
    const Result<verify::Verdict> verdict =
        verify::VerifyLowering(program, **callable, {}, JudgeOptions());
    const verify::Evidence* evidence = verdict ? verify::EvidenceOf(*verdict) : nullptr;
    if (evidence != nullptr) {
      ++judged;
      fmt::print("{}: {}\n", name, verify::Describe(*evidence));
    } else if (verdict && std::holds_alternative<verify::Refuted>(*verdict)) {
      fault(verify::Describe(*verdict));
    } else {
      // No verdict is no success, and no fault of the code either: launches that this target leaves to the CPU.
      ++unknown;
      fmt::print("{}: no verdict: {}\n", name,
                 verdict ? verify::WhyNot(*verdict) : verdict.error().message);
    }
    std::fflush(stdout);
  }
  fmt::print("judged: {} modules with evidence, {} refuted, {} without a verdict\n", judged,
             refuted, unknown);
  return refuted;
}

}  // namespace frazil::gpu
