// Interval arithmetic over terms. An interval of a class is the meet of what its members say, within a few steps.
#include "verify/internal/ranges.h"

#include <algorithm>

#include "verify/internal/polynomial.h"

namespace frazil::verify {

using ir::Op;

std::optional<Interval> IntervalOf(ir::Type type) {
  if (!type.is_scalar()) return std::nullopt;
  if (type.scalar == ir::Scalar::Bool) return Interval{0, 1};
  if (type.scalar == ir::Scalar::Int) {
    const BigInt half = BigInt::PowerOfTwo(64u * type.limbs - 1);
    return Interval{-half, half - 1};
  }
  if (!ir::IsFixedInt(type.scalar)) return std::nullopt;
  const auto width = static_cast<uint32_t>(ir::BitsOf(type));
  if (!ir::IsSigned(type.scalar)) return Interval{0, BigInt::PowerOfTwo(width) - 1};
  return Interval{-BigInt::PowerOfTwo(width - 1), BigInt::PowerOfTwo(width - 1) - 1};
}

bool Within(const Interval& inner, const Interval& outer) {
  return inner.low >= outer.low && inner.high <= outer.high;
}

std::optional<Interval> ExactInterval(Op op, const Interval& a, const Interval* b) {
  const auto plus = [](const Interval& x, const Interval& y, int factor) {
    return factor > 0 ? Interval{x.low + y.low, x.high + y.high}
                      : Interval{x.low - y.high, x.high - y.low};
  };
  const auto times = [](const Interval& x, const Interval& y) {
    const BigInt products[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    return Interval{std::ranges::min(products), std::ranges::max(products)};
  };
  switch (op) {
    case Op::Abs:
    case Op::AbsChecked:
      if (!a.low.is_negative()) return a;
      if (a.high.is_negative()) return Interval{-a.high, -a.low};
      return Interval{0, std::max(-a.low, a.high)};
    case Op::Min: return Interval{std::min(a.low, b->low), std::min(a.high, b->high)};
    case Op::Max: return Interval{std::max(a.low, b->low), std::max(a.high, b->high)};
    default: return RingResult(op, a, *b, plus, times);
  }
}

void Ranges::Know(TermId leaf, Interval interval) {
  known_.insert_or_assign(leaf, std::move(interval));
}

std::optional<Interval> Ranges::OfNode(const Terms::Node& node, int depth) const {
  const std::optional<Interval> whole = IntervalOf(node.result);
  if (!whole || node.kind != Terms::Kind::Apply) return std::nullopt;
  if (node.op == Op::Cast || node.op == Op::CastChecked) {
    const std::optional<Interval> inner = Of(node.children[0], depth - 1);
    return inner && Within(*inner, *whole) ? inner : std::nullopt;
  }
  if (node.op == Op::Select) {
    const std::optional<Interval> a = Of(node.children[1], depth - 1),
                                  b = Of(node.children[2], depth - 1);
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  if (node.op == Op::And) {  // a mask that is not negative bounds the result
    for (TermId child : node.children) {
      const std::optional<Interval> mask = Of(child, depth - 1);
      if (mask && !mask->low.is_negative()) return Interval{0, mask->high};
    }
    return std::nullopt;
  }
  if (node.children.empty() || node.children.size() > 2) return std::nullopt;
  const std::optional<Interval> a = Of(node.children[0], depth - 1);
  const std::optional<Interval> b = node.children.size() == 2 ? Of(node.children[1], depth - 1) : a;
  if (!a || !b) return std::nullopt;
  const std::optional<Interval> exact = ExactInterval(node.op, *a, &*b);
  if (!exact) return std::nullopt;
  if (Within(*exact, *whole)) return exact;
  // What was checked and went on has a result in range.
  if (ir::Info(node.op).traps != 0 && has_run_ && has_run_(node))
    return Interval{std::max(exact->low, whole->low), std::min(exact->high, whole->high)};
  return std::nullopt;
}

std::optional<Interval> Ranges::Of(TermId term, int depth) const {
  std::optional<Interval> result = IntervalOf(terms_.TypeOf(term));
  if (!result) return std::nullopt;
  if (const auto constant = terms_.ConstantOf(term)) {
    const BigInt value = BigInt::FromWords(*constant, ir::IsSigned(terms_.TypeOf(term).scalar));
    return Interval{value, value};
  }
  if (depth <= 0) return result;
  const TermId first = terms_.First(term);
  TermId member = first;
  int looked_at = 0;
  do {
    std::optional<Interval> more = OfNode(terms_.node(member), depth);
    if (const auto known = known_.find(member); known != known_.end()) more = known->second;
    if (more) {
      result->low = std::max(result->low, more->low);
      result->high = std::min(result->high, more->high);
    }
    member = terms_.Next(member);
  } while (member != first && ++looked_at < 4);
  return result;
}

bool Ranges::MayTrap(Op op, ir::Type type, std::span<const TermId> operands) const {
  const std::optional<Interval> whole = IntervalOf(type);
  if (!whole || operands.empty() || operands.size() > 2) return true;
  const std::optional<Interval> a = Of(operands[0]);
  const std::optional<Interval> b = Of(operands.back());
  if (!a || !b) return true;
  switch (op) {
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::AbsChecked: {
      const std::optional<Interval> exact = ExactInterval(op, *a, &*b);
      return !exact || !Within(*exact, *whole);
    }
    case Op::CastChecked: return !Within(*a, *whole);
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::RemChecked: return b->low <= BigInt(0) && b->high >= BigInt(0);
    case Op::DivChecked: {
      if (b->low <= BigInt(0) && b->high >= BigInt(0)) return true;
      const bool minus_one = b->low <= BigInt(-1) && b->high >= BigInt(-1);
      return minus_one && a->low == whole->low && ir::IsSigned(type.scalar);
    }
    default: return true;
  }
}

}  // namespace frazil::verify
