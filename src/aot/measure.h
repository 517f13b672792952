// What can be counted in a program without running it: its operations, the bytes an iteration moves, and roughly how long
// a launch will take.
#pragma once

#include <vector>

#include "aot/aot.h"
#include "embed/kernel.h"
#include "ir/program.h"

namespace frazil::aot {

// Instructions of the functions that the entry reaches, without the ends of regions.
uint64_t CountOps(const ir::Program& program);

Traffic TrafficOf(const ir::Program& program);

// Products of words of the launch that bound loops, in picoseconds: as if every loop ran in vectors out of the nearest
// cache, so that a launch is never taken for larger than it is. `words`: where each parameter's words begin.
std::vector<embed::WorkTerm> EstimateWork(const ir::Program& program);

// The word that is the number of iterations of the only outermost parallel, where that loop runs from 0 to a parameter.
uint16_t TripsWord(const ir::Program& program);

// Extents that must not exceed a buffer's length, because every iteration of their parallel accesses the buffer at its
// own number: pairs of positions.
std::vector<embed::PairData> CoveredBuffers(const ir::Program& program);

}  // namespace frazil::aot
