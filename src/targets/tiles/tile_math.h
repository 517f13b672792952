// Math functions on tiles: installed ones, and the prelude's, prepared once for each op, type and level and kept.
#pragma once

#include "targets/tiles/tile_plan.h"

namespace frazil::targets::tiles {

MathFunction InstalledMath(ir::Op op, ir::Scalar type);  // or null
Result<const TilePlan*> MathPlan(ir::Op op, ir::Scalar type, embed::CpuLevel level);

}  // namespace frazil::targets::tiles
