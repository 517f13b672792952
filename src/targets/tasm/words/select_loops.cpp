// Loops: counted ones by their own variable where its end is known, by a counter of the machine's else; those whose sum or
// product has a shorter form are not loops at all.
#include <algorithm>

#include "base/number/goldilocks.h"
#include "targets/tasm/words/selector.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

namespace g = goldilocks;
using ir::Op;
using ir::Trap;

namespace {

// Rounds of a loop over constants that are gone through while compiling.
constexpr uint64_t MostFoldedRounds = 64;
// Rounds of a loop, and instructions in all of them, that may be written out.
constexpr uint64_t MostUnrolledRounds = 8;
constexpr uint64_t MostUnrolled = 64;

}  // namespace

// Everything that the body takes from outside is constant: so is all it makes.
bool Selector::FoldsAway(ir::RegionId region, const std::vector<Word>& inits) const {
  if (!AllConst(inits)) return false;
  const std::vector<ir::InstId>& insts = f().region(region).insts;
  if (insts.size() > 16) return false;
  for (ir::InstId id : insts) {
    const ir::Inst& inst = f().inst(id);
    if (inst.op != Op::Yield && ir::Info(inst.op).effect != ir::Effect::Pure) return false;
    for (ir::ValueId v : f().operands_of(inst))
      if (auto known = scope_->values.find(v.index);
          known != scope_->values.end() && !AllConst(known->second))
        return false;
  }
  return true;
}

// How often, and whether one limb counts.
Selector::Trip Selector::TripCount(const ir::Inst& inst, const Limbs& lo, const Limbs& hi,
                                   uint64_t step) {
  const Integers::Shape s = Integers::ShapeOf(OperandType(inst, 0));
  const uint64_t most = s.is_signed && s.limbs == 1 ? (uint64_t{1} << (s.bits - 1)) - 1 : MaxU32;
  bool small = b_.Max(lo[0]) <= most && b_.Max(hi[0]) <= most;
  for (uint32_t i = 1; i < s.limbs; ++i) small &= b_.IsConst(lo[i], 0) && b_.IsConst(hi[i], 0);
  if (small && b_.IsConst(lo[0]) && b_.IsConst(hi[0])) {
    const uint64_t from = b_.ValueOf(lo[0]), to = b_.ValueOf(hi[0]);
    const uint64_t trips = from >= to ? 0 : (to - from - 1) / step + 1;
    return {b_.Const(trips), true, b_.Const(from + trips * step)};
  }
  if (small && b_.IsConst(lo[0], 0) && step == 1) return {hi[0], true, hi[0]};
  const Word less = ints_.Lt(s, lo, hi);
  if (small) {
    const Word span = b_.Bounded(b_.Mul(less, b_.Sub(hi[0], lo[0])), b_.Max(hi[0]));
    if (step == 1) return {span, true, NoWord};
    if (step <= MaxU32 - most || (step < MaxU32 && b_.Max(span) + step - 1 <= MaxU32))
      return {b_.DivMod(b_.AddI(span, step - 1), b_.Const(step), -1).quotient, true, NoWord};
  }
  // The distance as an unsigned number, less one, by the step, plus one.
  const Integers::Shape wide{32, 2, false};
  const Limbs a = ints_.Cast(s, lo, {32, 2, true}, false),
              b = ints_.Cast(s, hi, {32, 2, true}, false);
  const uint64_t one = 1;
  Limbs count = ints_.Sub(wide, b, a, false);
  if (step != 1) {
    count = ints_.Sub(wide, count, ints_.Constant(wide, std::span(&one, 1)), false);
    count = ints_.Div(wide, count, ints_.Constant(wide, std::span(&step, 1)),
                      Integers::Rounding::Trunc);
    count = ints_.Add(wide, count, ints_.Constant(wide, std::span(&one, 1)), false);
  }
  const Word high = b_.Mul(less, count[1]);
  b_.AssertZero(high, Site(Trap::Fuel));  // more rounds than any run has cycles
  return {b_.Mul(less, count[0]), false, NoWord};
}

