// The reader's state: scopes, the functions being put in place, and the tree. Members are split by topic:
// read_schema.cpp (kernel, types), read_statement.cpp, read_expression.cpp, read_call.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/python/functions.h"
#include "frontends/python/read_schema.h"

namespace frazil::frontends::python {

class Reader {
 public:
  Reader(const JsonTree& json, const Limits& limits, KernelTree& tree, Errors& errors)
      : json_(json), limits_(limits), tree_(tree), errors_(errors) {}
  void Kernel(const JsonNode& kernel);

 private:
  struct Scope;
  struct Binding {
    enum Kind : uint8_t { Unbound, Local, Param, Array, Function } kind = Unbound;
    uint32_t id = 0;
    const JsonNode* function = nullptr;
    Scope* home = nullptr;  // of a function: where its free names are looked up
  };
  struct Scope {
    Scope* outer = nullptr;
    bool is_kernel = false;
    bool returns_value = false;
    uint32_t result = 0;  // the local of a function's value
    uint32_t loops = 0;   // open around the statement being read
    std::vector<std::pair<std::string_view, Binding>> names;
    Binding* FindHere(std::string_view name) {
      for (auto& entry : names)
        if (entry.first == name) return &entry.second;
      return nullptr;
    }
  };
  struct TypeText {
    std::optional<ir::Scalar> scalar;
    const JsonNode* shape = nullptr;
    bool is_array = false;
  };

  // Places and parts of nodes.
  Location Place(const JsonNode& node) const;
  void Wrong(const JsonNode& node, std::string message, std::string hint = "") {
    errors_.Add(Place(node), std::move(message), std::move(hint));
  }
  void BadSchema(const JsonNode& node, std::string message) {
    errors_.Add(Place(node), std::move(message), "", Diag::BadJson);
  }
  const JsonNode* Need(const JsonNode& node, std::string_view name);
  std::string_view Text(const JsonNode& node, std::string_view name);
  TypeText ReadType(const JsonNode& node);
  bool TooLarge(const JsonNode& node);

  // Kernel.
  void Params(const JsonNode& kernel, const std::vector<std::string_view>& assigned);
  void Shapes(const JsonNode& kernel);
  void CollectAssigned(const JsonNode& body, std::vector<std::string_view>& names,
                       bool& returns_value);
  void DeclareLocals(Scope& scope, const std::vector<std::string_view>& names, Location place);
  Binding Lookup(std::string_view name);

  // Statements.
  Block ReadBlock(const JsonNode* body);
  void Statement(const JsonNode& node, Block& out);
  void Let(const JsonNode& node, Block& out);
  void Assign(const JsonNode& node, Block& out);
  void AssignLocal(const JsonNode& node, std::string_view name, Expr* value, Block& out);
  void Store(const JsonNode& node, const JsonNode& target, StmtKind kind, Block& out);
  void Declare(const JsonNode& node);
  void For(const JsonNode& node, Block& out);
  void Return(const JsonNode& node, Block& out);
  void Effect(const JsonNode& node, const JsonNode& value, Block& out);
  void Shared(const JsonNode& node);
  void FunctionStatement(const JsonNode& node);
  bool ParallelPass(const JsonNode& node);
  Expr* MapValue(std::string_view operation, Expr* a, Expr* b);
  Stmt* ReduceEffect(const JsonNode& node, std::string_view operation, uint32_t to, Expr* value);
  Stmt* NewAssign(uint32_t local, Expr* value, Location place);

  // Expressions. Never null: after a mistake it is a literal 0.
  Expr* Expression(const JsonNode& node);
  Expr* Variable(const JsonNode& node, std::string_view name);
  Expr* LiteralOf(const JsonNode& node, const JsonNode& value);
  Expr* Binary(const JsonNode& node);
  Expr* Unary(const JsonNode& node);
  Expr* Chain(const JsonNode& node);
  Expr* Index(const JsonNode& node);
  Expr* IfExpr(const JsonNode& node);
  Expr* Fold(const JsonNode& node);
  std::optional<uint32_t> ArrayNamed(const JsonNode& node, std::string_view what);
  bool Indices(const JsonNode& node, uint32_t array, std::vector<Expr*>& out);
  Expr* Nothing(const JsonNode& node) { return tree_.NewExpr(ExprKind::Literal, Place(node)); }

  // Calls.
  Expr* Call(const JsonNode& node);
  Expr* CallRow(const JsonNode& node, const FunctionRow& row,
                const std::vector<const JsonNode*>& args);
  Expr* CallAtomic(const JsonNode& node, const FunctionRow& row,
                   const std::vector<const JsonNode*>& args);
  Expr* CallId(const JsonNode& node, const FunctionRow& row,
               const std::vector<const JsonNode*>& args);
  Expr* CallFunction(const JsonNode& node, const Binding& binding,
                     const std::vector<const JsonNode*>& args);
  bool BindArguments(const JsonNode& node, const Binding& binding,
                     const std::vector<const JsonNode*>& args, Scope& scope, Expr* call);
  void BindArgument(const JsonNode& param, const JsonNode& value, bool is_default, Scope& home,
                    Scope& scope, Expr* call);
  bool IsUnordered(const JsonNode& node);

  const JsonTree& json_;
  const Limits& limits_;
  KernelTree& tree_;
  Errors& errors_;
  Scope module_;  // functions of the file
  Scope* scope_ = &module_;
  std::vector<const JsonNode*> active_;  // functions being put in place
};

}  // namespace frazil::frontends::python
