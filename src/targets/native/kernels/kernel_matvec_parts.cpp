#include "targets/native/kernels/kernel_matvec_parts.h"

#include "targets/native/kernels/kernel_matmul_driver.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {

unsigned MatvecLanes(exec::CpuLevel level, ir::Type chain) {
  return VectorBytes(level) / ir::BytesOf(chain);
}

bool HasMasks(exec::CpuLevel level, const MatvecTypes& types) {
  return level == exec::CpuLevel::Avx512 ||
         (types.x == types.chain && types.w == types.chain && types.c == types.chain);
}

bool TakesPairs(const MatvecTypes& types) { return types.w == ir::types::BF16; }

MatvecMaker::MatvecMaker(ModuleEmitter& shared, const MatvecTypes& types, const MatvecSizes& sizes,
                         unsigned pointers, const char* name)
    : shared_(shared),
      types_(types),
      sizes_(sizes),
      builder_(shared.module.getContext()),
      ops_(builder_, shared.is_modern(), nullptr),
      lanes_(MatvecLanes(shared.level, types.chain)),
      vector_(llvm::FixedVectorType::get(ops_.TypeOf(types.chain), lanes_)),
      function_([&] {
        std::vector<llvm::Type*> parameters(pointers, builder_.getPtrTy());
        parameters.resize(pointers + 4, builder_.getInt64Ty());
        return shared.AddFunction(llvm::FunctionType::get(builder_.getVoidTy(), parameters, false),
                                  name);
      }()),
      loops_(builder_, function_),
      x_(function_->getArg(0)),
      w_(function_->getArg(1)),
      c_(function_->getArg(2)) {
  builder_.SetInsertPoint(loops_.NewBlock("entry"));
  for (llvm::Value** size : {&sizes_.count, &sizes_.depth, &sizes_.x_step, &sizes_.stride}) {
    if (Known(*size) == nullptr) *size = function_->getArg(pointers);
    ++pointers;
  }
}

llvm::Value* MatvecMaker::Widened(ir::Type type, llvm::Value* value) {
  return type == types_.chain ? value : ops_.WidenHalf(type.scalar, value);
}

llvm::Value* MatvecMaker::LoadLanes(ir::Type type, llvm::Value* address, llvm::Value* mask,
                                    llvm::Constant* others) {
  auto* vector = llvm::FixedVectorType::get(ops_.TypeOf(type), lanes_);
  if (mask == nullptr) return builder_.CreateAlignedLoad(vector, address, llvm::Align(1));
  if (others == nullptr) others = llvm::Constant::getNullValue(vector);
  return builder_.CreateMaskedLoad(vector, address, llvm::Align(1), mask, others);
}

llvm::Value* MatvecMaker::LoadWords(llvm::Value* address) {
  auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes_);
  return builder_.CreateAlignedLoad(words, address, llvm::Align(1));
}

LlvmValues MatvecMaker::SplitPairs(llvm::Value* words) {
  llvm::Value* second =
      builder_.CreateAnd(words, llvm::ConstantInt::get(words->getType(), 0xffff'0000u));
  return {builder_.CreateBitCast(builder_.CreateShl(words, 16), vector_),
          builder_.CreateBitCast(second, vector_)};
}

LlvmValues MatvecMaker::Interleaved(llvm::Value* firsts, llvm::Value* seconds) {
  llvm::SmallVector<int, 16> low, high;
  for (unsigned c = 0; c < lanes_; ++c) {
    const unsigned at = c / 2 + (c % 2 == 0 ? 0 : lanes_);
    low.push_back(static_cast<int>(at));
    high.push_back(static_cast<int>(at + lanes_ / 2));
  }
  return {builder_.CreateShuffleVector(firsts, seconds, low),
          builder_.CreateShuffleVector(firsts, seconds, high)};
}

llvm::Value* MatvecMaker::Broadcast(llvm::Value* index) {
  llvm::Value* place = At(types_.x, x_, builder_.CreateMul(index, sizes_.x_step));
  llvm::Value* value = builder_.CreateAlignedLoad(ops_.TypeOf(types_.x), place, llvm::Align(1));
  return builder_.CreateVectorSplat(lanes_, Widened(types_.x, value));
}

void MatvecMaker::StoreOutputs(llvm::Value* sums, llvm::Value* index, llvm::Value* mask) {
  llvm::Value* value =
      types_.c == types_.chain ? ops_.Canonical(sums) : ops_.RoundToHalf(types_.c.scalar, sums);
  llvm::Value* address = At(types_.c, c_, index);
  if (mask == nullptr)
    builder_.CreateAlignedStore(value, address, llvm::Align(1));
  else
    builder_.CreateMaskedStore(value, address, llvm::Align(1), mask);
}

void MatvecMaker::Prefetch(llvm::Value* address) {
  // To be read, into the second-level cache, as data.
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {address, builder_.getInt32(0), builder_.getInt32(2), builder_.getInt32(1)});
}

}  // namespace frazil::targets::native
