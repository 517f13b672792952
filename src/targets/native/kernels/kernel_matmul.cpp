// A nest of loops that is a product of matrices, in the function that has it: tests, scratch, the call.
#include "targets/native/kernels/kernel_matmul.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <vector>

#include "targets/llvm/order_facts.h"
#include "targets/native/kernels/kernel_loops.h"
#include "targets/native/kernels/kernel_matmul_driver.h"
#include "targets/native/kernels/kernel_tail.h"
#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using exec::CpuLevel;
using ir::Inst;

constexpr uint64_t FewRows = 32;  // too few to pay for packing

class MatmulLoop {
 public:
  MatmulLoop(FunctionEmitter& emitter, const Inst& loop, const MatmulNest& nest)
      : emitter_(emitter),
        builder_(emitter.builder()),
        loop_(loop),
        nest_(nest),
        bytes_(ir::BytesOf(nest.from)) {}

  void Emit() {
    sizes_ = {Value(nest_.rows),     Value(nest_.columns), Value(nest_.depth),
              Value(nest_.a_row),    Value(nest_.a_depth), Value(nest_.b_depth),
              Value(nest_.b_column), Value(nest_.c_row),   nullptr};
    sizes_.panels = Panels();
    llvm::BasicBlock* kernel = emitter_.NewBlock("matmul");
    llvm::BasicBlock* loops = emitter_.NewBlock("loops");
    llvm::BasicBlock* done = emitter_.NewBlock("done");
    ChoosePacking();
    const bool is_sure = IsSure();
    builder_.CreateCondBr(is_sure ? HasElements() : And(HasElements(), Fits()), kernel,
                          is_sure ? done : loops);
    builder_.SetInsertPoint(kernel);
    EmitCall(loops, done);
    if (loops->use_empty()) {
      loops->eraseFromParent();
    } else {
      builder_.SetInsertPoint(loops);
      const ScalarInside scalar(emitter_);
      emitter_.EmitScalarLoop(loop_, builder_.getInt64(0), {});
      builder_.CreateBr(done);
    }
    builder_.SetInsertPoint(done);
  }

 private:
  llvm::Value* Value(const IndexForm& form) { return EvaluateForm(emitter_, form); }
  // Both nothing but a value, and the same one.
  bool IsOneValue(const IndexForm& a, const IndexForm& b) const {
    auto is_value = [](const IndexForm& form) {
      return form.size() == 1 && form == IndexForm::Of(form.Atoms()[0]);
    };
    return !a.constant() && !b.constant() && is_value(a) && is_value(b) &&
           IsSame(emitter_.function(), a.Atoms()[0], b.Atoms()[0]);
  }
  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* Threshold(uint64_t usual) { return emitter_.Threshold(usual, 0); }
  llvm::Value* Less(llvm::Value* a) { return builder_.CreateSub(a, Int(1)); }

  llvm::Value* HasElements() {
    return And(builder_.CreateICmpSGT(sizes_.rows, Int(0)),
               builder_.CreateICmpSGT(sizes_.columns, Int(0)));
  }

  // Nothing can be wrong, and no room is missed: there is no second way.
  bool IsSure() {
    if (packing_ == Packing::Always || !IsOne(sizes_.b_column)) return false;
    if (!IsAllInside(emitter_, loop_)) return false;
    const auto never_same = [&](ir::ValueId a, ir::ValueId b) { return emitter_.NeverSame(a, b); };
    if (!nest_.tail)
      return nest_.c_row == nest_.columns && never_same(nest_.c, nest_.a) &&
             never_same(nest_.c, nest_.b);
    for (size_t i = 0; i < nest_.tail->places.size(); ++i) {
      const LoopAccess& access = nest_.tail->plan.accesses[i];
      if (access.is_store &&
          !(nest_.tail->places[i].by_row == nest_.columns && never_same(access.buffer, nest_.a) &&
            never_same(access.buffer, nest_.b)))
        return false;
    }
    return std::ranges::all_of(nest_.tail->distinct,
                               [&](auto pair) { return never_same(pair.first, pair.second); });
  }

  static bool IsOne(llvm::Value* value) { return Known(value) != nullptr && Known(value)->isOne(); }

