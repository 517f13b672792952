// Which imports nothing in the text can mean: no path begins with the module's name, in full or its last part. A variable
// of the same name hides that; a warning that is missing costs less than one that is wrong.
#include "frontends/trident/unused_imports.h"

#include <fmt/format.h>

#include <unordered_set>

#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {
namespace {

class Prefixes {
 public:
  explicit Prefixes(const Module& module) {
    for (const IoDecl& io : module.io) {
      for (const auto& [address, type] : io.slots) Add(type);
    }
    for (const ConstDecl& constant : module.constants) {
      Add(constant.type);
      Walk(*constant.value, visitor_);
    }
    for (const StructDecl& decl : module.structs) {
      for (const MemberDecl& member : decl.members) Add(member.type);
    }
    for (const EventDecl& decl : module.events) {
      for (const MemberDecl& member : decl.members) Add(member.type);
    }
    for (const FunctionDecl& function : module.functions) Add(function);
  }
  bool Has(const std::string& name) const { return names_.contains(name); }

 private:
  void Add(const FunctionDecl& function) {
    for (const Attribute& attribute : function.attributes) {
      if (attribute.condition) Walk(*attribute.condition, visitor_);
    }
    for (const Param& param : function.params) Add(param.type);
    if (function.result) Add(*function.result);
    if (function.body) Walk(*function.body, visitor_);
  }
  void Add(const TypeExpr& type) {
    Add(type.name);
    for (const TypeExpr& part : type.parts) Add(part);
    if (type.size) Walk(*type.size, visitor_);
  }
  void Add(const Path& path) {
    std::string prefix;
    for (size_t i = 0; i + 1 < path.parts.size(); ++i) {
      prefix += (i == 0 ? "" : ".") + path.parts[i];
      names_.insert(prefix);
    }
  }
  void Add(const Stmt& stmt) {
    if (stmt.type) Add(*stmt.type);
    Add(stmt.event);
    for (const MatchArm& arm : stmt.arms) {
      if (const size_t dot = arm.pattern.name.rfind('.'); dot != std::string::npos)
        names_.insert(arm.pattern.name.substr(0, dot));
    }
  }

  std::unordered_set<std::string> names_;
  Visitor visitor_{[this](const Stmt& stmt) { Add(stmt); },
                   [this](const Expr& expr) { Add(expr.path); }};
};

}  // namespace

void WarnUnusedImports(const Module& module, std::vector<Error>* warnings) {
  if (module.uses.empty()) return;
  const Prefixes prefixes(module);
  for (const Path& use : module.uses) {
    if (prefixes.Has(use.ToString()) || prefixes.Has(use.parts.back())) continue;
    warnings->push_back({Diag::UnusedImport,
                         fmt::format("'{}' is used nowhere in this file", use.ToString()),
                         use.location, module.file, "leave the import out"});
  }
}

}  // namespace frazil::frontends::trident
