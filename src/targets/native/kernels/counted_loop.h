// Loops of kernels that carry values in registers. Internal to this folder.
#pragma once

#include <llvm/IR/Constants.h>

#include <functional>
#include <utility>

#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

class CountedLoops {
 public:
  CountedLoops(Builder& builder, llvm::Function* function)
      : builder_(builder), function_(function) {}

  using Turn = std::function<LlvmValues(llvm::Value*, LlvmValues)>;

  // i = lo, lo + step ... while i < hi (unsigned), from the carried values of one turn to those of the next; gives the last.
  // `runs`: it is known that there is a turn.
  LlvmValues Count(llvm::Value* lo, llvm::Value* hi, uint64_t step, LlvmValues starts,
                   const Turn& turn, bool runs = false) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = NewBlock("turn");
    llvm::BasicBlock* after = NewBlock("after");
    if (runs)
      builder_.CreateBr(body);
    else
      builder_.CreateCondBr(builder_.CreateICmpULT(lo, hi), body, after);
    builder_.SetInsertPoint(body);
    llvm::PHINode* i = builder_.CreatePHI(lo->getType(), 2);
    i->addIncoming(lo, before);
    std::vector<llvm::PHINode*> phis;
    for (llvm::Value* start : starts) {
      phis.push_back(builder_.CreatePHI(start->getType(), 2));
      phis.back()->addIncoming(start, before);
    }
    LlvmValues ends = turn(i, LlvmValues(phis.begin(), phis.end()));
    llvm::Value* next = builder_.CreateAdd(i, llvm::ConstantInt::get(i->getType(), step));
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    i->addIncoming(next, end);
    for (size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(ends[k], end);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, hi), body, after);
    builder_.SetInsertPoint(after);
    if (runs) return ends;
    return Join(starts, before, ends, end);
  }

  // What `then` gives where the condition holds, else the values as they are.
  LlvmValues If(llvm::Value* condition, LlvmValues values,
                const std::function<LlvmValues(LlvmValues)>& then) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = NewBlock("then");
    llvm::BasicBlock* after = NewBlock("after");
    builder_.CreateCondBr(condition, body, after);
    builder_.SetInsertPoint(body);
    LlvmValues ends = then(values);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    return Join(values, before, ends, end);
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
  }

 private:
  LlvmValues Join(const LlvmValues& starts, llvm::BasicBlock* before, const LlvmValues& ends,
                  llvm::BasicBlock* end) {
    LlvmValues joined;
    for (size_t k = 0; k < starts.size(); ++k) {
      llvm::PHINode* phi = builder_.CreatePHI(starts[k]->getType(), 2);
      phi->addIncoming(starts[k], before);
      phi->addIncoming(ends[k], end);
      joined.push_back(phi);
    }
    return joined;
  }

  Builder& builder_;
  llvm::Function* function_;
};

}  // namespace frazil::targets::native
