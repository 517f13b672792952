// Sums of products of two buffers: one step of the machine for each, xx_dot_step where both hold extension elements,
// xb_dot_step where one holds base elements. Two buffers of base elements stay as they are: the machine would want one
// of them three words apart, which nothing here lays out.
#include "base/number/goldilocks.h"
#include "targets/tasm/words/selector.h"

namespace frazil::targets::tasm {

using ir::Op;
using ir::Scalar;

namespace {

// What a word of the program costs in rows, about: its share of the program's own hash.
constexpr uint64_t RowsOfWord = 7;

// Steps written out in a round, a divisor of all: the test takes four rows a round, and nine words with the call.
uint64_t StepsInRound(uint64_t all) {
  uint64_t best = all, least = all * RowsOfWord + all;
  for (uint64_t steps = 1; steps <= 64 && steps < all; ++steps) {
    if (all % steps != 0) continue;
    const uint64_t cost = (9 + steps) * RowsOfWord + all + 4 * (all / steps);
    if (cost < least) {
      least = cost;
      best = steps;
    }
  }
  return best;
}

}  // namespace

// The load of the loop's own element behind a factor, with the cast of base elements taken away.
const ir::Inst* Selector::ElementOf(ir::ValueId factor, ir::ValueId index) const {
  ir::InstId def = f().values[factor.index].def;
  if (def.valid() && f().inst(def).op == Op::Cast) {
    factor = f().operand(f().inst(def), 0);
    if (f().type(factor).scalar != Scalar::Field) return nullptr;
    def = f().values[factor.index].def;
  }
  if (!def.valid() || f().inst(def).op != Op::Load) return nullptr;
  const ir::Inst& load = f().inst(def);
  ir::ValueId at = f().operand(load, 1);
  for (ir::InstId maker = f().values[at.index].def; maker.valid() && at != index;
       maker = f().values[at.index].def) {
    if (f().inst(maker).op != Op::Cast) return nullptr;
    at = f().operand(f().inst(maker), 0);
  }
  return at == index ? &load : nullptr;
}

std::optional<Selector::Dot> Selector::ReadDot(const ir::Inst& inst) const {
  const ir::Region& region = f().region(ir::Function::region_of(inst, 0));
  if (inst.results.count != 1 || f().word(inst, 0) != 1 ||
      f().type(ir::Function::result_of(inst)).scalar != Scalar::XField)
    return std::nullopt;
  size_t loads = 0, others = 0;
  for (ir::InstId id : region.insts) {
    const Op op = f().inst(id).op;
    if (op == Op::Load) {
      ++loads;
    } else if (op != Op::Cast && op != Op::Yield) {
      ++others;
    }
  }
  if (loads != 2 || others != 2) return std::nullopt;
  const ir::ValueId sum = f().operand(f().inst(region.insts.back()), 0);
  const ir::InstId adds = f().values[sum.index].def;
  if (!adds.valid() || f().inst(adds).op != Op::Add) return std::nullopt;
  const ir::ValueId carried = ir::Function::param_of(region, 1);
  const ir::Inst& add = f().inst(adds);
  const bool first = f().operand(add, 0) == carried;
  const ir::InstId multiplies = f().values[f().operand(add, first ? 1 : 0).index].def;
  if (f().operand(add, first ? 0 : 1) != carried || !multiplies.valid() ||
      f().inst(multiplies).op != Op::Mul)
    return std::nullopt;
  const ir::ValueId index = ir::Function::param_of(region, 0);
  const ir::Inst* a = ElementOf(f().operand(f().inst(multiplies), 0), index);
  const ir::Inst* b = ElementOf(f().operand(f().inst(multiplies), 1), index);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->type.scalar == Scalar::Field) std::swap(a, b);
  if (a->type.scalar != Scalar::XField || a == b) return std::nullopt;
  return Dot{a, b, b->type.scalar == Scalar::Field};
}

// acc + sum of a[i] b[i]: the machine's step finds acc, a's pointer and b's pointer, which is on top.
bool Selector::DotLoop(const ir::Inst& inst, const Limbs& lo, const Trip& trip) {
  if (state_.profile != mt::Profile::Dot || !trip.small || !b_.IsConst(trip.count) ||
      !b_.IsConst(lo[0]))
    return false;
  const auto dot = ReadDot(inst);
  if (!dot) return false;
  const uint64_t from = b_.ValueOf(lo[0]), count = b_.ValueOf(trip.count);
  for (const ir::Inst* load : {dot->a, dot->b}) {
    if (scope_->raw.contains(f().operand(*load, 0).index)) return false;
    const auto place = scope_->values.find(f().operand(*load, 0).index);
    if (place == scope_->values.end() || !b_.IsConst(place->second[1]) ||
        b_.ValueOf(place->second[1]) < from + count)
      return false;
  }
  const WordOp op = dot->base ? WordOp::XbDotStep : WordOp::XxDotStep;
  const uint64_t stride = dot->base ? 1 : 3;
  const std::vector<Word>& init = Operand(inst, 2);
  const Word a = b_.AddI(Operand(*dot->a, 0)[0], 3 * from),
             b = b_.AddI(Operand(*dot->b, 0)[0], stride * from);
  std::vector<Word> words = {init[2], init[1], init[0], a, b};
  const std::vector<uint64_t> max(5, MaxField);
  const uint64_t steps = StepsInRound(count);
  auto run = [&] {
    for (uint64_t i = 0; i < steps; ++i) words = b_.Emit(op, words, max);
  };
  if (steps == count) {
    run();
  } else {
    const std::vector<Word> inits = words;
    const Word end = b_.AddI(b, stride * count);
    const uint32_t test = b_.OpenRegion();
    words.clear();
    for (int i = 0; i < 5; ++i) words.push_back(b_.Param(MaxField));
    b_.SetYields({b_.IsConst(end) ? b_.AddI(words[4], goldilocks::Neg(b_.ValueOf(end)))
                                  : b_.Not(b_.Eq(words[4], end))});
    b_.ForgetKnown();
    const uint32_t body = b_.OpenRegion();
    run();
    b_.CloseRegion(words);
    b_.CloseRegion(b_.function().regions[test].yields);
    words = b_.Emit(WordOp::While, inits, max);
    b_.last_node().regions = {test, body};
    b_.last_node().number = 1;
  }
  SetResult(inst, {words[2], words[1], words[0]});
  return true;
}

}  // namespace frazil::targets::tasm
