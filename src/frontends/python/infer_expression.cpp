// Types of expressions. Integers meet in the wider one, signs of one width in the next signed width, integers and
// floats in the float, literals in what they meet.
#include <initializer_list>

#include <fmt/format.h>

#include "frontends/python/functions.h"
#include "frontends/python/infer.h"
#include "frontends/python/passes.h"

namespace frazil::frontends::python {

using ir::Scalar;

namespace {
constexpr ValueType BoolType = ValueType::Of(Scalar::Bool);
constexpr ValueType IndexType = ValueType::Of(Scalar::Index);
constexpr ValueType NothingType = {ValueType::Nothing};
// A bool in arithmetic is the number 0 or 1.
ValueType Number(ValueType type) { return type.is_bool() ? ValueType{ValueType::WeakInt} : type; }
}  // namespace

ValueType Inference::Infer(Expr* e) {
  if (e->is_final) return e->type;
  e->type = InferUntyped(e);
  e->is_final = reports_;
  return e->type;
}

ValueType Inference::InferUntyped(Expr* e) {
  switch (e->kind) {
    case ExprKind::Literal: return InferLiteral(e);
    case ExprKind::Var: return tree_.locals[e->id].type;
    case ExprKind::Param: return ValueType::Of(tree_.params[e->id].type.scalar);
    case ExprKind::Binary: return InferBinary(e);
    case ExprKind::Unary: return InferUnary(e);
    case ExprKind::Chain: return InferChain(e);
    case ExprKind::Load:
      for (Expr* index : e->args) CheckIndex(index);
      return ValueType::Of(tree_.arrays[e->id].element);
    case ExprKind::Length: return IndexType;
    case ExprKind::Call: return InferCall(e);
    case ExprKind::Cast: return InferCast(e);
    case ExprKind::Truth: InferCondition(e->args[0]); return BoolType;
    case ExprKind::IfExpr: {
      InferCondition(e->args[0]);
      ValueType a = Infer(e->args[1]), b = Infer(e->args[2]);
      ValueType type = Common(e, a, b);
      CheckLiterals(e, type, {e->args[1], e->args[2]});
      return type;
    }
    case ExprKind::Fold: return InferFold(e);
    case ExprKind::Inline:
      if (reports_) Visit(e->body);
      if (e->has_result) return tree_.locals[e->result].type;
      if (e == statement_) return NothingType;
      return Wrong(e->location, "this function returns no value", "end it with 'return value'");
  }
  return NothingType;
}

ValueType Inference::InferLiteral(Expr* e) {
  switch (e->literal.kind) {
    case Literal::Bool: return BoolType;
    case Literal::Int: return {ValueType::WeakInt};
    case Literal::Float: return {ValueType::WeakFloat};
  }
  return NothingType;
}

ValueType Inference::Common(Expr* e, ValueType a, ValueType b) {
  if (a.kind == ValueType::Nothing || b.kind == ValueType::Nothing) return NothingType;
  if (a.kind == ValueType::Unknown || b.kind == ValueType::Unknown) return {};
  ValueType type = Join(a, b);
  if (type.kind == ValueType::Nothing)
    return Wrong(e->location,
                 fmt::format("{} and {} have no common type", TypeName(a), TypeName(b)),
                 fmt::format("cast one of them: {}(x)", TypeName(a)));
  return type;
}

void Inference::CheckLiterals(Expr*, ValueType type, std::initializer_list<Expr*> operands) {
  if (!reports_ || type.kind != ValueType::Typed) return;
  for (Expr* operand : operands) {
    bool is_number = operand->kind == ExprKind::Literal && operand->literal.kind != Literal::Bool;
    if (is_number && !Fits(operand->literal, type.scalar))
      Say(operand->location, fmt::format("this constant does not fit {}", TypeName(type)),
          fmt::format("cast the other operand to a wider type than {}", TypeName(type)));
  }
}

ValueType Inference::InferBinary(Expr* e) {
  BinaryOp op = e->binary;
  Expr* left = e->args[0];
  Expr* right = e->args[1];
  ValueType a = Infer(left), b = Infer(right);
  bool is_logic = op == BinaryOp::And || op == BinaryOp::Or;
  if (a.kind == ValueType::Nothing || b.kind == ValueType::Nothing)
    return is_logic ? BoolType : NothingType;
  // Not known yet: another round will know more.
  if (a.kind == ValueType::Unknown || b.kind == ValueType::Unknown)
    return IsCompare(op) || is_logic ? BoolType : ValueType();
  if (is_logic) {
    // As a value Python gives an operand back; a bool says the same in both languages.
    if (!a.is_bool() || !b.is_bool())
      Say(e->location,
          fmt::format("'{}' of numbers is only a condition", op == BinaryOp::And ? "and" : "or"),
          "write 'x != 0', or 'a if a != 0 else b'");
    return BoolType;
  }
  if (IsCompare(op)) {
    CheckLiterals(e, Common(e, Number(a), Number(b)), {left, right});
    return BoolType;
  }
  bool are_constant = left->kind == ExprKind::Literal && right->kind == ExprKind::Literal;
  bool is_quotient = op == BinaryOp::Div || op == BinaryOp::Mod || op == BinaryOp::FloorDiv;
  if (are_constant && is_quotient && right->literal.integer == 0 && right->literal.real == 0)
    return Wrong(e->location, "this divides by 0", "");
  bool are_ints = !a.is_float() && !b.is_float();
  if (are_constant && are_ints)
    return Wrong(e->location, "this constant expression has no value of at most 126 bits", "");
  if (op == BinaryOp::Div) return InferDivision(e, a, b);
  if (op == BinaryOp::Pow) return InferPower(e, a, b);
  if (op == BinaryOp::Shl || op == BinaryOp::Shr) return InferShift(e, a, b);
  bool is_bits = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
  if (is_bits && a.is_bool() && b.is_bool()) return BoolType;
  bool needs_ints = is_bits || op == BinaryOp::Mod || op == BinaryOp::FloorDiv;
  if (needs_ints && (a.is_float() || b.is_float())) {
    if (is_bits)
      return Wrong(e->location, "bit operations take integers, not floats",
                   "use bitcast(u32, x) for the bits of x");
    return Wrong(e->location, "'//' and '%' take integers, not floats",
                 "write floor(a / b), or a - b * floor(a / b)");
  }
  bool by_zero =
      needs_ints && !is_bits && right->kind == ExprKind::Literal && right->literal.integer == 0;
  if (by_zero) return Wrong(e->location, "this divides by 0", "");
  ValueType type = Common(e, Number(a), Number(b));
  CheckLiterals(e, type, {left, right});
  return type;
}

ValueType Inference::InferDivision(Expr* e, ValueType a, ValueType b) {
  if (a.is_float() || b.is_float()) return Common(e, Number(a), Number(b));
  ValueType left = AsFloat(Number(a)), right = AsFloat(Number(b));
  return Common(e, left, right);
}

ValueType Inference::InferPower(Expr* e, ValueType a, ValueType b) {
  Expr* exponent = e->args[1];
  if (a.is_float() || b.is_float()) {
    if (a.is_float() && b.is_int()) return a;
    return Common(e, Number(a), Number(b));
  }
  bool is_constant = exponent->kind == ExprKind::Literal && exponent->literal.integer >= 0 &&
                     exponent->literal.integer <= 64;
  if (!is_constant)
    return Wrong(e->location, "a power of integers needs a constant exponent from 0 to 64",
                 "write f32(x) ** y for a float power");
  return Number(a);
}

ValueType Inference::InferShift(Expr* e, ValueType a, ValueType b) {
  if (!Number(a).is_int() || !Number(b).is_int())
    return Wrong(e->location, "shifts take integers",
                 "use bitcast(u32, x) for the bits of a float");
  ValueType type = Number(a);
  if (type.kind == ValueType::WeakInt && b.kind == ValueType::Typed && !b.is_bool()) type = b;
  Expr* amount = e->args[1];
  bool is_constant = amount->kind == ExprKind::Literal && type.kind == ValueType::Typed;
  if (is_constant) {
    int bits = ir::BitsOf(ir::Type::Of(type.scalar));
    if (amount->literal.integer < 0 || amount->literal.integer >= bits)
      return Wrong(amount->location,
                   fmt::format("a shift of {} is by 0 to {} bits", TypeName(type), bits - 1), "");
  }
  CheckLiterals(e, type, {e->args[0]});
  return type;
}

ValueType Inference::InferUnary(Expr* e) {
  if (e->unary == UnaryOp::Not) {
    InferCondition(e->args[0]);
    return BoolType;
  }
  ValueType type = Infer(e->args[0]);
  if (e->unary != UnaryOp::Inv) return Number(type);
  if (type.is_bool()) return Wrong(e->location, "'~' of a bool is -1 or -2 in Python", "use 'not'");
  if (type.is_float())
    return Wrong(e->location, "'~' takes integers, not floats", "use bitcast(u32, x)");
  return type;
}

ValueType Inference::InferChain(Expr* e) {
  for (Expr* operand : e->args) Infer(operand);
  for (size_t i = 0; i + 1 < e->args.size(); ++i) {
    Expr* left = e->args[i];
    Expr* right = e->args[i + 1];
    CheckLiterals(e, Common(e, Number(left->type), Number(right->type)), {left, right});
  }
  return BoolType;
}

ValueType Inference::InferFold(Expr* e) {
  for (Expr* bound : {e->args[0], e->args[1]}) {
    ValueType type = Infer(bound);
    if (!type.is_int() && type.kind != ValueType::Nothing)
      Say(bound->location, fmt::format("range takes integers, not {}", TypeName(type)),
          "cast it: int(x)");
  }
  CheckLiterals(e, IndexType, {e->args[0], e->args[1]});
  return Number(Infer(e->args[2]));
}

ValueType Inference::InferCast(Expr* e) {
  ValueType from = Infer(e->args[0]);
  if (from.kind == ValueType::Nothing) return NothingType;
  Expr* value = e->args[0];
  bool is_int_literal = value->kind == ExprKind::Literal && value->literal.kind == Literal::Int;
  if (is_int_literal && !Fits(value->literal, e->to))
    return Wrong(value->location,
                 fmt::format("this constant does not fit {}", TypeName(ValueType::Of(e->to))), "");
  return ValueType::Of(e->to);
}

// Number of arguments: the reader has checked it.
ValueType Inference::InferCall(Expr* e) {
  const FunctionRow& row = *e->function;
  bool is_unknown = false;
  for (Expr* arg : e->args) {
    if (row.kind == FunctionKind::Select && arg == e->args[0]) {
      InferCondition(arg);
      continue;
    }
    if (Infer(arg).kind == ValueType::Nothing) return NothingType;
    is_unknown |= arg->type.kind == ValueType::Unknown;
  }
  bool follows_arguments = row.kind != FunctionKind::Bitcast && row.kind != FunctionKind::Atomic &&
                           row.kind != FunctionKind::Random && row.kind != FunctionKind::Id;
  if (is_unknown && follows_arguments) return {};
  switch (row.kind) {
    case FunctionKind::Float:
    case FunctionKind::Wide:
    case FunctionKind::Fast: return InferFloatCall(e);
    case FunctionKind::MinMax:
    case FunctionKind::Int: {
      ValueType type = Number(e->args[0]->type);
      for (size_t i = 1; i < e->args.size(); ++i) type = Common(e, type, Number(e->args[i]->type));
      if (type.kind == ValueType::Nothing) return type;
      if (row.kind == FunctionKind::Int && type.is_float())
        return Wrong(e->location, fmt::format("'{}' takes integers, not floats", row.name), "");
      bool needs_sign = row.op == ir::Op::AbsChecked;
      if (needs_sign && type.kind == ValueType::Typed && !ir::IsSigned(type.scalar))
        return Wrong(e->location, fmt::format("'{}' takes signed integers", row.name), "");
      for (Expr* arg : e->args) CheckLiterals(e, type, {arg});
      return type;
    }
    case FunctionKind::Abs: return Number(e->args[0]->type);
    case FunctionKind::Select: {
      ValueType type = Common(e, e->args[1]->type, e->args[2]->type);
      CheckLiterals(e, type, {e->args[1], e->args[2]});
      return type;
    }
    case FunctionKind::Bitcast: {
      Scalar from = Settle(e->args[0]->type);
      bool same = ir::BitsOf(ir::Type::Of(from)) == ir::BitsOf(ir::Type::Of(e->to));
      if (reports_ && (!same || from == Scalar::Bool || e->to == Scalar::Bool))
        return Wrong(e->location,
                     fmt::format("bitcast from {} to {} changes the width",
                                 TypeName(ValueType::Of(from)), TypeName(ValueType::Of(e->to))),
                     "cast first");
      return ValueType::Of(e->to);
    }
    case FunctionKind::Id: return IndexType;
    case FunctionKind::Atomic: return InferAtomic(e);
    case FunctionKind::Random:
      for (Expr* arg : e->args)
        if (!Number(arg->type).is_int())
          return Wrong(arg->location, "seed, draw and element are integers", "");
      if (row.op == ir::Op::RandomBits)
        return ValueType::Of(row.detail == 32 ? Scalar::U32 : Scalar::U64);
      return ValueType::Of(row.detail == 32 ? Scalar::F32 : Scalar::F64);
    case FunctionKind::Barrier:
    case FunctionKind::Length: break;
  }
  return NothingType;
}

ValueType Inference::InferFloatCall(Expr* e) {
  const FunctionRow& row = *e->function;
  ValueType type;
  for (Expr* arg : e->args) {
    // An integer beside a float takes the float's type; alone it becomes f32 or f64.
    ValueType mine = Number(arg->type);
    type = Join(type, mine);
  }
  if (type.kind == ValueType::Nothing) return Common(e, e->args[0]->type, e->args[1]->type);
  type = AsFloat(type);
  bool is_half = type.is(Scalar::F16) || type.is(Scalar::BF16);
  if (row.kind == FunctionKind::Wide && is_half)
    return Wrong(e->location, fmt::format("'{}' is only for f32 and f64", row.name),
                 "cast: f32(x)");
  if (row.kind == FunctionKind::Fast) {
    if (type.is(Scalar::F64))
      return Wrong(e->location, fmt::format("'{}' is only for f32", row.name), "cast: f32(x)");
    return ValueType::Of(Scalar::F32);
  }
  return type;
}

ValueType Inference::InferAtomic(Expr* e) {
  const FunctionRow& row = *e->function;
  Scalar element = tree_.arrays[e->id].element;
  CheckIndex(e->args[0]);
  for (size_t i = 1; i < e->args.size(); ++i)
    CheckStore(e->args[i], e->args[i]->type, element, e->args[i]->location, false);
  bool is_float = ir::IsFloat(element);
  bool is_bits = row.op == ir::Op::AtomicRmw && row.detail >= 3 && row.detail <= 5;
  if (is_float && (is_bits || row.op == ir::Op::AtomicCas))
    return Wrong(e->location, fmt::format("'{}' takes arrays of integers", row.name), "");
  if (element == Scalar::Bool || element == Scalar::F16 || element == Scalar::BF16)
    return Wrong(e->location,
                 fmt::format("atomics are not for {}", TypeName(ValueType::Of(element))),
                 "use i32, u32, i64, u64, f32 or f64");
  return ValueType::Of(element);
}

void InferTypes(KernelTree& tree, Errors& errors) { Inference(tree, errors).Run(); }

}  // namespace frazil::frontends::python
