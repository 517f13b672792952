// Lanes are rows of weights, as many as a vector has words. Scales of as many groups are turned around, multiplied by those of a and
// kept while the groups are worked on. Where fewer rows are left than a block has, the last one stands for those that are
// missing, and only what there is gets stored; a group that is not there has no weights and the scale -0, and -0 leaves
// every sum what it is.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "targets/native/kernels/counted_loop.h"
#include "targets/native/kernels/kernel_matmul_driver.h"
#include "targets/native/kernels/kernel_quantized.h"
#include "targets/native/kernels/kernel_quantized_dots.h"
#include "targets/native/kernels/kernel_tile.h"
#include "targets/native/vectors/transpose.h"

namespace frazil::targets::native {
namespace {

constexpr uint64_t AskedBytes = 128;  // as in kernel_matvec_columns.cpp
constexpr uint64_t MostBlockBytes = 1 << 19;

class Quantized {
 public:
  Quantized(ModuleEmitter& shared, bool has_nibbles, const QuantizedSizes& sizes)
      : sizes_(sizes),
        builder_(shared.module.getContext()),
        ops_(builder_, true, nullptr),
        dots_(builder_, shared.level, has_nibbles),
        lanes_(dots_.rows()),
        group_bytes_(has_nibbles ? 16 : 32),
        vector_(llvm::FixedVectorType::get(builder_.getFloatTy(), lanes_)),
        function_([&] {
          std::vector<llvm::Type*> parameters(5, builder_.getPtrTy());
          parameters.resize(9, builder_.getInt64Ty());
          return shared.AddFunction(
              llvm::FunctionType::get(builder_.getVoidTy(), parameters, false), "quantized");
        }()),
        loops_(builder_, function_) {}

