// Emits the rows of a step in one form. Internal to this folder.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "targets/cuda/kernel_emitter.h"

namespace frazil::targets::cuda {

struct RowForm {
  uint32_t lanes;   // of a warp, for one row
  uint32_t width;   // neighboring elements of a lane
  uint32_t unroll;  // slices whose elements are asked for before the first is used
  bool keeps;       // there is shared memory for what is read again
};

class RowEmitter {
 public:
  RowEmitter(KernelEmitter& emitter, const ir::Inst& parallel, const RowPlan& plan,
             const RowForm& form);
  void Emit(llvm::Value* lo, llvm::Value* rows);
  // A load or store inside of a pass; false: it is nothing of the row.
  bool EmitAccess(const ir::Inst& access);

 private:
  struct RowArrayPlace {
    const RowArray* array;
    llvm::Value* row = nullptr;   // its first element in memory
    llvm::Value* lane = nullptr;  // the lane's first element in memory
    llvm::Value* kept = nullptr;  // and in shared memory
  };
  struct Fold {
    const ir::Inst* loop;
    ir::InstId joins;
    ir::Op op;
    ir::Type type;
    ir::ValueId element;
    llvm::Constant* none = nullptr;  // joined with anything it changes nothing
    llvm::Value* levels = nullptr;
  };
  using LoopBody = std::function<void(llvm::Value*, LlvmValues&)>;

  llvm::ConstantInt* Long(uint64_t n) { return builder_.getInt64(n); }
  uint32_t Elements() const { return RowSlice / form_.lanes; }
  LlvmValues Loop(llvm::Value* start, llvm::Value* end, uint64_t step, LlvmValues carried,
                  const LoopBody& body);
  void If(llvm::Value* condition, LlvmValues& values, const std::function<void(LlvmValues&)>& then);
  void If(llvm::Value* condition, const std::function<void()>& then);

  void FindKept(llvm::Value* in_block, llvm::Value* room);
  void EmitScalar(const ir::Inst& inst);
  void EmitPasses();
  // Those of a fold, and behind them its first element where that stands in the rest of the row.
  std::span<llvm::Value*> ChainsOf(LlvmValues& chains, size_t fold) const {
    return std::span(chains).subspan(fold * (Elements() + 1), Elements() + 1);
  }
  llvm::Value* HasRest();
  bool IsReading() const;
  LlvmValues Slices(llvm::Value* from, llvm::Value* to, LlvmValues chains);

  Fold FoldOf(ir::InstId id);
  llvm::Value* Join(const Fold& fold, llvm::Value* a, llvm::Value* b);
  void EmitBlocks();
  llvm::Value* FoldChainsOf(const Fold& fold, std::span<llvm::Value* const> chains);
  llvm::Value* Levels(const Fold& fold);
  void Push(const Fold& fold, llvm::Value* block, llvm::Value* result);
  llvm::Value* Pop(const Fold& fold, llvm::Value* blocks);

  void EmitSlices(const LlvmValues& slices, LlvmValues& chains, bool is_rest);
  void EmitPass(const ir::Inst& loop, const Fold* fold, std::span<llvm::Value*> chains);
  void Take();
  void FindReciprocals();
  bool EmitQuotients(const ir::Inst& inst);
  llvm::Value* IsOrdinary(llvm::Value* x);
  uint64_t OffsetOf(uint32_t k) const;
  llvm::Value* IndexOf(uint32_t k);
  llvm::Value* IsThere(uint32_t k);
  llvm::Align AlignOf(ir::Type element) const;
  llvm::Value* Place(llvm::Value* lane_first, ir::Type element, uint32_t k);
  LlvmValues ReadSlice(size_t array);
  void WriteSlice(size_t array);

  KernelEmitter& emitter_;
  Builder& builder_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  const RowPlan& plan_;
  const RowForm form_;
  const ir::ValueId counter_;
  std::vector<RowArrayPlace> places_;  // by array
  std::vector<Fold> folds_;            // of the group in hand
  llvm::Value *count_ = nullptr, *slices_ = nullptr, *lane_ = nullptr, *first_lane_ = nullptr;
  llvm::Value* is_active_ = nullptr;  // null: always
  size_t group_ = 0;
  // The slice in hand: where it is, what is known of its elements, by array, and which one is emitted.
  llvm::Value* slice_ = nullptr;
  bool is_rest_ = false;
  std::vector<LlvmValues> current_;
  uint32_t element_ = 0;
  std::map<uint32_t, LlvmValues> lanes_;  // of the pass in hand: by value, for each element
  struct Reciprocal {
    llvm::Value* value;
    llvm::Value* is_inside;  // neither it nor the divisor is far from 1
  };
  std::map<uint32_t, Reciprocal> reciprocals_;  // of the group in hand, by divisor
};

}  // namespace frazil::targets::cuda
