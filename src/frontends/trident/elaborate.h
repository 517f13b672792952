// Tree -> IR, inside. Elaborator is what all functions share: names, types, constants, instances of functions, errors.
// Body (body.h) makes the IR of one instance.
//
// Functions are made from a list of work, never while another one is made: an instance gets its number and its signature
// when it is first called, its body later. So the depth of the call graph is no depth of ours, and generic functions that
// make ever larger ones end at a limit.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/trident/builtins.h"
#include "frontends/trident/trident.h"
#include "frontends/trident/types.h"
#include "ir/builder.h"

namespace frazil::frontends::trident {

// What a module's text can name.
struct ModuleNames {
  std::unordered_map<std::string, const FunctionDecl*> functions;
  std::unordered_map<std::string, const ConstDecl*> constants;
  std::unordered_map<std::string, const StructDecl*> structs;
  std::unordered_map<std::string, const EventDecl*> events;
  std::unordered_map<std::string, std::vector<const Module*>>
      uses;  // by last part and by whole name
};

template <typename T>
struct Found {
  const T* decl = nullptr;
  const Module* module = nullptr;
  explicit operator bool() const { return decl != nullptr; }
};

// What is known of a function before any type is.
struct Facts {
  const Module* module = nullptr;
  std::vector<std::pair<const FunctionDecl*, Location>> callees;
  Effects effects = effects::None;
  std::string culprit;  // the first built-in or function that has an effect
  Location culprit_location;
  bool needs_ram = false;
  // Variables that are indexed by something that is no constant, here or where they are handed on to.
  std::unordered_set<std::string> in_memory;
  struct Handed {
    std::string name;
    const FunctionDecl* callee;
    size_t argument;
  };
  std::vector<Handed> handed;
};

struct Instance {
  const FunctionDecl* decl = nullptr;
  const Module* module = nullptr;
  std::vector<uint64_t> sizes;
  std::vector<TypeId> params;
  std::vector<bool> in_memory;  // of params: handed over as buffers, one for each component
  TypeId result = TypeTable::Unit;
  bool result_in_memory =
      false;  // written into fresh buffers of the caller, which come after the parameters
  ir::FuncId function;
  bool needs_ram = false;
};

// Values of size parameters by name.
using Sizes = std::unordered_map<std::string, uint64_t>;

class Elaborator {
 public:
  Elaborator(const Package& package, const Options& options, std::vector<Error>* errors);

  // The whole way, or with `build` false only all checks of the text; nothing if there were errors.
  std::optional<Built> Run(bool build);

  // --- errors (elaborate.cpp); each is said once
  void Complain(const Module* module, Diag diag, Location location, std::string message,
                std::string hint = {});
  void Warn(const Module* module, Diag diag, Location location, std::string message,
            std::string hint = {});
  bool stopped() const { return stopped_; }  // a limit was reached: no more IR
  uint32_t error_count() const { return error_count_; }
  // One more expression; false when there were so many that the program is refused.
  bool Step(const Module* module, Location location);
  void CountInsts(const Module* module, const ir::Function& function, Location location);

  // --- names (names.cpp)
  Found<FunctionDecl> FindFunction(const Module* from, const Path& path, bool complain = true);
  Found<ConstDecl> FindConst(const Module* from, const Path& path, size_t parts);
  Found<StructDecl> FindStruct(const Module* from, const Path& path, bool complain = true);
  Found<EventDecl> FindEvent(const Module* from, const Path& path);
  const Module* FindUse(const Module* from, const std::string& name);
  ModuleNames& names(const Module* module) { return names_.at(module); }
  bool Holds(const std::vector<Attribute>& attributes) const;  // its cfg flags

