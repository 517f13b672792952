// Scalars of several words: int<k> by base/number/wide.h, xfield by base/number/goldilocks.h, digests as five
// words that are only made, split and compared.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "base/number/wide.h"
#include "exec/meaning/cast_meaning.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/scalar_types.h"

namespace frazil::exec {
namespace {

using ir::Op;
using ir::Scalar;
using ir::Trap;
using Answer = std::optional<Trap>;
using Operands = std::span<const Words>;
using Result = std::span<uint64_t>;

Answer OverflowUnless(bool fits) { return fits ? Answer() : Trap::Overflow; }

Answer Move(Words from, Result to) {
  std::ranges::copy(from, to.begin());
  return std::nullopt;
}

// Quotient and remainder of int<k>; `wanted` says which one is the result.
Answer Divide(Op op, Operands operands, Result result) {
  if (wide::IsZero(operands[1])) return Trap::DivisionByZero;
  std::array<uint64_t, wide::MaxLimbs> other_storage;
  const Result other = Result(other_storage).first(result.size());
  if (op == Op::DivChecked)
    return OverflowUnless(wide::DivTrunc(result, other, operands[0], operands[1]));
  // MIN / -1 does not fit, but its remainder is 0, as DivTrunc says.
  wide::DivTrunc(other, result, operands[0], operands[1]);
  return std::nullopt;
}

// Any integer or bool as limbs: two are enough for every machine type.
Words ToLimbs(ir::Type source, Words words, std::array<uint64_t, 2>& storage) {
  if (source.scalar == Scalar::Int) return words;
  const bool negative = ir::IsSigned(source.scalar) && static_cast<int64_t>(words[0]) < 0;
  storage = {words[0], negative ? ~uint64_t{0} : 0};
  return storage;
}

// cast.checked from or to int<k>.
Answer CastChecked(ir::Type to, ir::Type from, Words operand, Result result) {
  std::array<uint64_t, 2> storage;
  const Words limbs = ToLimbs(from, operand, storage);
  if (to.scalar == Scalar::Int) return OverflowUnless(wide::Resize(result, limbs));
  if (to.scalar == Scalar::U64) return OverflowUnless(wide::ToUint64(limbs, result[0]));
  int64_t value = 0;
  if (!wide::ToInt64(limbs, value)) return Trap::Overflow;
  const auto word = EvalWord(Op::CastChecked, to.scalar, Scalar::I64, static_cast<uint64_t>(value));
  if (!word) return word.error();
  result[0] = *word;
  return std::nullopt;
}

Answer EvalInt(const ScalarCall& call, Operands operands, Result result) {
  const Words a = operands[0];
  const Words b = operands.size() > 1 ? operands[1] : a;
  switch (call.op) {
    case Op::AddChecked: return OverflowUnless(wide::Add(result, a, b));
    case Op::SubChecked: return OverflowUnless(wide::Sub(result, a, b));
    case Op::MulChecked: return OverflowUnless(wide::Mul(result, a, b));
    case Op::NegChecked: return OverflowUnless(wide::Neg(result, a));
    case Op::AbsChecked: return OverflowUnless(wide::Abs(result, a));
    case Op::DivChecked:
    case Op::RemChecked: return Divide(call.op, operands, result);
    case Op::Min: return Move(wide::Compare(b, a) < 0 ? b : a, result);
    case Op::Max: return Move(wide::Compare(a, b) < 0 ? b : a, result);
    case Op::Lt: result[0] = wide::Compare(a, b) < 0; return std::nullopt;
    case Op::Le: result[0] = wide::Compare(a, b) <= 0; return std::nullopt;
    case Op::Gt: result[0] = wide::Compare(a, b) > 0; return std::nullopt;
    case Op::Ge: result[0] = wide::Compare(a, b) >= 0; return std::nullopt;
    default: CHECK(!"an op on int<k>"); return std::nullopt;
  }
}

goldilocks::XElement ToElement(Words words) { return {words[0], words[1], words[2]}; }

Answer EvalXField(const ScalarCall& call, Operands operands, Result result) {
  const goldilocks::XElement a = ToElement(operands[0]);
  const goldilocks::XElement b = operands.size() > 1 ? ToElement(operands[1]) : a;
  switch (call.op) {
    case Op::Add: return Move(goldilocks::Add(a, b), result);
    case Op::Sub: return Move(goldilocks::Sub(a, b), result);
    case Op::Mul: return Move(goldilocks::Mul(a, b), result);
    case Op::Neg: return Move(goldilocks::Neg(a), result);
    case Op::Invert:
      if (goldilocks::IsZero(a)) return Trap::InvertOfZero;
      return Move(goldilocks::Invert(a), result);
    case Op::FieldDiv:
      if (goldilocks::IsZero(b)) return Trap::InvertOfZero;
      return Move(goldilocks::Mul(a, goldilocks::Invert(b)), result);
    default: CHECK(!"an op on xfield"); return std::nullopt;
  }
}

Answer EvalWide(const ScalarCall& call, Operands operands, Result result) {
  switch (call.op) {
    case Op::Eq: result[0] = std::ranges::equal(operands[0], operands[1]); return std::nullopt;
    case Op::Ne: result[0] = !std::ranges::equal(operands[0], operands[1]); return std::nullopt;
    case Op::Select: return Move(operands[0][0] != 0 ? operands[1] : operands[2], result);
    case Op::MakeXField:
    case Op::MakeDigest:
      for (size_t i = 0; i < operands.size(); ++i) result[i] = operands[i][0];
      return std::nullopt;
    case Op::PartXField:
    case Op::PartDigest: result[0] = operands[0][call.attributes[0]]; return std::nullopt;
    case Op::Cast: return Move(std::array{operands[0][0], uint64_t{0}, uint64_t{0}}, result);
    case Op::CastChecked: return CastChecked(call.type, call.source, operands[0], result);
    default:
      return call.type.scalar == Scalar::Int ? EvalInt(call, operands, result)
                                             : EvalXField(call, operands, result);
  }
}

}  // namespace

std::optional<Trap> EvalScalar(const ScalarCall& call, Operands operands, Result result) {
  if (IsWide(call.type.scalar) || IsWide(call.source.scalar))
    return EvalWide(call, operands, result);
  auto word = [&](size_t i) { return i < operands.size() ? operands[i][0] : 0; };
  const auto answer =
      EvalWord(call.op, call.type.scalar, call.source.scalar, word(0), word(1), word(2));
  if (!answer) return answer.error();
  result[0] = *answer;
  return std::nullopt;
}

}  // namespace frazil::exec
