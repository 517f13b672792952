// A program seen as a kernel: what each parameter of its entry is for at a launch. Derived from the program alone, so
// that every door (Python, circuits, text, C++) gets the same launch rules.
//
// A kernel's entry is straight-line code around `parallel`s. Parameters whose names contain a dot cannot come from a
// source language: the front end adds them behind the others, type `index`, and a launch configuration fills them:
//   lanes.x lanes.y lanes.z   lanes in each direction, for kernels that have no guard `i < n` around everything
//   grid.x ..  block.x ..     for kernels that know blocks: blocks, and lanes of a block, in each direction
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/param_role.h"
#include "ir/program.h"

namespace frazil::ir {

using frazil::ParamRole;
constexpr bool IsLaunchRole(ParamRole role) { return role >= ParamRole::LanesX; }
std::string_view RoleName(ParamRole role);  // "value", "lanes.x"

struct KernelParam {
  std::string name;  // without '%'; "p0", "p1" .. where the program names none
  Type type;
  ParamRole role = ParamRole::Value;
  std::vector<uint32_t>
      buffers;  // Extent: ordinals of the buffer parameters that it bounds, ascending
};

struct KernelSignature {
  std::string name;  // of the entry function
  std::vector<KernelParam> params;
  bool needs_launch() const;  // some parameter comes from the launch configuration
};

KernelSignature SignatureOf(const Program& program);

}  // namespace frazil::ir
