// The kernel object: parameters, types, functions of the file; see read_statement.cpp and the others for its body.
#include "frontends/python/read_schema.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "frontends/python/reader.h"

namespace frazil::frontends::python {

Location Reader::Place(const JsonNode& node) const {
  const JsonNode* loc = node.Find("loc");
  if (loc == nullptr || !loc->is(JsonKind::Array) || loc->first == nullptr ||
      loc->first->next == nullptr)
    return json_.LocationOf(node);
  Location place;
  std::string_view line = loc->first->text, column = loc->first->next->text;
  std::from_chars(line.data(), line.data() + line.size(), place.line);
  std::from_chars(column.data(), column.data() + column.size(), place.column);
  return place;
}

const JsonNode* Reader::Need(const JsonNode& node, std::string_view name) {
  const JsonNode* part = node.Find(name);
  if (part == nullptr) BadSchema(node, fmt::format("\"{}\" is missing", name));
  return part;
}

std::string_view Reader::Text(const JsonNode& node, std::string_view name) {
  const JsonNode* part = Need(node, name);
  if (part == nullptr) return {};
  if (!part->is(JsonKind::String)) BadSchema(*part, fmt::format("\"{}\" must be a string", name));
  return part->text;
}

bool Reader::TooLarge(const JsonNode& node) {
  if (tree_.exprs.size() + tree_.stmts.size() <= limits_.program_insts) return false;
  errors_.Add(Place(node),
              "the kernel is too large after its functions were put in place (--max-insts)", "",
              Diag::LimitReached);
  return true;
}

// {"kind": "scalar", "type": "f32"}, {"kind": "device_array", "element_type": T}, or just "f32".
Reader::TypeText Reader::ReadType(const JsonNode& node) {
  TypeText result;
  std::string_view name = node.text;
  const JsonNode* at = &node;
  if (node.is(JsonKind::Object)) {
    std::string_view kind = Text(node, "kind");
    if (kind == "device_array") {
      const JsonNode* element = Need(node, "element_type");
      if (element == nullptr) return result;
      result = ReadType(*element);
      if (result.is_array) {
        Wrong(node, "an array of arrays is not supported", "use a shape: DeviceArray[f32, (m, n)]");
        result.scalar.reset();
      }
      result.is_array = true;
      result.shape = node.Find("shape");
      return result;
    }
    if (kind != "scalar") {
      BadSchema(node, fmt::format("type of kind '{}' is not supported", kind));
      return result;
    }
    at = Need(node, "type");
    if (at == nullptr) return result;
    name = at->text;
  }
  if (at->is(JsonKind::String)) result.scalar = ScalarNamed(name);
  if (!result.scalar)
    errors_.Add(Place(node), fmt::format("'{}' is not a type of kernels", name),
                "known: int, float, bool, usize, i8..i64, u8..u64, f16, bf16, f32, f64");
  return result;
}

namespace {
bool IsName(std::string_view name) {
  auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}
}  // namespace

// Names that a function's body assigns are its own, wherever the assignment stands.
void Reader::CollectAssigned(const JsonNode& body, std::vector<std::string_view>& names,
                             bool& returns_value) {
  auto add = [&](const JsonNode* name) {
    if (name != nullptr && name->is(JsonKind::String) &&
        std::ranges::find(names, name->text) == names.end())
      names.push_back(name->text);
  };
  if (!body.is(JsonKind::Array)) return;
  for (const JsonNode& stmt : JsonChildren(body)) {
    const JsonNode* type = stmt.Find("type");
    if (type == nullptr) continue;
    if (type->text == "let" || type->text == "declare") add(stmt.Find("name"));
    if (type->text == "for") add(stmt.Find("var"));
    if (type->text == "assign")
      if (const JsonNode* target = stmt.Find("target")) {
        const JsonNode* kind = target->Find("type");
        if (target->is(JsonKind::String)) add(target);
        if (kind != nullptr && kind->text == "var") add(target->Find("name"));
      }
    if (type->text == "return")
      if (const JsonNode* value = stmt.Find("value")) returns_value |= !value->is(JsonKind::Null);
    for (std::string_view part : {"body", "then_body", "else_body"})
      if (const JsonNode* inner = stmt.Find(part); inner != nullptr && type->text != "function")
        CollectAssigned(*inner, names, returns_value);
  }
}

void Reader::DeclareLocals(Scope& scope, const std::vector<std::string_view>& names,
                           Location place) {
  for (std::string_view name : names) {
    if (scope.FindHere(name) != nullptr) continue;
    uint32_t local = tree_.NewLocal(std::string(name), place);
    scope.names.push_back({name, {Binding::Local, local}});
  }
}

Reader::Binding Reader::Lookup(std::string_view name) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->outer)
    if (Binding* found = scope->FindHere(name)) return *found;
  return {};
}

