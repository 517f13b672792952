// Constant expressions by Python's arithmetic: integers exact, floats double. A variable that is assigned one literal,
// once, is that literal wherever it is read, so that `k = 0.1` is as exact in f64 code as 0.1 itself.
#include <cmath>
#include <limits>
#include <optional>

#include "frontends/kernels/passes.h"
#include "frontends/kernels/read_schema.h"

namespace frazil::frontends::kernels {
namespace {

using Wide = __int128;

constexpr Wide Least = std::numeric_limits<int64_t>::min();
constexpr Wide Greatest = std::numeric_limits<uint64_t>::max();

std::optional<Literal> Integer(Wide value) {
  if (value < Least || value > Greatest) return std::nullopt;
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

std::optional<Literal> Power(Wide base, Wide exponent) {
  if (exponent < 0 || exponent > 64) return std::nullopt;
  Wide result = 1;
  for (Wide i = 0; i < exponent; ++i) {
    result *= base;
    if (result < Least || result > Greatest) return std::nullopt;
  }
  return Integer(result);
}

std::optional<Literal> FoldInts(BinaryOp op, Wide a, Wide b) {
  switch (op) {
    case BinaryOp::Add: return Integer(a + b);
    case BinaryOp::Sub: return Integer(a - b);
    case BinaryOp::Mul:
      // Both have at most 64 bits, so the product fits 128 but for the two greatest.
      return a > Greatest / 2 && b > Greatest / 2 ? std::nullopt : Integer(a * b);
    case BinaryOp::Div:
      return b == 0 ? std::nullopt : Real(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOp::Mod: return b == 0 ? std::nullopt : Integer(a - FloorDiv(a, b) * b);
    case BinaryOp::FloorDiv: return b == 0 ? std::nullopt : Integer(FloorDiv(a, b));
    case BinaryOp::Pow: return Power(a, b);
    case BinaryOp::Shl: return b < 0 || b > 63 ? std::nullopt : Integer(a * (Wide{1} << b));
    case BinaryOp::Shr: return b < 0 ? std::nullopt : Integer(b > 100 ? (a < 0 ? -1 : 0) : a >> b);
    case BinaryOp::BitAnd: return Integer(a & b);
    case BinaryOp::BitOr: return Integer(a | b);
    case BinaryOp::BitXor: return Integer(a ^ b);
    case BinaryOp::Lt: return Truth(a < b);
    case BinaryOp::Le: return Truth(a <= b);
    case BinaryOp::Gt: return Truth(a > b);
    case BinaryOp::Ge: return Truth(a >= b);
    case BinaryOp::Eq: return Truth(a == b);
    case BinaryOp::Ne: return Truth(a != b);
    case BinaryOp::And:
    case BinaryOp::Or: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Literal> FoldReals(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add: return Real(a + b);
    case BinaryOp::Sub: return Real(a - b);
    case BinaryOp::Mul: return Real(a * b);
    case BinaryOp::Div: return b == 0 ? std::nullopt : Real(a / b);
    case BinaryOp::Lt: return Truth(a < b);
    case BinaryOp::Le: return Truth(a <= b);
    case BinaryOp::Gt: return Truth(a > b);
    case BinaryOp::Ge: return Truth(a >= b);
    case BinaryOp::Eq: return Truth(a == b);
    case BinaryOp::Ne: return Truth(a != b);
    default: return std::nullopt;
  }
}

std::optional<Literal> FoldBinary(BinaryOp op, const Literal& a, const Literal& b) {
  if (a.kind == Literal::Float || b.kind == Literal::Float)
    return FoldReals(op, AsDouble(a), AsDouble(b));
  bool keeps_bool = a.kind == Literal::Bool && b.kind == Literal::Bool &&
                    (op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor);
  std::optional<Literal> result = FoldInts(op, a.integer, b.integer);
  if (keeps_bool && result) result->kind = Literal::Bool;
  return result;
}

std::optional<Literal> FoldUnary(UnaryOp op, const Literal& a) {
  if (op == UnaryOp::Not) return Truth(AsDouble(a) == 0);
  if (op == UnaryOp::Inv) return a.kind == Literal::Int ? Integer(~a.integer) : std::nullopt;
  if (a.kind == Literal::Float) return Real(op == UnaryOp::Neg ? -a.real : a.real);
  return Integer(op == UnaryOp::Neg ? -a.integer : a.integer);
}

}  // namespace

bool FoldConstant(KernelTree& tree, Expr* expr) {
  if (expr->kind == ExprKind::Literal) return true;
  if (expr->is_constant_checked) return false;
  std::optional<Literal> value;
  if (expr->kind == ExprKind::Var && tree.locals[expr->id].is_constant) {
    value = tree.locals[expr->id].values[0]->literal;
  } else if (expr->kind == ExprKind::Unary && FoldConstant(tree, expr->args[0])) {
    value = FoldUnary(expr->unary, expr->args[0]->literal);
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

}  // namespace frazil::frontends::kernels
