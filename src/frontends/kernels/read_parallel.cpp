// Whole-array operations of earlier tools: parallel_map_unary, parallel_map_binary, parallel_reduce. Each is a pass of
// its own over all lanes below its count, written down as the statements it means.
#include <fmt/format.h>

#include "frontends/kernels/reader.h"

namespace frazil::frontends::kernels {
namespace {

struct MapRow {
  std::string_view name;
  std::string_view function;  // a row of functions.def, or empty
};
constexpr MapRow UnaryRows[] = {
    {"abs", "abs"},   {"neg", ""},      {"sqrt", "sqrt"},   {"exp", "exp"},     {"log", "log"},         {"sin", "sin"},
    {"cos", "cos"},   {"tan", "tan"},   {"ceil", "ceil"},   {"floor", "floor"}, {"round", "round"},     {"reciprocal", ""},
    {"erf", "erf"},   {"relu", "max"},  {"sigmoid", "sigmoid"}, {"tanh", "tanh"}, {"gelu", "gelu"}, {"rsqrt", "rsqrt"},
};
constexpr MapRow BinaryRows[] = {{"add", ""}, {"sub", ""}, {"mul", ""}, {"div", ""}, {"pow", ""}, {"min", "min"}, {"max", "max"}};

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

// False if the statement is none of these.
bool Reader::ParallelPass(const JsonNode& node) {
  const JsonNode* type = node.Find("type");
  if (type == nullptr || !type->text.starts_with("parallel_")) return false;
  bool is_unary = type->text == "parallel_map_unary";
  bool is_reduce = type->text == "parallel_reduce";
  if (!is_unary && !is_reduce && type->text != "parallel_map_binary") {
    Wrong(node, fmt::format("'{}' is not supported", type->text), "write the kernel for one element");
    return true;
  }
  Location place = Place(node);
  std::string_view operation = Text(node, "operation");
  const JsonNode* output = Need(node, "output");
  const JsonNode* count = Need(node, "count");
  const JsonNode* first = Need(node, is_unary || is_reduce ? "input" : "input_a");
  const JsonNode* second = is_unary || is_reduce ? first : Need(node, "input_b");
  if (output == nullptr || count == nullptr || first == nullptr || second == nullptr) return true;
  std::optional<uint32_t> to = ArrayNamed(*output, "written");
  std::optional<uint32_t> a = ArrayNamed(*first, "read");
  std::optional<uint32_t> b = ArrayNamed(*second, "read");
  if (!to || !a || !b) return true;
  tree_.arrays[*to].is_written = true;
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
    std::string_view atomic = operation == "sum" ? "atomic_add" : operation == "min" ? "atomic_min"
                              : operation == "max" ? "atomic_max" : "";
    if (atomic.empty()) {
      Wrong(node, fmt::format("the reduction '{}' is not supported", operation), "use sum, min or max");
      return true;
    }
    if (!ir::IsFloat(tree_.arrays[*to].element)) {
      Wrong(node, "parallel_reduce is for arrays of floats", "use an atomic in a kernel");
      return true;
    }
    // What joins anything without changing it, then every lane.
    Stmt* start = tree_.NewStmt(StmtKind::Store, place);
    start->array = *to;
    start->args = {NewInt(tree_, 0, place)};
    start->value = NewFloat(tree_, operation == "sum" ? -0.0 : __builtin_nan(""), place);
    if (!tree_.passes.back().empty()) tree_.passes.emplace_back();
    tree_.passes.back().push_back(start);
    effect = tree_.NewStmt(StmtKind::Expr, place);
    effect->value = NewCall(tree_, atomic, place, {NewInt(tree_, 0, place), load(*a)});
    effect->value->id = *to;
    tree_.arrays[*to].uses += 1;
  } else {
    std::span<const MapRow> rows = is_unary ? std::span<const MapRow>(UnaryRows) : std::span<const MapRow>(BinaryRows);
    const MapRow* row = nullptr;
    for (const MapRow& candidate : rows)
      if (candidate.name == operation) row = &candidate;
    if (row == nullptr) {
      Wrong(node, fmt::format("the operation '{}' is not supported", operation));
      return true;
    }
    Expr* value = load(*a);
    if (operation == "neg") {
      Expr* negative = tree_.NewExpr(ExprKind::Unary, place);
      negative->unary = UnaryOp::Neg;
      negative->args = {value};
      value = negative;
    } else if (operation == "reciprocal") {
      value = NewBinary(tree_, BinaryOp::Div, NewInt(tree_, 1, place), value, place);
    } else if (operation == "relu") {
      value = NewCall(tree_, "max", place, {value, NewInt(tree_, 0, place)});
    } else if (is_unary) {
      value = NewCall(tree_, row->function, place, {value});
    } else if (!row->function.empty()) {
      value = NewCall(tree_, row->function, place, {value, load(*b)});
    } else {
      BinaryOp op = operation == "add" ? BinaryOp::Add : operation == "sub" ? BinaryOp::Sub
                    : operation == "mul" ? BinaryOp::Mul : operation == "div" ? BinaryOp::Div : BinaryOp::Pow;
      value = NewBinary(tree_, op, value, load(*b), place);
    }
    effect = tree_.NewStmt(StmtKind::Store, place);
    effect->array = *to;
    effect->args = {read_lane()};
    effect->value = value;
    ++tree_.arrays[*to].uses;
  }
  Stmt* guard = tree_.NewStmt(StmtKind::If, place);
  guard->value = NewBinary(tree_, BinaryOp::Lt, read_lane(), Expression(*count), place);
  guard->body = {effect};
  if (!tree_.passes.back().empty()) tree_.passes.emplace_back();
  tree_.passes.back() = {NewAssign(lane, NewCall(tree_, "get_global_id", place, {}), place), guard};
  return true;
}

}  // namespace frazil::frontends::kernels
