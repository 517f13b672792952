// What a loop carries and its lanes fold: the values that they start with, and the one that they become. Internal to this
// folder.
#pragma once

#include "targets/native/function_emitter.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {

class LaneFolds {
 public:
  LaneFolds(FunctionEmitter& emitter, const LoopPlan& plan)
      : emitter_(emitter), builder_(emitter.builder()), plan_(plan) {}

  // A vector for each fold that changes nothing.
  LlvmValues Identities(unsigned lanes);
  // The carried values after the lanes of `vectors` have been collected too.
  LlvmValues Collect(const LlvmValues& carried, const LlvmValues& vectors);

 private:
  ir::Type FoldType(size_t f) const { return emitter_.function().inst(plan_.folds[f].step).type; }
  llvm::Constant* Identity(size_t f);
  llvm::Constant* FloatIdentity(ir::Op op, ir::Type type);
  llvm::Value* Combine(size_t f, llvm::Value* a, llvm::Value* b);

  FunctionEmitter& emitter_;
  Builder& builder_;
  const LoopPlan& plan_;
};

}  // namespace frazil::targets::native
