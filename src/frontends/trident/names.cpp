// Names to declarations. A path of one part is the module's own; of more, a used module's, named by the last part of its
// name or by all of it. A name that is not found is named together with the nearest one.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "frontends/trident/elaborate.h"
#include "frontends/trident/suggest.h"

namespace frazil::frontends::trident {

namespace {

std::string JoinParts(const Path& path, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ".") + path.parts[i];
  return text;
}

template <typename Map>
std::string Nearest(const std::string& name, const Map& map) {
  std::vector<std::string_view> known;
  for (const auto& [key, value] : map) known.push_back(key);
  std::sort(known.begin(), known.end());
  return Suggest(name, known);
}

bool IsPub(const FunctionDecl& decl) { return decl.is_pub; }
bool IsPub(const ConstDecl& decl) { return decl.is_pub; }
bool IsPub(const StructDecl& decl) { return decl.is_pub; }
// The grammar has no `pub event`; an event is what a module says to the world.
bool IsPub(const EventDecl&) { return true; }

const std::vector<FunctionDecl>& DeclsOf(const Module& module, const FunctionDecl*) {
  return module.functions;
}
const std::vector<ConstDecl>& DeclsOf(const Module& module, const ConstDecl*) {
  return module.constants;
}
const std::vector<StructDecl>& DeclsOf(const Module& module, const StructDecl*) {
  return module.structs;
}
const std::vector<EventDecl>& DeclsOf(const Module& module, const EventDecl*) {
  return module.events;
}

// Flags that would bring a declaration of this name; empty: there is none.
template <typename T>
std::string FlagsFor(const Module& module, const std::string& name) {
  std::string flags;
  for (const T& decl : DeclsOf(module, static_cast<const T*>(nullptr))) {
    if (decl.name != name) continue;
    for (const Attribute& attribute : decl.attributes)
      if (attribute.name == "cfg")
        flags += (flags.empty() ? "--cfg " : " or --cfg ") + attribute.word;
  }
  return flags;
}

}  // namespace

bool Elaborator::Holds(const std::vector<Attribute>& attributes) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == "cfg" &&
        std::find(options.cfg.begin(), options.cfg.end(), attribute.word) == options.cfg.end())
      return false;
  return true;
}

const Module* Elaborator::FindUse(const Module* from, const std::string& name) {
  ModuleNames& own = names(from);
  auto it = own.uses.find(name);
  return it == own.uses.end() ? nullptr : it->second[0];
}

// The module that all but the last of the first `parts` names, or null after an error.
static const Module* ModuleOf(Elaborator& all, const Module* from, const Path& path, size_t parts,
                              bool complain) {
  const std::string name = JoinParts(path, parts - 1);
  ModuleNames& own = all.names(from);
  auto it = own.uses.find(name);
  if (it != own.uses.end() && it->second.size() == 1) return all.FindUse(from, name);
  if (!complain) return nullptr;
  if (it != own.uses.end()) {
    all.Complain(from, Diag::UnknownName, path.location,
                 fmt::format("'{}' could be '{}' or '{}'", name, it->second[0]->name.ToString(),
                             it->second[1]->name.ToString()),
                 "write the module's whole name");
    return nullptr;
  }
  std::string hint = Nearest(name, own.uses);
  if (hint.empty()) hint = fmt::format("add `use ...{}` at the top of the file", name);
  all.Complain(from, Diag::UnknownName, path.location,
               fmt::format("no module '{}' is used here", name), hint);
  return nullptr;
}

namespace {

template <typename T>
Found<T> FindIn(Elaborator& all, const Module* from, const Path& path, size_t parts, bool complain,
                const char* what, std::unordered_map<std::string, const T*> ModuleNames::* map,
                const std::function<std::string()>& more_hint = {}) {
  const Module* module = from;
  if (parts > 1) module = ModuleOf(all, from, path, parts, complain);
  if (module == nullptr) return {};
  const std::string& name = path.parts[parts - 1];
  auto& known = all.names(module).*map;
  auto it = known.find(name);
  if (it == known.end()) {
    if (complain) {
      std::string hint;
      if (const std::string flags = FlagsFor<T>(*module, name); !flags.empty())
        hint = fmt::format("it is there only with {}", flags);
      if (hint.empty()) hint = Nearest(name, known);
      if (hint.empty() && more_hint) hint = more_hint();
      all.Complain(from, Diag::UnknownName, path.location,
                   module == from ? fmt::format("no {} '{}'", what, name)
                                  : fmt::format("module '{}' has no {} '{}'",
                                                module->name.ToString(), what, name),
                   hint);
    }
    return {};
  }
  if (module != from && !IsPub(*it->second)) {
    if (complain)
      all.Complain(
          from, Diag::PrivateItem, path.location,
          fmt::format("{} '{}' of module '{}' is private", what, name, module->name.ToString()),
          fmt::format("mark the {} `pub` to use it elsewhere", what));
    return {};
  }
  return {it->second, module};
}

}  // namespace

Found<FunctionDecl> Elaborator::FindFunction(const Module* from, const Path& path, bool complain) {
  const auto hint = [&]() -> std::string {
    std::vector<std::string_view> known;
    for (const BuiltinInfo& builtin : AllBuiltins())
      if (!builtin.intrinsic_only) known.push_back(builtin.name);
    std::string near = path.parts.size() == 1 ? Suggest(path.parts[0], known) : std::string();
    return near.empty() ? "check the name, and that the module is imported with `use`" : near;
  };
  return FindIn(*this, from, path, path.parts.size(), complain, "function", &ModuleNames::functions,
                hint);
}

Found<ConstDecl> Elaborator::FindConst(const Module* from, const Path& path, size_t parts) {
  return FindIn(*this, from, path, parts, false, "constant", &ModuleNames::constants);
}

Found<StructDecl> Elaborator::FindStruct(const Module* from, const Path& path, bool complain) {
  return FindIn(
      *this, from, path, path.parts.size(), complain, "struct", &ModuleNames::structs, [] {
        return "types are Field, Bool, U32, Digest, XField, arrays [T; N], tuples and structs";
      });
}

Found<EventDecl> Elaborator::FindEvent(const Module* from, const Path& path) {
  return FindIn(*this, from, path, path.parts.size(), true, "event", &ModuleNames::events,
                [] { return "declare it: event Name { field: Field }"; });
}

}  // namespace frazil::frontends::trident