// A product of as many equal factors as there are rounds is a power, if it stays below p: what is too large for its type
// shows at the end.
bool Selector::PowerLoop(const ir::Inst& inst, Word count) {
  const ir::Region& region = f().region(ir::Function::region_of(inst, 0));
  if (inst.results.count != 1 || f().type(ir::Function::result_of(inst)) != ir::types::U32)
    return false;
  const ir::Inst* product = nullptr;
  for (ir::InstId id : region.insts) {
    const ir::Inst& one = f().inst(id);
    if (one.op == Op::Const || one.op == Op::Yield) continue;
    if (one.op != Op::MulChecked || product != nullptr) return false;
    product = &one;
  }
  const ir::ValueId carried = ir::Function::param_of(region, 1);
  const ir::Inst& yield = f().inst(region.insts.back());
  if (product == nullptr || f().operand(yield, 0) != ir::Function::result_of(*product))
    return false;
  const bool first = f().operand(*product, 0) == carried;
  const ir::ValueId factor = f().operand(*product, first ? 1 : 0);
  if ((!first && f().operand(*product, 1) != carried) || factor == carried) return false;
  std::optional<uint64_t> base;
  if (auto known = scope_->values.find(factor.index); known != scope_->values.end()) {
    if (b_.IsConst(known->second[0])) base = b_.ValueOf(known->second[0]);
  } else if (const ir::InstId def = f().values[factor.index].def;
             def.valid() && f().inst(def).op == Op::Const) {
    base = static_cast<uint64_t>(f().word(f().inst(def), 0));
  }
  const Word init = Operand(inst, 2)[0];
  if (!base || *base < 2) return false;
  uint64_t most = b_.Max(init);
  for (uint64_t i = 0; i < b_.Max(count); ++i) {
    if (most > MaxField / *base) return false;
    most *= *base;
  }
  const Word power = b_.Pow(b_.Const(*base), count);
  const Word all = b_.Bounded(b_.Mul(power, init), most);
  SetResult(inst, {b_.CheckU32(all, Site(Trap::Overflow, Op::MulChecked))});
  return true;
}

// Whether the few rounds of a small body stand one after the other.
bool Selector::Unrolled(const ir::Inst& inst, uint64_t rounds) const {
  if (scope_->program != &state_.ir || rounds > MostUnrolledRounds) return false;
  uint64_t size = 0;
  for (ir::InstId id : f().region(ir::Function::region_of(inst, 0)).insts) {
    const ir::Inst& one = f().inst(id);
    if (one.regions.count > 0 || one.op == Op::Call) return false;
    if (one.op != Op::Const && one.op != Op::Cast && one.op != Op::Yield) ++size;
  }
  if (size * rounds > MostUnrolled) return false;
  const auto key = std::pair(static_cast<uint32_t>(&f() - state_.ir.functions.data()),
                             static_cast<uint32_t>(&inst - f().insts.data()));
  if (auto chosen = state_.choices.unrolled.find(key); chosen != state_.choices.unrolled.end())
    return chosen->second;
  state_.words.open.unrolled.try_emplace(key, false);
  return false;
}

