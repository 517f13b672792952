// Forms are made by looking through sums, products and casts that lose nothing. Arithmetic of 64 bits wraps as forms do;
// narrower arithmetic stands as itself.
#include "ir/lanes/lane_forms.h"

#include <algorithm>

#include "ir/facts/inst_facts.h"
#include "ir/lower/barrier_plan.h"

namespace frazil::ir {
namespace {

constexpr int MaxSplits = 8;

bool Is64Bits(Type type) {
  return type.is_scalar() &&
         (type.scalar == Scalar::Index || type.scalar == Scalar::I64 || type.scalar == Scalar::U64);
}

// The value behind casts that keep it, read as 64 bits.
bool KeepsValue(Type from, Type to) {
  if (!from.is_scalar() || !to.is_scalar() || !IsFixedInt(from.scalar) || !IsFixedInt(to.scalar))
    return false;
  return AlwaysFits(from, to) || (Is64Bits(from) && Is64Bits(to));
}

}  // namespace

LaneForms::LaneForms(const Function& function, const Inst& parallel)
    : function_(function),
      parallel_(parallel),
      counter_(Function::param_of(function.region(Function::region_of(parallel, 0)), 0)),
      inside_(function.values.size(), false),
      uniform_(function.values.size(), true),
      next_atom_(static_cast<uint32_t>(function.values.size())) {
  const RegionId body = Function::region_of(parallel, 0);
  loops_[counter_.index] = &parallel;
  MarkInside(body);
  FindUniform(body, true);
  FindSplits(body);
  forms_.Clear();
  const IndexForm extent = UpperOf(function.operand(parallel, 1));
  FindDigits(counter_.index, IsNoMore(extent) ? std::optional(extent) : std::nullopt);
}

void LaneForms::MarkInside(RegionId id) {
  const Region& region = function_.region(id);
  for (uint32_t i = 0; i < region.params.count; ++i) {
    inside_[region.params.begin + i] = true;
    uniform_[region.params.begin + i] = false;
  }
  for (InstId inst_id : region.insts) {
    const Inst& inst = function_.inst(inst_id);
    for (uint32_t i = 0; i < inst.results.count; ++i) inside_[inst.results.begin + i] = true;
    if (inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::Fold)
      loops_[function_.region(Function::region_of(inst, 0)).params.begin] = &inst;
    for (uint32_t i = 0; i < inst.regions.count; ++i) MarkInside(Function::region_of(inst, i));
  }
}

void LaneForms::FindUniform(RegionId id, bool own_phases) {
  for (InstId inst_id : function_.region(id).insts) {
    const Inst& inst = function_.inst(inst_id);
    // The turns of a loop around a barrier are phases, and all iterations of a phase are in the same turn.
    if (own_phases && inst.op == Op::For && HasBarrier(function_, inst))
      MarkUniform(Function::param_of(function_.region(Function::region_of(inst, 0)), 0));
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      FindUniform(Function::region_of(inst, i), own_phases && inst.op != Op::Parallel);
    const bool same = Info(inst.op).effect == Effect::Pure && inst.regions.count == 0 &&
                      std::ranges::all_of(function_.operands_of(inst),
                                          [&](ValueId operand) { return uniform_[operand.index]; });
    for (uint32_t i = 0; i < inst.results.count; ++i) uniform_[inst.results.begin + i] = same;
  }
}

// --- parts of the counter ---
void LaneForms::FindSplits(RegionId id) {
  for (InstId inst_id : function_.region(id).insts) {
    const Inst& inst = function_.inst(inst_id);
    AddSplit(inst);
    for (uint32_t i = 0; i < inst.regions.count; ++i) FindSplits(Function::region_of(inst, i));
  }
}

// The atom that a value is, if it is the counter or one of its parts.
std::optional<uint32_t> LaneForms::WholeOf(ValueId value) const {
  for (;;) {
    if (value == counter_) {
      InstId low = function_.values[function_.operand(parallel_, 0).index].def;
      bool starts_at_least_at_0 = low.valid() && function_.inst(low).op == Op::Const &&
                                  function_.word(function_.inst(low), 0) >= 0;
      return starts_at_least_at_0 ? std::optional(value.index) : std::nullopt;
    }
    if (auto part = taken_.find(value.index); part != taken_.end()) {
      const IndexForm::Terms& terms = part->second.terms();
      bool is_atom =
          terms.size() == 1 && terms.begin()->first.size() == 1 && terms.begin()->second == 1;
      return is_atom ? std::optional(terms.begin()->first[0]) : std::nullopt;
    }
    InstId def = function_.values[value.index].def;
    if (!def.valid() || function_.inst(def).op != Op::Cast) return std::nullopt;
    ValueId from = function_.operand(function_.inst(def), 0);
    if (!KeepsValue(function_.type(from), function_.type(value))) return std::nullopt;
    value = from;
  }
}

void LaneForms::AddSplit(const Inst& inst) {
  const bool is_quotient = inst.op == Op::DivFloor || inst.op == Op::DivTrunc;
  const bool is_remainder = inst.op == Op::RemFloor || inst.op == Op::RemTrunc;
  if ((!is_quotient && !is_remainder) || !Is64Bits(inst.type)) return;
  std::optional<uint32_t> whole = WholeOf(function_.operand(inst, 0));
  if (!whole) return;
  // A divisor of 0 traps, so that one which is not negative is at least 1.
  const IndexForm divisor = Of(function_.operand(inst, 1));
  for (ValueId atom : divisor.Atoms())
    if (!IsUniform(atom.index) || !IsNonNegative(atom.index)) return;
  for (const auto& [product, coefficient] : divisor.terms())
    if (static_cast<int64_t>(coefficient) <= 0) return;
  if (!IsNoLess(divisor)) return;
  std::optional<Parts> parts = Divide(*whole, divisor, MaxSplits);
  if (!parts) return;
  taken_[Function::result_of(inst).index] = is_remainder ? parts->remainder : parts->quotient;
}

std::optional<LaneForms::Parts> LaneForms::Divide(uint32_t whole, const IndexForm& divisor,
                                                  int depth) {
  if (depth == 0) return std::nullopt;
  auto found = splits_.find(whole);
  if (found == splits_.end()) {
    if (splits_.size() >= MaxSplits) return std::nullopt;
    found = splits_.emplace(whole, Split{divisor, next_atom_, next_atom_ + 1}).first;
    next_atom_ += 2;
  }
  const Split split = found->second;
  const IndexForm quotient = IndexForm::Of(ValueId(split.quotient));
  const IndexForm remainder = IndexForm::Of(ValueId(split.remainder));
  if (split.divisor == divisor) return Parts{quotient, remainder};
  // By a multiple of what it is split by: the quotient is split further. By a factor of it: the remainder is.
  if (std::optional<IndexForm> factor = DivideExactly(divisor, split.divisor)) {
    std::optional<Parts> parts = Divide(split.quotient, *factor, depth - 1);
    if (!parts) return std::nullopt;
    return Parts{parts->quotient, parts->remainder * split.divisor + remainder};
  }
  if (std::optional<IndexForm> factor = DivideExactly(split.divisor, divisor)) {
    std::optional<Parts> parts = Divide(split.remainder, divisor, depth - 1);
    if (!parts) return std::nullopt;
    return Parts{*factor * quotient + parts->quotient, parts->remainder};
  }
  return std::nullopt;
}

void LaneForms::FindDigits(uint32_t atom, const std::optional<IndexForm>& extent) {
  auto found = splits_.find(atom);
  if (found == splits_.end()) {
    digits_.push_back({atom, extent});
    return;
  }
  const Split split = found->second;
  FindDigits(split.remainder, split.divisor);
  // Below extent = divisor * n, a quotient is below n.
  FindDigits(split.quotient, extent ? DivideExactly(*extent, split.divisor) : std::nullopt);
}

IndexForm LaneForms::Expand(const IndexForm& form) const {
  IndexForm result = form;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [atom, split] : splits_) {
      const ValueId value{atom};
      if (!result.Mentions(value)) continue;
      std::optional<IndexForm> coefficient = result.Coefficient(value);
      if (!coefficient) return form;
      result = result.Without(value) +
               *coefficient * (split.divisor * IndexForm::Of(ValueId(split.quotient)) +
                               IndexForm::Of(ValueId(split.remainder)));
      changed = true;
    }
  }
  return result;
}

