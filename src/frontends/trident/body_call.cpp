// Calls: of functions, which stay calls of the IR, and of built-ins, which become ops. Arguments are made from left to
// right. An array that the callee indexes in memory goes over as its buffers: parameters are never assigned, so nobody
// can tell that from a copy.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/trident/body.h"
#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {

namespace {

bool Mentions(const Expr& expr, const std::string& size) {
  if (expr.kind == Expr::Kind::Name && expr.path.parts.size() == 1 && expr.path.parts[0] == size)
    return true;
  return std::ranges::any_of(expr.operands,
                             [&](const ExprPtr& part) { return Mentions(*part, size); });
}

bool Mentions(const TypeExpr& type, const std::string& size) {
  if (type.size && Mentions(*type.size, size)) return true;
  return std::ranges::any_of(type.parts,
                             [&](const TypeExpr& part) { return Mentions(part, size); });
}

bool IsPredicateName(const std::string& name) {
  for (const char* known : {"gt", "ge", "le", "ne", "and", "or", "not"})
    if (name == known) return true;
  return false;
}

const Attribute* IntrinsicOf(const FunctionDecl& decl) {
  for (const Attribute& attribute : decl.attributes)
    if (attribute.name == "intrinsic") return &attribute;
  return nullptr;
}

}  // namespace

Value Body::GenCall(const Expr& expr, TypeId expected) {
  (void)expected;
  const Path& path = expr.path;
  if (path.parts.empty()) return {};
  if (in_predicate_ && path.parts.size() == 1 && IsPredicateName(path.parts[0]))
    return Predicate(expr);
  const BuiltinInfo* builtin = path.parts.size() == 1 ? FindBuiltin(path.parts[0]) : nullptr;
  if (builtin != nullptr && builtin->intrinsic_only) builtin = nullptr;
  Found<FunctionDecl> found = all_.FindFunction(module_, path, builtin == nullptr);
  Effects effect = found                ? all_.facts(found.decl).effects
                   : builtin != nullptr ? builtin->effect
                                        : effects::None;
  if ((in_constant_ || in_predicate_) && effect != effects::None) {
    Complain(Diag::NotConstant, expr.location,
             fmt::format("'{}' cannot be called in {}", path.ToString(),
                         in_constant_ ? "a constant" : "a contract"),
             "it has an effect");
    return {};
  }
  if (in_constant_ && found && found.decl->body) {
    Complain(Diag::NotConstant, expr.location,
             fmt::format("a constant cannot call '{}'", path.ToString()),
             "only built-in functions without effects");
    return {};
  }
  if (found && IntrinsicOf(*found.decl) != nullptr) return CallIntrinsic(expr, found);
  if (found && found.decl->body) {
    Place place;
    Value value = CallFunction(expr, found, &place.leaves);
    if (place.leaves.empty()) return value;
    place.type = value.type;
    place.in_memory = true;
    return Load(place);
  }
  if (!found && builtin != nullptr) return CallBuiltin(expr, *builtin);
  for (const ExprPtr& operand : expr.operands) Gen(*operand);
  return {};
}

bool Body::SizesOf(const Expr& expr, Found<FunctionDecl> found, std::vector<Value>* ready,
                   std::vector<uint64_t>* sizes) {
  const std::vector<std::string>& names = found.decl->sizes;
  const std::string name = expr.path.ToString();
  if (!expr.sizes.empty() && expr.sizes.size() != names.size()) {
    Complain(
        Diag::WrongArguments, expr.location,
        fmt::format("'{}' has {} size parameters, got {}", name, names.size(), expr.sizes.size()));
    return false;
  }
  Sizes known;
  for (size_t i = 0; i < expr.sizes.size(); ++i) {
    auto size = Constant(*expr.sizes[i]);
    if (!size) {
      Complain(Diag::NotConstant, expr.sizes[i]->location, "a size argument must be a constant");
      return false;
    }
    known[names[i]] = *size;
  }
  const std::vector<Param>& params = found.decl->params;
  // First what needs no code: literals and variables. Then a type that waits for a size expects nothing of its argument.
  for (size_t i = 0; i < params.size() && known.size() < names.size(); ++i) {
    const Expr& operand = *expr.operands[i];
    const TypeExpr* type = &params[i].type;
    for (const Expr* literal = &operand;
         literal->kind == Expr::Kind::Array && type->kind == TypeExpr::Kind::Array;) {
      const auto count = literal->sizes.empty() ? std::optional<uint64_t>(literal->operands.size())
                                                : Constant(*literal->sizes[0]);
      if (type->size->kind == Expr::Kind::Name && type->size->path.parts.size() == 1)
        for (const std::string& size : names)
          if (size == type->size->path.parts[0] && count) known.try_emplace(size, *count);
      if (literal->operands.empty()) break;
      literal = literal->operands[0].get();
      type = &type->parts[0];
    }
    all_.Infer(found.module, params[i].type, PlaceType(operand), names, &known);
  }
  if (known.size() < names.size()) {
    for (size_t i = 0; i < params.size(); ++i) {
      const bool open = std::ranges::any_of(names, [&](const std::string& size) {
        return !known.contains(size) && Mentions(params[i].type, size);
      });
      ready->push_back(
          open ? Gen(*expr.operands[i])
               : Gen(*expr.operands[i], all_.Resolve(found.module, params[i].type, known)));
      all_.Infer(found.module, params[i].type, ready->back().type, names, &known);
    }
  }
  for (const std::string& size : names) {
    auto it = known.find(size);
    if (it == known.end()) {
      Complain(Diag::WrongArguments, expr.location,
               fmt::format("the size {} of '{}' cannot be told from its arguments", size, name),
               fmt::format("write it: {}<...>(...)", name));
      return false;
    }
    sizes->push_back(it->second);
  }
  return true;
}

