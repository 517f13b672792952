// Expressions of instructions: the dispatch over all ops, and what is common to every type. The switch has
// no default, so that a new op does not build before it has a line here.
#include "targets/c/expression.h"

#include <fmt/format.h>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {

using namespace ir::names;

std::string Parenthesized(const Text& text, Strength least) {
  if (text.strength >= least) return text.text;
  return "(" + text.text + ")";
}

Text CastTo(std::string_view type, const Text& text) {
  return {fmt::format("({}){}", type, Parenthesized(text, Strength::Unary)), Strength::Unary};
}

Text ExpressionWriter::Infix(std::string_view op, Strength strength, const Text& a,
                             const Text& b) const {
  // More parentheses than C needs, as many as its compilers and readers want.
  auto operand = [&](const Text& text, bool left) {
    const bool product_in_sum =
        strength == Strength::Additive && text.strength == Strength::Multiplicative;
    const bool chain = left && text.strength == strength &&
                       (strength == Strength::Additive || strength == Strength::Multiplicative);
    const bool is_logical = strength == Strength::LogicalAnd || strength == Strength::LogicalOr;
    const bool test = is_logical && (text.strength == Strength::Equality ||
                                     text.strength == Strength::Relational);
    const bool plain = product_in_sum || chain || test;
    return Parenthesized(text, plain ? Strength::Comma : Strength::Unary);
  };
  return {fmt::format("{} {} {}", operand(a, true), op, operand(b, false)), strength};
}

Text ExpressionWriter::Value(ValueId value) {
  const ir::InstId id = facts_.definition[value.index];
  if (id.valid()) {
    const ir::Inst& inst = function_.inst(id);
    if (inst.op == Op::Const && !IsStruct(inst.type))
      return Literal(inst.type, function_.words_of(inst)[0], support_);
    if (inst.op == Op::Length) return {LengthOf(function_.operand(inst, 0))};
    if (facts_.inlined[value.index]) return Compute(inst);
  }
  return {Name(value)};
}

std::string ExpressionWriter::Operand(ValueId value, Strength least) {
  return Parenthesized(Value(value), least);
}

Text ExpressionWriter::Typed(ValueId value) {
  const bool is_name = !Name(value).empty() && !facts_.inlined[value.index];
  return is_name ? Value(value) : CastTo(CTypeName(function_.type(value)), Value(value));
}

Text ExpressionWriter::Call(const std::string& function, const ir::Inst& inst) {
  std::string text = function + "(";
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    if (i != 0) text += ", ";
    text += Plain(function_.operand(inst, i));
  }
  return {text + ")"};
}

Text ExpressionWriter::Compute(const ir::Inst& inst) {
  const Text text = ComputeAny(inst);
  if (!facts_.canonical[ir::Function::result_of(inst).index]) return text;
  return {fmt::format("{}({})",
                      support_.Use(inst.op == Op::Sqrt ? "nan_by_bits" : "one_nan", inst.type),
                      text.text)};
}

