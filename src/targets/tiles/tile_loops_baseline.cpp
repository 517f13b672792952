// The fast loops for the level baseline.
#include <algorithm>
#include <concepts>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "exec/meaning/scalar_functors.h"
#include "targets/tiles/tile_kernels.h"
#include "targets/tiles/tile_levels.h"

#define FRAZIL_TILE_LEVEL tile_baseline
#define FRAZIL_TILE_TARGET
#include "targets/tiles/tile_loops.h"
#include "targets/tiles/tile_moves.h"

// Chooses among the loops above.
#include "targets/tiles/tile_choose.h"

namespace frazil::targets::tiles {

const LevelLoops BaselineLoops = {&tile_baseline::FindBinary, &tile_baseline::FindPair,
                                  &tile_baseline::FindChoice, tile_baseline::Moves,
                                  &tile_baseline::Masks};

}  // namespace frazil::targets::tiles
