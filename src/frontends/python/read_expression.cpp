// Expressions of the JSON; calls are in read_call.cpp.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/names.h"
#include "frontends/python/exact.h"
#include "frontends/python/plan.h"
#include "frontends/python/reader.h"

namespace frazil::frontends::python {
namespace {

constexpr Named<BinaryOp> BinaryNames[] = {
#define FRAZIL_BINARY(name, text) {text, BinaryOp::name},
#include "frontends/python/binary_ops.def"
#undef FRAZIL_BINARY
};

}  // namespace

Expr* Reader::Expression(const JsonNode& node) {
  if (TooLarge(node)) return Nothing(node);
  switch (node.kind) {
    case JsonKind::String: return Variable(node, node.text);
    case JsonKind::Number:
    case JsonKind::True:
    case JsonKind::False: return LiteralOf(node, node);
    case JsonKind::Object: break;
    case JsonKind::Null:
    case JsonKind::Array: BadSchema(node, "an expression should stand here"); return Nothing(node);
  }
  const JsonNode* type_node = Need(node, "type");
  if (type_node == nullptr) return Nothing(node);
  std::string_view type = type_node->text;
  if (type == "var") return Variable(node, Text(node, "name"));
  if (type == "literal") {
    const JsonNode* value = Need(node, "value");
    return value == nullptr ? Nothing(node) : LiteralOf(node, *value);
  }
  if (type == "binary_op") return Binary(node);
  if (type == "unary_op") return Unary(node);
  if (type == "compare") return Chain(node);
  if (type == "index") return Index(node);
  if (type == "call") return Call(node);
  if (type == "if_expr") return IfExpr(node);
  if (type == "fold") return Fold(node);
  BadSchema(node, fmt::format("expression '{}' is not supported", type));
  return Nothing(node);
}

Expr* Reader::Variable(const JsonNode& node, std::string_view name) {
  Binding binding = Lookup(name);
  switch (binding.kind) {
    case Binding::Local: {
      Expr* expr = tree_.NewExpr(ExprKind::Var, Place(node));
      expr->id = binding.id;
      return expr;
    }
    case Binding::Param: {
      Expr* expr = tree_.NewExpr(ExprKind::Param, Place(node));
      expr->id = binding.id;
      return expr;
    }
    case Binding::Array:
      Wrong(node, fmt::format("the array '{}' is not a value", name), "read an element: a[i]");
      break;
    case Binding::Function:
      Wrong(node, fmt::format("the function '{}' is not a value", name), "call it");
      break;
    case Binding::Unbound:
      Wrong(node, fmt::format("there is no variable '{}'", name),
            FindFunction(name) != nullptr
                ? "it is a function: call it"
                : "assign it first, make it a parameter or a constant of the file");
  }
  return Nothing(node);
}

Expr* Reader::LiteralOf(const JsonNode& node, const JsonNode& value) {
  Expr* expr = tree_.NewExpr(ExprKind::Literal, Place(node));
  Literal& literal = expr->literal;
  double infinity = std::numeric_limits<double>::infinity();
  if (value.is(JsonKind::True) || value.is(JsonKind::False)) {
    literal.kind = Literal::Bool;
    literal.integer = value.is(JsonKind::True);
  } else if (value.is(JsonKind::String) &&
             (value.text == "inf" || value.text == "-inf" || value.text == "nan")) {
    literal.kind = Literal::Float;
    literal.real = value.text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                       : (value.text == "inf" ? infinity : -infinity);
  } else if (!value.is(JsonKind::Number)) {
    BadSchema(node, "a literal is a number, true or false");
  } else if (value.text.find_first_of(".eE") != std::string_view::npos) {
    literal.kind = Literal::Float;
    const char* end = value.text.data() + value.text.size();
    std::from_chars_result read = std::from_chars(value.text.data(), end, literal.real);
    // Too large or too small for a double, as in Python: infinity or zero.
    if (read.ec == std::errc::result_out_of_range)
      literal.real = std::strtod(std::string(value.text).c_str(), nullptr);
  } else if (const std::optional<Wide> integer = ReadInteger(value.text)) {
    literal.integer = *integer;
  } else {
    Wrong(node, "this integer has more than 126 bits", "use a smaller constant, or a float");
  }
  return expr;
}

Expr* Reader::Binary(const JsonNode& node) {
  std::string_view name = Text(node, "op");
  const std::optional<BinaryOp> op = FindNamed(BinaryNames, name);
  const JsonNode* left = Need(node, "left");
  const JsonNode* right = Need(node, "right");
  if (!op) BadSchema(node, fmt::format("operation '{}' is not supported", name));
  if (!op || left == nullptr || right == nullptr) return Nothing(node);
  Expr* expr = tree_.NewExpr(ExprKind::Binary, Place(node));
  expr->binary = *op;
  expr->args = {Expression(*left), nullptr};
  expr->args[1] = Expression(*right);
  return expr;
}

Expr* Reader::Unary(const JsonNode& node) {
  static constexpr std::string_view Names[] = {"pos", "neg", "not", "inv"};
  std::string_view name = Text(node, "op");
  const JsonNode* operand = Need(node, "operand");
  size_t i = 0;
  while (i < std::size(Names) && Names[i] != name) ++i;
  if (i == std::size(Names)) BadSchema(node, fmt::format("operation '{}' is not supported", name));
  if (i == std::size(Names) || operand == nullptr) return Nothing(node);
  Expr* expr = tree_.NewExpr(ExprKind::Unary, Place(node));
  expr->unary = static_cast<UnaryOp>(i);
  expr->args = {Expression(*operand)};
  return expr;
}

Expr* Reader::Chain(const JsonNode& node) {
  const JsonNode* ops = Need(node, "ops");
  const JsonNode* operands = Need(node, "operands");
  if (ops == nullptr || operands == nullptr) return Nothing(node);
  Expr* expr = tree_.NewExpr(ExprKind::Chain, Place(node));
  for (const JsonNode& name : JsonChildren(*ops)) {
    const std::optional<BinaryOp> op = FindNamed(BinaryNames, name.text);
    if (!op || !IsCompare(*op)) {
      BadSchema(name, fmt::format("comparison '{}' is not known", name.text));
      return Nothing(node);
    }
    expr->ops.push_back(*op);
  }
  for (const JsonNode& operand : JsonChildren(*operands)) expr->args.push_back(Expression(operand));
  if (expr->ops.empty() || expr->args.size() != expr->ops.size() + 1) {
    BadSchema(node, "a comparison has one operand more than operators");
    return Nothing(node);
  }
  return expr;
}

std::optional<uint32_t> Reader::ArrayNamed(const JsonNode& node, std::string_view what) {
  std::string_view name = node.text;
  if (node.is(JsonKind::Object)) {
    const JsonNode* kind = node.Find("type");
    const JsonNode* text = node.Find("name");
    if (kind == nullptr || kind->text != "var" || text == nullptr) {
      Wrong(node, fmt::format("only a named array can be {}", what));
      return std::nullopt;
    }
    name = text->text;
  }
  Binding binding = Lookup(name);
  if (binding.kind == Binding::Array) return binding.id;
  if (binding.kind == Binding::Unbound)
    Wrong(node, fmt::format("there is no array '{}'", name),
          "make it a parameter: DeviceArray[f32]");
  else
    Wrong(node, fmt::format("'{}' is not an array and cannot be {}", name, what),
          "arrays are parameters of type DeviceArray[T] or made by shared(T, n)");
  return std::nullopt;
}

bool Reader::Indices(const JsonNode& node, uint32_t array, std::vector<Expr*>& out) {
  if (const JsonNode* list = node.Find("indices")) {
    for (const JsonNode& index : JsonChildren(*list)) out.push_back(Expression(index));
  } else if (const JsonNode* index = Need(node, "index")) {
    out.push_back(Expression(*index));
  }
  const Array& it = tree_.arrays[array];
  size_t rank = std::max<size_t>(it.shape.size(), 1);
  if (out.size() == rank) return true;
  if (it.shape.empty())
    Wrong(node, fmt::format("'{}' has no shape, so it takes one index", it.name),
          "declare it as DeviceArray[f32, (m, n)], or write a[i * n + j]");
  else
    Wrong(node, fmt::format("'{}' has {} dimensions, not {}", it.name, rank, out.size()),
          "give one index for each");
  return false;
}

Expr* Reader::Index(const JsonNode& node) {
  const JsonNode* array_node = Need(node, "array");
  if (array_node == nullptr) return Nothing(node);
  std::optional<uint32_t> array = ArrayNamed(*array_node, "indexed");
  Expr* expr = tree_.NewExpr(ExprKind::Load, Place(node));
  if (!array || !Indices(node, *array, expr->args)) return Nothing(node);
  expr->id = *array;
  ++tree_.arrays[*array].uses;
  return expr;
}

Expr* Reader::IfExpr(const JsonNode& node) {
  const JsonNode* condition = Need(node, "condition");
  const JsonNode* then_value = Need(node, "then");
  const JsonNode* else_value = Need(node, "else");
  if (condition == nullptr || then_value == nullptr || else_value == nullptr) return Nothing(node);
  Expr* expr = tree_.NewExpr(ExprKind::IfExpr, Place(node));
  for (const JsonNode* part : {condition, then_value, else_value}) {
    Expr* value = Expression(*part);
    expr->args.push_back(value);
  }
  return expr;
}

// The variable is the fold's own: its bounds do not see it, nor does anything behind it.
Expr* Reader::Fold(const JsonNode& node) {
  std::string_view kind = Text(node, "kind");
  std::string_view name = Text(node, "var");
  const JsonNode* start = node.Find("start");
  const JsonNode* stop = Need(node, "stop");
  const JsonNode* value = Need(node, "value");
  bool is_known = kind == "sum" || kind == "min" || kind == "max";
  if (!is_known) BadSchema(node, fmt::format("the fold '{}' is not supported", kind));
  if (!is_known || name.empty() || stop == nullptr || value == nullptr) return Nothing(node);
  Expr* expr = tree_.NewExpr(ExprKind::Fold, Place(node));
  expr->fold = kind == "sum"   ? ir::ReduceKind::Sum
               : kind == "min" ? ir::ReduceKind::Min
                               : ir::ReduceKind::Max;
  expr->args = {start == nullptr ? Nothing(node) : Expression(*start), nullptr, nullptr};
  expr->args[1] = Expression(*stop);
  expr->id = tree_.NewLocal(std::string(name), expr->location);
  tree_.locals[expr->id].values.push_back(nullptr);
  Scope scope;
  scope.outer = scope_;
  scope.names.push_back({name, {Binding::Local, expr->id}});
  scope_ = &scope;
  expr->args[2] = Expression(*value);
  scope_ = scope.outer;
  if (HasEffect(expr->args[2]))
    Wrong(*value,
          fmt::format("an element of '{}' may only be computed: no stores, atomics, asserts", kind),
          "use a 'for' loop");
  return expr;
}

}  // namespace frazil::frontends::python