// --- forms ---
const IndexForm& LaneForms::Of(ValueId value) {
  return forms_.Of(value, [this](ValueId asked) { return Make(asked); });
}

IndexForm LaneForms::Make(ValueId value) {
  if (value == counter_) return Expand(IndexForm::Of(value));
  if (auto part = taken_.find(value.index); part != taken_.end()) return Expand(part->second);
  InstId def = function_.values[value.index].def;
  if (!def.valid()) return IndexForm::Of(value);
  const Inst& inst = function_.inst(def);
  if (inst.op == Op::Const && inst.type.is_scalar() && IsFixedInt(inst.type.scalar))
    return IndexForm::Constant(static_cast<uint64_t>(function_.word(inst, 0)));
  if (inst.op == Op::Cast) return MakeCast(value, inst);
  if (!Is64Bits(function_.type(value))) return IndexForm::Of(value);
  auto operand = [&](uint32_t i) -> IndexForm { return Of(function_.operand(inst, i)); };
  std::optional<IndexForm> form = FormOfOp(inst.op, operand);
  return form ? *std::move(form) : IndexForm::Of(value);
}

IndexForm LaneForms::MakeCast(ValueId value, const Inst& inst) {
  const ValueId from = function_.operand(inst, 0);
  const Type from_type = function_.type(from), to_type = function_.type(value);
  if (KeepsValue(from_type, to_type)) return Of(from);
  // The counter of a loop from at least 0 to something narrow fits whatever that fits.
  if (from == counter_ && IsFixedInt(to_type.scalar)) {
    std::optional<int64_t> low = Of(function_.operand(parallel_, 0)).constant();
    const IndexForm high = Of(function_.operand(parallel_, 1));
    const int room = BitsOf(to_type) - (IsSigned(to_type.scalar) ? 1 : 0);
    const bool is_atom =
        high.size() == 1 && high.degree() == 1 && high.terms().begin()->second == 1;
    if (low && *low >= 0 && is_atom && BitsOfAtom(high.Atoms()[0].index) <= room) return Of(from);
  }
  return IndexForm::Of(value);
}

