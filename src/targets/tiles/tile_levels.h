// What each CPU level brings, one file for each (tile_loops_*.cpp).
#pragma once

#include "targets/tiles/tile_kernels.h"

namespace frazil::targets::tiles {

struct LevelLoops {
  Kernel (*binary)(ir::Op op, ir::Scalar type, ModeSet modes);
  Kernel (*pair)(ir::Op op1, ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes);
  Kernel (*choice)(ir::Op compare, ir::Scalar type, ModeSet modes);
  const MoveLoops* moves;  // by log2 of the element's bytes
  const MaskLoops* masks;
};
extern const LevelLoops BaselineLoops;
extern const LevelLoops Avx2Loops;
extern const LevelLoops Avx512Loops;

}  // namespace frazil::targets::tiles
