// Float expressions, conversions and fields. f16 and bf16 are uint16_t bits: each operation widens to float,
// computes there and rounds once.
#include <fmt/format.h>

#include "base/check.h"
#include "targets/c/ctype.h"
#include "targets/c/expression.h"

namespace frazil::targets::c {

using namespace ir::names;

std::string ExpressionWriter::FloatOperand(ValueId value) {
  const Scalar scalar = function_.type(value).scalar;
  support_.UseFloats();
  if (!IsHalf(scalar)) return Operand(value);
  return fmt::format("{}({})", support_.Use(scalar == Scalar::F16 ? "from_f16" : "from_bf16"),
                     Plain(value));
}

std::string ExpressionWriter::RoundToHalf(Scalar half, const std::string& text) {
  return fmt::format("{}({})", support_.Use(half == Scalar::F16 ? "to_f16" : "to_bf16"), text);
}

Text ExpressionWriter::Float(const ir::Inst& inst) {
  if (!IsHalf(inst.type.scalar)) return FloatOperation(inst, inst.type);
  return {RoundToHalf(inst.type.scalar, FloatOperation(inst, ir::types::F32).text)};
}

Text ExpressionWriter::FloatOperation(const ir::Inst& inst, ir::Type compute) {
  // Wide operands keep their strength, so that a * b + c needs no parentheses.
  auto operand = [&](uint32_t i) {
    const ValueId value = function_.operand(inst, i);
    return IsHalf(inst.type.scalar) ? Text{FloatOperand(value)} : Value(value);
  };
  auto call = [&](std::string_view name) {
    std::string text = fmt::format("{}({}", name, operand(0).text);
    for (uint32_t i = 1; i < inst.operands.count; ++i) text += ", " + operand(i).text;
    return Text{text + ")"};
  };
  const std::string_view suffix = compute.scalar == Scalar::F32 ? "f" : "";
  switch (inst.op) {
    case Op::Add: return Infix("+", Strength::Additive, operand(0), operand(1));
    case Op::Sub: return Infix("-", Strength::Additive, operand(0), operand(1));
    case Op::Mul: return Infix("*", Strength::Multiplicative, operand(0), operand(1));
    case Op::Div: return Infix("/", Strength::Multiplicative, operand(0), operand(1));
    case Op::Neg: {
      const Text a = operand(0);
      return {"-" + Parenthesized(a, Strength::Primary), Strength::Unary};
    }
    case Op::Abs: return call(fmt::format("fabs{}", suffix));
    case Op::Fma: return call(fmt::format("fma{}", suffix));
    case Op::Sqrt: return call(fmt::format("sqrt{}", suffix));
    case Op::Floor: return call(fmt::format("floor{}", suffix));
    case Op::Ceil: return call(fmt::format("ceil{}", suffix));
    case Op::Trunc: return call(fmt::format("trunc{}", suffix));
    case Op::Nearest: return call(fmt::format("rint{}", suffix));
    case Op::Min: return call(support_.Use("fmin", compute));
    case Op::Max: return call(support_.Use("fmax", compute));
    case Op::Minimum: return call(support_.Use("minimum", compute));
    case Op::Maximum: return call(support_.Use("maximum", compute));
    default: break;
  }
  CHECK(false);
  return {};
}

// The sign is the second operand's bit even where that is a NaN, which widening would lose.
Text ExpressionWriter::CopySign(const ir::Inst& inst) {
  const ValueId magnitude = function_.operand(inst, 0);
  const ValueId sign = function_.operand(inst, 1);
  if (!IsHalf(inst.type.scalar)) {
    const std::string_view suffix = inst.type.scalar == Scalar::F32 ? "f" : "";
    return {fmt::format("copysign{}({}, {})", suffix, Plain(magnitude), Plain(sign))};
  }
  return {
      RoundToHalf(inst.type.scalar, fmt::format("copysignf({}, ({} & 0x8000) != 0 ? -1.0f : 1.0f)",
                                                FloatOperand(magnitude), Operand(sign)))};
}

Text ExpressionWriter::CastToFloat(ValueId value, ir::Type from, ir::Type to) {
  const std::string type = CTypeName(to);
  if (ir::IsFloat(from.scalar)) {
    if (IsHalf(to.scalar)) {
      const std::string wide = IsHalf(from.scalar) ? FloatOperand(value) : Plain(value);
      return {RoundToHalf(to.scalar, wide)};
    }
    if (from == to) return Value(value);
    if (IsHalf(from.scalar) && to.scalar == Scalar::F32) return {FloatOperand(value)};
    return CastTo(type, {FloatOperand(value)});
  }
  if (!IsHalf(to.scalar)) return CastTo(type, Value(value));
  // 32 bits fit a double exactly; 64 bits are first rounded to odd.
  if (from.scalar == Scalar::Bool || ir::BitsOf(from) <= 32)
    return {RoundToHalf(to.scalar, CastTo("double", Value(value)).text)};
  const std::string_view piece = ir::IsSigned(from.scalar) ? "i64_to_odd" : "u64_to_odd";
  return {RoundToHalf(to.scalar, fmt::format("{}({})", support_.Use(piece), Plain(value)))};
}

Text ExpressionWriter::CastToField(ValueId value, ir::Type from, ir::Type to) {
  if (to.scalar == Scalar::XField)
    return {fmt::format("{}({}, 0, 0)", support_.Use("make_xfield"), Plain(value))};
  if (ir::IsSigned(from.scalar))
    return {fmt::format("{}({})", support_.Use("field_from_i64"), Plain(value))};
  if (from.scalar == Scalar::U64)
    return {fmt::format("{}({})", support_.Use("field_from_u64"), Plain(value))};
  return CastTo("uint64_t", Value(value));
}

Text ExpressionWriter::Cast(const ir::Inst& inst) {
  const ValueId value = function_.operand(inst, 0);
  const ir::Type from = function_.type(value);
  const ir::Type to = inst.type;
  if (ir::IsFloat(to.scalar)) return CastToFloat(value, from, to);
  if (from == to) return Value(value);
  if (ir::Contains(ir::sets::Fields, to.scalar)) return CastToField(value, from, to);
  if (ir::IsFloat(from.scalar)) {
    const bool is_double = from.scalar == Scalar::F64;
    const std::string operand = IsHalf(from.scalar) ? FloatOperand(value) : Plain(value);
    support_.UseFloats();
    return {fmt::format("{}({})", support_.Use(is_double ? "f64_to" : "f32_to", to), operand)};
  }
  if (from.scalar == Scalar::Field) return Value(value);
  return CastTo(CTypeName(to), Value(value));
}

Text ExpressionWriter::Bitcast(const ir::Inst& inst) {
  const ValueId value = function_.operand(inst, 0);
  const ir::Type from = function_.type(value);
  const ir::Type to = inst.type;
  const std::string from_name = CTypeName(from);
  const std::string to_name = CTypeName(to);
  if (from == to) return Value(value);
  Text bits = Value(value);
  if (IsWide(from.scalar)) bits = {fmt::format("{}({})", support_.Use("to_bits", from), bits.text)};
  if (IsWide(to.scalar))
    return {fmt::format("{}({})", support_.Use("from_bits", to),
                        CastTo(ir::BitsOf(to) == 64 ? "uint64_t" : "uint32_t", bits).text)};
  if (IsWide(from.scalar) && !ir::IsSigned(to.scalar)) return bits;
  return from_name == to_name && !IsWide(from.scalar) ? bits : CastTo(to_name, bits);
}

Text ExpressionWriter::Make(std::string_view piece, const ir::Inst& inst) {
  return Call(support_.Use(piece), inst);
}

Text ExpressionWriter::Fields(const ir::Inst& inst) {
  const bool is_extension = inst.type.scalar == Scalar::XField;
  switch (inst.op) {
    case Op::Add: return Make(is_extension ? "xfield_add" : "field_add", inst);
    case Op::Sub: return Make(is_extension ? "xfield_sub" : "field_sub", inst);
    case Op::Mul: return Make(is_extension ? "xfield_mul" : "field_mul", inst);
    case Op::Neg: return Make(is_extension ? "xfield_neg" : "field_neg", inst);
    case Op::Invert: return Make(is_extension ? "xfield_invert" : "field_invert", inst);
    case Op::FieldDiv: {
      const std::string inverse =
          fmt::format("{}({})", support_.Use(is_extension ? "xfield_invert" : "field_invert"),
                      Plain(function_.operand(inst, 1)));
      return {fmt::format("{}({}, {})", support_.Use(is_extension ? "xfield_mul" : "field_mul"),
                          Plain(function_.operand(inst, 0)), inverse)};
    }
    case Op::MakeXField: return Make("make_xfield", inst);
    case Op::MakeDigest: return Make("make_digest", inst);
    default:
      return {fmt::format("{}.c[{}]", Name(function_.operand(inst, 0)), function_.word(inst, 0))};
  }
}

}  // namespace frazil::targets::c
