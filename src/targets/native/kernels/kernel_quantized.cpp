// A loop that is a product of a vector and quantized weights, in the function that has it: tests and the call.
#include "targets/native/kernels/kernel_quantized.h"

#include "targets/native/vectors/vector_index.h"

namespace frazil::targets::native {
namespace {

using ir::Inst;

class QuantizedLoop {
 public:
  QuantizedLoop(FunctionEmitter& emitter, const Inst& loop, const QuantizedNest& nest)
      : emitter_(emitter), builder_(emitter.builder()), loop_(loop), nest_(nest) {}

  void Emit() {
    sizes_ = {Value(nest_.count), Value(nest_.groups), Value(nest_.w_row),
              Value(nest_.w_scales_row)};
    llvm::BasicBlock* kernel = emitter_.NewBlock("quantized");
    llvm::BasicBlock* loops = emitter_.NewBlock("loops");
    llvm::BasicBlock* done = emitter_.NewBlock("done");
    builder_.CreateCondBr(Fits(), kernel, loops);
    builder_.SetInsertPoint(kernel);
    auto address = [&](ir::Type type, ir::ValueId buffer, const IndexForm& offset) {
      return emitter_.ElementAddress(type, emitter_.Get(buffer), Value(offset));
    };
    llvm::Value* arguments[] = {address(ir::types::I8, nest_.a, nest_.a_offset),
                                address(ir::types::F32, nest_.a_scales, nest_.a_scales_offset),
                                address(ir::types::I8, nest_.w, nest_.w_offset),
                                address(ir::types::F32, nest_.w_scales, nest_.w_scales_offset),
                                address(ir::types::F32, nest_.c, nest_.c_offset),
                                sizes_.count,
                                sizes_.groups,
                                sizes_.row,
                                sizes_.scales_row};
    builder_.CreateCall(EmitQuantizedKernel(emitter_.shared(), nest_.has_nibbles, sizes_),
                        arguments);
    builder_.CreateBr(done);
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

  // As in kernel_matvec.cpp.
  llvm::Value* Fits() {
    llvm::Value* all = builder_.getTrue();
    for (llvm::Value* size : {sizes_.count, sizes_.groups, sizes_.row, sizes_.scales_row})
      all = And(all, builder_.CreateICmpULT(size, Int(uint64_t{1} << 31)));
    all = And(all, builder_.CreateICmpNE(sizes_.count, Int(0)));
    all = And(all, builder_.CreateICmpUGT(sizes_.groups, Int(1)));
    llvm::Value* last = builder_.CreateSub(sizes_.count, Int(1));
    llvm::Value* last_group = builder_.CreateSub(sizes_.groups, Int(1));
    auto end = [&](uint64_t bytes) {
      return builder_.CreateSub(builder_.CreateMul(sizes_.groups, Int(bytes)), Int(1));
    };
    auto behind = [&](llvm::Value* row, llvm::Value* along) {
      return builder_.CreateAdd(builder_.CreateMul(last, row), along);
    };
    all = And(all, Reaches(nest_.a, nest_.a_offset, end(32)));
    all = And(all, Reaches(nest_.a_scales, nest_.a_scales_offset, last_group));
    all = And(all, Reaches(nest_.w, nest_.w_offset,
                           behind(sizes_.row, end(nest_.has_nibbles ? 16 : 32))));
    all = And(
        all, Reaches(nest_.w_scales, nest_.w_scales_offset, behind(sizes_.scales_row, last_group)));
    all = And(all, Reaches(nest_.c, nest_.c_offset, last));
    for (ir::ValueId operand : {nest_.a, nest_.a_scales, nest_.w, nest_.w_scales})
      if (!emitter_.NeverSame(nest_.c, operand))
        all = And(all, builder_.CreateICmpNE(emitter_.Get(nest_.c), emitter_.Get(operand)));
    return all;
  }

  llvm::Value* Reaches(ir::ValueId buffer, const IndexForm& offset, llvm::Value* reach) {
    return builder_.CreateICmpULT(reach,
                                  RoomFrom(builder_, Value(offset), emitter_.LengthOf(buffer)));
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const QuantizedNest& nest_;
  QuantizedSizes sizes_{};
};

}  // namespace

bool EmitQuantized(FunctionEmitter& emitter, const Inst& loop, const QuantizedNest& nest) {
  if (emitter.level() == exec::CpuLevel::Baseline) return false;
  QuantizedLoop(emitter, loop, nest).Emit();
  return true;
}

}  // namespace frazil::targets::native