IndexForm LaneForms::UpperOf(ValueId value) {
  IndexForm form = Of(value);
  if (form.size() != 1 || form.degree() != 1) return form;
  const ValueId atom = form.Atoms()[0];
  if (atom.index >= function_.values.size()) return form;
  InstId def = function_.values[atom.index].def;
  if (!def.valid()) return form;
  const Inst& inst = function_.inst(def);
  // An unsigned sum or product that wraps is less than it would be.
  const bool is_narrow =
      inst.type.is_scalar() && Contains(sets::UInt, inst.type.scalar) && BitsOf(inst.type) <= 32;
  if (!is_narrow || (inst.op != Op::Add && inst.op != Op::Mul) || form.terms().begin()->second != 1)
    return form;
  IndexForm a = UpperOf(function_.operand(inst, 0)), b = UpperOf(function_.operand(inst, 1));
  return inst.op == Op::Add ? a + b : a * b;
}

int LaneForms::BitsOfAtom(uint32_t atom) const {
  if (atom >= function_.values.size()) return 63;
  const Type type = function_.values[atom].type;
  if (!type.is_scalar() || !IsFixedInt(type.scalar)) return 63;
  return std::min(63, BitsOf(type) - (IsSigned(type.scalar) ? 1 : 0));
}

bool LaneForms::IsNonNegative(uint32_t atom) const {
  if (atom >= function_.values.size()) return true;  // a digit
  const Type type = function_.values[atom].type;
  if (type.is_scalar() && Contains(sets::UInt, type.scalar) && BitsOf(type) < 64) return true;
  InstId def = function_.values[atom].def;
  return def.valid() && function_.inst(def).op == Op::Length;
}

std::optional<uint32_t> LaneForms::ParamOf(uint32_t atom) const {
  const uint32_t begin = function_.region(function_.body).params.begin;
  if (atom < begin || atom - begin >= function_.param_count()) return std::nullopt;
  return atom - begin;
}

Knowledge::Bounds LaneForms::BoundsOfLoop(const Inst& loop) {
  return {LowOf(loop), UpperOf(EndOf(loop)) - IndexForm::Constant(1)};
}

IndexForm LaneForms::LowOf(const Inst& loop) {
  return loop.op == Op::Fold ? IndexForm::Constant(0) : Of(function_.operand(loop, 0));
}

ValueId LaneForms::EndOf(const Inst& loop) const {
  return function_.operand(loop, loop.op == Op::Fold ? 0 : 1);
}

std::optional<IndexForm> DivideExactly(const IndexForm& form, const IndexForm& divisor) {
  if (divisor.size() != 1)
    return form == divisor ? std::optional(IndexForm::Constant(1)) : std::nullopt;
  const auto& [factors, by] = *divisor.terms().begin();
  IndexForm result = IndexForm::Constant(0);
  for (const auto& [product, coefficient] : form.terms()) {
    std::vector<uint32_t> rest = product;
    for (uint32_t factor : factors) {
      auto found = std::ranges::find(rest, factor);
      if (found == rest.end()) return std::nullopt;
      rest.erase(found);
    }
    const int64_t whole = static_cast<int64_t>(coefficient), part = static_cast<int64_t>(by);
    if (part <= 0 || whole % part != 0) return std::nullopt;
    IndexForm term = IndexForm::Constant(static_cast<uint64_t>(whole / part));
    for (uint32_t atom : rest) term = term * IndexForm::Of(ValueId(atom));
    result = result + term;
  }
  return result;
}

}  // namespace frazil::ir