Result<void> Selector::For(const ir::Inst& inst) {
  const bool is_parallel = inst.op == Op::Parallel;
  const uint64_t step = is_parallel ? 1 : static_cast<uint64_t>(f().word(inst, 0));
  const Limbs lo = Operand(inst, 0), hi = Operand(inst, 1);
  const Integers::Shape s = Integers::ShapeOf(OperandType(inst, 0));
  const Trip trip = TripCount(inst, lo, hi, step);
  std::vector<Word> inits;
  for (uint32_t i = 2; i < inst.operands.count; ++i)
    inits.insert(inits.end(), Operand(inst, i).rbegin(), Operand(inst, i).rend());
  const ir::Region& region = f().region(ir::Function::region_of(inst, 0));
  auto bind = [&](const std::vector<Word>& words, bool to_params) {
    size_t next = 0;
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      const ir::ValueId id =
          to_params ? ir::Function::param_of(region, i + 1) : ir::Function::result_of(inst, i);
      const uint32_t count = WordsOnMachine(f().type(id));
      Set(id, Slice(words, next, count));
      next += count;
    }
  };
  if (b_.IsConst(trip.count, 0)) return bind(inits, false), Result<void>{};
  const bool outermost = is_parallel && parallel_ < 0;
  if (b_.IsConst(trip.count, 1) && !is_parallel) {
    Set(ir::Function::param_of(region, 0), lo);
    bind(inits, true);
    bind(TRY(Body(ir::Function::region_of(inst, 0))), false);
    return {};
  }
  if (!is_parallel && trip.small && PowerLoop(inst, trip.count)) return {};
  if (!is_parallel && DotLoop(inst, lo, trip)) return {};
  if (!is_parallel && trip.small && b_.IsConst(trip.count) && b_.IsConst(lo[0]) &&
      ((b_.ValueOf(trip.count) <= MostFoldedRounds &&
        FoldsAway(ir::Function::region_of(inst, 0), inits)) ||
       Unrolled(inst, b_.ValueOf(trip.count)))) {
    std::vector<Word> carried = inits;
    for (uint64_t i = 0; i < b_.ValueOf(trip.count); ++i) {
      Limbs at(s.limbs, b_.Const(0));
      at[0] = b_.Const(b_.ValueOf(lo[0]) + i * step);
      Set(ir::Function::param_of(region, 0), at);
      bind(carried, true);
      carried = TRY(Body(ir::Function::region_of(inst, 0)));
    }
    bind(carried, false);
    return {};
  }
  // Counting up to a known end needs no counter beside the loop's own variable.
  bool used = false;
  for (const ir::Inst& any : f().insts)
    for (ir::ValueId v : f().operands_of(any)) used |= v == ir::Function::param_of(region, 0);
  const bool by_end = used && trip.small && trip.end != NoWord && !is_parallel;
  const auto below = below_;
  const uint32_t test = by_end ? b_.OpenRegion() : 0;
  uint32_t body = by_end ? 0 : b_.OpenRegion();
  std::vector<Word> carried_init;
  Limbs counter;
  if (trip.small) {
    uint64_t max = b_.Max(hi[0]) == 0 ? 0 : b_.Max(hi[0]) - 1;
    counter = Limbs(s.limbs, b_.Const(0));
    // The test alone sees the end itself, and does not ask for its size.
    if (by_end && b_.Max(trip.end) > 0) max = b_.Max(trip.end) - 1;
    counter[0] = b_.Param(max);
    carried_init.push_back(lo[0]);
  } else {
    for (uint32_t i = 0; i < s.limbs; ++i) counter.push_back(b_.Param((uint64_t{1} << s.bits) - 1));
    carried_init.insert(carried_init.end(), lo.begin(), lo.end());
  }
  std::vector<Word> params;
  std::vector<uint64_t> maxima;
  for (Word w : carried_init) maxima.push_back(b_.Max(w) > MaxU32 ? MaxField : MaxU32);
  for (uint32_t i = 0; i < inst.results.count; ++i)
    for (uint64_t max : MaxOf(f().type(ir::Function::result_of(inst, i)))) {
      params.push_back(b_.Param(max));
      maxima.push_back(max);
    }
  carried_init.insert(carried_init.end(), inits.begin(), inits.end());
  if (by_end) {
    const Word left = b_.IsConst(trip.end) ? b_.AddI(counter[0], g::Neg(b_.ValueOf(trip.end)))
                                           : b_.Not(b_.Eq(counter[0], trip.end));
    // The body opens inside of the test, whose parameters it sees.
    b_.SetYields({left});
    b_.ForgetKnown();
    body = b_.OpenRegion();
  }
  if (trip.small) below_.insert({counter[0], hi[0]});
  Set(ir::Function::param_of(region, 0), counter);
  bind(params, true);
  const int32_t outer = parallel_;
  if (outermost) parallel_ = state_.words.AddParallel(counter, s.limbs);
  std::vector<Word> next = TRY(Body(ir::Function::region_of(inst, 0)));
  op_ = inst.op;
  std::vector<Word> yields;
  if (trip.small) {
    yields.push_back(b_.AddI(counter[0], step));
  } else {
    yields = ints_.Add(s, counter, ints_.Constant(s, std::span(&step, 1)), false);
  }
  yields.insert(yields.end(), next.begin(), next.end());
  if (outermost) b_.Keep(counter);
  parallel_ = outer;
  b_.CloseRegion(yields);
  if (by_end) b_.CloseRegion(b_.function().regions[test].yields);
  below_ = below;
  std::vector<Word> results;
  if (by_end) {
    results = b_.Emit(WordOp::While, carried_init, maxima);
    b_.last_node().regions = {test, body};
    // At least two rounds are certain: the first test can be left out.
    b_.last_node().number = b_.IsConst(trip.count) ? 1 : 0;
  } else {
    std::vector<Word> inputs = {trip.count};
    inputs.insert(inputs.end(), carried_init.begin(), carried_init.end());
    results = b_.Emit(WordOp::Loop, inputs, maxima);
    b_.last_node().regions = {body};
  }
  results.erase(results.begin(), results.begin() + (trip.small ? 1 : s.limbs));
  bind(results, false);
  return {};
}

