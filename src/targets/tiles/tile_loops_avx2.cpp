// The fast loops for the level avx2.
#if defined(__x86_64__)
#include <algorithm>
#include <concepts>
#include <cstring>

#include <immintrin.h>

#include "exec/meaning/scalar_functors.h"
#include "targets/tiles/tile_kernels.h"
#include "targets/tiles/tile_levels.h"

#define FRAZIL_TILE_LEVEL tile_avx2
#define FRAZIL_TILE_TARGET __attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#include "targets/tiles/tile_loops.h"
#include "targets/tiles/tile_moves.h"

// Chooses among the loops above.
#include "targets/tiles/tile_choose.h"

namespace frazil::targets::tiles {

const LevelLoops Avx2Loops = {&tile_avx2::FindBinary, &tile_avx2::FindPair, &tile_avx2::FindChoice,
                              tile_avx2::Moves, &tile_avx2::Masks};

}  // namespace frazil::targets::tiles
#endif
