// The fast loops for the level avx512.
#if defined(__x86_64__)
#include <algorithm>
#include <concepts>
#include <cstring>

#include <immintrin.h>

#include "exec/meaning/scalar_functors.h"
#include "targets/tiles/tile_kernels.h"
#include "targets/tiles/tile_levels.h"

#define FRAZIL_TILE_LEVEL tile_avx512
#define FRAZIL_TILE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi,bmi2,lzcnt,popcnt")))
#include "targets/tiles/tile_loops.h"
#include "targets/tiles/tile_moves.h"

// Chooses among the loops above.
#include "targets/tiles/tile_choose.h"

namespace frazil::targets::tiles {

const LevelLoops Avx512Loops = {&tile_avx512::FindBinary, &tile_avx512::FindPair,
                                &tile_avx512::FindChoice, tile_avx512::Moves, &tile_avx512::Masks};

}  // namespace frazil::targets::tiles
#endif
