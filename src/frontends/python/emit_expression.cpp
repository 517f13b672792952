// Expressions. A weak expression has no type of its own: it is emitted in the type that its place asks for.
#include "base/check.h"
#include "frontends/python/emit.h"
#include "frontends/python/exact.h"
#include "ir/text/literal.h"

#include <fmt/format.h>

namespace frazil::frontends::python {

using ir::Op;
using ir::Scalar;

ir::ValueId Emitter::As(Expr* e, Scalar type) {
  if (e->kind == ExprKind::Literal) return Constant(e, type);
  if (e->kind == ExprKind::Param && type == Scalar::Index && e->type.scalar != Scalar::Index)
    return ParamIndex(e);
  if (!e->type.is_weak()) return Convert(At(e, e->type.scalar), type);
  // Whole numbers stay whole until the end: `(k // 2) * 0.5` divides integers.
  bool becomes_float =
      e->type.kind == ValueType::WeakInt && ir::IsFloat(type) && e->kind != ExprKind::IfExpr;
  return becomes_float ? Convert(At(e, Scalar::I32), type) : At(e, type);
}

ir::ValueId Emitter::ParamIndex(const Expr* e) {
  if (param_indices_[e->id].valid()) return param_indices_[e->id];
  builder_.SetLocation(e->location);
  ValueId value = builder_.Cast(Op::Cast, builder_.Param(e->id), ir::types::Index);
  if (in_lanes_)
    wanted_indices_[e->id] = true;
  else
    param_indices_[e->id] = value;
  return value;
}

ir::ValueId Emitter::Constant(const Expr* e, Scalar scalar) {
  const Literal& literal = e->literal;
  ir::Type type = ir::Type::Of(scalar);
  builder_.SetLocation(e->location);
  if (literal.kind == Literal::Float) {
    if (!ir::IsFloat(scalar)) {
      errors_.Add(e->location,
                  fmt::format("this constant does not fit {}", TypeName(ValueType::Of(scalar))));
      return Zero(type);
    }
    return builder_.ConstFloat(type, literal.real);
  }
  if (literal.kind == Literal::Int && !Fits(literal, scalar)) {
    errors_.Add(e->location,
                fmt::format("this constant does not fit {}", TypeName(ValueType::Of(scalar))));
    return Zero(type);
  }
  if (ir::IsFloat(scalar)) return builder_.ConstFloat(type, RoundedFor(literal.integer, scalar));
  return builder_.ConstInt(type, static_cast<int64_t>(static_cast<uint64_t>(literal.integer)));
}

ir::ValueId Emitter::Convert(ValueId value, Scalar to) {
  Scalar from = builder_.TypeOf(value).scalar;
  if (from == to) return value;
  if (to == Scalar::Bool) return IsNotZero(value);
  if (from == Scalar::Bool && ir::IsFloat(to))
    value = builder_.Cast(Op::Cast, value, ir::types::I32);
  return builder_.Cast(Op::Cast, value, ir::Type::Of(to));
}

ir::ValueId Emitter::IsNotZero(ValueId value) {
  ir::Type type = builder_.TypeOf(value);
  if (type.scalar == Scalar::Bool) return value;
  return builder_.Binary(Op::Ne, value, Zero(type));
}

ir::ValueId Emitter::Condition(Expr* e) {
  bool is_logic =
      e->kind == ExprKind::Binary && (e->binary == BinaryOp::And || e->binary == BinaryOp::Or);
  if (is_logic) return Logic(e);
  if (e->kind == ExprKind::Unary && e->unary == UnaryOp::Not) return At(e, Scalar::Bool);
  if (e->kind == ExprKind::Literal && e->literal.kind != Literal::Bool) {
    bool holds = e->literal.integer != 0 || e->literal.real != 0;
    return builder_.ConstInt(ir::types::Bool, holds);
  }
  ValueId value = Own(e);
  builder_.SetLocation(e->location);
  return IsNotZero(value);
}

ir::ValueId Emitter::At(Expr* e, Scalar type) {
  if (auto hoisted = hoisted_.find(e); hoisted != hoisted_.end())
    return Convert(hoisted->second, type);
  builder_.SetLocation(e->location);
  switch (e->kind) {
    case ExprKind::Literal: return Constant(e, type);
    case ExprKind::Var:
      // Only after a mistake, when statements are no longer emitted, a variable may have no value.
      CHECK(values_[e->id].valid() || errors_.any());
      return values_[e->id].valid() ? values_[e->id] : Zero(ir::Type::Of(type));
    case ExprKind::Param: return builder_.Param(e->id);
    case ExprKind::Binary: return Binary(e, type);
    case ExprKind::Unary: {
      if (e->unary == UnaryOp::Not) {
        ValueId condition = Condition(e->args[0]);
        builder_.SetLocation(e->location);
        return builder_.Unary(Op::Not, condition);
      }
      ValueId value = As(e->args[0], type);
      if (e->unary == UnaryOp::Pos) return value;
      builder_.SetLocation(e->location);
      return builder_.Unary(e->unary == UnaryOp::Neg ? Op::Neg : Op::Not, value);
    }
    case ExprKind::Chain: return Chain(e, 0, {});
    case ExprKind::Load: {
      ValueId address = Address(e->id, e->args);
      builder_.SetLocation(e->location);
      return builder_.Load(arrays_[e->id], address);
    }
    case ExprKind::Length: return builder_.Length(arrays_[e->id]);
    case ExprKind::Call: return Call(e, type);
    case ExprKind::Cast: {
      Expr* from = e->args[0];
      bool is_cut = from->kind == ExprKind::Literal && from->literal.kind == Literal::Float &&
                    ir::IsFixedInt(e->to);
      if (is_cut) {
        builder_.SetLocation(e->location);
        Wide cut = Truncated(from->literal.real, e->to);
        return builder_.ConstInt(ir::Type::Of(e->to),
                                 static_cast<int64_t>(static_cast<uint64_t>(cut)));
      }
      bool is_exact =
          from->kind == ExprKind::Literal && from->type.is_weak() && MayAssign(from->type, e->to);
      ValueId value = is_exact ? As(from, e->to) : Own(from);
      builder_.SetLocation(e->location);
      return Convert(value, e->to);
    }
    case ExprKind::Truth: return Condition(e->args[0]);
    case ExprKind::IfExpr: return IfValue(e, type);
    case ExprKind::Fold: return Fold(e, type);
    case ExprKind::Inline: return Inline(e);
  }
  CHECK(!"every kind of expression is emitted");
}

ir::ValueId Emitter::Arithmetic(BinaryOp op, ValueId a, ValueId b) {
  switch (op) {
    case BinaryOp::Add: return builder_.Binary(Op::Add, a, b);
    case BinaryOp::Sub: return builder_.Binary(Op::Sub, a, b);
    case BinaryOp::Mul: return builder_.Binary(Op::Mul, a, b);
    case BinaryOp::Div: return builder_.Binary(Op::Div, a, b);
    case BinaryOp::Mod: return builder_.Binary(Op::RemFloor, a, b);
    case BinaryOp::FloorDiv: return builder_.Binary(Op::DivFloor, a, b);
    case BinaryOp::BitAnd: return builder_.Binary(Op::And, a, b);
    case BinaryOp::BitOr: return builder_.Binary(Op::Or, a, b);
    case BinaryOp::BitXor: return builder_.Binary(Op::Xor, a, b);
    default: break;
  }
  CHECK(!"the other operations have functions of their own");
}

ir::ValueId Emitter::Binary(Expr* e, Scalar type) {
  if (IsCompare(e->binary)) return Compare(e->binary, e->args[0], e->args[1]);
  if (e->binary == BinaryOp::And || e->binary == BinaryOp::Or) return Logic(e);
  if (e->binary == BinaryOp::Pow) return Power(e, type);
  if (e->binary == BinaryOp::Shl || e->binary == BinaryOp::Shr) return Shift(e, type);
  ValueId a = As(e->args[0], type);
  ValueId b = As(e->args[1], type);
  builder_.SetLocation(e->location);
  return Arithmetic(e->binary, a, b);
}

ir::ValueId Emitter::CompareValues(BinaryOp op, ValueId a, ValueId b) {
  constexpr Op Ops[] = {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};
  return builder_.Binary(Ops[static_cast<int>(op) - static_cast<int>(BinaryOp::Lt)], a, b);
}

namespace {
// Two values are compared in the type in which they meet; truth values in order are numbers.
Scalar CompareType(ValueType a, ValueType b, BinaryOp op) {
  bool is_equality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  if (a.is_bool() && b.is_bool()) return is_equality ? Scalar::Bool : Scalar::I32;
  auto number = [](ValueType t) { return t.is_bool() ? ValueType{ValueType::WeakInt} : t; };
  return Settle(Join(number(a), number(b)));
}
}  // namespace

ir::ValueId Emitter::Compare(BinaryOp op, Expr* left, Expr* right) {
  if (left->kind == ExprKind::Literal && right->kind == ExprKind::Literal)
    return builder_.ConstInt(ir::types::Bool, CompareConstants(op, left->literal, right->literal));
  Scalar type = CompareType(left->type, right->type, op);
  Location place = left->location;
  ValueId a = As(left, type);
  ValueId b = As(right, type);
  builder_.SetLocation(place);
  return CompareValues(op, a, b);
}

// a < b < c evaluates b once, and c only if a < b.
ir::ValueId Emitter::Chain(Expr* e, size_t at, ValueId left) {
  Expr* left_expr = e->args[at];
  Expr* right_expr = e->args[at + 1];
  Scalar type = CompareType(left_expr->type, right_expr->type, e->ops[at]);
  if (!left.valid() && !left_expr->type.is_weak()) left = Own(left_expr);
  // The same operand may be needed in two types: convert from its own.
  ValueId right = right_expr->type.is_weak() ? ValueId() : Own(right_expr);
  ValueId holds;
  if (left_expr->kind == ExprKind::Literal && right_expr->kind == ExprKind::Literal) {
    holds = Compare(e->ops[at], left_expr, right_expr);
  } else {
    ValueId a = left_expr->type.is_weak() ? As(left_expr, type) : Convert(left, type);
    ValueId b = right.valid() ? Convert(right, type) : As(right_expr, type);
    builder_.SetLocation(e->location);
    holds = CompareValues(e->ops[at], a, b);
  }
  if (at + 1 == e->ops.size()) return holds;
  bool is_safe = true;
  for (size_t i = at + 2; i < e->args.size(); ++i) is_safe &= IsSafe(e->args[i]);
  if (is_safe) return builder_.Binary(Op::And, holds, Chain(e, at + 1, right));
  ir::Type bool_type = ir::types::Bool;
  return builder_.If(
      holds, std::span(&bool_type, 1),
      [&] { return InBranch([&] { return Values{Chain(e, at + 1, right)}; }); },
      [&] { return Values{builder_.ConstInt(bool_type, 0)}; })[0];
}

ir::ValueId Emitter::Logic(Expr* e) {
  bool is_and = e->binary == BinaryOp::And;
  ValueId left = Condition(e->args[0]);
  if (IsSafe(e->args[1]) && CostOf(e->args[1]) <= 16) {
    ValueId right = Condition(e->args[1]);
    builder_.SetLocation(e->location);
    return builder_.Binary(is_and ? Op::And : Op::Or, left, right);
  }
  ir::Type type = ir::types::Bool;
  auto right = [&] { return InBranch([&] { return Values{Condition(e->args[1])}; }); };
  auto known = [&] { return Values{builder_.ConstInt(type, !is_and)}; };
  builder_.SetLocation(e->location);
  if (is_and) return builder_.If(left, std::span(&type, 1), right, known)[0];
  return builder_.If(left, std::span(&type, 1), known, right)[0];
}

ir::ValueId Emitter::IfValue(Expr* e, Scalar scalar) {
  ir::Type type = ir::Type::Of(scalar);
  ValueId condition = Condition(e->args[0]);
  bool is_select =
      IsSafe(e->args[1]) && IsSafe(e->args[2]) && CostOf(e->args[1]) + CostOf(e->args[2]) <= 16;
  if (is_select) {
    ValueId a = As(e->args[1], scalar);
    ValueId b = As(e->args[2], scalar);
    builder_.SetLocation(e->location);
    return builder_.Select(condition, a, b);
  }
  auto branch = [&](Expr* value) { return InBranch([&] { return Values{As(value, scalar)}; }); };
  builder_.SetLocation(e->location);
  return builder_.If(
      condition, std::span(&type, 1), [&] { return branch(e->args[1]); },
      [&] { return branch(e->args[2]); })[0];
}

ir::ValueId Emitter::IntPower(ValueId base, uint64_t exponent) {
  if (exponent == 0) return builder_.ConstInt(builder_.TypeOf(base), 1);
  ValueId result;
  for (;;) {
    if (exponent & 1) result = result.valid() ? builder_.Binary(Op::Mul, result, base) : base;
    exponent >>= 1;
    if (exponent == 0) return result;
    base = builder_.Binary(Op::Mul, base, base);
  }
}

ir::ValueId Emitter::Power(Expr* e, Scalar type) {
  ValueId base = As(e->args[0], type);
  Expr* exponent = e->args[1];
  bool is_constant = exponent->kind == ExprKind::Literal;
  if (!ir::IsFloat(type)) return IntPower(base, static_cast<uint64_t>(exponent->literal.integer));
  // x * x is the square of x, correctly rounded.
  bool is_square = is_constant && (exponent->literal.integer == 2 || exponent->literal.real == 2.0);
  builder_.SetLocation(e->location);
  if (is_square) return builder_.Binary(Op::Mul, base, base);
  ValueId power = As(exponent, type);
  builder_.SetLocation(e->location);
  return builder_.Binary(Op::Pow, base, power);
}

ir::ValueId Emitter::Shift(Expr* e, Scalar type) {
  ValueId value = As(e->args[0], type);
  // Amounts count modulo the width, so cutting them to the type changes nothing.
  ValueId amount = e->args[1]->kind == ExprKind::Literal ? Constant(e->args[1], type)
                                                         : Convert(Own(e->args[1]), type);
  builder_.SetLocation(e->location);
  return builder_.Binary(e->binary == BinaryOp::Shl ? Op::Shl : Op::Shr, value, amount);
}

ir::ValueId Emitter::Inline(Expr* e) {
  Emit(e->body);
  if (!e->has_result) return {};
  ValueId result = values_[e->result];
  if (tree_.locals[e->result].is_constant)
    return Constant(tree_.locals[e->result].values[0], Settle(e->type));
  return result.valid() ? result : Zero(TypeOf(e->result));
}

// Row-major: a[i, j] of an array of shape (m, n) is element i * n + j.
ir::ValueId Emitter::Address(uint32_t array, const std::vector<Expr*>& indices) {
  ValueId address = As(indices[0], Scalar::Index);
  for (size_t d = 1; d < indices.size(); ++d) {
    ValueId size = As(tree_.arrays[array].shape[d], Scalar::Index);
    ValueId index = As(indices[d], Scalar::Index);
    builder_.SetLocation(indices[d]->location);
    address = builder_.Binary(Op::Add, builder_.Binary(Op::Mul, address, size), index);
  }
  return address;
}

}  // namespace frazil::frontends::python
