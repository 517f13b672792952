// Every chain runs along a row, so lanes are rows: squares of w are turned around in registers. Where fewer rows are left than a
// block has, the last one stands for those that are missing, and only what there is gets stored.
#include "targets/native/kernels/kernel_matvec_parts.h"
#include "targets/native/kernels/kernel_tile.h"
#include "targets/native/vectors/transpose.h"

namespace frazil::targets::native {
namespace {

constexpr uint64_t AskedBytes = 128;
// Of a block of rows, as in kernel_matvec_columns.cpp.
constexpr uint64_t MostBlockBytes = 1 << 19;

class Rows : MatvecMaker {
 public:
  Rows(ModuleEmitter& shared, const MatvecTypes& types, const MatvecSizes& sizes)
      : MatvecMaker(shared, types, sizes, 3, "matvec.rows"),
        rows_(MatvecRowsInBlock(shared.level, types)),
        has_masks_(HasMasks(shared.level, types)),
        step_(TakesPairs(types) ? 2 * lanes_ : lanes_) {}

  llvm::Function* Emit() {
    places_ = builder_.CreateAlloca(builder_.getPtrTy(), Int(rows_));
    whole_ = builder_.CreateAnd(sizes_.depth, Int(~uint64_t{step_ - 1}));
    llvm::Value* block_bytes =
        builder_.CreateMul(sizes_.stride, Int(uint64_t{rows_} * ir::BytesOf(types_.w)));
    is_near_ = builder_.CreateICmpULE(block_bytes, Int(MostBlockBytes));
    loops_.Count(
        Int(0), sizes_.count, rows_, {},
        [&](llvm::Value* t, LlvmValues) {
          if (!has_masks_) t = Min(t, builder_.CreateSub(sizes_.count, Int(rows_)));
          return EmitBlock(t), LlvmValues();
        },
        /*runs=*/true);
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  unsigned Blocks() const { return rows_ / lanes_; }
  // Where the address of a row is kept: sixteen of them leave no registers.
  llvm::Value* PlaceOf(uint64_t row) {
    return builder_.CreateGEP(builder_.getPtrTy(), places_, Int(row));
  }

  void EmitBlock(llvm::Value* t) {
    llvm::Value* left = builder_.CreateSub(sizes_.count, t);
    llvm::Value* last = builder_.CreateSub(left, Int(1));
    llvm::Value* block = At(types_.w, w_, builder_.CreateMul(t, sizes_.stride));
    for (unsigned row = 0; row < rows_; ++row) {
      llvm::Value* offset = builder_.CreateMul(Min(Int(row), last), sizes_.stride);
      builder_.CreateAlignedStore(At(types_.w, block, offset), PlaceOf(row), llvm::Align(8));
    }
    llvm::Value* ahead = At(types_.w, block, builder_.CreateMul(sizes_.stride, Int(rows_)));
    LlvmValues carried(Blocks(), llvm::Constant::getNullValue(vector_));
    carried.push_back(ahead);
    carried = loops_.Count(Int(0), whole_, step_, carried, [&](llvm::Value* e, LlvmValues values) {
      return EmitStep(e, std::move(values));
    });
    carried.pop_back();
    LlvmValues sums = loops_.Count(
        whole_, sizes_.depth, lanes_, carried,
        [&](llvm::Value* e, LlvmValues values) { return EmitRest(e, std::move(values)); });
    for (unsigned b = 0; b < Blocks(); ++b) {
      llvm::Value* first = Int(uint64_t{b} * lanes_);
      llvm::Value* mask = nullptr;
      if (has_masks_) {
        llvm::Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, left, first);
        mask = FirstLanes(builder_, lanes_, Min(count, Int(lanes_)));
      }
      StoreOutputs(sums[b], builder_.CreateAdd(t, first), mask);
    }
  }

  llvm::Value* RowPlace(unsigned row, llvm::Value* e) {
    return At(types_.w,
              builder_.CreateAlignedLoad(builder_.getPtrTy(), PlaceOf(row), llvm::Align(8)), e);
  }

