// Before any type: what every module declares, whom every function calls, what it touches, and which of its arrays must
// live in memory. Circles of calls end here, so everything after may follow calls without a thought.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/trident/elaborate.h"
#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {

void Elaborator::Collect() {
  for (const auto& module : package_.modules) CollectModule(*module);
  uint64_t tag = 0;
  // The program's events first, so that what it uses cannot move their tags.
  for (size_t i = package_.modules.size(); i-- > 0;)
    for (const EventDecl& event : package_.modules[i]->events) tags_[&event] = tag++;
  for (const auto& module : package_.modules)
    for (const FunctionDecl& function : module->functions)
      if (Holds(function.attributes)) Gather(*module, function, &facts_[&function]);
}

void Elaborator::CollectModule(const Module& module) {
  ModuleNames& own = names_[&module];
  auto add = [&](auto& map, const auto& decl, const char* what) {
    if (!map.try_emplace(decl.name, &decl).second)
      Complain(&module, Diag::BadDeclaration, decl.location,
               fmt::format("{} '{}' is defined twice", what, decl.name),
               "names are not overloaded: use another one");
  };
  for (const FunctionDecl& function : module.functions)
    if (Holds(function.attributes)) add(own.functions, function, "function");
  for (const ConstDecl& constant : module.constants)
    if (Holds(constant.attributes)) add(own.constants, constant, "constant");
  for (const StructDecl& decl : module.structs)
    if (Holds(decl.attributes)) add(own.structs, decl, "struct");
  for (const EventDecl& event : module.events)
    if (Holds(event.attributes)) add(own.events, event, "event");
  for (const Path& use : module.uses) {
    const std::string whole = use.ToString();
    for (const auto& other : package_.modules) {
      if (other->name.ToString() != whole) continue;
      own.uses[whole] = {other.get()};
      if (use.parts.size() < 2) continue;
      auto& by_last = own.uses[use.parts.back()];
      if (std::find(by_last.begin(), by_last.end(), other.get()) == by_last.end())
        by_last.push_back(other.get());
    }
  }
}

void Elaborator::Gather(const Module& module, const FunctionDecl& function, Facts* facts) {
  facts->module = &module;
  auto touch = [&](Effects effect, std::string_view culprit, Location location) {
    if (effect != effects::None && facts->effects == effects::None) {
      facts->culprit = culprit;
      facts->culprit_location = location;
    }
    facts->effects |= effect;
  };
  for (const Attribute& attribute : function.attributes)
    if (const BuiltinInfo* builtin =
            attribute.name == "intrinsic" ? FindBuiltin(attribute.word) : nullptr) {
      touch(builtin->effect, builtin->name, attribute.location);
      facts->needs_ram = facts->needs_ram || NeedsRam(builtin->id);
    }
  const auto locals = LocalNames(function);
  auto is_fixed = [&](const Expr& index) {
    bool fixed = true;
    Walk(index, {{}, [&](const Expr& part) {
                   const bool name = part.kind == Expr::Kind::Name && !part.path.parts.empty() &&
                                     !locals.contains(part.path.parts[0]);
                   const bool sum = part.kind == Expr::Kind::Binary &&
                                    (part.op == BinaryOp::Add || part.op == BinaryOp::Mul);
                   fixed = fixed && (part.kind == Expr::Kind::Integer || name || sum);
                 }});
    return fixed;
  };
  Visitor visitor;
  visitor.stmt = [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::Asm) touch(effects::Assembly, "asm", stmt.location);
    if (stmt.kind == Stmt::Kind::Reveal) touch(effects::Public, "reveal", stmt.location);
    if (stmt.kind == Stmt::Kind::Seal) touch(effects::Public, "seal", stmt.location);
  };
  visitor.expr = [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::Index && !is_fixed(*expr.operands[1]))
      if (std::string root = RootName(*expr.operands[0]); !root.empty())
        facts->in_memory.insert(root);
    if (expr.kind != Expr::Kind::Call || expr.path.parts.empty()) return;
    Found<FunctionDecl> found = FindFunction(&module, expr.path, false);
    if (found) {
      facts->callees.emplace_back(found.decl, expr.location);
      for (size_t i = 0; i < expr.operands.size(); ++i)
        if (expr.operands[i]->kind == Expr::Kind::Name && expr.operands[i]->path.parts.size() == 1)
          facts->handed.push_back({expr.operands[i]->path.parts[0], found.decl, i});
    } else if (const BuiltinInfo* builtin =
                   expr.path.parts.size() == 1 ? FindBuiltin(expr.path.parts[0]) : nullptr) {
      touch(builtin->effect, builtin->name, expr.location);
      facts->needs_ram = facts->needs_ram || NeedsRam(builtin->id);
    }
  };
  if (function.body) Walk(*function.body, visitor);
  for (const Attribute& attribute : function.attributes)
    if (attribute.condition) Walk(*attribute.condition, visitor);
}