Value Body::CallFunction(const Expr& expr, Found<FunctionDecl> found, ir::Values* into) {
  const std::string name = expr.path.ToString();
  const size_t count = found.decl->params.size();
  auto give_up = [&](bool made) {
    for (size_t i = 0; !made && i < expr.operands.size(); ++i) Gen(*expr.operands[i]);
    const TypeId result = !found.decl->result ? TypeTable::Unit
                          : found.decl->sizes.empty()
                              ? all_.Resolve(found.module, *found.decl->result, {})
                              : TypeTable::Error;
    return result == TypeTable::Error ? Value{} : Zero(result);
  };
  if (expr.operands.size() != count) {
    Complain(Diag::WrongArguments, expr.location,
             fmt::format("'{}' takes {} arguments, got {}", name, count, expr.operands.size()));
    return give_up(false);
  }
  if (found.decl->sizes.empty() && !expr.sizes.empty()) {
    Complain(Diag::WrongArguments, expr.location, fmt::format("'{}' has no size parameters", name));
    return give_up(false);
  }
  std::vector<Value> ready;
  std::vector<uint64_t> sizes;
  if (!found.decl->sizes.empty() && !SizesOf(expr, found, &ready, &sizes))
    return give_up(!ready.empty());
  const Instance* callee =
      all_.Instantiate(found.decl, found.module, std::move(sizes), expr.location, module_);
  if (callee == nullptr) return give_up(!ready.empty());
  bool may_share = true;
  for (const ExprPtr& operand : expr.operands) may_share = may_share && !ContainsBlock(*operand);
  ir::Values arguments;
  for (size_t i = 0; i < count; ++i)
    PushArgument(expr, *callee, i, may_share, i < ready.size() ? ready[i] : Value{}, &arguments);
  if (callee->result_in_memory) {
    if (into->empty() || callee->result != instance_.result) *into = NewBuffers(callee->result);
    arguments.insert(arguments.end(), into->begin(), into->end());
  }
  if (callee->needs_ram) arguments.push_back(ram_);
  At(expr.location);
  return {callee->result, builder_.Call(callee->function, arguments)};
}

// Only what is plainly a call of a function, so that nothing is made before this is known.
Found<FunctionDecl> Body::GivesMemory(const Expr& expr) {
  if (expr.kind != Expr::Kind::Call || expr.path.parts.empty() || in_constant_ || in_predicate_)
    return {};
  Found<FunctionDecl> found = all_.FindFunction(module_, expr.path, false);
  if (!found || !found.decl->body || !found.decl->result || IntrinsicOf(*found.decl) != nullptr)
    return {};
  return found.decl->result->kind == TypeExpr::Kind::Named &&
                 found.decl->result->name.parts.size() == 1 &&
                 all_.IsPrimitive(found.decl->result->name.parts[0])
             ? Found<FunctionDecl>{}
             : found;
}

