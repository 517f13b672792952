// A loop whose turns differ at its ends (a clamped or wrapped neighbor, a guard) becomes several: the turns in between,
// where every such question has one answer, and those before and behind. Internal to this folder.
//
// What is left in between reads side by side, and needs no masks.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::targets::native {

// By function: the counters of loops that are a border. They have few turns, which go one by one.
using Borders = std::vector<std::set<uint32_t>>;

// Of a lowered program whose invariants are hoisted.
Result<Borders> SplitBorders(ir::Program& lowered);

}  // namespace frazil::targets::native
