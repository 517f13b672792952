// A sum is never negative if its least value by the ranges is none, or if what remains of it is not negative after
// something that is not negative was taken away so that a value is gone. Few values stand in a sum and few facts speak of
// one of them, so that trying them all is quick; what takes too many steps is not known.
#include "targets/llvm/order_facts.h"

#include <algorithm>

namespace frazil::targets {
namespace {

using namespace ir::names;
using Whole = __int128;

constexpr int MostDepth = 4;     // facts taken away
constexpr int MostSteps = 600;   // of one question
constexpr int MostNested = 24;   // definitions deep
constexpr size_t MostTerms = 8;  // of a sum
constexpr Whole MostFactor = Whole{1} << 40;
constexpr Whole MostNumber = Whole{1} << 80;

constexpr int MostAlike = 6;  // instructions deep

using Pair = std::optional<std::pair<ValueId, ValueId>>;

bool IsAlike(const ir::Function& function, ValueId a, ValueId b, const Pair& alike, int depth) {
  if (alike && a == alike->first && b == alike->second) return true;
  // The one that changes would be another number.
  if (alike && (a == alike->first || b == alike->second)) return false;
  if (a == b) return true;
  const ir::InstId first = function.values[a.index].def, second = function.values[b.index].def;
  if (!first.valid() || !second.valid() || depth == 0) return false;
  const Inst& x = function.inst(first);
  const Inst& y = function.inst(second);
  const bool is_alike = x.op == y.op && x.type == y.type && x.results.count == 1 &&
                        y.results.count == 1 && x.regions.count == 0 &&
                        x.operands.count == y.operands.count &&
                        ir::Info(x.op).effect == ir::Effect::Pure &&
                        std::ranges::equal(function.words_of(x), function.words_of(y));
  if (!is_alike) return false;
  for (uint32_t i = 0; i < x.operands.count; ++i)
    if (!IsAlike(function, function.operand(x, i), function.operand(y, i), alike, depth - 1))
      return false;
  return true;
}

}  // namespace

bool IsSame(const ir::Function& function, ValueId a, ValueId b, Pair alike) {
  return IsAlike(function, a, b, alike, MostAlike);
}

Whole OrderFacts::Sum::FactorOf(uint32_t value) const {
  const auto found = std::ranges::find(terms, value, &Term::value);
  return found == terms.end() ? 0 : found->factor;
}

bool OrderFacts::Sum::Combine(Whole a, const Sum& other, Whole b, Sum& result) const {
  result.terms.clear();
  size_t i = 0, k = 0;
  while (i < terms.size() || k < other.terms.size()) {
    const bool is_first =
        k == other.terms.size() || (i < terms.size() && terms[i].value <= other.terms[k].value);
    const bool is_second =
        i == terms.size() || (k < other.terms.size() && other.terms[k].value <= terms[i].value);
    const uint32_t value = is_first ? terms[i].value : other.terms[k].value;
    const Whole factor =
        (is_first ? terms[i++].factor * a : 0) + (is_second ? other.terms[k++].factor * b : 0);
    if (factor > MostFactor || factor < -MostFactor) return false;
    if (factor != 0) result.terms.push_back({value, factor});
  }
  result.number = number * a + other.number * b;
  return result.terms.size() <= MostTerms && result.number < MostNumber &&
         result.number > -MostNumber;
}

bool OrderFacts::IsInt(ValueId value) const {
  const ir::Type type = function_.type(value);
  return type.is_scalar() && ir::IsFixedInt(type.scalar);
}

void OrderFacts::Know(const Sum& sum) {
  if (!sum.terms.empty()) known_.push_back(sum);
}

void OrderFacts::Add(ValueId low, ValueId high, bool strict) {
  if (!IsInt(low) || !IsInt(high)) return;
  Sum distance;
  const Sum from = SumOf(low);
  if (!SumOf(high).Combine(1, from, -1, distance)) return;
  distance.number -= strict ? 1 : 0;
  Know(distance);
}

void OrderFacts::AddNotNegative(ValueId value) {
  if (IsInt(value)) Know(SumOf(value));
}

bool OrderFacts::IsLess(ValueId low, ValueId high, bool strict) {
  if (!IsInt(low) || !IsInt(high)) return false;
  Sum distance;
  const Sum from = SumOf(low);
  if (!SumOf(high).Combine(1, from, -1, distance)) return false;
  distance.number -= strict ? 1 : 0;
  return IsNotNegative(distance);
}

bool OrderFacts::IsNotNegative(ValueId value) {
  if (!IsInt(value)) return false;
  return IsNotNegative(SumOf(value));
}

bool OrderFacts::IsNotZero(ValueId value) {
  if (!IsInt(value)) return false;
  Sum above = SumOf(value), below;
  if (!above.Combine(-1, Sum{}, 0, below)) return false;
  above.number -= 1;
  below.number -= 1;
  return IsNotNegative(above) || IsNotNegative(below);
}

bool OrderFacts::IsAtMost(ValueId value, int64_t most) {
  Sum left;
  if (!IsInt(value) || !SumOf(value).Combine(-1, Sum{}, 0, left)) return false;
  left.number += most;
  return IsNotNegative(left);
}

const OrderFacts::Sum& OrderFacts::SumOf(ValueId value) {
  if (const auto found = sums_.find(value.index); found != sums_.end()) return found->second;
  Sum sum;
  const IntRange range = ranges_.Int(value);
  const ir::InstId def = function_.values[value.index].def;
  bool is_sum = range.low == range.high;
  if (is_sum) {
    sum.number = range.low;
  } else if (def.valid() && depth_ < MostNested) {
    ++depth_;
    const Inst& inst = function_.inst(def);
    auto operand = [&](uint32_t i) -> Sum { return SumOf(function_.operand(inst, i)); };
    if (inst.op == Op::Add || inst.op == Op::Sub) {
      const Sum first = operand(0), second = operand(1);
      is_sum = first.Combine(1, second, inst.op == Op::Add ? 1 : -1, sum);
    } else if (inst.op == Op::Mul) {
      const Sum first = operand(0), second = operand(1);
      if (first.terms.empty() || second.terms.empty()) {
        const Sum& factor = first.terms.empty() ? first : second;
        const Sum& other = first.terms.empty() ? second : first;
        is_sum = factor.number <= MostFactor && factor.number >= -MostFactor &&
                 other.Combine(factor.number, Sum{}, 0, sum);
      }
    } else if (inst.op == Op::Cast && IsInt(function_.operand(inst, 0))) {
      sum = operand(0);
      is_sum = true;
    }
    is_sum = is_sum && IsWithin(sum, value);
    --depth_;
  }
  if (!is_sum) return SumOfOther(value);
  return sums_[value.index] = sum;
}

const OrderFacts::Sum& OrderFacts::SumOfOther(ValueId value) {
  const auto same =
      std::ranges::find_if(others_, [&](ValueId other) { return IsSame(function_, value, other); });
  if (same != others_.end()) return sums_[value.index] = Sum(sums_.at(same->index));
  others_.push_back(value);
  sums_[value.index] = {{{value.index, 1}}, 0};
  if (function_.values[value.index].def.valid() && depth_ < MostNested) {
    ++depth_;
    Define(value);
    --depth_;
  }
  return sums_[value.index];
}

// What is computed in whole numbers is what the type holds.
bool OrderFacts::IsWithin(const Sum& sum, ValueId value) {
  const int bits = ir::BitsOf(function_.type(value));
  const bool is_signed = ir::IsSigned(function_.type(value).scalar);
  const Whole least = is_signed ? -(Whole{1} << (bits - 1)) : 0;
  const Whole most = (Whole{1} << (is_signed ? bits - 1 : bits)) - 1;
  Sum above = sum;
  above.number -= least;
  Sum below;
  if (!sum.Combine(-1, Sum{}, 0, below)) return false;
  below.number += most;
  return IsNotNegative(above) && IsNotNegative(below);
}

void OrderFacts::Define(ValueId value) {
  const Inst& inst = function_.inst(function_.values[value.index].def);
  if (inst.results.count != 1 || inst.operands.count != 2) return;
  const ValueId a = function_.operand(inst, 0), b = function_.operand(inst, 1);
  if (!IsInt(a) || !IsInt(b)) return;
  if (inst.op == Op::Min || inst.op == Op::Max) {
    for (const ValueId one : {a, b})
      inst.op == Op::Min ? Add(value, one, false) : Add(one, value, false);
    return;
  }
  const IntRange divisor = ranges_.Int(b);
  if (divisor.low != divisor.high || divisor.low < 0) return;
  Whole by = 0;
  if (inst.op == Op::DivFloor) by = divisor.low;
  if (inst.op == Op::Shr && divisor.low < ir::BitsOf(inst.type))
    by = Whole{1} << static_cast<int>(divisor.low);
  if (by <= 0 || by > MostFactor) return;
  // by * value <= a <= by * value + by - 1
  const Sum whole = SumOf(a);
  const Sum quotient{{{value.index, 1}}, 0};
  Sum rest;
  if (!whole.Combine(1, quotient, -by, rest)) return;
  Know(rest);
  Sum short_of;
  if (!rest.Combine(-1, Sum{}, 0, short_of)) return;
  short_of.number += by - 1;
  Know(short_of);
  if (IsNotNegative(whole)) Know(quotient);
}

// What follows from few facts is found first.
bool OrderFacts::IsNotNegative(const Sum& sum) {
  steps_left_ = MostSteps;
  for (int depth = 0; depth <= MostDepth && steps_left_ > 0; ++depth)
    if (IsNotNegative(sum, depth)) return true;
  return false;
}

bool OrderFacts::IsNotNegative(const Sum& sum, int depth) {
  Whole least = sum.number;
  for (const Sum::Term& term : sum.terms) {
    const IntRange range = ranges_.Int(ValueId(term.value));
    least += term.factor * (term.factor > 0 ? range.low : range.high);
  }
  if (least >= 0) return true;
  if (depth == 0) return false;
  for (const Sum::Term& term : sum.terms) {
    for (size_t i = 0; i < known_.size(); ++i) {
      const Whole factor = known_[i].FactorOf(term.value);
      if (factor == 0 || (factor > 0) != (term.factor > 0)) continue;
      if (--steps_left_ < 0) return false;
      // times * sum is at least 1 - times if sum is not negative, and at most -times else.
      const Whole size = factor > 0 ? factor : -factor,
                  part = term.factor > 0 ? term.factor : -term.factor;
      const bool is_multiple = part % size == 0;
      const Whole times = is_multiple ? 1 : size;
      Sum rest;
      if (!sum.Combine(times, known_[i], -(is_multiple ? part / size : part), rest)) continue;
      rest.number += times - 1;
      if (IsNotNegative(rest, depth - 1)) return true;
    }
  }
  return false;
}

}  // namespace frazil::targets