  // --- types and constants (elaborate_types.cpp)
  TypeId Resolve(const Module* from, const TypeExpr& type, const Sizes& sizes);
  TypeId StructType(Found<StructDecl> found);
  static bool IsPrimitive(const std::string& name);  // Field, U32, ...
  // The value of a constant expression over integers, size parameters and constants; nothing if it is none.
  std::optional<uint64_t> Constant(const Module* from, const Expr& expr, const Sizes& sizes,
                                   const std::function<bool(const std::string&)>& is_local = {});
  TypeId ConstType(Found<ConstDecl> constant);
  // The value of a constant of type Field, U32 or Bool.
  std::optional<uint64_t> ScalarConst(Found<ConstDecl> constant);
  // Binds size parameters of `names` that stand alone as a size in the type.
  void Infer(const Module* from, const TypeExpr& type, TypeId argument,
             const std::vector<std::string>& names, Sizes* sizes);
  // The tag of an event: its place among the events of the package, the program's first.
  uint64_t TagOf(const EventDecl* event) const { return tags_.at(event); }

  // --- instances (elaborate.cpp)
  const Instance* Instantiate(const FunctionDecl* decl, const Module* module,
                              std::vector<uint64_t> sizes, Location at, const Module* from);
  const Facts& facts(const FunctionDecl* decl) const { return facts_.at(decl); }
  ir::FuncId PowFunction();  // u32 power, made when first needed
  bool IsBadIntrinsic(const FunctionDecl* decl) const { return bad_intrinsics_.contains(decl); }
  // A constant array of Field or U32 as a table of the program; nothing if it is none.
  std::optional<ir::DataId> Table(Found<ConstDecl> constant);
  ir::DataId AddText(const std::string& text);  // bytes, for assembly

  TypeTable types;
  ir::Program program;
  const Options& options;

 private:
  void Collect();
  void CollectModule(const Module& module);
  void Gather(const Module& module, const FunctionDecl& function, Facts* facts);
  bool Order(std::vector<const FunctionDecl*>* order);  // callees first; false after a circle
  void SpreadFacts(const std::vector<const FunctionDecl*>& order);
  void CheckDeclarations();
  void CheckAttributes(const Module& module, const FunctionDecl& function);
  void CheckIntrinsic(const Module& module, const FunctionDecl& function,
                      const Attribute& attribute);
  void CheckPure(const Module& module, const FunctionDecl& function);
  void CheckConstants();
  void CheckGenerics();
  std::optional<uint64_t> FoldConst(const Module* from, const Expr& expr, TypeId type);
  void RunWork();
  const FunctionDecl* Entry();
  void Keep(ir::FuncId entry);  // drops functions that the entry does not reach
  void KeepData();
  void PlaceHelper(uint32_t function);
  ir::FuncId Wrap(const Instance& instance);
  void CheckStreams();  // streams.cpp

  const Package& package_;
  std::vector<Error>* errors_;
  std::vector<Error> warnings_;
  std::vector<std::string> files_;  // Built::files
  std::set<std::string> said_;
  bool build_ = true;  // false: bodies are made to be checked, then forgotten
  bool stopped_ = false;
  uint32_t error_count_ = 0;
  uint64_t steps_ = 0;
  std::unordered_set<const FunctionDecl*> bad_intrinsics_;
  std::unordered_map<const ConstDecl*, std::optional<ir::DataId>> tables_;
  uint64_t inst_count_ = 0;
  std::unordered_map<const Module*, ModuleNames> names_;
  std::unordered_map<const FunctionDecl*, Facts> facts_;
  std::unordered_map<const EventDecl*, uint64_t> tags_;
  std::unordered_map<const StructDecl*, TypeId> structs_;
  std::unordered_set<const StructDecl*> open_structs_;
  std::unordered_set<const ConstDecl*> open_constants_;
  std::unordered_map<const ConstDecl*, std::optional<uint64_t>> const_values_;
  std::map<std::pair<const FunctionDecl*, std::vector<uint64_t>>, Instance> instances_;
  size_t generic_count_ = 0;  // instances with sizes
  std::deque<const Instance*> work_;
  std::unordered_set<const FunctionDecl*> made_;
  ir::FuncId pow_;
};

}  // namespace frazil::frontends::trident