bool Elaborator::Order(std::vector<const FunctionDecl*>* order) {
  enum class State : uint8_t { Open, Done };
  std::unordered_map<const FunctionDecl*, State> states;
  bool fine = true;
  struct Frame {
    const FunctionDecl* function;
    size_t next = 0;
  };
  for (const auto& module : package_.modules) {
    for (const FunctionDecl& root : module->functions) {
      if (!Holds(root.attributes) || states.contains(&root)) continue;
      std::vector<Frame> stack = {{&root}};
      states[&root] = State::Open;
      while (!stack.empty()) {
        const FunctionDecl* function = stack.back().function;
        const Facts& facts = facts_.at(function);
        if (stack.back().next == facts.callees.size()) {
          states[function] = State::Done;
          order->push_back(function);
          stack.pop_back();
          continue;
        }
        const auto& [callee, location] = facts.callees[stack.back().next++];
        auto [state, fresh] = states.try_emplace(callee, State::Open);
        if (fresh) {
          stack.push_back({callee});
        } else if (state->second == State::Open) {
          std::string circle;
          size_t first = 0;
          while (stack[first].function != callee) ++first;
          for (size_t i = first; i < stack.size() && circle.size() < 200; ++i)
            circle += stack[i].function->name + " -> ";
          Complain(facts.module, Diag::Recursive, location,
                   fmt::format("functions call each other in a circle: {}{}", circle, callee->name),
                   "use a `for` loop with a bound");
          fine = false;
        }
      }
    }
  }
  return fine;
}

void Elaborator::SpreadFacts(const std::vector<const FunctionDecl*>& order) {
  for (const FunctionDecl* function : order) {
    Facts& facts = facts_.at(function);
    for (const auto& [callee, location] : facts.callees) {
      const Facts& theirs = facts_.at(callee);
      if (theirs.effects != effects::None && facts.effects == effects::None) {
        facts.culprit = callee->name;
        facts.culprit_location = location;
      }
      facts.effects |= theirs.effects;
      facts.needs_ram = facts.needs_ram || theirs.needs_ram;
    }
    for (const Facts::Handed& handed : facts.handed)
      if (handed.argument < handed.callee->params.size() &&
          facts_.at(handed.callee).in_memory.contains(handed.callee->params[handed.argument].name))
        facts.in_memory.insert(handed.name);
  }
}

void Elaborator::CheckPure(const Module& module, const FunctionDecl& function) {
  const Facts& facts = facts_.at(&function);
  if (facts.effects != effects::None)
    Complain(&module, Diag::NotPure, facts.culprit_location,
             fmt::format("'{}' is #[pure], but '{}' has an effect", function.name, facts.culprit),
             "a pure function reads and writes nothing outside of its arguments");
}

void Elaborator::CheckAttributes(const Module& module, const FunctionDecl& function) {
  auto wrong = [&](const Attribute& attribute, std::string message, std::string hint = {}) {
    Complain(&module, Diag::AttributeMisfit, attribute.location, std::move(message),
             std::move(hint));
  };
  bool is_intrinsic = false;
  for (const Attribute& attribute : function.attributes) {
    if (attribute.name == "pure") CheckPure(module, function);
    if (attribute.name == "test" &&
        (!function.params.empty() || function.result || !function.sizes.empty()))
      wrong(attribute,
            fmt::format("test '{}' must have no parameters and no result", function.name));
    if (attribute.name == "cfg" && attribute.word.empty())
      wrong(attribute, "#[cfg] needs a flag", "#[cfg(debug)]");
    if ((attribute.name == "requires" || attribute.name == "ensures") && !attribute.condition)
      wrong(attribute, fmt::format("#[{}] needs a condition", attribute.name));
    if (attribute.name != "intrinsic") continue;
    is_intrinsic = true;
    const std::string& first = module.name.parts.empty() ? module.file : module.name.parts[0];
    if (module.is_program || (first != "std" && first != "vm" && first != "os" && first != "ext"))
      wrong(attribute, "#[intrinsic] stands only in modules of std, vm and os");
    if (function.body)
      wrong(attribute, fmt::format("intrinsic '{}' has a body", function.name), "leave it out");
    CheckIntrinsic(module, function, attribute);
  }
  if (!function.body && !is_intrinsic)
    Complain(&module, Diag::BadDeclaration, function.location,
             fmt::format("function '{}' has no body", function.name),
             "only an #[intrinsic(name)] has none");
}

