// Whole-array operations of earlier tools: parallel_map_unary, parallel_map_binary, parallel_reduce. Each is a pass of
// its own over all lanes below its count, written down as the statements it means.
#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "frontends/python/reader.h"

namespace frazil::frontends::python {
namespace {

struct MapRow {
  std::string_view name;
  std::string_view function;  // a row of functions.def, or empty
};
constexpr MapRow UnaryRows[] = {
    {"abs", "abs"},   {"neg", ""},        {"sqrt", "sqrt"},       {"exp", "exp"},
    {"log", "log"},   {"sin", "sin"},     {"cos", "cos"},         {"tan", "tan"},
    {"ceil", "ceil"}, {"floor", "floor"}, {"round", "round"},     {"reciprocal", ""},
    {"erf", "erf"},   {"relu", "max"},    {"sigmoid", "sigmoid"}, {"tanh", "tanh"},
    {"gelu", "gelu"}, {"rsqrt", "rsqrt"},
};
constexpr MapRow BinaryRows[] = {{"add", ""}, {"sub", ""},    {"mul", ""},   {"div", ""},
                                 {"pow", ""}, {"min", "min"}, {"max", "max"}};

Expr* NewCall(KernelTree& tree, std::string_view name, Location place, std::vector<Expr*> args) {
  Expr* call = tree.NewExpr(ExprKind::Call, place);
  call->function = FindFunction(name);
  call->args = std::move(args);
  return call;
}

Expr* NewInt(KernelTree& tree, int64_t value, Location place) {
  Expr* e = tree.NewExpr(ExprKind::Literal, place);
  e->literal.integer = value;
  return e;
}

Expr* NewFloat(KernelTree& tree, double value, Location place) {
  Expr* e = tree.NewExpr(ExprKind::Literal, place);
  e->literal = {Literal::Float, 0, value};
  return e;
}

Expr* NewBinary(KernelTree& tree, BinaryOp op, Expr* a, Expr* b, Location place) {
  Expr* e = tree.NewExpr(ExprKind::Binary, place);
  e->binary = op;
  e->args = {a, b};
  return e;
}

}  // namespace

// op(a[i]) or op(a[i], b[i]); null if there is no such operation.
Expr* Reader::MapValue(std::string_view operation, Expr* a, Expr* b) {
  Location place = a->location;
  std::span<const MapRow> rows =
      b == nullptr ? std::span<const MapRow>(UnaryRows) : std::span<const MapRow>(BinaryRows);
  auto row = std::ranges::find(rows, operation, &MapRow::name);
  if (row == rows.end()) return nullptr;
  if (operation == "relu") return NewCall(tree_, "max", place, {a, NewInt(tree_, 0, place)});
  if (operation == "reciprocal")
    return NewBinary(tree_, BinaryOp::Div, NewInt(tree_, 1, place), a, place);
  if (operation == "neg") {
    Expr* negative = tree_.NewExpr(ExprKind::Unary, place);
    negative->unary = UnaryOp::Neg;
    negative->args = {a};
    return negative;
  }
  if (b == nullptr) return NewCall(tree_, row->function, place, {a});
  if (!row->function.empty()) return NewCall(tree_, row->function, place, {a, b});
  BinaryOp op = operation == "add"   ? BinaryOp::Add
                : operation == "sub" ? BinaryOp::Sub
                : operation == "mul" ? BinaryOp::Mul
                : operation == "div" ? BinaryOp::Div
                                     : BinaryOp::Pow;
  return NewBinary(tree_, op, a, b, place);
}

// What joins anything without changing it goes to output[0] in a pass of its own; then every lane joins it.
Stmt* Reader::ReduceEffect(const JsonNode& node, std::string_view operation, uint32_t to,
                           Expr* value) {
  Location place = value->location;
  std::string_view atomic = operation == "sum"   ? "atomic_add"
                            : operation == "min" ? "atomic_min"
                            : operation == "max" ? "atomic_max"
                                                 : "";
  if (atomic.empty() || !ir::IsFloat(tree_.arrays[to].element)) {
    Wrong(node, fmt::format("the reduction '{}' is not supported here", operation),
          "use sum, min or max of floats");
    return nullptr;
  }
  Stmt* start = tree_.NewStmt(StmtKind::Store, place);
  start->array = to;
  start->args = {NewInt(tree_, 0, place)};
  start->value =
      NewFloat(tree_, operation == "sum" ? -0.0 : std::numeric_limits<double>::quiet_NaN(), place);
  if (!tree_.passes.back().empty()) tree_.passes.emplace_back();
  tree_.passes.back().push_back(start);
  Stmt* effect = tree_.NewStmt(StmtKind::Expr, place);
  effect->value = NewCall(tree_, atomic, place, {NewInt(tree_, 0, place), value});
  effect->value->id = to;
  return effect;
}

// False if the statement is none of these.
bool Reader::ParallelPass(const JsonNode& node) {
  const JsonNode* type = node.Find("type");
  if (type == nullptr || !type->text.starts_with("parallel_")) return false;
  bool is_binary = type->text == "parallel_map_binary";
  bool is_reduce = type->text == "parallel_reduce";
  if (!is_binary && !is_reduce && type->text != "parallel_map_unary") {
    Wrong(node, fmt::format("'{}' is not supported", type->text),
          "write the kernel for one element");
    return true;
  }
  Location place = Place(node);
  std::string_view operation = Text(node, "operation");
  const JsonNode* output = Need(node, "output");
  const JsonNode* count = Need(node, "count");
  const JsonNode* first = Need(node, is_binary ? "input_a" : "input");
  const JsonNode* second = is_binary ? Need(node, "input_b") : first;
  if (output == nullptr || count == nullptr || first == nullptr || second == nullptr) return true;
  std::optional<uint32_t> to = ArrayNamed(*output, "written");
  std::optional<uint32_t> a = ArrayNamed(*first, "read");
  std::optional<uint32_t> b = ArrayNamed(*second, "read");
  if (!to || !a || !b) return true;
  tree_.arrays[*to].is_written = true;
  ++tree_.arrays[*to].uses;
  uint32_t lane = tree_.NewLocal("i", place);
  auto read_lane = [&] {
    Expr* e = tree_.NewExpr(ExprKind::Var, place);
    e->id = lane;
    return e;
  };
  auto load = [&](uint32_t array) {
    Expr* e = tree_.NewExpr(ExprKind::Load, place);
    e->id = array;
    e->args = {read_lane()};
    ++tree_.arrays[array].uses;
    return e;
  };
  Stmt* effect = nullptr;
  if (is_reduce) {
    effect = ReduceEffect(node, operation, *to, load(*a));
    if (effect == nullptr) return true;
  } else {
    effect = tree_.NewStmt(StmtKind::Store, place);
    effect->array = *to;
    effect->args = {read_lane()};
    effect->value = MapValue(operation, load(*a), is_binary ? load(*b) : nullptr);
    if (effect->value == nullptr) {
      Wrong(node, fmt::format("the operation '{}' is not supported", operation));
      return true;
    }
  }
  Stmt* guard = tree_.NewStmt(StmtKind::If, place);
  guard->value = NewBinary(tree_, BinaryOp::Lt, read_lane(), Expression(*count), place);
  guard->body = {effect};
  if (!tree_.passes.back().empty()) tree_.passes.emplace_back();
  tree_.passes.back() = {NewAssign(lane, NewCall(tree_, "get_global_id", place, {}), place), guard};
  return true;
}

}  // namespace frazil::frontends::python
