#include "targets/native/vectors/vector_sizes.h"

#include <algorithm>

#include "targets/native/function_emitter.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

// A longer one would be much code for little.
constexpr uint32_t MaxChainWork = 150;

}  // namespace

bool GathersOneByOne(const LoopPlan& plan, exec::CpuLevel level) {
  const uint32_t least = level == exec::CpuLevel::Baseline ? 16 : 4;
  return std::ranges::any_of(plan.accesses, [&](const LoopAccess& access) {
    return access.shape == Shape::Gather && access.bytes < least;
  });
}

bool HasGather(const LoopPlan& plan) {
  return std::ranges::any_of(
      plan.accesses, [](const LoopAccess& access) { return access.shape == Shape::Gather; });
}

// A short body wants several vectors at a time to fill the pipeline; a long one fills it alone and would spill. The form
// that comes first is to be compiled soon: every copy of the body takes as long as the first one.
BlockSizes ChooseSizes(const LoopPlan& plan, bool is_row, exec::CpuLevel level, bool tuned,
                       uint64_t most_trips) {
  const unsigned vector = VectorBytes(level);
  const unsigned memory =
      std::max<uint32_t>(plan.element_bytes, plan.accesses.empty() ? plan.compute_bytes : 1);
  // By an address of 64 bits each: more than two vectors of those would be much code (a byte a lane: 87 KB for a
  // generation of life).
  const bool gathers = GathersOneByOne(plan, level);
  const unsigned lanes = std::min(vector / memory, gathers ? vector / 4 : vector);
  const unsigned registers = std::max(1u, lanes * std::max(plan.compute_bytes, memory) / vector);
  // The schedulers hold too little of one long chain: four or eight of them side by side keep the pipes busy.
  const bool is_chain =
      memory >= 4 && plan.work > 24 && plan.work <= MaxChainWork && level == exec::CpuLevel::Avx512;
  // Of the longest, four are as fast as eight (sigmoid 0.71 G/s with either, gelu 0.37 and 0.38) in half of the code. Rows are
  // short: what a block does not hold goes under masks, and what is stored under a mask is loaded again late.
  const unsigned chains = plan.work <= 75 && !is_row ? 8 : 4;
  const bool has_rows = !plan.rows.empty();
  const unsigned tuned_wanted = has_rows || gathers ? 1
                                : is_chain          ? chains
                                : plan.work <= 24   ? 4
                                : plan.work <= 60   ? 2
                                                    : 1;
  const unsigned wanted = tuned ? tuned_wanted : has_rows || gathers || plan.work > 24 ? 1 : 2;
  BlockSizes sizes;
  sizes.main = lanes * std::max(1u, wanted / registers);
  const bool has_masks =
      level == exec::CpuLevel::Avx512 ||
      (level == exec::CpuLevel::Avx2 && (plan.accesses.empty() || plan.narrowest_bytes >= 4));
  if (has_masks) sizes.tail = lanes;
  // A rest never has the last lane, and one by one (before AVX-512) a masked gather has code for it.
  if (HasGather(plan) && level != exec::CpuLevel::Avx512 && sizes.main == lanes) sizes.tail = 0;
  // A long body under masks is hardly slower than without (60 ops, 1,000 elements, AVX-512: 1,097 ns, not 1,030). AVX2
  // stores slowly under them.
  const bool is_straight = plan.folds.empty() && !plan.has_inner_loop && !has_rows;
  const bool is_long =
      plan.work > (!tuned && level == exec::CpuLevel::Avx512 ? 24 : MaxChainWork) && has_masks;
  if (is_straight && is_long) sizes.main = 0;
  // The shortest bodies, twice in a turn: longer blocks would leave the order in which memory is read best.
  if (tuned && plan.work <= 8 && plan.folds.empty() && !has_rows) sizes.blocks = 2;
  // Blocks that no run can fill are not made.
  if (most_trips < uint64_t{sizes.main} * sizes.blocks) sizes.blocks = 1;
  if (!has_rows)
    while (sizes.main > lanes && sizes.main > most_trips) sizes.main /= 2;
  if (is_straight && sizes.main > most_trips && has_masks) sizes.main = 0;
  return sizes;
}

bool IsRow(const FunctionEmitter& emitter, const Inst& loop) {
  if (loop.op == Op::For) return true;
  const FunctionFacts& facts = emitter.facts();
  const auto id = static_cast<size_t>(&loop - emitter.function().insts.data());
  for (ir::RegionId region = facts.region[id]; region.valid();) {
    const InstId owner = facts.owner[region.index];
    if (!owner.valid()) return false;
    const Op op = emitter.function().inst(owner).op;
    if (op == Op::For || op == Op::Parallel || op == Op::While) return true;
    region = facts.region[owner.index];
  }
  return false;
}

uint64_t MostTrips(const FunctionEmitter& emitter, const Inst& loop) {
  ValueRanges& ranges = *emitter.facts().ranges;
  const IntRange lo = ranges.Int(emitter.function().operand(loop, 0));
  const IntRange hi = ranges.Int(emitter.function().operand(loop, 1));
  return static_cast<uint64_t>(std::clamp<__int128>(hi.high - lo.low, 0, UINT64_MAX));
}

}  // namespace frazil::targets::native
