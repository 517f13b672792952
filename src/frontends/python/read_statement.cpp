// Statements of the JSON.
#include <fmt/format.h>

#include "frontends/python/reader.h"

namespace frazil::frontends::python {

Block Reader::ReadBlock(const JsonNode* body) {
  Block block;
  if (body == nullptr || body->is(JsonKind::Null)) return block;
  if (!body->is(JsonKind::Array)) {
    BadSchema(*body, "a block must be an array of statements");
    return block;
  }
  // Functions and shared memory are known to the end of the block in which they are made.
  size_t names = scope_->names.size();
  for (const JsonNode& node : JsonChildren(*body)) {
    if (TooLarge(node)) break;
    Statement(node, block);
  }
  scope_->names.resize(names);
  return block;
}

Stmt* Reader::NewAssign(uint32_t local, Expr* value, Location place) {
  Stmt* stmt = tree_.NewStmt(StmtKind::Assign, place);
  stmt->local = local;
  stmt->value = value;
  tree_.locals[local].values.push_back(value);
  return stmt;
}

void Reader::Statement(const JsonNode& node, Block& out) {
  const JsonNode* type_node = Need(node, "type");
  if (type_node == nullptr) return;
  std::string_view type = type_node->text;
  auto plain = [&](StmtKind kind) {
    out.push_back(tree_.NewStmt(kind, Place(node)));
    return out.back();
  };
  if (type == "let") return Let(node, out);
  if (type == "assign") return Assign(node, out);
  if (type == "aug_assign") {
    if (const JsonNode* target = Need(node, "target")) Store(node, *target, StmtKind::Update, out);
    return;
  }
  if (type == "if") {
    const JsonNode* condition = Need(node, "condition");
    if (condition == nullptr) return;
    Stmt* stmt = plain(StmtKind::If);
    stmt->value = Expression(*condition);
    stmt->body = ReadBlock(Need(node, "then_body"));
    stmt->other = ReadBlock(node.Find("else_body"));
    return;
  }
  if (type == "for") return For(node, out);
  if (type == "while") {
    const JsonNode* condition = Need(node, "condition");
    if (condition == nullptr) return;
    Stmt* stmt = plain(StmtKind::While);
    stmt->value = Expression(*condition);
    ++scope_->loops;
    stmt->body = ReadBlock(Need(node, "body"));
    --scope_->loops;
    return;
  }
  if (type == "break" || type == "continue") {
    if (scope_->loops == 0) return Wrong(node, fmt::format("'{}' stands in no loop", type));
    plain(type == "break" ? StmtKind::Break : StmtKind::Continue);
    return;
  }
  if (type == "return") return Return(node, out);
  if (type == "assert") {
    if (const JsonNode* condition = Need(node, "condition"))
      plain(StmtKind::Assert)->value = Expression(*condition);
    return;
  }
  if (type == "expr") {
    if (const JsonNode* value = Need(node, "value")) Effect(node, *value, out);
    return;
  }
  if (type == "call") return Effect(node, node, out);
  if (type == "declare") return Declare(node);
  if (type == "shared") return Shared(node);
  if (type == "function") return FunctionStatement(node);
  if (type == "pass") return;
  if (type.starts_with("parallel_"))
    return Wrong(node, fmt::format("{} does not mix with other statements in a kernel", type));
  BadSchema(node, fmt::format("statement '{}' is not supported", type));
}

void Reader::AssignLocal(const JsonNode& node, std::string_view name, Expr* value, Block& out) {
  Binding* binding = scope_->FindHere(name);
  if (binding != nullptr && binding->kind == Binding::Array)
    return Wrong(node, fmt::format("the array '{}' cannot be assigned", name),
                 "write to its elements: a[i] = x");
  if (binding == nullptr || binding->kind != Binding::Local)
    return Wrong(node, fmt::format("'{}' cannot be assigned", name), "choose another name");
  Local& local = tree_.locals[binding->id];
  if (local.values.empty()) local.location = Place(node);
  if (const JsonNode* declared = node.Find("declared")) {
    TypeText type = ReadType(*declared);
    if (type.is_array) Wrong(node, "a variable cannot be an array", "use shared(type, n)");
    if (type.scalar) {
      ValueType wanted = ValueType::Of(*type.scalar);
      if (local.declared.kind != ValueType::Unknown && local.declared != wanted)
        Wrong(node, fmt::format("'{}' was declared {} before", name, TypeName(local.declared)),
              "use another name");
      local.declared = wanted;
    }
  }
  if (value != nullptr) out.push_back(NewAssign(binding->id, value, Place(node)));
}

void Reader::Let(const JsonNode& node, Block& out) {
  const JsonNode* value = Need(node, "value");
  if (value == nullptr) return;
  std::string_view name = Text(node, "name");
  // The value first: an array on the right has a message of its own.
  AssignLocal(node, name, Expression(*value), out);
}

void Reader::Declare(const JsonNode& node) {
  Block none;
  AssignLocal(node, Text(node, "name"), nullptr, none);
}

void Reader::Assign(const JsonNode& node, Block& out) {
  const JsonNode* target = Need(node, "target");
  const JsonNode* value = Need(node, "value");
  if (target == nullptr || value == nullptr) return;
  if (target->is(JsonKind::String)) return AssignLocal(node, target->text, Expression(*value), out);
  const JsonNode* kind = Need(*target, "type");
  if (kind == nullptr) return;
  if (kind->text == "var") return AssignLocal(node, Text(*target, "name"), Expression(*value), out);
  Store(node, *target, StmtKind::Store, out);
}

void Reader::Store(const JsonNode& node, const JsonNode& target, StmtKind kind, Block& out) {
  const JsonNode* value = Need(node, "value");
  const JsonNode* array_node = Need(target, "array");
  if (value == nullptr || array_node == nullptr) return;
  Stmt* stmt = tree_.NewStmt(kind, Place(node));
  // Python's order: `a[i] = x` evaluates x first, `a[i] += x` the old element first.
  Expr* read = kind == StmtKind::Store ? Expression(*value) : nullptr;
  std::optional<uint32_t> array = ArrayNamed(*array_node, "written");
  if (!array || !Indices(target, *array, stmt->args)) return;
  stmt->array = *array;
  stmt->value = read != nullptr ? read : Expression(*value);
  tree_.arrays[*array].is_written = true;
  ++tree_.arrays[*array].uses;
  if (kind == StmtKind::Update) {
    static constexpr std::string_view Names[] = {"add", "sub",       "mul",    "div",
                                                 "mod", "floor_div", "pow",    "shl",
                                                 "shr", "bit_and",   "bit_or", "bit_xor"};
    std::string_view op = Text(node, "op");
    size_t i = 0;
    while (i < std::size(Names) && Names[i] != op) ++i;
    if (i == std::size(Names))
      return BadSchema(node, fmt::format("operation '{}' is not supported", op));
    stmt->op = static_cast<BinaryOp>(i);
  }
  out.push_back(stmt);
}

void Reader::For(const JsonNode& node, Block& out) {
  Stmt* stmt = tree_.NewStmt(StmtKind::For, Place(node));
  std::string_view name = Text(node, "var");
  for (std::string_view part : {"start", "stop", "step"}) {
    const JsonNode* bound = node.Find(part);
    Expr* value = nullptr;
    if (bound != nullptr && !bound->is(JsonKind::Null)) {
      value = Expression(*bound);
    } else {
      if (part == "stop") return BadSchema(node, "\"stop\" is missing");
      value = tree_.NewExpr(ExprKind::Literal, stmt->location);
      value->literal.integer = part == "step" ? 1 : 0;
    }
    stmt->args.push_back(value);
  }
  Binding* binding = scope_->FindHere(name);
  if (binding == nullptr || binding->kind != Binding::Local)
    return Wrong(node, fmt::format("'{}' cannot be the variable of a loop", name),
                 "choose another name");
  stmt->local = binding->id;
  if (tree_.locals[stmt->local].values.empty()) tree_.locals[stmt->local].location = stmt->location;
  tree_.locals[stmt->local].values.push_back(nullptr);
  ++scope_->loops;
  stmt->body = ReadBlock(Need(node, "body"));
  --scope_->loops;
  out.push_back(stmt);
}

void Reader::Return(const JsonNode& node, Block& out) {
  const JsonNode* value = node.Find("value");
  bool has_value = value != nullptr && !value->is(JsonKind::Null);
  if (has_value && scope_->is_kernel)
    return Wrong(node, "a kernel returns nothing", "write the result to an array");
  if (!has_value && scope_->returns_value)
    return Wrong(node, "this function returns a value elsewhere", "return a value here too");
  Stmt* stmt = tree_.NewStmt(StmtKind::Return, Place(node));
  if (has_value) {
    stmt->value = Expression(*value);
    stmt->local = scope_->result;
    tree_.locals[stmt->local].values.push_back(stmt->value);
  }
  out.push_back(stmt);
}

void Reader::Effect(const JsonNode& node, const JsonNode& value, Block& out) {
  const JsonNode* kind = value.Find("type");
  if (kind == nullptr || kind->text != "call")
    return Wrong(node, "this expression does nothing", "assign it");
  const JsonNode* function = value.Find("function");
  bool is_own = function != nullptr && Lookup(function->text).kind != Binding::Unbound;
  const FunctionRow* row = function != nullptr && !is_own ? FindFunction(function->text) : nullptr;
  if (row != nullptr && row->kind == FunctionKind::Barrier) {
    if (const JsonNode* args = value.Find("args"); args != nullptr && args->first != nullptr)
      return Wrong(node, "barrier takes no arguments");
    Stmt* stmt = tree_.NewStmt(StmtKind::Barrier, Place(node));
    stmt->has_barrier = true;
    out.push_back(stmt);
    return;
  }
  bool has_effect = is_own || (row != nullptr && row->kind == FunctionKind::Atomic);
  Expr* call = Expression(value);
  if (!has_effect && !errors_.any())
    return Wrong(node, fmt::format("the result of '{}' is not used", function->text),
                 "assign it, or remove it");
  Stmt* stmt = tree_.NewStmt(StmtKind::Expr, Place(node));
  stmt->value = call;
  out.push_back(stmt);
}

void Reader::Shared(const JsonNode& node) {
  std::string_view name = Text(node, "name");
  const JsonNode* element = Need(node, "element_type");
  const JsonNode* shape = Need(node, "shape");
  if (element == nullptr || shape == nullptr) return;
  if (scope_->FindHere(name) != nullptr)
    return Wrong(node, fmt::format("'{}' is already something else", name));
  if (scope_->loops != 0)
    return Wrong(node, "shared memory is made outside of loops", "move it up");
  TypeText type = ReadType(*element);
  if (!type.scalar || type.is_array) return;
  Array array;
  array.name = name;
  array.element = *type.scalar;
  array.is_shared = true;
  array.location = Place(node);
  __int128 elements = 1;
  for (const JsonNode& dim : JsonChildren(*shape)) {
    Expr* size = Expression(dim);
    bool is_number = FoldConstant(tree_, size) && size->literal.kind == Literal::Int &&
                     size->literal.integer > 0 && size->literal.integer <= (1 << 24);
    if (!is_number)
      return Wrong(dim, "the size of shared memory is a positive constant",
                   "write 'tile = shared(f32, 256)'");
    elements *= size->literal.integer;
    array.shape.push_back(size);
  }
  if (array.shape.empty() || elements > (1 << 24))
    return Wrong(node, "shared memory has at least one and at most 16777216 elements");
  scope_->names.push_back({name, {Binding::Array, static_cast<uint32_t>(tree_.arrays.size())}});
  tree_.arrays.push_back(std::move(array));
}

void Reader::FunctionStatement(const JsonNode& node) {
  std::string_view name = Text(node, "name");
  if (scope_->FindHere(name) != nullptr)
    return Wrong(node, fmt::format("'{}' is already something else", name));
  scope_->names.push_back({name, {Binding::Function, 0, &node, scope_}});
}

}  // namespace frazil::frontends::python