  // Sizes and strides below 2^31, so that no product of two wraps; then every index from the least to the greatest.
  llvm::Value* Fits() {
    llvm::Value* all = builder_.getTrue();
    for (llvm::Value** size : sizes_.All())
      all = And(all, builder_.CreateICmpULT(*size, Int(uint64_t{1} << 31)));
    if (!nest_.tail) {
      // Rows of c that overlap are written in order by the loops.
      all = And(all, builder_.CreateICmpUGE(sizes_.c_row, sizes_.columns));
      all = And(all,
                Inside(nest_.c, nest_.c_offset, sizes_.rows, sizes_.c_row, sizes_.columns, Int(1)));
      all = And(all, Differs(nest_.c, nest_.a));
      all = And(all, Differs(nest_.c, nest_.b));
    } else {
      all = And(all, FitsTail(*nest_.tail));
    }
    all = And(all, Inside(nest_.a, nest_.a_offset, sizes_.rows, sizes_.a_row, sizes_.depth,
                          sizes_.a_depth));
    all = And(all, Inside(nest_.b, nest_.b_offset, sizes_.depth, sizes_.b_depth, sizes_.columns,
                          sizes_.b_column));
    all = And(all, builder_.CreateOr(builder_.CreateICmpEQ(sizes_.b_column, Int(1)),
                                     builder_.CreateICmpEQ(sizes_.b_depth, Int(1))));
    return all;
  }

  llvm::Value* Differs(ir::ValueId a, ir::ValueId b) {
    if (emitter_.NeverSame(a, b)) return builder_.getTrue();
    return builder_.CreateICmpNE(emitter_.Get(a), emitter_.Get(b));
  }

  llvm::Value* FitsTail(const MatmulTail& tail) {
    llvm::Value* all = builder_.getTrue();
    for (size_t i = 0; i < tail.places.size(); ++i) {
      const LoopAccess& access = tail.plan.accesses[i];
      llvm::Value* by_row = Value(tail.places[i].by_row);
      const bool is_unit = access.shape == LoopAccess::Shape::Unit;
      all = And(all, builder_.CreateICmpULT(by_row, Int(uint64_t{1} << 31)));
      all = And(all, Inside(access.buffer, tail.places[i].offset, sizes_.rows, by_row,
                            sizes_.columns, Int(is_unit ? 1 : 0)));
      if (!access.is_store) continue;
      all = And(all, builder_.CreateICmpUGE(by_row, sizes_.columns));
      all = And(all, Differs(access.buffer, nest_.a));
      all = And(all, Differs(access.buffer, nest_.b));
    }
    for (auto [a, b] : tail.distinct) all = And(all, Differs(a, b));
    return all;
  }

