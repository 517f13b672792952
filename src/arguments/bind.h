// A kernel's arguments by name: "x=x.npy,y=[1,2],a=2".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/buffers.h"
#include "base/limits.h"
#include "base/result.h"
#include "exec/kernel_launch.h"
#include "ir/kernel.h"
#include "ir/program.h"

namespace frazil::arguments {

using Pairs = std::map<std::string, std::string>;
// Commas inside of brackets belong to a list. `flag` is what errors call the texts.
Result<Pairs> SplitPairs(const std::vector<std::string>& texts, std::string_view flag);

// The same, where each name must be one of the kernel's buffers.
Result<Pairs> SplitBufferPairs(const std::vector<std::string>& texts, std::string_view flag,
                               const ir::KernelSignature& signature);

// A launch as flags give it: up to three edges of each, x first.
struct LaunchFlags {
  std::optional<int64_t> n;  // lanes along x, where `lanes` does not say
  std::vector<int64_t> grid, block, lanes;
  uint64_t shared_bytes = 0;
};
exec::LaunchShape ShapeOf(const LaunchFlags& flags);

// Every parameter's argument: from `pairs`, else from the shape of the launch. A buffer is a list, a .npy file, a made one
// (buffers.h) or an earlier buffer. `entry` has the parameters of `signature`.
Result<std::vector<exec::Value>> Bind(const ir::KernelSignature& signature,
                                      const ir::Function& entry, Pairs pairs,
                                      const exec::LaunchShape& shape, MemoryBudget& budget,
                                      const Limits& limits);

}  // namespace frazil::arguments
