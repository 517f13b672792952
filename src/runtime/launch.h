// A launch in words. The tests here are made from a kernel's signature once; they may be too strict and are never too
// lax: a launch that they do not let through is completed, checked and, where it is wrong, explained by the rules
// themselves (exec/kernel_launch.h, exec/launch.h). Nothing is allocated on the short way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/launch_config.h"
#include "base/result.h"
#include "ir/kernel.h"
#include "ir/program.h"
#include "runtime/argument.h"

namespace frazil::runtime {

class LoadedKernel;

namespace internal {

constexpr uint32_t MostLaunchWords = 64;
constexpr uint32_t MostLaunchResults = 8;

class LaunchPlan {
 public:
  LaunchPlan(const ir::Program& program, const ir::KernelSignature& signature);

  // False: this is for the rules to decide. Else the words of the call, as exec::NativeEntry takes them.
  bool Words(const LaunchConfig& config, std::span<const Argument> arguments,
             uint64_t* words) const;

 private:
  struct Param {
    ir::ParamRole role;
    Kind kind;
    bool may_write;
    uint8_t word;
  };
  struct Pair {
    uint8_t first, second;  // where the words begin
    uint8_t first_bytes, second_bytes;
    bool same_kind;
  };
  struct Bound {
    uint8_t extent, buffer;
  };
  bool Take(const Param& param, const Argument& argument, uint64_t* words) const;
  bool Derive(const LaunchConfig& config, uint64_t missing, uint64_t* words) const;
  bool FromConfig(const LaunchConfig& config, const Param& param, uint64_t& word) const;

  std::vector<Param> params_;
  std::vector<Bound> bounds_;  // parameters by position: an extent, and a buffer that it bounds
  std::vector<Pair> apart_;    // buffers of which one is written
  bool is_quick_ = true;       // false: every launch is for the rules
  bool needs_launch_ = false;  // some parameter comes from the configuration
};

// The long way: completes, checks, explains, runs.
Result<void> LaunchByRules(const LoadedKernel& kernel, const LaunchConfig& config,
                           std::span<const Argument> arguments);

}  // namespace internal
}  // namespace frazil::runtime