// Running the test again in the body has no effect: then its values need not be carried there.
bool Selector::TestIsQuiet(ir::RegionId region) const {
  for (ir::InstId id : f().region(region).insts) {
    const ir::Inst& inst = f().inst(id);
    const ir::Effect effect = ir::Info(inst.op).effect;
    if (inst.op == Op::Condition || inst.op == Op::Assert) continue;
    if (effect != ir::Effect::Pure && effect != ir::Effect::Reads) return false;
  }
  return true;
}

Result<void> Selector::While(const ir::Inst& inst) {
  const ir::RegionId test_region = ir::Function::region_of(inst, 0),
                     body_region = ir::Function::region_of(inst, 1);
  const ir::Region& test = f().region(test_region);
  std::vector<Word> inits;
  std::vector<uint64_t> maxima;
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    inits.insert(inits.end(), Operand(inst, i).rbegin(), Operand(inst, i).rend());
  for (uint32_t i = 0; i < inst.results.count; ++i)
    for (uint64_t max : MaxOf(f().type(ir::Function::result_of(inst, i)))) maxima.push_back(max);
  auto bind = [&](const std::vector<Word>& words, bool to_params) {
    size_t next = 0;
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      const ir::ValueId id =
          to_params ? ir::Function::param_of(test, i) : ir::Function::result_of(inst, i);
      const uint32_t count = WordsOnMachine(f().type(id));
      Set(id, Slice(words, next, count));
      next += count;
    }
  };
  const auto below = below_;
  if (TestIsQuiet(test_region)) {
    const uint32_t outer = b_.OpenRegion();
    std::vector<Word> params;
    for (uint64_t max : maxima) params.push_back(b_.Param(max));
    bind(params, true);
    const std::vector<Word> condition = TRY(Body(test_region));
    b_.ForgetKnown();
    b_.SetYields(condition);
    const uint32_t inner = b_.OpenRegion();
    below_ = below;
    const bool was_silent = std::exchange(silent_, true);
    b_.SetSilent(true);
    bind(params, true);
    TRY(Body(test_region));
    silent_ = was_silent;
    b_.SetSilent(was_silent);
    b_.CloseRegion(TRY(Body(body_region)));
    b_.CloseRegion(b_.function().regions[outer].yields);
    below_ = below;
    const std::vector<Word> results = b_.Emit(WordOp::While, inits, maxima);
    b_.last_node().regions = {outer, inner};
    bind(results, false);
    return {};
  }
  // The test once before the loop and once at the end of each round; what it made is carried.
  bind(inits, true);
  std::vector<ir::ValueId> made;
  for (ir::InstId id : test.insts) {
    const ir::Inst& one = f().inst(id);
    for (uint32_t i = 0; i < one.results.count; ++i)
      made.push_back(ir::Function::result_of(one, i));
  }
  auto all = [&](const std::vector<Word>& condition) {
    std::vector<Word> words = condition;
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      const auto& more = Get(ir::Function::param_of(test, i));
      words.insert(words.end(), more.rbegin(), more.rend());
    }
    for (ir::ValueId id : made) words.insert(words.end(), Get(id).rbegin(), Get(id).rend());
    return words;
  };
  const std::vector<Word> first = all(TRY(Body(test_region)));
  std::vector<uint64_t> wide;
  for (Word w : first) wide.push_back(b_.Max(w) <= MaxU32 ? MaxU32 : MaxField);
  const uint32_t outer = b_.OpenRegion();
  std::vector<Word> params;
  for (uint64_t max : wide) params.push_back(b_.Param(max));
  b_.Bounded(params[0], 1);
  auto unpack = [&](const std::vector<Word>& words) {
    size_t next = 1;
    bind({words.begin() + 1, words.begin() + 1 + maxima.size()}, true);
    next += maxima.size();
    for (ir::ValueId id : made) {
      const size_t count = Get(id).size();
      Set(id, Slice(words, next, count));
      next += count;
    }
  };
  unpack(params);
  b_.SetYields({params[0]});
  const uint32_t inner = b_.OpenRegion();
  below_ = below;
  bind(TRY(Body(body_region)), true);
  b_.CloseRegion(all(TRY(Body(test_region))));
  b_.CloseRegion(b_.function().regions[outer].yields);
  below_ = below;
  const std::vector<Word> results = b_.Emit(WordOp::While, first, wide);
  b_.last_node().regions = {outer, inner};
  bind({results.begin() + 1, results.begin() + 1 + maxima.size()}, false);
  return {};
}

}  // namespace frazil::targets::tasm