Text ExpressionWriter::ComputeAny(const ir::Inst& inst) {
  const Scalar scalar = inst.type.scalar;
  if (ir::IsFloat(scalar)) support_.UseFloats();
  const bool is_field = ir::Contains(ir::sets::Fields, scalar);
  switch (inst.op) {
    case Op::Lookup: {
      const size_t table = static_cast<size_t>(function_.word(inst, 0));
      const std::string element =
          fmt::format("{}[{}]", plan_.data_names[table], Plain(function_.operand(inst, 0)));
      if (IsTableOfBits(plan_.program.data[table]))
        return {fmt::format("{}({})", support_.Use("from_bits", inst.type), element)};
      return {FromElement(inst.type, element),
              scalar == Scalar::Bool ? Strength::Equality : Strength::Primary};
    }
    FRAZIL_CASES(Ring)
      if (is_field) return Fields(inst);
      return ir::IsFloat(scalar) ? Float(inst) : Wrap(inst.type, RawCompute(inst));
    case Op::MulHi: return Call(support_.Use("mul_hi", inst.type), inst);
    FRAZIL_CASES(Division)
    FRAZIL_CASES(CheckedDivision) return Division(inst);
    case Op::Abs:
      return ir::IsFloat(scalar) ? Float(inst) : Call(support_.Use("abs", inst.type), inst);
    case Op::AbsChecked: return Call(support_.Use("abs", inst.type), inst);
    case Op::Div:
    case Op::Fma:
    case Op::Sqrt:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Nearest:
    case Op::Minimum:
    case Op::Maximum: return Float(inst);
    case Op::CopySign: return CopySign(inst);
    FRAZIL_CASES(Inverse)
    FRAZIL_CASES(Parts) return Fields(inst);
    case Op::Min:
    case Op::Max: {
      if (ir::IsFloat(scalar)) return Float(inst);
      const bool is_min = inst.op == Op::Min;
      if (scalar == Scalar::Int) {
        const std::string limbs = std::to_string(inst.type.limbs);
        return Call(support_.Use(is_min ? "wide_min" : "wide_max", limbs), inst);
      }
      return Call(support_.Use(is_min ? "min" : "max", inst.type), inst);
    }
    FRAZIL_CASES(Comparison) return Compare(inst);
    case Op::Select: {
      const Text condition = Value(function_.operand(inst, 0));
      const bool is_bitwise =
          condition.strength >= Strength::BitOr && condition.strength <= Strength::BitAnd;
      return {
          fmt::format("{} ? {} : {}",
                      Parenthesized(condition, is_bitwise ? Strength::Unary : Strength::LogicalOr),
                      Operand(function_.operand(inst, 1), Strength::Additive),
                      Operand(function_.operand(inst, 2), Strength::Additive)),
          Strength::Conditional};
    }
    FRAZIL_CASES(Bits) return Bits(inst);
    case Op::Cast: return Cast(inst);
    // Between machine integers (or from bool) only; int<k> is a statement.
    case Op::CastChecked: return CastTo(CTypeName(inst.type), Value(function_.operand(inst, 0)));
    case Op::Bitcast: return Bitcast(inst);
    case Op::Call:
      return Call(plan_.function_names[static_cast<size_t>(function_.word(inst, 0))], inst);
    // Statements, never expressions (statements.cpp, function_emitter.cpp).
    case Op::Const:
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    FRAZIL_CASES(Memory)
    FRAZIL_CASES(Stream)
    FRAZIL_CASES(Stop)
    FRAZIL_CASES(Region)
    FRAZIL_CASES(Terminator)
    // Gone after ir::LowerForTarget.
    FRAZIL_CASES(Barrier)
    FRAZIL_CASES(Prelude)
    FRAZIL_CASES(Prover)
    FRAZIL_CASES(Tensor) break;
  }
  CHECK(false);
  return {};
}

std::string ExpressionWriter::FromElement(ir::Type type, const std::string& element) {
  return type.scalar == Scalar::Bool ? element + " != 0" : element;
}

std::string ExpressionWriter::FromWord(ir::Type type, const std::string& word) {
  switch (type.scalar) {
    case Scalar::Bool: return word + " != 0";
    case Scalar::F32: return fmt::format("{}((uint32_t){})", support_.Use("from_bits", type), word);
    case Scalar::F64: return fmt::format("{}({})", support_.Use("from_bits", type), word);
    case Scalar::U64:
    case Scalar::Field: return word;
    default: return fmt::format("({}){}", CTypeName(type), word);
  }
}

std::string ExpressionWriter::ToWord(ir::Type type, const std::string& value) {
  switch (type.scalar) {
    case Scalar::F32:
    case Scalar::F64: return fmt::format("{}({})", support_.Use("to_bits", type), value);
    case Scalar::U64:
    case Scalar::Field: return value;
    // From a signed type this extends the sign.
    default: return fmt::format("(uint64_t){}", value);
  }
}

}  // namespace frazil::targets::c