void Elaborator::CheckIntrinsic(const Module& module, const FunctionDecl& function,
                                const Attribute& attribute) {
  const BuiltinInfo* builtin = FindBuiltin(attribute.word);
  auto refuse = [&](std::string message, std::string hint) {
    bad_intrinsics_.insert(&function);
    Complain(&module, Diag::AttributeMisfit, attribute.location, std::move(message),
             std::move(hint));
  };
  if (builtin == nullptr)
    return refuse(fmt::format("there is no intrinsic '{}'", attribute.word),
                  "docs/trident.md lists them");
  // Word kinds of both sides: a digest is five fields.
  auto letters = [](std::string_view text) {
    std::string words;
    for (char letter : text)
      words += letter == 'D' || letter == '5' || letter == 'A' ? "FFFFF"
               : letter == 'X'                                 ? "FFF"
               : letter == 'R'                                 ? "FFFFFFFFFF"
                                                               : std::string(1, letter);
    return words;
  };
  auto declared = [&](TypeId type) {
    std::string words;
    for (ir::Type leaf : types[type].leaves)
      words += leaf == ir::types::U32    ? "U"
               : leaf == ir::types::Bool ? "B"
                                         : std::string(ir::WordsOf(leaf), 'F');
    return words;
  };
  std::string params;
  for (const Param& param : function.params) {
    const TypeId type = Resolve(&module, param.type, {});
    if (type == TypeTable::Error) {
      bad_intrinsics_.insert(&function);
      return;
    }
    params += declared(type);
  }
  const TypeId result = function.result ? Resolve(&module, *function.result, {}) : TypeTable::Unit;
  const std::string given = letters(builtin->result);
  const bool prefix = builtin->id == Builtin::SpongeSqueeze &&
                      given.starts_with(declared(result)) && result != TypeTable::Unit;
  if (params != letters(builtin->params) || (given != declared(result) && !prefix))
    refuse(fmt::format("'{}' does not have the parameters and the result of intrinsic '{}'",
                       function.name, attribute.word),
           fmt::format("{}: {}", builtin->name, builtin->meaning));
}

void Elaborator::CheckDeclarations() {
  for (const auto& owner : package_.modules) {
    const Module& module = *owner;
    if (module.is_program && !names(&module).functions.contains("main"))
      Complain(&module, Diag::BadDeclaration, module.name.location,
               fmt::format("program '{}' has no fn main()", module.name.ToString()));
    if (!module.is_program && !module.io.empty())
      Complain(&module, Diag::BadDeclaration, module.io[0].location,
               "a module declares no input or output", "only a program does");
    for (const StructDecl& decl : module.structs) {
      if (!Holds(decl.attributes)) continue;
      StructType({&decl, &module});
      std::unordered_set<std::string> seen;
      for (const MemberDecl& member : decl.members)
        if (!seen.insert(member.name).second)
          Complain(&module, Diag::BadDeclaration, member.location,
                   fmt::format("field '{}' stands twice in '{}'", member.name, decl.name));
    }
    for (const EventDecl& event : module.events) {
      if (!Holds(event.attributes)) continue;
      std::unordered_set<std::string> seen;
      if (event.members.size() > 9)
        Complain(&module, Diag::BadDeclaration, event.location,
                 fmt::format("event '{}' has {} fields; 9 are the most", event.name,
                             event.members.size()));
      for (const MemberDecl& member : event.members) {
        Resolve(&module, member.type, {});
        if (!seen.insert(member.name).second)
          Complain(&module, Diag::BadDeclaration, member.location,
                   fmt::format("field '{}' stands twice in '{}'", member.name, event.name));
      }
    }
    for (const IoDecl& io : module.io)
      for (const auto& [address, type] : io.slots) Resolve(&module, type, {});
    for (const FunctionDecl& function : module.functions) {
      if (!Holds(function.attributes)) continue;
      CheckAttributes(module, function);
      std::unordered_set<std::string> seen;
      for (const std::string& size : function.sizes)
        if (!seen.insert(size).second)
          Complain(&module, Diag::BadDeclaration, function.location,
                   fmt::format("size parameter '{}' stands twice in '{}'", size, function.name));
      if (module.is_program && function.name == "main" &&
          (!function.params.empty() || function.result || !function.sizes.empty()))
        Complain(&module, Diag::BadDeclaration, function.location,
                 "main has no parameters and no result",
                 "read with pub_read(), write with pub_write(x)");
    }
  }
}

}  // namespace frazil::frontends::trident
