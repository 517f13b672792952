// How a kernel is launched: which ids it asks for, which guards become bounds, what is left for each lane.
#pragma once

#include <array>
#include <optional>

#include "frontends/python/functions.h"
#include "frontends/python/passes.h"

namespace frazil::frontends::python {

// Lanes leave their value in `local`; it is folded into array[index].
struct Reduction {
  uint32_t array = 0;
  Expr* index = nullptr;
  uint32_t local = 0;
  ir::AtomicKind kind = ir::AtomicKind::Add;
  Location location;
};

struct LaunchPlan {
  uint32_t dims = 0;                   // 0: it never asks where it is, so it runs once
  bool has_blocks = false;             // it knows blocks, shared memory or barriers
  std::array<bool, 3> uses_size = {};  // get_global_size(d) is asked for
  std::array<Expr*, 3> bounds = {};    // guards that became bounds; null: lanes.d
  Block body;                          // what a lane does
  std::vector<Reduction> reductions;
};

LaunchPlan PlanLaunch(KernelTree& tree, const Block& pass);
// Turns float atomics into reductions where they are some; changes statements of the plan's body.
void PlanReductions(KernelTree& tree, LaunchPlan& plan);

// The same for every lane and computed from parameters, constants and (in_block) the block's own ids.
bool IsUniform(const KernelTree& tree, const Expr* e, bool in_block);
// It can neither trap nor have an effect, and costs little: may be evaluated where it is not needed.
bool IsSafe(const Expr* e);
// The same where its variables are evaluated with it, because it comes before their assignments; not those in `known`.
// What `known` may be: variables that are assigned whatever happens.
std::vector<uint32_t> AssignedAtTop(const Block& body);
bool IsSafeBefore(const KernelTree& tree, const Expr* e, std::span<const uint32_t> known);
int CostOf(const Expr* e);
bool HasEffect(const Expr* e);
bool HasEffect(const Block& block);

}  // namespace frazil::frontends::python