  // One, where there is no place for sums that are not whole yet.
  llvm::Value* Panels() {
    llvm::Value* count = PanelCount(emitter_.shared(), builder_, sizes_.depth);
    if (!nest_.tail || (Known(count) != nullptr && Known(count)->isOne())) return count;
    if (!nest_.tail->carrier) return Int(1);
    llvm::Value* has_place = builder_.getTrue();
    for (const LoopAccess& access : nest_.tail->plan.accesses)
      if (!access.is_store) has_place = And(has_place, Differs(nest_.c, access.buffer));
    return builder_.CreateSelect(has_place, count, Int(1));
  }

  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return BothHold(builder_, a, b); }

  llvm::Value* Inside(ir::ValueId buffer, const IndexForm& offset, llvm::Value* n,
                      llvm::Value* n_stride, llvm::Value* m, llvm::Value* m_stride) {
    llvm::Value* first = Value(offset);
    llvm::Value* length = emitter_.LengthOf(buffer);
    llvm::Value* reach = builder_.CreateAdd(builder_.CreateMul(Less(n), n_stride),
                                            builder_.CreateMul(Less(m), m_stride));
    return builder_.CreateICmpULT(reach, RoomFrom(builder_, first, length));
  }

  void ChoosePacking() {
    llvm::Value* volume = builder_.CreateMul(sizes_.columns, sizes_.depth);
    llvm::Value* limit =
        Known(volume) != nullptr ? static_cast<llvm::Value*>(Int(Limit())) : Threshold(Limit());
    llvm::Value* few = Known(sizes_.rows) != nullptr ? static_cast<llvm::Value*>(Int(FewRows))
                                                     : Threshold(FewRows);
    llvm::Value* packs = builder_.CreateAnd(builder_.CreateICmpUGT(volume, limit),
                                            builder_.CreateICmpUGT(sizes_.rows, few));
    // Columns one behind the other: rows only if they have one element, for which no code of its own is made.
    is_turned_ = IsOneValue(nest_.b_column, nest_.depth) && Known(sizes_.b_column) == nullptr &&
                 Known(sizes_.b_depth) != nullptr && Known(sizes_.b_depth)->isOne();
    packs = is_turned_ ? builder_.getTrue()
                       : builder_.CreateOr(packs, builder_.CreateICmpNE(sizes_.b_column, Int(1)));
    packing_ = Known(packs) == nullptr  ? Packing::Either
               : Known(packs)->isZero() ? Packing::Never
                                        : Packing::Always;
    packs_ = packs;
  }

  void EmitCall(llvm::BasicBlock* loops, llvm::BasicBlock* done) {
    if (nest_.tail) tail_arguments_ = TailArguments(emitter_, *nest_.tail);
    llvm::Function* driver =
        EmitMatmulDriver(emitter_, nest_, sizes_, packing_, is_turned_, tail_arguments_);
    llvm::Value* none = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (packing_ == Packing::Never) {
      Call(driver, none);
      builder_.CreateBr(done);
      return;
    }
    llvm::BasicBlock* without = loops;
    if (packing_ == Packing::Either) {
      llvm::BasicBlock* plain = emitter_.NewBlock("in.place");
      llvm::BasicBlock* packed = emitter_.NewBlock("packed");
      builder_.CreateCondBr(packs_, packed, plain);
      if (IsOne(sizes_.b_column)) without = plain;
      builder_.SetInsertPoint(plain);
      Call(driver, none);
      builder_.CreateBr(done);
      builder_.SetInsertPoint(packed);
    }
    llvm::BasicBlock* ready = emitter_.NewBlock("ready");
    llvm::Value* run = emitter_.RunField(0);
    llvm::Value* mark = builder_.CreateAlignedLoad(
        builder_.getPtrTy(), emitter_.RunField(exec::NativeRunLayout::Scratch), llvm::Align(8));
    llvm::Value* arguments[] = {run, ScratchCount(), Int(bytes_)};
    llvm::Value* scratch =
        emitter_.CallHelper(exec::NativeHelper::Alloc, builder_.getPtrTy(), arguments);
    // No room is no trap: b can stay in place, or the loops need none.
    emitter_.BranchUnlikely(builder_.CreateIsNull(scratch), without, ready);
    builder_.SetInsertPoint(ready);
    Call(driver, scratch);
    llvm::Value* release[] = {run, mark};
    emitter_.CallHelper(exec::NativeHelper::Release, builder_.getVoidTy(), release);
    builder_.CreateBr(done);
  }

  // Elements of a panel: its depth is rounded up to 16, its width to that of a tile. It is zeroed, so less is better.
  llvm::Value* ScratchCount() {
    llvm::Value* depth =
        builder_.CreateAdd(builder_.CreateUDiv(sizes_.depth, sizes_.panels), Int(16));
    llvm::Value* columns = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder_.CreateAdd(sizes_.columns, Int(63)),
        Int(PanelBytes / ir::BytesOf(nest_.type)));
    return builder_.CreateMul(depth, columns);
  }

  // Elements of b that stay in place. Without wide registers rows of many columns miss in the first-level cache.
  uint64_t Limit() const {
    const uint64_t bytes =
        emitter_.level() == CpuLevel::Avx512 ? SecondLevelBytes : SecondLevelBytes / 2;
    return bytes / bytes_;
  }

  void Call(llvm::Function* driver, llvm::Value* scratch) {
    auto address = [&](ir::ValueId buffer, const IndexForm& offset) {
      const ir::Type element = emitter_.function().type(buffer).element();
      return emitter_.ElementAddress(element, emitter_.Get(buffer), Value(offset));
    };
    llvm::Value* c = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    if (nest_.c.valid()) c = address(nest_.c, nest_.c_offset);
    LlvmValues arguments = {address(nest_.a, nest_.a_offset), address(nest_.b, nest_.b_offset), c,
                            scratch};
    for (llvm::Value** size : sizes_.All()) arguments.push_back(*size);
    arguments.insert(arguments.end(), tail_arguments_.begin(), tail_arguments_.end());
    builder_.CreateCall(driver, arguments);
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const MatmulNest& nest_;
  const unsigned bytes_;
  MatmulSizes sizes_{};
  Packing packing_ = Packing::Never;
  bool is_turned_ = false;
  llvm::Value* packs_ = nullptr;
  LlvmValues tail_arguments_;
};

}  // namespace

bool EmitMatmul(FunctionEmitter& emitter, const Inst& loop, const MatmulNest& nest) {
  if (emitter.level() == CpuLevel::Baseline) return false;
  MatmulLoop(emitter, loop, nest).Emit();
  return true;
}

}  // namespace frazil::targets::native
