// A loop that is a product of a matrix and a vector, in the function that has it: tests, scratch, the call.
#include "targets/native/kernels/kernel_matvec.h"

#include "targets/native/kernels/kernel_matmul_driver.h"
#include "targets/native/kernels/kernel_matvec_parts.h"
#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using exec::CpuLevel;
using ir::Inst;

class MatvecLoop {
 public:
  MatvecLoop(FunctionEmitter& emitter, const Inst& loop, const MatvecNest& nest)
      : emitter_(emitter),
        builder_(emitter.builder()),
        loop_(loop),
        nest_(nest),
        types_{nest.chain, nest.x_type, nest.w_type, nest.c_type},
        is_of_rows_(nest.w_step.constant() == 1) {}

  void Emit() {
    llvm::BasicBlock* kernel = emitter_.NewBlock("matvec");
    llvm::BasicBlock* loops = emitter_.NewBlock("loops");
    llvm::BasicBlock* done = emitter_.NewBlock("done");
    builder_.CreateCondBr(Fits(), kernel, loops);
    builder_.SetInsertPoint(kernel);
    EmitCall(loops, done);
    builder_.SetInsertPoint(loops);
    const ScalarInside scalar(emitter_);
    emitter_.EmitScalarLoop(loop_, builder_.getInt64(0), {});
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

 private:
  llvm::Value* Value(const IndexForm& form) { return EvaluateForm(emitter_, form); }
  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return BothHold(builder_, a, b); }

  // Sizes and strides below 2^31, so that no product of two wraps; then the greatest index of each operand; then what
  // the kernel asks for.
  llvm::Value* Fits() {
    count_ = Value(nest_.count);
    depth_ = Value(nest_.depth);
    x_step_ = Value(nest_.x_step);
    stride_ = Value(is_of_rows_ ? nest_.w_row : nest_.w_step);
    llvm::Value* all = builder_.getTrue();
    for (llvm::Value* size : {count_, depth_, x_step_, stride_})
      all = And(all, builder_.CreateICmpULT(size, Int(uint64_t{1} << 31)));
    all = And(all, builder_.CreateICmpNE(count_, Int(0)));
    // Chains of one step are left to the loops: somebody must have gone there, and of tensors everything else fits.
    all = And(all, builder_.CreateICmpUGT(depth_, Int(1)));
    llvm::Value* last = builder_.CreateSub(count_, Int(1));
    llvm::Value* end = builder_.CreateSub(depth_, Int(1));
    llvm::Value* across = is_of_rows_ ? last : end;
    llvm::Value* along = is_of_rows_ ? end : last;
    all = And(all, Reaches(nest_.x, nest_.x_offset, builder_.CreateMul(end, x_step_)));
    all = And(all, Reaches(nest_.w, nest_.w_offset,
                           builder_.CreateAdd(builder_.CreateMul(across, stride_), along)));
    all = And(all, Reaches(nest_.c, nest_.c_offset, last));
    for (ir::ValueId operand : {nest_.x, nest_.w})
      if (!emitter_.NeverSame(nest_.c, operand))
        all = And(all, builder_.CreateICmpNE(emitter_.Get(nest_.c), emitter_.Get(operand)));
    if (is_of_rows_) all = And(all, builder_.CreateICmpEQ(x_step_, Int(1)));
    if (HasMasks(emitter_.level(), types_)) return all;
    const unsigned lanes = MatvecLanes(emitter_.level(), nest_.chain);
    const unsigned least = is_of_rows_ ? MatvecRowsInBlock(emitter_.level(), types_) : lanes;
    all = And(all, builder_.CreateICmpUGE(count_, Int(least)));
    if (!is_of_rows_) return all;
    return And(all, builder_.CreateICmpEQ(builder_.CreateAnd(depth_, Int(lanes - 1)), Int(0)));
  }

  llvm::Value* Reaches(ir::ValueId buffer, const IndexForm& offset, llvm::Value* reach) {
    return builder_.CreateICmpULT(reach,
                                  RoomFrom(builder_, Value(offset), emitter_.LengthOf(buffer)));
  }

  llvm::Value* Address(ir::Type type, ir::ValueId buffer, const IndexForm& offset) {
    return emitter_.ElementAddress(type, emitter_.Get(buffer), Value(offset));
  }

  void EmitCall(llvm::BasicBlock* loops, llvm::BasicBlock* done) {
    const MatvecSizes sizes{count_, depth_, is_of_rows_ ? Int(1) : x_step_, stride_};
    llvm::Value* c = Address(nest_.c_type, nest_.c, nest_.c_offset);
    LlvmValues arguments = {Address(nest_.x_type, nest_.x, nest_.x_offset),
                            Address(nest_.w_type, nest_.w, nest_.w_offset), c};
    auto call = [&](llvm::Function* kernel) {
      for (llvm::Value* size : {sizes.count, sizes.depth, sizes.x_step, sizes.stride})
        arguments.push_back(size);
      builder_.CreateCall(kernel, arguments);
    };
    if (is_of_rows_) {
      call(EmitMatvecOfRows(emitter_.shared(), types_, sizes));
      builder_.CreateBr(done);
      return;
    }
    llvm::Function* kernel = EmitMatvecOfColumns(emitter_.shared(), types_, sizes);
    if (nest_.c_type == nest_.chain) {
      arguments.push_back(c);
      call(kernel);
      builder_.CreateBr(done);
      return;
    }
    llvm::BasicBlock* ready = emitter_.NewBlock("ready");
    llvm::Value* run = emitter_.RunField(0);
    llvm::Value* mark = builder_.CreateAlignedLoad(
        builder_.getPtrTy(), emitter_.RunField(exec::NativeRunLayout::Scratch), llvm::Align(8));
    llvm::Value* wanted[] = {run, count_, Int(ir::BytesOf(nest_.chain))};
    llvm::Value* sums = emitter_.CallHelper(exec::NativeHelper::Alloc, builder_.getPtrTy(), wanted);
    // No room is no trap: the loops need none.
    emitter_.BranchUnlikely(builder_.CreateIsNull(sums), loops, ready);
    builder_.SetInsertPoint(ready);
    arguments.push_back(sums);
    call(kernel);
    llvm::Value* release[] = {run, mark};
    emitter_.CallHelper(exec::NativeHelper::Release, builder_.getVoidTy(), release);
    builder_.CreateBr(done);
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const MatvecNest& nest_;
  const MatvecTypes types_;
  const bool is_of_rows_;  // of w: an output's elements are neighbors
  llvm::Value* count_ = nullptr;
  llvm::Value* depth_ = nullptr;
  llvm::Value* x_step_ = nullptr;
  llvm::Value* stride_ = nullptr;
};

}  // namespace

bool EmitMatvec(FunctionEmitter& emitter, const Inst& loop, const MatvecNest& nest) {
  if (emitter.level() == CpuLevel::Baseline) return false;
  if (nest.w_row.constant() != 1 && nest.w_step.constant() != 1) return false;
  MatvecLoop(emitter, loop, nest).Emit();
  return true;
}

}  // namespace frazil::targets::native