  llvm::Function* Emit() {
    builder_.SetInsertPoint(loops_.NewBlock("entry"));
    unsigned next = 5;
    for (llvm::Value** size : {&sizes_.count, &sizes_.groups, &sizes_.row, &sizes_.scales_row}) {
      if (Known(*size) == nullptr) *size = function_->getArg(next);
      ++next;
    }
    places_ = builder_.CreateAlloca(builder_.getPtrTy(), Int(lanes_));
    scales_ = builder_.CreateAlloca(vector_, Int(lanes_));
    is_near_ =
        builder_.CreateICmpULE(builder_.CreateMul(sizes_.row, Int(lanes_)), Int(MostBlockBytes));
    loops_.Count(
        Int(0), sizes_.count, lanes_, {},
        [&](llvm::Value* t, LlvmValues) { return EmitBlock(t), LlvmValues(); }, /*runs=*/true);
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* Min(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  }
  llvm::Value* Byte(llvm::Value* base, llvm::Value* offset) {
    return builder_.CreateGEP(builder_.getInt8Ty(), base, offset);
  }
  llvm::Value* Float(llvm::Value* base, llvm::Value* index) {
    return builder_.CreateGEP(builder_.getFloatTy(), base, index);
  }
  llvm::Value* PlaceOf(uint64_t row) {
    return builder_.CreateGEP(builder_.getPtrTy(), places_, Int(row));
  }

  void EmitBlock(llvm::Value* t) {
    llvm::Value* left = builder_.CreateSub(sizes_.count, t);
    last_ = builder_.CreateSub(left, Int(1));
    llvm::Value* block = Byte(function_->getArg(2), builder_.CreateMul(t, sizes_.row));
    scale_block_ = Float(function_->getArg(3), builder_.CreateMul(t, sizes_.scales_row));
    for (unsigned row = 0; row < lanes_; ++row)
      builder_.CreateAlignedStore(Byte(block, builder_.CreateMul(Min(Int(row), last_), sizes_.row)),
                                  PlaceOf(row), llvm::Align(8));
    llvm::Value* ahead = Byte(block, builder_.CreateMul(sizes_.row, Int(lanes_)));
    const LlvmValues sums = loops_.Count(
        Int(0), sizes_.groups, lanes_, {llvm::Constant::getNullValue(vector_), ahead},
        [&](llvm::Value* g, LlvmValues carried) { return EmitScaled(g, std::move(carried)); },
        /*runs=*/true);
    llvm::Value* mask = FirstLanes(builder_, lanes_, Min(left, Int(lanes_)));
    builder_.CreateMaskedStore(ops_.Canonical(sums[0]), Float(function_->getArg(4), t),
                               llvm::Align(1), mask);
  }

  // As many groups from g on as there are lanes, or all that are left.
  LlvmValues EmitScaled(llvm::Value* g, LlvmValues carried) {
    llvm::Value* count = Min(builder_.CreateSub(sizes_.groups, g), Int(lanes_));
    EmitScales(g, FirstLanes(builder_, lanes_, count));
    llvm::Value* end = builder_.CreateAdd(g, count);
    llvm::Value* whole =
        builder_.CreateSub(end, builder_.CreateAnd(count, Int(dots_.groups() - 1)));
    carried =
        loops_.Count(g, whole, dots_.groups(), carried, [&](llvm::Value* at, LlvmValues values) {
          EmitAsking(values[1]);
          values[0] = EmitTurn(g, at, nullptr, values[0]);
          return values;
        });
    if (dots_.groups() == 1) return carried;
    return loops_.If(builder_.CreateICmpULT(whole, end), carried, [&](LlvmValues values) {
      values[0] = EmitTurn(g, whole, builder_.CreateSub(end, whole), values[0]);
      return values;
    });
  }

  void EmitScales(llvm::Value* g, llvm::Value* mask) {
    llvm::Constant* nothing = llvm::ConstantFP::getNegativeZero(vector_);
    LlvmValues square;
    for (unsigned row = 0; row < lanes_; ++row) {
      llvm::Value* offset = builder_.CreateMul(Min(Int(row), last_), sizes_.scales_row);
      square.push_back(builder_.CreateMaskedLoad(vector_,
                                                 Float(scale_block_, builder_.CreateAdd(offset, g)),
                                                 llvm::Align(1), mask, nothing));
    }
    square = Transposed(builder_, std::move(square));
    llvm::Value* a =
        builder_.CreateMaskedLoad(vector_, Float(function_->getArg(1), g), llvm::Align(1), mask,
                                  llvm::Constant::getNullValue(vector_));
    for (unsigned k = 0; k < lanes_; ++k) {
      const llvm::SmallVector<int, 16> one(lanes_, static_cast<int>(k));
      llvm::Value* scale = builder_.CreateFMul(builder_.CreateShuffleVector(a, one), square[k]);
      builder_.CreateAlignedStore(scale, builder_.CreateGEP(vector_, scales_, Int(k)),
                                  llvm::Align(16));
    }
  }

  // The groups of a turn from `at` on; `count`: only so many of them. `first` is the group of the first scale.
  llvm::Value* EmitTurn(llvm::Value* first, llvm::Value* at, llvm::Value* count, llvm::Value* sum) {
    auto load = [&](llvm::Value* address, unsigned words, unsigned of_group) -> llvm::Value* {
      auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), words);
      if (count == nullptr) return builder_.CreateAlignedLoad(type, address, llvm::Align(1));
      llvm::Value* mask = FirstLanes(builder_, words, builder_.CreateMul(count, Int(of_group)));
      return builder_.CreateMaskedLoad(type, address, llvm::Align(1), mask,
                                       llvm::Constant::getNullValue(type));
    };
    llvm::Value* a =
        load(Byte(function_->getArg(0), builder_.CreateMul(at, Int(32))), dots_.a_words(), 8);
    llvm::Value* offset = builder_.CreateMul(at, Int(group_bytes_));
    LlvmValues weights;
    for (unsigned row = 0; row < lanes_; ++row) {
      llvm::Value* place =
          builder_.CreateAlignedLoad(builder_.getPtrTy(), PlaceOf(row), llvm::Align(8));
      weights.push_back(load(Byte(place, offset), lanes_, dots_.partial()));
    }
    const LlvmValues dots = dots_.Make(a, weights);
    for (unsigned i = 0; i < dots.size(); ++i) {
      llvm::Value* number = builder_.CreateAdd(builder_.CreateSub(at, first), Int(i));
      llvm::Value* scale = builder_.CreateAlignedLoad(
          vector_, builder_.CreateGEP(vector_, scales_, number), llvm::Align(16));
      llvm::Value* dot = builder_.CreateSIToFP(dots[i], vector_);
      sum = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {vector_}, {scale, dot, sum});
    }
    return sum;
  }

  void EmitAsking(llvm::Value*& ahead) {
    const uint64_t bytes = uint64_t{lanes_} * lanes_ * 4;
    for (uint64_t line = 0; line < bytes; line += AskedBytes)
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                               {Byte(ahead, Int(line)), builder_.getInt32(0), builder_.getInt32(2),
                                builder_.getInt32(1)});
    ahead = Byte(ahead, builder_.CreateSelect(is_near_, Int(bytes), Int(0)));
  }

  QuantizedSizes sizes_;
  Builder builder_;
  OpEmitter ops_;
  QuantizedDots dots_;
  const unsigned lanes_;
  const uint64_t group_bytes_;
  llvm::FixedVectorType* vector_;
  llvm::Function* function_;
  CountedLoops loops_;
  llvm::Value* places_ = nullptr;  // addresses of a block's rows
  llvm::Value* scales_ = nullptr;  // a vector for each of some groups
  llvm::Value* scale_block_ = nullptr;
  llvm::Value* last_ = nullptr;     // row of a block
  llvm::Value* is_near_ = nullptr;  // blocks are short
};

}  // namespace

llvm::Function* EmitQuantizedKernel(ModuleEmitter& shared, bool has_nibbles,
                                    const QuantizedSizes& sizes) {
  return Quantized(shared, has_nibbles, sizes).Emit();
}

}  // namespace frazil::targets::native
