// What indices can be as whole numbers, from the types of what they are made of and from the loops around them.
#include <algorithm>

#include "ir/lanes/lane_forms.h"

namespace frazil::ir {
namespace {

using Whole = __int128;

constexpr Whole Farthest = Whole{1} << 100;
constexpr Whole MostExecuted = Whole{1} << ExecutedBits;

Whole Cut(Whole n) { return std::clamp(n, -Farthest, Farthest); }

Whole Times(Whole a, Whole b) {
  Whole product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return Cut(product);
  return (a < 0) == (b < 0) ? Farthest : -Farthest;
}

LaneForms::Range Times(LaneForms::Range a, LaneForms::Range b) {
  const auto [low, high] = std::minmax(
      {Times(a.low, b.low), Times(a.low, b.high), Times(a.high, b.low), Times(a.high, b.high)});
  return {low, high};
}

}  // namespace

LaneForms::Range LaneForms::RangeOf(const IndexForm& form, const Atoms& executed) {
  Range sum{0, 0};
  for (const auto& [product, coefficient] : form.terms()) {
    const Whole factor = static_cast<int64_t>(coefficient);
    const Range term = Times({factor, factor}, RangeOfProduct(product, executed));
    sum = {Cut(sum.low + term.low), Cut(sum.high + term.high)};
  }
  return sum;
}

// Numbers of turns, and counters below them, are together no more than what is executed.
LaneForms::Range LaneForms::RangeOfProduct(const Atoms& product, Atoms executed) {
  Range others{1, 1}, turns{1, 1};
  for (uint32_t atom : product) {
    auto found = std::ranges::find(executed, AtomAbove(atom));
    if (found == executed.end()) {
      others = Times(others, RangeOfAtom(atom));
      continue;
    }
    executed.erase(found);
    turns = Times(turns, RangeOfAtom(atom));
    turns = {std::max(turns.low, Whole{0}), std::clamp(turns.high, Whole{0}, MostExecuted)};
  }
  return Times(others, turns);
}

// The atom n of a counter from at least 0 to n, or the atom itself. Not all iterations need have been executed.
uint32_t LaneForms::AtomAbove(uint32_t atom) {
  auto loop = loops_.find(atom);
  if (loop == loops_.end() || atom == counter_.index || RangeOfAtom(atom).low < 0) return atom;
  const IndexForm high = Of(EndOf(*loop->second));
  const bool is_atom = high.size() == 1 && high.degree() == 1 && high.terms().begin()->second == 1;
  return is_atom ? high.terms().begin()->first[0] : atom;
}

LaneForms::Range LaneForms::RangeOfAtom(uint32_t atom) {
  // A digit of the counter, which starts at 0 or above.
  if (atom >= function_.values.size()) return {0, RangeOfAtom(counter_.index).high};
  if (auto found = ranges_.find(atom); found != ranges_.end()) return found->second;
  const Whole end = Whole{1} << BitsOfAtom(atom);
  Range range{IsNonNegative(atom) ? 0 : -end, end - 1};
  if (auto loop = loops_.find(atom); loop != loops_.end())
    range = RangeOfCounter(*loop->second, range);
  return ranges_[atom] = range;
}

LaneForms::Range LaneForms::RangeOfCounter(const Inst& loop, Range type) {
  const ValueId counter = Function::param_of(function_.region(Function::region_of(loop, 0)), 0);
  const Whole step = loop.op == Op::For ? function_.word(loop, 0) : 1;
  if (step <= 0 || function_.type(counter) == types::U64) return type;
  const IndexForm low = LowOf(loop), high = UpperOf(EndOf(loop));
  Range range = type;
  if (IsNoMore(high)) range.high = std::min(range.high, RangeOf(high).high - 1);
  if (IsNoLess(low)) range.low = std::max(range.low, RangeOf(low).low);
  if (IsNoLess(low) && IsNoMore(low))
    range.high = std::min(range.high, Cut(RangeOf(low).high + Times(step, MostExecuted)));
  // There may be no turn at all.
  range.high = std::max(range.low, range.high);
  return range;
}

uint64_t LaneForms::MostTurns(const Inst& loop) {
  const Range low = RangeOf(LowOf(loop));
  const Range high = RangeOf(UpperOf(EndOf(loop)));
  // Bounds that wrap are anything.
  if (low.high > INT64_MAX || low.low < INT64_MIN || high.low < INT64_MIN)
    return uint64_t{1} << ExecutedBits;
  return static_cast<uint64_t>(std::clamp(high.high - low.low, Whole{0}, MostExecuted));
}

}  // namespace frazil::ir
