// Interval arithmetic over Big beside the emission of the same operation. Bounds are the corners of
// the operands' intervals; a constant is a point, so straight-line arithmetic is known exactly.
#include "frontends/words/coder.h"

#include <algorithm>

#include "base/check.h"

namespace frazil::frontends::words {

using ir::Op;

ir::Type Coder::type() const {
  if (emitting()) return type_;
  if (bits_ <= 32) return ir::types::I32;
  if (bits_ <= 64) return ir::types::I64;
  return ir::Type::Int((bits_ + 63) / 64);
}

void Coder::Note(const Big& lo, const Big& hi) {
  if (lo.huge() || hi.huge()) {
    too_wide_ = true;
    return;
  }
  NeedBits(std::max(lo.bits(), hi.bits()));
}

Val Coder::Literal(const Big& value, uint32_t node) {
  Val literal{value, value, {}, node};
  if (used_.size() <= node) used_.resize(node + 1);
  if (emitting() && used_[node]) literal.id = ConstantOf(type_, value);
  return literal;
}

ir::ValueId Coder::ConstantOf(ir::Type type, const Big& value) {
  return builder_->Const(type, value.ToWords(ir::WordsOf(type)));
}

ir::ValueId Coder::Id(const Val& value) {
  if (!emitting()) {
    if (value.literal >= 0) used_[static_cast<size_t>(value.literal)] = true;
    Note(value.lo, value.hi);
    return {};
  }
  if (value.id.valid()) return value.id;
  CHECK(value.point());
  return ConstantOf(type_, value.lo);
}

Val Coder::Hold(Val value) {
  value.id = Id(value);
  return value;
}

ir::Values Coder::Ids(const Vals& values) {
  ir::Values ids;
  for (const Val& value : values) ids.push_back(Id(value));
  return ids;
}

Val Coder::Emit(Op plain, Op checked, const Val& a, const Val* b, const Big& lo, const Big& hi,
                Overflow overflow) {
  const ir::ValueId x = Id(a);
  const ir::ValueId y = b ? Id(*b) : ir::ValueId();
  Val result{lo, hi, {}, -1};
  Note(lo, hi);
  if (!emitting()) return result;
  const Op op = type_.scalar == ir::Scalar::Int || overflow == Overflow::Checked ? checked : plain;
  result.id = b ? builder_->Binary(op, x, y) : builder_->Unary(op, x);
  return result;
}

namespace {
std::pair<Big, Big> Corners(const Val& a, const Val& b, Big (*f)(const Big&, const Big&)) {
  const Big w = f(a.lo, b.lo), x = f(a.lo, b.hi), y = f(a.hi, b.lo), z = f(a.hi, b.hi);
  return {Min(Min(w, x), Min(y, z)), Max(Max(w, x), Max(y, z))};
}
Big Times(const Big& a, const Big& b) { return a * b; }
Big Over(const Big& a, const Big& b) { return a / b; }
Big Magnitude(const Val& a) { return Max(a.lo.Abs(), a.hi.Abs()); }
bool MayBeZero(const Val& a) { return a.lo <= Big(0) && a.hi >= Big(0); }
}  // namespace

Val Coder::Add(const Val& a, const Val& b) {
  return Emit(Op::Add, Op::AddChecked, a, &b, a.lo + b.lo, a.hi + b.hi);
}

Val Coder::AddWithin(const Val& a, const Val& b, const Val& range, Overflow overflow) {
  return Emit(Op::Add, Op::AddChecked, a, &b, range.lo, range.hi, overflow);
}

Val Coder::Subtract(const Val& a, const Val& b) {
  return Emit(Op::Sub, Op::SubChecked, a, &b, a.lo - b.hi, a.hi - b.lo);
}

Val Coder::Multiply(const Val& a, const Val& b) {
  const auto [lo, hi] = Corners(a, b, Times);
  return Emit(Op::Mul, Op::MulChecked, a, &b, lo, hi);
}

Val Coder::MultiplyWithin(const Val& a, const Val& b, const Val& range, Overflow overflow) {
  return Emit(Op::Mul, Op::MulChecked, a, &b, range.lo, range.hi, overflow);
}

Val Coder::Divide(const Val& a, const Val& b) {
  // A divisor that is certainly 0 traps: any bounds are right for what never arrives.
  if (b.is(0)) return Emit(Op::DivTrunc, Op::DivChecked, a, &b, 0, 0);
  const Big most = Magnitude(a);
  if (MayBeZero(b)) return Emit(Op::DivTrunc, Op::DivChecked, a, &b, -most, most);
  const auto [lo, hi] = Corners(a, b, Over);
  const Big low = MayBeZero(a) ? Min(lo, 0) : lo, high = MayBeZero(a) ? Max(hi, 0) : hi;
  return Emit(Op::DivTrunc, Op::DivChecked, a, &b, low, high);
}

Val Coder::Remainder(const Val& a, const Val& b) {
  if (b.is(0)) return Emit(Op::RemTrunc, Op::RemChecked, a, &b, 0, 0);
  if (a.point() && b.point())
    return Emit(Op::RemTrunc, Op::RemChecked, a, &b, a.lo % b.lo, a.lo % b.lo);
  const Big most = Magnitude(b) - 1;
  const Big lo = a.lo.sign() < 0 ? -Min(most, a.lo.Abs()) : Big(0);
  const Big hi = a.hi.sign() > 0 ? Min(most, a.hi) : Big(0);
  return Emit(Op::RemTrunc, Op::RemChecked, a, &b, lo, hi);
}

Val Coder::Negate(const Val& a) { return Emit(Op::Neg, Op::NegChecked, a, nullptr, -a.hi, -a.lo); }

Val Coder::Absolute(const Val& a) {
  const Big lo = MayBeZero(a) ? Big(0) : Min(a.lo.Abs(), a.hi.Abs());
  return Emit(Op::Abs, Op::AbsChecked, a, nullptr, lo, Magnitude(a));
}

Val Coder::Minimum(const Val& a, const Val& b) {
  return Emit(Op::Min, Op::Min, a, &b, Min(a.lo, b.lo), Min(a.hi, b.hi));
}

Val Coder::Maximum(const Val& a, const Val& b) {
  return Emit(Op::Max, Op::Max, a, &b, Max(a.lo, b.lo), Max(a.hi, b.hi));
}

Val Coder::Select(const Truth& condition, const Val& a, const Val& b) {
  const ir::ValueId x = Id(a), y = Id(b);
  Val result{Min(a.lo, b.lo), Max(a.hi, b.hi), {}, -1};
  if (emitting()) result.id = builder_->Select(condition.id, x, y);
  return result;
}

namespace {
std::optional<bool> Decide(Op op, const Val& a, const Val& b) {
  switch (op) {
    case Op::Lt:
      return a.hi < b.lo ? std::optional(true) : a.lo >= b.hi ? std::optional(false) : std::nullopt;
    case Op::Le:
      return a.hi <= b.lo ? std::optional(true) : a.lo > b.hi ? std::optional(false) : std::nullopt;
    case Op::Gt: return Decide(Op::Lt, b, a);
    case Op::Ge: return Decide(Op::Le, b, a);
    default: break;
  }
  std::optional<bool> equal;
  if (a.point() && b.point()) equal = a.lo == b.lo;
  if (a.hi < b.lo || b.hi < a.lo) equal = false;
  if (equal && op == Op::Ne) equal = !*equal;
  return equal;
}
}  // namespace

Truth Coder::Compare(Op op, const Val& a, const Val& b) {
  const ir::ValueId x = Id(a), y = Id(b);
  Truth result{{}, Decide(op, a, b)};
  if (emitting()) result.id = builder_->Binary(op, x, y);
  return result;
}

Truth Coder::Both(const Truth& a, const Truth& b) {
  Truth result;
  if (a.known && b.known) result.known = *a.known && *b.known;
  if (emitting()) result.id = builder_->Binary(Op::And, a.id, b.id);
  return result;
}

Truth Coder::Constant(bool value) {
  Truth result{{}, value};
  if (emitting()) result.id = builder_->ConstInt(ir::types::Bool, value);
  return result;
}

Coder::Vals Coder::Carried(const Vals& ranges, std::span<const ir::ValueId> ids) const {
  Vals values;
  for (size_t i = 0; i < ranges.size(); ++i)
    values.push_back({ranges[i].lo, ranges[i].hi, ids.empty() ? ir::ValueId() : ids[i], -1});
  return values;
}

// Loop bounds are machine integers even where the sum is an int<k>.
ir::ValueId Coder::Bound(const Val& value, ir::Type counter) {
  if (!emitting()) {
    Note(value.lo, value.hi);
    if (!value.point()) Id(value);
    return {};
  }
  if (value.point()) return ConstantOf(counter, value.lo);
  const ir::ValueId id = Id(value);
  return counter == type_ ? id : builder_->Cast(Op::CastChecked, id, counter);
}

Coder::Vals Coder::For(const Val& from, const Val& to, int64_t step, const Vals& inits,
                       const Vals& carried, Counter counter_use,
                       const std::function<Vals(const Val&, const Vals&)>& body) {
  const ir::Type counter = type_.scalar == ir::Scalar::Int ? ir::types::I64 : type_;
  const Val i{from.lo, Max(from.lo, to.hi - 1), {}, -1};
  const ir::ValueId lo = Bound(from, counter), hi = Bound(to, counter);
  const ir::Values starts = Ids(inits);
  for (const Val& range : carried) Note(range.lo, range.hi);
  if (!emitting()) {
    Ids(body(i, Carried(carried, {})));
    return Carried(carried, {});
  }
  const ir::Values results = builder_->For(
      lo, hi, step, starts, [&](ir::ValueId index, std::span<const ir::ValueId> values) {
        Val number = i;
        number.id = index;
        if (counter != type_ && counter_use == Counter::Used)
          number.id = builder_->Cast(Op::CastChecked, index, type_);
        return Ids(body(number, Carried(carried, values)));
      });
  return Carried(carried, results);
}

Coder::Vals Coder::While(const Vals& inits, const Vals& carried,
                         const std::function<Truth(const Vals&)>& test,
                         const std::function<Vals(const Vals&)>& body) {
  const ir::Values starts = Ids(inits);
  for (const Val& range : carried) Note(range.lo, range.hi);
  if (!emitting()) {
    test(Carried(carried, {}));
    Ids(body(Carried(carried, {})));
    return Carried(carried, {});
  }
  const ir::Values results = builder_->While(
      starts,
      [&](std::span<const ir::ValueId> values) { return test(Carried(carried, values)).id; },
      [&](std::span<const ir::ValueId> values) { return Ids(body(Carried(carried, values))); });
  return Carried(carried, results);
}

Val Coder::If(const Truth& condition, const Val& range, const std::function<Val()>& then_body,
              const std::function<Val()>& else_body) {
  if (!emitting()) {
    Id(then_body());
    Id(else_body());
    return {range.lo, range.hi, {}, -1};
  }
  const ir::Values results = builder_->If(
      condition.id, std::span(&type_, 1), [&] { return ir::Values{Id(then_body())}; },
      [&] { return ir::Values{Id(else_body())}; });
  return {range.lo, range.hi, results[0], -1};
}

}  // namespace frazil::frontends::words