  LlvmValues EmitStep(llvm::Value* e, LlvmValues values) {
    const uint64_t bytes = uint64_t{rows_} * step_ * ir::BytesOf(types_.w);
    for (uint64_t line = 0; line < bytes; line += AskedBytes)
      Prefetch(builder_.CreateGEP(builder_.getInt8Ty(), values.back(), Int(line)));
    llvm::Value* advance = builder_.CreateSelect(is_near_, Int(bytes), Int(0));
    values.back() = builder_.CreateGEP(builder_.getInt8Ty(), values.back(), advance);
    // At each use: one of them is an operand in memory, all of them together would leave no registers.
    auto factor = [&](unsigned k) { return Broadcast(builder_.CreateAdd(e, Int(k))); };
    for (unsigned b = 0; b < Blocks(); ++b) {
      LlvmValues square;
      for (unsigned r = 0; r < lanes_; ++r) {
        llvm::Value* place = RowPlace(b * lanes_ + r, e);
        if (TakesPairs(types_)) {
          square.push_back(LoadWords(place));
        } else {
          square.push_back(Widened(types_.w, LoadLanes(types_.w, place, nullptr, nullptr)));
        }
      }
      square = Transposed(builder_, std::move(square));
      for (unsigned k = 0; k < lanes_; ++k) {
        if (!TakesPairs(types_)) {
          values[b] = Fma(factor(k), square[k], values[b]);
          continue;
        }
        const LlvmValues pair = SplitPairs(square[k]);
        values[b] = Fma(factor(2 * k), pair[0], values[b]);
        values[b] = Fma(factor(2 * k + 1), pair[1], values[b]);
      }
    }
    return values;
  }

  // A vector's elements or fewer. Those that are missing are +0 times -0, which leaves every sum what it is.
  LlvmValues EmitRest(llvm::Value* e, LlvmValues values) {
    llvm::Value* mask = nullptr;
    if (has_masks_) {
      llvm::Value* left = builder_.CreateSub(sizes_.depth, e);
      mask = FirstLanes(builder_, lanes_, Min(left, Int(lanes_)));
    }
    llvm::Value* x = Widened(types_.x, LoadLanes(types_.x, At(types_.x, x_, e), mask, nullptr));
    llvm::Type* element = ops_.TypeOf(types_.w);
    llvm::Constant* nothing =
        element->isIntegerTy()
            ? llvm::ConstantInt::get(element, 0x8000)
            : static_cast<llvm::Constant*>(llvm::ConstantFP::getNegativeZero(element));
    llvm::Constant* others =
        llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), nothing);
    for (unsigned b = 0; b < Blocks(); ++b) {
      LlvmValues square;
      for (unsigned r = 0; r < lanes_; ++r)
        square.push_back(
            Widened(types_.w, LoadLanes(types_.w, RowPlace(b * lanes_ + r, e), mask, others)));
      square = Transposed(builder_, std::move(square));
      for (unsigned k = 0; k < lanes_; ++k) {
        const llvm::SmallVector<int, 16> one(lanes_, static_cast<int>(k));
        values[b] = Fma(builder_.CreateShuffleVector(x, one), square[k], values[b]);
      }
    }
    return values;
  }

  const unsigned rows_;
  const bool has_masks_;
  const unsigned step_;  // columns
  llvm::Value* places_ = nullptr;
  llvm::Value* whole_ = nullptr;    // columns in whole steps
  llvm::Value* is_near_ = nullptr;  // blocks are short
};

}  // namespace

// One chain of a vector takes a step in the time of an fma: as many as keep up with memory.
unsigned MatvecRowsInBlock(exec::CpuLevel level, const MatvecTypes& types) {
  const bool is_wide = level == exec::CpuLevel::Avx512;
  return MatvecLanes(level, types.chain) * (is_wide && !TakesPairs(types) ? 1 : 2);
}

llvm::Function* EmitMatvecOfRows(ModuleEmitter& shared, const MatvecTypes& types,
                                 const MatvecSizes& sizes) {
  return Rows(shared, types, sizes).Emit();
}

}  // namespace frazil::targets::native
