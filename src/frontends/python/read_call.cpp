// Calls: of rows of functions.def, of types (casts), and of the kernel's own functions, which are put in place here:
// each call reads the function's JSON again in a scope of its own, so that every call has its own variables and types.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/python/reader.h"

namespace frazil::frontends::python {

Expr* Reader::Call(const JsonNode& node) {
  std::string_view name = Text(node, "function");
  std::vector<const JsonNode*> args;
  if (const JsonNode* list = node.Find("args"))
    for (const JsonNode& arg : JsonChildren(*list)) args.push_back(&arg);
  Binding binding = Lookup(name);
  if (binding.kind == Binding::Function) return CallFunction(node, binding, args);
  if (binding.kind != Binding::Unbound) {
    Wrong(node, fmt::format("'{}' is not a function", name));
    return Nothing(node);
  }
  const FunctionRow* row = FindFunction(name);
  const JsonNode* keywords = node.Find("keywords");
  if (keywords != nullptr && keywords->first != nullptr &&
      !(row != nullptr && row->kind == FunctionKind::Atomic)) {
    Wrong(node, fmt::format("'{}' takes no named arguments", name), "pass them by position");
    return Nothing(node);
  }
  if (row != nullptr) return CallRow(node, *row, args);
  if (std::optional<ir::Scalar> to = ScalarNamed(name)) {
    if (args.size() != 1) {
      Wrong(node, fmt::format("the cast '{}' takes one value, not {}", name, args.size()));
      return Nothing(node);
    }
    Expr* expr =
        tree_.NewExpr(*to == ir::Scalar::Bool ? ExprKind::Truth : ExprKind::Cast, Place(node));
    expr->to = *to;
    expr->args = {Expression(*args[0])};
    return expr;
  }
  std::string hint = "see the list of functions in python/README.md";
  if (std::string_view near = NearestFunction(name); !near.empty())
    hint = fmt::format("did you mean '{}'?", near);
  if (name == "print") hint = "kernels cannot print; write to an array";
  if (name == "shared") hint = "assign it to a name of its own: tile = shared(f32, 256)";
  if (name == "sum")
    hint = "write sum(a[j] for j in range(n)), or atomic_add(out, 0, x) for all lanes";
  Wrong(node, fmt::format("there is no function '{}'", name), hint);
  return Nothing(node);
}

Expr* Reader::CallRow(const JsonNode& node, const FunctionRow& row,
                      const std::vector<const JsonNode*>& args) {
  if (row.kind == FunctionKind::Id) return CallId(node, row, args);
  bool is_variadic = row.kind == FunctionKind::MinMax && args.size() >= 2;
  if (args.size() != row.arity && !is_variadic) {
    Wrong(node, fmt::format("'{}' takes {} argument{}, not {}", row.name, row.arity,
                            row.arity == 1 ? "" : "s", args.size()));
    return Nothing(node);
  }
  if (row.kind == FunctionKind::Atomic) return CallAtomic(node, row, args);
  if (row.kind == FunctionKind::Barrier) {
    Wrong(node, "barrier() gives no value", "write it as a statement of its own");
    return Nothing(node);
  }
  if (row.kind == FunctionKind::Length) {
    std::optional<uint32_t> array = ArrayNamed(*args[0], "measured");
    if (!array) return Nothing(node);
    if (!tree_.arrays[*array].shape.empty() && !tree_.arrays[*array].is_shared) {
      Wrong(node, "len of an array with a shape is not supported", "use the names in its shape");
      return Nothing(node);
    }
    Expr* expr = tree_.NewExpr(ExprKind::Length, Place(node));
    expr->id = *array;
    return expr;
  }
  Expr* expr = tree_.NewExpr(ExprKind::Call, Place(node));
  expr->function = &row;
  if (row.kind == FunctionKind::Bitcast) {
    const JsonNode* to = Need(node, "to");
    TypeText type = to == nullptr ? TypeText() : ReadType(*to);
    if (!type.scalar) return Nothing(node);
    expr->to = *type.scalar;
  }
  for (const JsonNode* arg : args) {
    Expr* value = Expression(*arg);
    expr->args.push_back(value);
  }
  return expr;
}

Expr* Reader::CallId(const JsonNode& node, const FunctionRow& row,
                     const std::vector<const JsonNode*>& args) {
  Expr* expr = tree_.NewExpr(ExprKind::Call, Place(node));
  expr->function = &row;
  if (args.size() > 1) {
    Wrong(node, fmt::format("'{}' takes a dimension: 0, 1 or 2", row.name));
    return Nothing(node);
  }
  if (args.empty()) return expr;
  Expr* dim = Expression(*args[0]);
  bool is_dim = FoldConstant(tree_, dim) && dim->literal.kind == Literal::Int &&
                dim->literal.integer >= 0 && dim->literal.integer <= 2;
  if (!is_dim)
    Wrong(*args[0], fmt::format("the dimension of '{}' is the constant 0, 1 or 2", row.name));
  expr->id = static_cast<uint32_t>(is_dim ? dim->literal.integer : 0);
  return expr;
}

bool Reader::IsUnordered(const JsonNode& node) {
  const JsonNode* keywords = node.Find("keywords");
  if (keywords == nullptr) return false;
  bool unordered = false;
  for (const JsonNode& keyword : JsonChildren(*keywords)) {
    const JsonNode* value = keyword.is(JsonKind::Object) ? keyword.Find("value") : &keyword;
    bool is_flag = value != nullptr && (value->is(JsonKind::True) || value->is(JsonKind::False));
    if (keyword.key != "unordered" || !is_flag)
      Wrong(node, "an atomic takes only the named argument unordered=True or unordered=False");
    else
      unordered = value->is(JsonKind::True);
  }
  return unordered;
}

Expr* Reader::CallAtomic(const JsonNode& node, const FunctionRow& row,
                         const std::vector<const JsonNode*>& args) {
  Expr* expr = tree_.NewExpr(ExprKind::Call, Place(node));
  expr->function = &row;
  std::optional<uint32_t> array = ArrayNamed(*args[0], "updated");
  if (!array) return Nothing(node);
  expr->id = *array;
  expr->unordered = IsUnordered(node);
  for (size_t i = 1; i < args.size(); ++i) {
    Expr* value = Expression(*args[i]);
    expr->args.push_back(value);
  }
  tree_.arrays[*array].is_written = true;
  ++tree_.arrays[*array].uses;
  return expr;
}

Expr* Reader::CallFunction(const JsonNode& node, const Binding& binding,
                           const std::vector<const JsonNode*>& args) {
  const JsonNode& function = *binding.function;
  std::string_view name = Text(function, "name");
  if (std::ranges::find(active_, &function) != active_.end()) {
    Wrong(node, fmt::format("'{}' calls itself", name),
          "functions are put in place of their calls; use a loop");
    return Nothing(node);
  }
  const JsonNode* body = Need(function, "body");
  if (body == nullptr) return Nothing(node);
  Expr* call = tree_.NewExpr(ExprKind::Inline, Place(node));
  Scope scope;
  scope.outer = binding.home;
  std::vector<std::string_view> assigned;
  CollectAssigned(*body, assigned, scope.returns_value);
  if (!BindArguments(node, binding, args, scope, call)) return Nothing(node);
  DeclareLocals(scope, assigned, Place(function));
  if (scope.returns_value) {
    scope.result = tree_.NewLocal(fmt::format("{}()", name), Place(function));
    if (const JsonNode* returns = function.Find("returns")) {
      TypeText type = ReadType(*returns);
      if (type.scalar) tree_.locals[scope.result].declared = ValueType::Of(*type.scalar);
    }
  }
  Scope* caller = scope_;
  scope_ = &scope;
  active_.push_back(&function);
  Block block = ReadBlock(body);
  active_.pop_back();
  scope_ = caller;
  call->body.insert(call->body.end(), block.begin(), block.end());
  call->has_result = scope.returns_value;
  call->result = scope.result;
  return call;
}

bool Reader::BindArguments(const JsonNode& node, const Binding& binding,
                           const std::vector<const JsonNode*>& args, Scope& scope, Expr* call) {
  const JsonNode& function = *binding.function;
  std::string_view name = Text(function, "name");
  const JsonNode* params = Need(function, "params");
  const JsonNode* keywords = node.Find("keywords");
  if (params == nullptr) return false;
  size_t position = 0;
  size_t used_keywords = 0;
  for (const JsonNode& param : JsonChildren(*params)) {
    std::string_view param_name = Text(param, "name");
    const JsonNode* named = keywords == nullptr ? nullptr : keywords->Find(param_name);
    used_keywords += named != nullptr;
    bool is_given = position < args.size();
    if (is_given && named != nullptr) {
      Wrong(node, fmt::format("'{}' gets its argument '{}' twice", name, param_name));
      return false;
    }
    const JsonNode* value = is_given ? args[position] : named;
    ++position;
    bool is_default = value == nullptr;
    if (is_default) value = param.Find("default");
    if (value == nullptr) {
      Wrong(node, fmt::format("'{}' misses its argument '{}'", name, param_name));
      return false;
    }
    BindArgument(param, *value, is_default, *binding.home, scope, call);
  }
  size_t keyword_count = 0;
  if (keywords != nullptr)
    for ([[maybe_unused]] const JsonNode& keyword : JsonChildren(*keywords)) ++keyword_count;
  if (args.size() > position || keyword_count > used_keywords) {
    Wrong(node, fmt::format("'{}' takes {} arguments", name, position));
    return false;
  }
  return true;
}

void Reader::BindArgument(const JsonNode& param, const JsonNode& value, bool is_default,
                          Scope& home, Scope& scope, Expr* call) {
  std::string_view name = Text(param, "name");
  std::string_view value_name = value.text;
  if (const JsonNode* kind = value.Find("type"); kind != nullptr && kind->text == "var")
    if (const JsonNode* text = value.Find("name")) value_name = text->text;
  const JsonNode* type_node = param.Find("type");
  TypeText type = type_node == nullptr ? TypeText() : ReadType(*type_node);
  Binding array = value_name.empty() ? Binding() : Lookup(value_name);
  if (array.kind == Binding::Array) {
    bool wrong_type =
        type.scalar && (!type.is_array || *type.scalar != tree_.arrays[array.id].element);
    if (wrong_type)
      Wrong(value, fmt::format("'{}' does not take this array", name), "their types differ");
    scope.names.push_back({name, array});
    return;
  }
  if (type.is_array) return Wrong(value, fmt::format("'{}' takes an array", name));
  // A default value belongs to where the function was written.
  Scope* caller = scope_;
  if (is_default) scope_ = &home;
  Expr* given = Expression(value);
  scope_ = caller;
  uint32_t local = tree_.NewLocal(std::string(name), Place(param));
  if (type.scalar) tree_.locals[local].declared = ValueType::Of(*type.scalar);
  scope.names.push_back({name, {Binding::Local, local}});
  call->body.push_back(NewAssign(local, given, given->location));
}

}  // namespace frazil::frontends::python
