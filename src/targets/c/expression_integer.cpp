// Integer expressions. What wraps is computed in an unsigned type (uint32_t or uint64_t): a chain of such ops
// stays there, "raw", and is converted back once, because C leaves signed overflow undefined.
#include <fmt/format.h>

#include "base/check.h"
#include "targets/c/ctype.h"
#include "targets/c/expression.h"

namespace frazil::targets::c {

using namespace ir::names;

namespace {

bool StaysRaw(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Shl;
}

bool IsLeast(ir::Type type, uint64_t word) {
  return word == (ir::IsSigned(type.scalar) ? ~uint64_t{0} << (ir::BitsOf(type) - 1) : 0);
}

bool IsGreatest(ir::Type type, uint64_t word) {
  return word == ~uint64_t{0} >> (64 - ir::BitsOf(type) + (ir::IsSigned(type.scalar) ? 1 : 0));
}

std::string_view CompareOperator(Op op) {
  switch (op) {
    case Op::Eq: return "==";
    case Op::Ne: return "!=";
    case Op::Lt: return "<";
    case Op::Le: return "<=";
    case Op::Gt: return ">";
    default: return ">=";
  }
}

}  // namespace

Text ExpressionWriter::Raw(ValueId value) {
  const ir::Type type = function_.type(value);
  const ir::InstId id = facts_.definition[value.index];
  if (id.valid()) {
    const ir::Inst& inst = function_.inst(id);
    if (inst.op == Op::Const) return {UnsignedLiteral(type, function_.words_of(inst)[0])};
    if (facts_.inlined[value.index] && StaysRaw(inst.op)) return RawCompute(inst);
  }
  const Text text = Value(value);
  const bool is_raw = !ir::IsSigned(type.scalar) && ir::BitsOf(type) >= 32;
  return is_raw ? text : CastTo(ArithmeticType(type), text);
}

Text ExpressionWriter::RawCompute(const ir::Inst& inst) {
  const Text a = Raw(function_.operand(inst, 0));
  if (inst.op == Op::Neg) {
    return Infix("-", Strength::Additive, {UnsignedLiteral(inst.type, 0)}, a);
  }
  if (inst.op == Op::Shl) return Infix("<<", Strength::Shift, a, {ShiftAmount(inst)});
  const ValueId second = function_.operand(inst, 1);
  if (inst.op == Op::Mul) return Infix("*", Strength::Multiplicative, a, Raw(second));
  const auto constant = ConstantOf(function_, facts_, second);
  const bool negative =
      constant && ir::IsSigned(inst.type.scalar) && static_cast<int64_t>((*constant)[0]) < 0;
  // a + -1 reads better as a - 1u, and means the same modulo 2^n.
  const bool minus = (inst.op == Op::Sub) != negative;
  const Text b = negative ? Text{UnsignedLiteral(inst.type, 0 - (*constant)[0])} : Raw(second);
  return Infix(minus ? "-" : "+", Strength::Additive, a, b);
}

Text ExpressionWriter::Wrap(ir::Type type, Text raw) const {
  if (!ir::IsSigned(type.scalar) && ir::BitsOf(type) >= 32) return raw;
  return CastTo(CTypeName(type), raw);
}

// The divisor is not 0; checked division is past its overflow too.
Text ExpressionWriter::Division(const ir::Inst& inst) {
  const bool is_quotient =
      inst.op == Op::DivTrunc || inst.op == Op::DivFloor || inst.op == Op::DivChecked;
  const bool floors = inst.op == Op::DivFloor || inst.op == Op::RemFloor;
  const bool is_signed = ir::IsSigned(inst.type.scalar);
  const auto divisor = ConstantOf(function_, facts_, function_.operand(inst, 1));
  const bool is_minus_one = divisor && (*divisor)[0] == ~uint64_t{0};
  const bool plain =
      !is_signed || inst.op == Op::DivChecked || (!floors && divisor && !is_minus_one);
  if (plain) {
    return Infix(is_quotient ? "/" : "%", Strength::Multiplicative,
                 Value(function_.operand(inst, 0)), Value(function_.operand(inst, 1)));
  }
  const std::string_view piece = floors        ? (is_quotient ? "div_floor" : "rem_floor")
                                 : is_quotient ? "div_trunc"
                                               : "rem_trunc";
  return Call(support_.Use(piece, inst.type), inst);
}

std::string ExpressionWriter::ShiftAmount(const ir::Inst& inst) {
  const uint64_t mask = static_cast<uint64_t>(ir::BitsOf(inst.type) - 1);
  const ValueId amount = function_.operand(inst, 1);
  if (const auto constant = ConstantOf(function_, facts_, amount))
    return fmt::format("{}", (*constant)[0] & mask);
  return fmt::format("({} & {})", Operand(amount), mask);
}

Text ExpressionWriter::Bits(const ir::Inst& inst) {
  const bool is_bool = inst.type.scalar == Scalar::Bool;
  auto value = [&](uint32_t i) { return Value(function_.operand(inst, i)); };
  switch (inst.op) {
    case Op::And: return is_bool ? Logical(inst) : Infix("&", Strength::BitAnd, value(0), value(1));
    case Op::Or: return is_bool ? Logical(inst) : Infix("|", Strength::BitOr, value(0), value(1));
    case Op::Xor: {
      // clang takes 2 ^ 8 for a power that went wrong, unless a type is said.
      if (!is_bool)
        return Infix("^", Strength::BitXor, Typed(function_.operand(inst, 0)), value(1));
      const Text a = value(0);
      const Text b = value(1);
      if (a.text == b.text)
        return {fmt::format("((void){}, false)", Parenthesized(a, Strength::Unary))};
      return Infix("!=", Strength::Equality, a, b);
    }
    case Op::Not: {
      if (is_bool) return {"!" + Parenthesized(value(0), Strength::Unary), Strength::Unary};
      // A complement would be that of the promoted int.
      if (!ir::IsSigned(inst.type.scalar) && ir::BitsOf(inst.type) < 32) {
        const std::string_view ones = inst.type.scalar == Scalar::U8 ? "255" : "65535";
        return Infix("^", Strength::BitXor, Typed(function_.operand(inst, 0)), {std::string(ones)});
      }
      return {"~" + Parenthesized(value(0), Strength::Unary), Strength::Unary};
    }
    case Op::Shl: return Wrap(inst.type, RawCompute(inst));
    case Op::Shr: {
      const ValueId a = function_.operand(inst, 0);
      return Infix(">>", Strength::Shift, ir::BitsOf(inst.type) == 64 ? Typed(a) : Value(a),
                   {ShiftAmount(inst)});
    }
    case Op::Rotl: return Call(support_.Use("rotl", inst.type), inst);
    case Op::Rotr: return Call(support_.Use("rotr", inst.type), inst);
    case Op::Clz: return Call(support_.Use("clz", inst.type), inst);
    case Op::Ctz: return Call(support_.Use("ctz", inst.type), inst);
    default: return Call(support_.Use("popcnt", inst.type), inst);
  }
}

// Two comparisons of one value with constants that together are always false (`and`) or true (`or`):
// compilers warn about them if they are joined by a logical operator.
bool ExpressionWriter::ConstantsDecide(const ir::Inst& inst) const {
  struct Test {
    Op op;
    ValueId value;
    uint64_t constant;
  };
  Test tests[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const ValueId operand = function_.operand(inst, i);
    const ir::InstId id = facts_.definition[operand.index];
    if (!id.valid() || !facts_.inlined[operand.index]) return false;
    const ir::Inst& compare = function_.inst(id);
    if (compare.op < Op::Eq || compare.op > Op::Ge || !ir::IsFixedInt(compare.type.scalar))
      return false;
    const auto left = ConstantOf(function_, facts_, function_.operand(compare, 0));
    const auto right = ConstantOf(function_, facts_, function_.operand(compare, 1));
    if (left.has_value() == right.has_value()) return false;
    // c < x holds as x > c does.
    Op op = compare.op;
    if (left)
      op = op == Op::Lt   ? Op::Gt
           : op == Op::Gt ? Op::Lt
           : op == Op::Le ? Op::Ge
           : op == Op::Ge ? Op::Le
                          : op;
    tests[i] = {op, function_.operand(compare, left ? 1 : 0), left ? (*left)[0] : (*right)[0]};
  }
  if (tests[0].value != tests[1].value) return false;
  const bool is_signed = ir::IsSigned(function_.type(tests[0].value).scalar);
  auto holds = [&](const Test& test, uint64_t x) {
    const bool less = is_signed ? static_cast<int64_t>(x) < static_cast<int64_t>(test.constant)
                                : x < test.constant;
    const bool equal = x == test.constant;
    switch (test.op) {
      case Op::Eq: return equal;
      case Op::Ne: return !equal;
      case Op::Lt: return less;
      case Op::Le: return less || equal;
      case Op::Gt: return !less && !equal;
      default: return !less;
    }
  };
  // Between and beyond the two constants nothing changes.
  for (const Test& test : tests) {
    for (uint64_t x : {test.constant - 1, test.constant, test.constant + 1}) {
      const bool both = holds(tests[0], x) && holds(tests[1], x);
      const bool either = holds(tests[0], x) || holds(tests[1], x);
      if (inst.op == Op::And ? both : !either) return false;
    }
  }
  return true;
}

Text ExpressionWriter::Logical(const ir::Inst& inst) {
  const bool is_and = inst.op == Op::And;
  const Text a = Value(function_.operand(inst, 0));
  const Text b = Value(function_.operand(inst, 1));
  if (ConstantsDecide(inst)) {
    return is_and ? Infix("&", Strength::BitAnd, a, b) : Infix("|", Strength::BitOr, a, b);
  }
  return is_and ? Infix("&&", Strength::LogicalAnd, a, b) : Infix("||", Strength::LogicalOr, a, b);
}

Text ExpressionWriter::Compare(const ir::Inst& inst) {
  const ValueId first = function_.operand(inst, 0);
  const ValueId second = function_.operand(inst, 1);
  const Scalar scalar = inst.type.scalar;
  const std::string_view op = CompareOperator(inst.op);
  const Strength strength =
      inst.op == Op::Eq || inst.op == Op::Ne ? Strength::Equality : Strength::Relational;
  if (scalar == Scalar::Int) {
    return {fmt::format("{}({}.w, {}.w, {}) {} 0", support_.Use("wide_compare"), Name(first),
                        Name(second), inst.type.limbs, op),
            strength};
  }
  if (IsStruct(inst.type)) {
    return {
        fmt::format("{}{}({}.c, {}.c, {})", inst.op == Op::Ne ? "!" : "",
                    support_.Use("words_equal"), Name(first), Name(second), ir::WordsOf(inst.type)),
        inst.op == Op::Ne ? Strength::Unary : Strength::Primary};
  }
  if (ir::IsFloat(scalar))
    return Infix(op, strength, {FloatOperand(first)}, {FloatOperand(second)});
  const Text a = Value(first);
  const Text b = Value(second);
  // Compilers warn about comparisons that types or operands decide; the answer is written instead.
  std::optional<bool> answer;
  if (a.text == b.text) answer = inst.op == Op::Eq || inst.op == Op::Le || inst.op == Op::Ge;
  const auto left = ConstantOf(function_, facts_, first);
  const auto right = ConstantOf(function_, facts_, second);
  if (ir::IsFixedInt(scalar) && strength == Strength::Relational) {
    const bool low =
        (right && IsLeast(inst.type, (*right)[0]) && (inst.op == Op::Lt || inst.op == Op::Ge)) ||
        (left && IsGreatest(inst.type, (*left)[0]) && (inst.op == Op::Lt || inst.op == Op::Ge));
    const bool high =
        (right && IsGreatest(inst.type, (*right)[0]) && (inst.op == Op::Gt || inst.op == Op::Le)) ||
        (left && IsLeast(inst.type, (*left)[0]) && (inst.op == Op::Gt || inst.op == Op::Le));
    if (low || high) answer = inst.op == Op::Ge || inst.op == Op::Le;
  }
  if (answer) {
    return {fmt::format("((void){}, (void){}, {})", Parenthesized(a, Strength::Unary),
                        Parenthesized(b, Strength::Unary), *answer)};
  }
  return Infix(op, strength, a, b);
}

Text ExpressionWriter::Combine(ir::AtomicKind kind, ir::Type type, const std::string& a,
                               const std::string& b) {
  const bool is_float = ir::IsFloat(type.scalar);
  switch (kind) {
    case ir::AtomicKind::Add: {
      if (is_float) return {fmt::format("{}({} + {})", support_.Use("one_nan", type), a, b)};
      const std::string_view arithmetic = ArithmeticType(type);
      return Wrap(type, {fmt::format("({0}){1} + ({0}){2}", arithmetic, a, b), Strength::Additive});
    }
    case ir::AtomicKind::Min:
    case ir::AtomicKind::Max: {
      const bool is_min = kind == ir::AtomicKind::Min;
      if (!is_float)
        return {fmt::format("{}({}, {})", support_.Use(is_min ? "min" : "max", type), a, b)};
      return {fmt::format("{}({}({}, {}))", support_.Use("one_nan", type),
                          support_.Use(is_min ? "fmin" : "fmax", type), a, b)};
    }
    case ir::AtomicKind::And: return {fmt::format("{} & {}", a, b), Strength::BitAnd};
    case ir::AtomicKind::Or: return {fmt::format("{} | {}", a, b), Strength::BitOr};
    case ir::AtomicKind::Xor: return {fmt::format("{} ^ {}", a, b), Strength::BitXor};
    case ir::AtomicKind::Exchange: return {b};
  }
  CHECK(false);
  return {};
}

}  // namespace frazil::targets::c