void Reader::Params(const JsonNode& kernel, const std::vector<std::string_view>& assigned) {
  const JsonNode* params = Need(kernel, "params");
  if (params == nullptr) return;
  for (const JsonNode& node : JsonChildren(*params)) {
    std::string_view name = Text(node, "name");
    const JsonNode* type_node = Need(node, "type");
    if (type_node == nullptr) continue;
    TypeText type = ReadType(*type_node);
    if (!type.scalar) continue;
    if (!IsName(name))
      Wrong(node, fmt::format("'{}' cannot be the name of a parameter", name),
            "use ASCII letters, digits and '_'");
    if (scope_->FindHere(name) != nullptr)
      Wrong(node, fmt::format("two parameters are called '{}'", name));
    uint32_t ordinal = static_cast<uint32_t>(tree_.params.size());
    Param param{std::string(name), ir::Type::Of(*type.scalar), 0, Place(node)};
    bool is_assigned = std::ranges::find(assigned, name) != assigned.end();
    if (type.is_array) {
      param.type = ir::Type::Buffer(param.type);
      param.array = static_cast<uint32_t>(tree_.arrays.size());
      Array array;
      array.name = name;
      array.element = *type.scalar;
      array.param = ordinal;
      array.location = param.location;
      tree_.arrays.push_back(std::move(array));
      scope_->names.push_back({name, {Binding::Array, param.array}});
    } else if (is_assigned) {
      // A parameter that changes is a variable that starts with the argument.
      uint32_t local = tree_.NewLocal(std::string(name), param.location);
      tree_.locals[local].declared = ValueType::Of(*type.scalar);
      scope_->names.push_back({name, {Binding::Local, local}});
      Expr* value = tree_.NewExpr(ExprKind::Param, param.location);
      value->id = ordinal;
      tree_.passes[0].push_back(NewAssign(local, value, param.location));
    } else {
      scope_->names.push_back({name, {Binding::Param, ordinal}});
    }
    tree_.params.push_back(std::move(param));
  }
}

// Dimensions may name parameters that stand behind the array, so they are read when all are known.
void Reader::Shapes(const JsonNode& kernel) {
  const JsonNode* params = kernel.Find("params");
  if (params == nullptr || errors_.any()) return;
  uint32_t ordinal = 0;
  for (const JsonNode& node : JsonChildren(*params)) {
    const Param& param = tree_.params[ordinal++];
    const JsonNode* shape = node.Find("type")->Find("shape");
    if (shape == nullptr) continue;
    for (const JsonNode& dim : JsonChildren(*shape)) {
      Expr* size = Expression(dim);
      FoldConstant(tree_, size);
      bool is_number = size->kind == ExprKind::Literal && size->literal.kind == Literal::Int;
      bool is_param = size->kind == ExprKind::Param &&
                      IsFixedInt(tree_.params[size->id].type.scalar) &&
                      tree_.params[size->id].type.is_scalar();
      if (!is_number && !is_param)
        Wrong(dim, "a dimension is a number or an integer parameter that is never assigned",
              "write DeviceArray[f32, (m, n)] with m and n among the parameters");
      tree_.arrays[param.array].shape.push_back(size);
    }
  }
}

void Reader::Kernel(const JsonNode& kernel) {
  tree_.name = Text(kernel, "name");
  tree_.location = Place(kernel);
  if (!IsName(tree_.name))
    Wrong(kernel, fmt::format("'{}' cannot be the name of a kernel", tree_.name),
          "use ASCII letters, digits and '_'");
  if (const JsonNode* doc = kernel.Find("doc"); doc != nullptr && doc->is(JsonKind::String))
    tree_.doc = doc->text;
  if (const JsonNode* functions = kernel.Find("functions"))
    for (const JsonNode& function : JsonChildren(*functions))
      module_.names.push_back(
          {Text(function, "name"), {Binding::Function, 0, &function, &module_}});
  const JsonNode* body = Need(kernel, "body");
  if (body == nullptr) return;
  Scope scope;
  scope.outer = &module_;
  scope.is_kernel = true;
  scope_ = &scope;
  tree_.passes.emplace_back();
  std::vector<std::string_view> assigned;
  bool returns_value = false;
  CollectAssigned(*body, assigned, returns_value);
  Params(kernel, assigned);
  if (!errors_.any()) Shapes(kernel);
  if (errors_.any()) return;
  DeclareLocals(scope, assigned, tree_.location);
  if (!body->is(JsonKind::Array)) return BadSchema(*body, "\"body\" must be an array");
  bool is_parallel = body->first != nullptr && ParallelPass(*body->first);
  if (is_parallel) {
    for (const JsonNode* node = body->first->next; node != nullptr; node = node->next)
      if (!ParallelPass(*node))
        Wrong(*node, "whole-array operations do not mix with other statements in a kernel");
  } else {
    Block block = ReadBlock(body);
    tree_.passes[0].insert(tree_.passes[0].end(), block.begin(), block.end());
  }
  scope_ = &module_;
}

void ReadKernel(const JsonTree& json, const JsonNode& kernel, const Limits& limits,
                KernelTree& tree, Errors& errors) {
  Reader(json, limits, tree, errors).Kernel(kernel);
}

}  // namespace frazil::frontends::python
