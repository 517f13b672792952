// Constant expressions by Python's arithmetic: integers and comparisons exact, floats double. A variable that is
// assigned one literal, once, is that literal wherever it is read, so that `k = 0.1` is as exact in f64 code as 0.1
// itself.
#include <algorithm>
#include <optional>

#include "frontends/python/exact.h"
#include "frontends/python/passes.h"
#include "frontends/python/read_schema.h"

namespace frazil::frontends::python {
namespace {

std::optional<Literal> Integer(Wide value) {
  if (!IsConstant(value)) return std::nullopt;
  return Literal{Literal::Int, value, 0};
}
std::optional<Literal> Real(double value) { return Literal{Literal::Float, 0, value}; }
std::optional<Literal> Truth(bool value) { return Literal{Literal::Bool, value, 0}; }
double AsDouble(const Literal& l) {
  return l.kind == Literal::Float ? l.real : static_cast<double>(l.integer);
}

Wide FloorDiv(Wide a, Wide b) {
  Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<Literal> Product(Wide a, Wide b) {
  Wide product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : Integer(product);
}

std::optional<Literal> Power(Wide base, Wide exponent) {
  if (exponent < 0) {
    // Python makes a double of the base; from there on it is a quotient, rounded once.
    if (base == 0) return std::nullopt;
    const std::optional<Literal> divisor =
        Power(static_cast<Wide>(static_cast<double>(base)), -exponent);
    return divisor ? Real(Quotient(1, divisor->integer)) : std::nullopt;
  }
  const bool stays = base >= -1 && base <= 1;
  if (stays && exponent > 2) exponent = 2 + exponent % 2;
  std::optional<Literal> result = Integer(1);
  for (Wide i = 0; i < exponent && result; ++i) result = Product(result->integer, base);
  return result;
}

std::optional<Literal> FoldInts(BinaryOp op, Wide a, Wide b) {
  constexpr Wide MostShift = 126;
  switch (op) {
    case BinaryOp::Add: return Integer(a + b);
    case BinaryOp::Sub: return Integer(a - b);
    case BinaryOp::Mul: return Product(a, b);
    case BinaryOp::Div: return b == 0 ? std::nullopt : Real(Quotient(a, b));
    case BinaryOp::Mod: return b == 0 ? std::nullopt : Integer(a - FloorDiv(a, b) * b);
    case BinaryOp::FloorDiv: return b == 0 ? std::nullopt : Integer(FloorDiv(a, b));
    case BinaryOp::Pow: return Power(a, b);
    case BinaryOp::Shl:
      if (a == 0 && b >= 0) return Integer(0);
      return b < 0 || b >= MostShift ? std::nullopt : Product(a, Wide{1} << b);
    case BinaryOp::Shr:
      return b < 0 ? std::nullopt : Integer(a >> static_cast<int>(std::min(b, MostShift)));
    case BinaryOp::BitAnd: return Integer(a & b);
    case BinaryOp::BitOr: return Integer(a | b);
    case BinaryOp::BitXor: return Integer(a ^ b);
    default: return std::nullopt;  // comparisons are CompareConstants
  }
}

std::optional<Literal> FoldReals(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add: return Real(a + b);
    case BinaryOp::Sub: return Real(a - b);
    case BinaryOp::Mul: return Real(a * b);
    case BinaryOp::Div: return b == 0 ? std::nullopt : Real(a / b);
    default: return std::nullopt;
  }
}

std::optional<Literal> FoldBinary(BinaryOp op, const Literal& a, const Literal& b) {
  if (IsCompare(op)) return Truth(CompareConstants(op, a, b));
  if (a.kind == Literal::Float || b.kind == Literal::Float)
    return FoldReals(op, AsDouble(a), AsDouble(b));
  bool keeps_bool = a.kind == Literal::Bool && b.kind == Literal::Bool &&
                    (op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor);
  std::optional<Literal> result = FoldInts(op, a.integer, b.integer);
  if (keeps_bool && result) result->kind = Literal::Bool;
  return result;
}

std::optional<Literal> FoldUnary(UnaryOp op, const Literal& a) {
  if (op == UnaryOp::Not) return Truth(a.kind == Literal::Float ? a.real == 0 : a.integer == 0);
  if (op == UnaryOp::Inv) return a.kind == Literal::Int ? Integer(~a.integer) : std::nullopt;
  if (a.kind == Literal::Float) return Real(op == UnaryOp::Neg ? -a.real : a.real);
  return Integer(op == UnaryOp::Neg ? -a.integer : a.integer);
}

// 1 < 2 < 3, if all of it is known.
std::optional<Literal> FoldChain(KernelTree& tree, const Expr& chain) {
  bool is_known = true;
  for (Expr* operand : chain.args) is_known &= FoldConstant(tree, operand);
  if (!is_known) return std::nullopt;
  bool holds = true;
  for (size_t i = 0; i < chain.ops.size(); ++i)
    holds &= CompareConstants(chain.ops[i], chain.args[i]->literal, chain.args[i + 1]->literal);
  return Truth(holds);
}

}  // namespace

bool CompareConstants(BinaryOp op, const Literal& a, const Literal& b) {
  const std::partial_ordering order = Order(a, b);
  switch (op) {
    case BinaryOp::Lt: return order < 0;
    case BinaryOp::Le: return order <= 0;
    case BinaryOp::Gt: return order > 0;
    case BinaryOp::Ge: return order >= 0;
    case BinaryOp::Eq: return order == 0;
    default: return order != 0;
  }
}

bool FoldConstant(KernelTree& tree, Expr* expr) {
  if (expr->kind == ExprKind::Literal) return true;
  if (expr->is_constant_checked) return false;
  std::optional<Literal> value;
  if (expr->kind == ExprKind::Var && tree.locals[expr->id].is_constant) {
    value = tree.locals[expr->id].values[0]->literal;
  } else if (expr->kind == ExprKind::Unary && FoldConstant(tree, expr->args[0])) {
    value = FoldUnary(expr->unary, expr->args[0]->literal);
  } else if (expr->kind == ExprKind::Chain) {
    value = FoldChain(tree, *expr);
  } else if (expr->kind == ExprKind::Binary) {
    bool left = FoldConstant(tree, expr->args[0]);
    bool right = FoldConstant(tree, expr->args[1]);
    if (left && right)
      value = FoldBinary(expr->binary, expr->args[0]->literal, expr->args[1]->literal);
  }
  if (!value) return false;
  expr->kind = ExprKind::Literal;
  expr->literal = *value;
  return true;
}

void FoldConstants(KernelTree& tree) {
  for (Local& local : tree.locals) {
    bool is_single = local.values.size() == 1 && local.values[0] != nullptr;
    if (is_single && local.declared.kind == ValueType::Unknown &&
        FoldConstant(tree, local.values[0]))
      local.is_constant = true;
  }
  for (Expr& expr : tree.exprs) {
    FoldConstant(tree, &expr);
    expr.is_constant_checked = true;
  }
}

}  // namespace frazil::frontends::python