void Body::PushArgument(const Expr& expr, const Instance& callee, size_t i, bool may_share,
                        Value ready, ir::Values* arguments) {
  const Expr& operand = *expr.operands[i];
  const TypeId type = callee.params[i];
  if (callee.in_memory[i] && may_share && ready.is_error() && operand.kind == Expr::Kind::Name &&
      operand.path.parts.size() == 1) {
    const Variable* variable = Find(operand.path.parts[0]);
    if (variable != nullptr && variable->in_memory && variable->type == type) {
      arguments->insert(arguments->end(), variable->leaves.begin(), variable->leaves.end());
      return;
    }
  }
  const std::string what = fmt::format("argument {} of '{}'", i + 1, expr.path.ToString());
  ir::Values given;
  if (callee.in_memory[i] && ready.is_error() && operand.kind == Expr::Kind::Call &&
      GenToBuffers(operand, type, what, &given)) {
    arguments->insert(arguments->end(), given.begin(), given.end());
    return;
  }
  Value value = ready.is_error() ? Gen(operand, type) : std::move(ready);
  value = Expect(std::move(value), type, operand.location, what);
  if (!callee.in_memory[i]) {
    arguments->insert(arguments->end(), value.leaves.begin(), value.leaves.end());
    return;
  }
  ir::Values buffers = NewBuffers(type);
  StoreAll(type, buffers, value.leaves);
  arguments->insert(arguments->end(), buffers.begin(), buffers.end());
}

Value Body::CallBuiltin(const Expr& expr, const BuiltinInfo& builtin) {
  const std::string name(builtin.name);
  const size_t count = builtin.params.size();
  const TypeId result = TypeOfLetters(builtin.result);
  if (!expr.sizes.empty())
    Complain(Diag::WrongArguments, expr.location, fmt::format("'{}' has no size parameters", name));
  if (expr.operands.size() != count) {
    Complain(Diag::WrongArguments, expr.location,
             fmt::format("'{}' takes {} arguments, got {}", name, count, expr.operands.size()));
    for (const ExprPtr& operand : expr.operands) Gen(*operand);
    return result == TypeTable::Unit ? Value{result, {}} : Zero(result);
  }
  ir::Values arguments;
  for (size_t i = 0; i < count; ++i) {
    const bool either = builtin.params[i] == 'A';
    TypeId type = either ? TypeTable::Digest : TypeOfLetters(builtin.params.substr(i, 1));
    Value value = Gen(*expr.operands[i], type);
    if (either && value.type == all_.types.Array(TypeTable::Field, 5))
      value = {TypeTable::Digest, {MakeDigest(value.leaves)}};
    value = Expect(std::move(value), type, expr.operands[i]->location,
                   fmt::format("argument {} of '{}'", i + 1, name));
    arguments.insert(arguments.end(), value.leaves.begin(), value.leaves.end());
  }
  At(expr.location);
  return {result, Emit(builtin.id, arguments)};
}

// A declared intrinsic may write a digest as five fields and the like: both sides are compared word by word.
Value Body::CallIntrinsic(const Expr& expr, Found<FunctionDecl> found) {
  const std::string name = expr.path.ToString();
  const FunctionDecl& decl = *found.decl;
  const BuiltinInfo* builtin = FindBuiltin(IntrinsicOf(decl)->word);
  const TypeId result =
      decl.result ? all_.Resolve(found.module, *decl.result, {}) : TypeTable::Unit;
  const bool fits = expr.operands.size() == decl.params.size() && expr.sizes.empty();
  if (!fits)
    Complain(Diag::WrongArguments, expr.location,
             fmt::format("'{}' takes {} arguments, got {}", name, decl.params.size(),
                         expr.operands.size()));
  if (!fits || builtin == nullptr || result == TypeTable::Error ||
      all_.IsBadIntrinsic(found.decl)) {
    for (const ExprPtr& operand : expr.operands) Gen(*operand);
    return result == TypeTable::Error ? Value{} : Zero(result);
  }
  ir::Values words;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const TypeId type = all_.Resolve(found.module, decl.params[i].type, {});
    Value value = Expect(Gen(*expr.operands[i], type), type, expr.operands[i]->location,
                         fmt::format("argument {} of '{}'", i + 1, name));
    const ir::Values own = Words(value);
    words.insert(words.end(), own.begin(), own.end());
  }
  At(expr.location);
  ir::Values arguments;
  size_t next = 0;
  for (char letter : builtin->params) {
    const TypeId type =
        letter == 'A' ? TypeTable::Digest : TypeOfLetters(std::string_view(&letter, 1));
    const size_t width = all_.types[type].words;
    if (next + width > words.size())
      return result == TypeTable::Unit ? Value{result, {}} : Zero(result);
    const Value value = FromWords(type, std::span(words).subspan(next, width));
    next += width;
    arguments.insert(arguments.end(), value.leaves.begin(), value.leaves.end());
  }
  const Value given{TypeOfLetters(builtin->result), Emit(builtin->id, arguments)};
  if (given.type == result) return given;
  ir::Values results = Words(given);
  if (results.size() < all_.types[result].words) return Zero(result);
  // A squeeze that is declared to give a Digest gives the first five.
  results.resize(all_.types[result].words);
  return FromWords(result, results);
}

}  // namespace frazil::frontends::trident
