// The state of emission: the builder, the current value of every variable, ids and arrays. emit_kernel.cpp has the
// launch, emit_statement.cpp and emit_loop.cpp statements, emit_expression.cpp and emit_call.cpp expressions.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/python/bits.h"
#include "frontends/python/plan.h"
#include "ir/builder.h"

namespace frazil::frontends::python {

class Emitter {
 public:
  // `indices`: parameters that are used as indices inside lanes, as an earlier run has found them.
  Emitter(KernelTree& tree, Errors& errors, ir::Program& program, std::vector<bool> indices);
  void Run(const std::vector<LaunchPlan>& plans);
  const std::vector<bool>& wanted_indices() const { return wanted_indices_; }

 private:
  using ValueId = ir::ValueId;
  using Values = ir::Values;
  using Scalar = ir::Scalar;

  // Launch.
  void DeclareParams();
  void EmitPass(const LaunchPlan& plan);
  void EmitFlat(const LaunchPlan& plan, uint32_t dim);
  void EmitBlocks(const LaunchPlan& plan, uint32_t dim);
  void EmitLanes(const LaunchPlan& plan);
  void HoistUniform(const Block& block, std::span<const uint32_t> known, bool is_nested);
  ValueId IdValue(const Expr* e);

  // Statements.
  void Emit(const Block& block);
  void Emit(Stmt& stmt);
  void EmitAssign(Stmt& stmt);
  void EmitStore(Stmt& stmt);
  void EmitIf(Stmt& stmt);
  void EmitFor(Stmt& stmt);
  void EmitStoppableFor(Stmt& stmt, ValueId lo, ValueId end, ValueId step);
  void EmitCountedFor(Stmt& stmt, ValueId lo, ValueId hi, ValueId trips, int64_t step,
                      ValueId step_value);
  void EmitWhile(Stmt& stmt);
  std::vector<uint32_t> Carried(const Stmt& stmt) const;
  Values CurrentValues(const std::vector<uint32_t>& locals);
  void SetValues(const std::vector<uint32_t>& locals, std::span<const ValueId> values);
  ir::Type TypeOf(uint32_t local) const { return ir::Type::Of(tree_.locals[local].type.scalar); }

  // Expressions. As: in the type that is asked for. At: in the expression's own type, which is `type` if it is weak.
  ValueId As(Expr* e, Scalar type);
  ValueId At(Expr* e, Scalar type);
  ValueId Own(Expr* e) { return As(e, Settle(e->type)); }
  ValueId Condition(Expr* e);
  ValueId ParamIndex(const Expr* e);
  ValueId Constant(const Expr* e, Scalar type);
  ValueId Convert(ValueId value, Scalar to);
  ValueId IsNotZero(ValueId value);
  ValueId Binary(Expr* e, Scalar type);
  ValueId Arithmetic(BinaryOp op, ValueId a, ValueId b);
  ValueId Compare(BinaryOp op, Expr* left, Expr* right);
  ValueId CompareValues(BinaryOp op, ValueId a, ValueId b);
  ValueId Power(Expr* e, Scalar type);
  ValueId IntPower(ValueId base, uint64_t exponent);
  ValueId Shift(Expr* e, Scalar type);
  ValueId Logic(Expr* e);
  ValueId Chain(Expr* e, size_t at, ValueId left);
  ValueId IfValue(Expr* e, Scalar type);
  ValueId Inline(Expr* e);
  ValueId Address(uint32_t array, const std::vector<Expr*>& indices);
  ValueId Uniform(Expr* e, Scalar type);
  void PrepareUniform(const Expr* e);

  // Calls.
  ValueId Call(Expr* e, Scalar type);
  ValueId Atomic(Expr* e);
  ValueId Random(Expr* e);

  // Names are for readers of the text form: each once, none for temporaries.
  void NameOnce(ValueId value, const std::string& name);

  // One region whose variables end with it.
  Values InBranch(const std::function<Values()>& body);
  // What these locals hold behind the block of a statement, to which what follows belongs.
  Values BlockValues(const Block& block, const Stmt& stmt, const std::vector<uint32_t>& locals);
  ValueId Index(int64_t value) { return builder_.ConstInt(ir::types::Index, value); }
  ValueId Zero(ir::Type type);

  // Folds: float atomics that are reductions, sum, min and max of a range (emit_reduction.cpp).
  void EmitReduction(const LaunchPlan& plan, const Reduction& reduction);
  ValueId Fold(Expr* e, Scalar type);
  ValueId LaneValue(const LaunchPlan& plan, const Reduction& reduction, ValueId lane);

  KernelTree& tree_;
  Errors& errors_;
  ir::FunctionBuilder builder_;
  std::vector<ValueId> values_;  // of locals; invalid: none yet
  std::vector<ValueId> arrays_;
  std::array<ValueId, 3> lanes_, grid_, block_;  // parameters of the launch
  std::array<ValueId, 3> global_id_, local_id_, block_id_;
  std::unordered_map<const Expr*, ValueId>
      hoisted_;                   // emitted before the lanes: bounds and conditions around barriers
  std::vector<ValueId> uniform_;  // locals whose value was emitted before the lanes
  // An integer parameter becomes an index once, before the lanes, so that equal sizes are one value.
  std::vector<bool> early_indices_, wanted_indices_;
  std::vector<ValueId> param_indices_;
  bool in_lanes_ = false;
  std::unordered_set<std::string> names_;
  bool has_blocks_ = false;
};

}  // namespace frazil::frontends::python
