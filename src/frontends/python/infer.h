// The state of type inference; infer_types.cpp has statements, infer_expression.cpp expressions.
#pragma once

#include <string>
#include <string_view>

#include "frontends/python/ast.h"

namespace frazil::frontends::python {

class Inference {
 public:
  Inference(KernelTree& tree, Errors& errors) : tree_(tree), errors_(errors) {}
  void Run();

 private:
  void Fixpoint();
  void Visit(Block& block);
  void Visit(Stmt& stmt);
  void CheckAssign(Expr* value, const Local& local, Location place);
  void CheckStore(Expr* value, ValueType from, ir::Scalar to, Location place, bool is_update,
                  std::string_view name = "");
  void CheckIndex(Expr* index);
  void InferCondition(Expr* e);

  ValueType Infer(Expr* e);
  ValueType InferUntyped(Expr* e);
  ValueType InferLiteral(Expr* e);
  ValueType InferBinary(Expr* e);
  ValueType InferDivision(Expr* e, ValueType a, ValueType b);
  ValueType InferPower(Expr* e, ValueType a, ValueType b);
  ValueType InferShift(Expr* e, ValueType a, ValueType b);
  ValueType InferUnary(Expr* e);
  ValueType InferChain(Expr* e);
  ValueType InferFold(Expr* e);
  ValueType InferCast(Expr* e);
  ValueType InferCall(Expr* e);
  ValueType InferFloatCall(Expr* e);
  ValueType InferAtomic(Expr* e);
  ValueType Common(Expr* e, ValueType a, ValueType b);
  void CheckLiterals(Expr* e, ValueType type, std::initializer_list<Expr*> operands);

  ValueType Wrong(Location place, std::string message, std::string hint = "") {
    if (reports_) errors_.Add(place, std::move(message), std::move(hint));
    return {ValueType::Nothing};
  }

  void Say(Location place, std::string message, std::string hint = "") {
    Wrong(place, std::move(message), std::move(hint));
  }

  KernelTree& tree_;
  Errors& errors_;
  const Expr* statement_ = nullptr;  // an expression that stands alone
  bool reports_ = false;             // types are final: say what is wrong
};

}  // namespace frazil::frontends::python
