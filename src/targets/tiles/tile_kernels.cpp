// Which file's loops serve a level.
#include "targets/tiles/tile_kernels.h"

#include <bit>

#include "targets/tiles/tile_levels.h"

namespace frazil::targets::tiles {
namespace {

const LevelLoops& LoopsOf([[maybe_unused]] embed::CpuLevel level) {
#if defined(__x86_64__)
  if (level == embed::CpuLevel::Avx512) return Avx512Loops;
  if (level == embed::CpuLevel::Avx2) return Avx2Loops;
#endif
  return BaselineLoops;
}

}  // namespace

Kernel FastBinary(ir::Op op, ir::Scalar type, ModeSet modes, embed::CpuLevel level) {
  return LoopsOf(level).binary(op, type, modes);
}

Kernel FastPair(ir::Op op1, ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes,
                embed::CpuLevel level) {
  return LoopsOf(level).pair(op1, op2, swapped, type, modes);
}

Kernel FastChoice(ir::Op compare, ir::Scalar type, ModeSet modes, embed::CpuLevel level) {
  return LoopsOf(level).choice(compare, type, modes);
}

const MoveLoops& MovesOf(uint32_t element_bytes, embed::CpuLevel level) {
  return LoopsOf(level).moves[std::countr_zero(element_bytes)];
}

const MaskLoops& MasksOf(embed::CpuLevel level) { return *LoopsOf(level).masks; }

}  // namespace frazil::targets::tiles
