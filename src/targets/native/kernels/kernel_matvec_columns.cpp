// Rows of w are read in groups of eight, so that sums are loaded and stored once for eight multiplications; the sums of all outputs
// stay in a near cache. Eight rows side by side are eight streams that end too soon for the prefetcher: while a group is
// worked on, the next one is asked for in the order of its addresses. On a Zen 4, 256 MiB of f32: 20 GB/s without, 26 with,
// of 26 to 28 that reading alone reaches; a block of columns in registers instead reads 1 KiB of each row: 8 GB/s.
#include "targets/native/kernels/kernel_matvec_parts.h"
#include "targets/native/kernels/kernel_tile.h"

namespace frazil::targets::native {
namespace {

constexpr unsigned GroupRows = 8;
constexpr uint64_t LineBytes = 64;
// Of a group: the next one must stay in the second-level cache beside it. Longer rows are streams that need no help.
constexpr uint64_t MostGroupBytes = 1 << 19;

class Columns : MatvecMaker {
 public:
  Columns(ModuleEmitter& shared, const MatvecTypes& types, const MatvecSizes& sizes)
      : MatvecMaker(shared, types, sizes, 4, "matvec.columns"), sums_(function_->getArg(3)) {}

  llvm::Function* Emit() {
    whole_ = builder_.CreateAnd(sizes_.count, Int(~uint64_t{lanes_ - 1}));
    llvm::Value* group_bytes =
        builder_.CreateMul(sizes_.stride, Int(uint64_t{GroupRows} * ir::BytesOf(types_.w)));
    is_near_ = builder_.CreateICmpULE(group_bytes, Int(MostGroupBytes));
    llvm::Value* grouped = builder_.CreateAnd(sizes_.depth, Int(~uint64_t{GroupRows - 1}));
    loops_.Count(Int(0), grouped, GroupRows, {},
                 [&](llvm::Value* e, LlvmValues) { return EmitGroup(e, GroupRows), LlvmValues(); });
    loops_.Count(grouped, sizes_.depth, 1, {},
                 [&](llvm::Value* e, LlvmValues) { return EmitGroup(e, 1), LlvmValues(); });
    loops_.Count(Int(0), whole_, lanes_, {}, [&](llvm::Value* j, LlvmValues) {
      StoreOutputs(LoadSums(j), j, nullptr);
      return LlvmValues();
    });
    loops_.If(builder_.CreateICmpULT(whole_, sizes_.count), {},
              [&](LlvmValues) { return EmitRest(), LlvmValues(); });
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  llvm::Value* LoadSums(llvm::Value* j) {
    return builder_.CreateAlignedLoad(vector_, At(types_.chain, sums_, j), llvm::Align(1));
  }

  llvm::Value* RowAt(llvm::Value* e) {
    return At(types_.w, w_, builder_.CreateMul(e, sizes_.stride));
  }

  // `rows` steps of the chains of all whole vectors.
  void EmitGroup(llvm::Value* e, unsigned rows) {
    LlvmValues factors, places;
    for (unsigned r = 0; r < rows; ++r) {
      llvm::Value* row = builder_.CreateAdd(e, Int(r));
      factors.push_back(Broadcast(row));
      places.push_back(RowAt(row));
    }
    // Chains start at +0: what stands in the sums is none of the first group's.
    llvm::Type* words = llvm::VectorType::getInteger(vector_);
    llvm::Value* keep =
        builder_.CreateSelect(builder_.CreateICmpEQ(e, Int(0)), llvm::Constant::getNullValue(words),
                              llvm::Constant::getAllOnesValue(words));
    const bool asks = rows == GroupRows;
    const uint64_t turn_bytes = uint64_t{rows} * lanes_ * ir::BytesOf(types_.w);
    llvm::Value* ahead = asks ? RowAt(builder_.CreateAdd(e, Int(rows))) : places[0];
    llvm::Value* advance = builder_.CreateSelect(is_near_, Int(turn_bytes), Int(0));
    loops_.Count(Int(0), whole_, lanes_, {ahead}, [&](llvm::Value* j, LlvmValues carried) {
      llvm::Value* old = builder_.CreateAnd(builder_.CreateBitCast(LoadSums(j), words), keep);
      llvm::Value* sum = builder_.CreateBitCast(old, vector_);
      for (unsigned r = 0; r < rows; ++r) {
        llvm::Value* row = LoadLanes(types_.w, At(types_.w, places[r], j), nullptr, nullptr);
        sum = Fma(factors[r], Widened(types_.w, row), sum);
      }
      builder_.CreateAlignedStore(sum, At(types_.chain, sums_, j), llvm::Align(1));
      if (!asks) return carried;
      for (uint64_t line = 0; line < turn_bytes; line += LineBytes)
        Prefetch(builder_.CreateGEP(builder_.getInt8Ty(), carried[0], Int(line)));
      return LlvmValues{builder_.CreateGEP(builder_.getInt8Ty(), carried[0], advance)};
    });
  }

  // Outputs behind the last whole vector: under a mask, or once more those before them.
  void EmitRest() {
    const bool has_masks = HasMasks(shared_.level, types_);
    llvm::Value* first = has_masks ? whole_ : builder_.CreateSub(sizes_.count, Int(lanes_));
    llvm::Value* mask = has_masks
                            ? FirstLanes(builder_, lanes_, builder_.CreateSub(sizes_.count, whole_))
                            : nullptr;
    LlvmValues sums = loops_.Count(
        Int(0), sizes_.depth, 1, {llvm::Constant::getNullValue(vector_)},
        [&](llvm::Value* e, LlvmValues carried) {
          llvm::Value* row = LoadLanes(types_.w, At(types_.w, RowAt(e), first), mask, nullptr);
          return LlvmValues{Fma(Broadcast(e), Widened(types_.w, row), carried[0])};
        },
        /*runs=*/true);
    StoreOutputs(sums[0], first, mask);
  }

  llvm::Value* sums_;
  llvm::Value* whole_ = nullptr;    // outputs in whole vectors
  llvm::Value* is_near_ = nullptr;  // groups are short
};

}  // namespace

llvm::Function* EmitMatvecOfColumns(ModuleEmitter& shared, const MatvecTypes& types,
                                    const MatvecSizes& sizes) {
  return Columns(shared, types, sizes).Emit();
}

}  // namespace frazil::targets::native
