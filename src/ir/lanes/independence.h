// May the iterations of a `parallel` run in another order, or at once? Its meaning is ascending order (semantics:
// parallel); any other schedule needs this answer. Judged from the program alone, never from names or flags.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

struct Independence {
  // Every schedule gives the same results, provided the conditions below hold at the launch.
  bool independent = false;
  std::string why_not;  // one sentence, if not
  Location where;       // of the access that decides it
  // Pairs of buffer parameters (ordinals of the entry) that must not be the same buffer.
  std::vector<std::pair<uint32_t, uint32_t>> disjoint;
  // Scalar parameters (ordinals) that must satisfy first <= second, both read as signed 64-bit: row lengths.
  std::vector<std::pair<uint32_t, uint32_t>> at_most;
  bool unconditional() const { return independent && disjoint.empty() && at_most.empty(); }
};

// `parallel` is an instruction of `function` whose op is Parallel. Barriers inside are fine: they order phases.
Independence IndependenceOf(const Program& program, const Function& function, InstId parallel);

// The kernel with its outermost `parallel` cut to a range: two `index` parameters are appended, `range.lo` and
// `range.hi`, and the loop runs over the part of its own range that lies in [lo, hi) of 0, 1, .. trips - 1. Running
// every piece of a partition of the trips, in any order, is running the kernel; a trap is the one of the lowest
// iteration that trapped. Without trips one piece, [0, 0), is still to be run: what stands before the loop may trap.
struct RangedKernel {
  Program program;  // what a piece runs
  Program
      trips;  // the entry's scalar parameters and buffer lengths -> the number of trips, as `index`
  Independence conditions;  // independent; its conditions must be checked at the launch
};
// Fails with the reason (a Diag of class Limit) where the kernel has not exactly one outermost `parallel`, does anything
// with effects outside of it, or its iterations depend on each other: such a kernel runs in one piece.
Result<RangedKernel> MakeRanged(const Program& program);

}  // namespace frazil::ir
