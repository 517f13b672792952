// Rows of w are read in groups of eight, so that sums are loaded and stored once for eight multiplications; the sums of all outputs
// stay in a near cache. Eight rows side by side are eight streams that end too soon for the prefetcher: while a group is
// worked on, the next one is asked for in the order of its addresses. On a Zen 4, 256 MiB of f32: 20 GB/s without, 26 with,
// of 26 to 28 that reading alone reaches; a block of columns in registers instead reads 1 KiB of each row: 8 GB/s.
#include "targets/native/kernels/kernel_matvec_parts.h"
#include "targets/native/kernels/kernel_tile.h"

namespace frazil::targets::native {
namespace {

constexpr unsigned GroupRows = 8;
constexpr uint64_t AskedBytes = 128;  // two lines: whoever asks for one gets the other too
// Of a group: the next one must stay in the second-level cache beside it. Longer rows are streams that need no help.
constexpr uint64_t MostGroupBytes = 1 << 19;

class Columns : MatvecMaker {
 public:
  Columns(ModuleEmitter& shared, const MatvecTypes& types, const MatvecSizes& sizes)
      : MatvecMaker(shared, types, sizes, 4, "matvec.columns"),
        has_masks_(HasMasks(shared.level, types)),
        step_(TakesPairs(types) ? 2 * lanes_ : lanes_),
        sums_(function_->getArg(3)) {}

  llvm::Function* Emit() {
    whole_ = builder_.CreateAnd(sizes_.count, Int(~uint64_t{step_ - 1}));
    llvm::Value* group_bytes =
        builder_.CreateMul(sizes_.stride, Int(uint64_t{GroupRows} * ir::BytesOf(types_.w)));
    is_near_ = builder_.CreateICmpULE(group_bytes, Int(MostGroupBytes));
    llvm::Value* grouped = builder_.CreateAnd(sizes_.depth, Int(~uint64_t{GroupRows - 1}));
    loops_.Count(Int(0), grouped, GroupRows, {},
                 [&](llvm::Value* e, LlvmValues) { return EmitGroup(e, GroupRows), LlvmValues(); });
    loops_.Count(grouped, sizes_.depth, 1, {},
                 [&](llvm::Value* e, LlvmValues) { return EmitGroup(e, 1), LlvmValues(); });
    loops_.Count(Int(0), whole_, step_, {},
                 [&](llvm::Value* j, LlvmValues) { return EmitOutputs(j), LlvmValues(); });
    loops_.Count(whole_, sizes_.count, lanes_, {},
                 [&](llvm::Value* j, LlvmValues) { return EmitRest(j), LlvmValues(); });
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  // Of one turn: a vector, or one of first and one of second elements of pairs.
  LlvmValues SumPlaces(llvm::Value* j) {
    LlvmValues places;
    for (unsigned first = 0; first < step_; first += lanes_)
      places.push_back(At(types_.chain, sums_, builder_.CreateAdd(j, Int(first))));
    return places;
  }

  llvm::Value* LoadSums(llvm::Value* place) {
    return builder_.CreateAlignedLoad(vector_, place, llvm::Align(1));
  }

  llvm::Value* RowAt(llvm::Value* e) {
    return At(types_.w, w_, builder_.CreateMul(e, sizes_.stride));
  }

  LlvmValues LoadRow(llvm::Value* place) {
    if (TakesPairs(types_)) return LoadPairs(place);
    return {Widened(types_.w, LoadLanes(types_.w, place, nullptr, nullptr))};
  }

  // `rows` steps of the chains of all outputs but the rest.
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
    const uint64_t turn_bytes = uint64_t{rows} * step_ * ir::BytesOf(types_.w);
    llvm::Value* ahead = asks ? RowAt(builder_.CreateAdd(e, Int(rows))) : places[0];
    llvm::Value* advance = builder_.CreateSelect(is_near_, Int(turn_bytes), Int(0));
    loops_.Count(Int(0), whole_, step_, {ahead}, [&](llvm::Value* j, LlvmValues carried) {
      const LlvmValues targets = SumPlaces(j);
      LlvmValues sums;
      for (llvm::Value* target : targets)
        sums.push_back(builder_.CreateBitCast(
            builder_.CreateAnd(builder_.CreateBitCast(LoadSums(target), words), keep), vector_));
      for (unsigned r = 0; r < rows; ++r) {
        const LlvmValues row = LoadRow(At(types_.w, places[r], j));
        for (size_t v = 0; v < sums.size(); ++v) sums[v] = Fma(factors[r], row[v], sums[v]);
      }
      for (size_t v = 0; v < sums.size(); ++v)
        builder_.CreateAlignedStore(sums[v], targets[v], llvm::Align(1));
      if (!asks) return carried;
      for (uint64_t line = 0; line < turn_bytes; line += AskedBytes)
        Prefetch(builder_.CreateGEP(builder_.getInt8Ty(), carried[0], Int(line)));
      return LlvmValues{builder_.CreateGEP(builder_.getInt8Ty(), carried[0], advance)};
    });
  }

  // From sums to outputs, in place where c has them: both are read before one is written.
  void EmitOutputs(llvm::Value* j) {
    LlvmValues sums;
    for (llvm::Value* place : SumPlaces(j)) sums.push_back(LoadSums(place));
    if (sums.size() == 2) sums = Interleaved(sums[0], sums[1]);
    for (size_t v = 0; v < sums.size(); ++v)
      StoreOutputs(sums[v], builder_.CreateAdd(j, Int(v * lanes_)), nullptr);
  }

  // A vector of outputs from j on, or fewer: under a mask, or together with some that stand before them.
  void EmitRest(llvm::Value* j) {
    llvm::Value* mask = nullptr;
    if (has_masks_)
      mask = FirstLanes(builder_, lanes_, Min(builder_.CreateSub(sizes_.count, j), Int(lanes_)));
    else
      j = Min(j, builder_.CreateSub(sizes_.count, Int(lanes_)));
    LlvmValues sums = loops_.Count(
        Int(0), sizes_.depth, 1, {llvm::Constant::getNullValue(vector_)},
        [&](llvm::Value* e, LlvmValues carried) {
          llvm::Value* row = LoadLanes(types_.w, At(types_.w, RowAt(e), j), mask, nullptr);
          return LlvmValues{Fma(Broadcast(e), Widened(types_.w, row), carried[0])};
        },
        /*runs=*/true);
    StoreOutputs(sums[0], j, mask);
  }

  const bool has_masks_;
  const unsigned step_;  // outputs of a turn
  llvm::Value* sums_;
  llvm::Value* whole_ = nullptr;    // outputs in whole turns
  llvm::Value* is_near_ = nullptr;  // groups are short
};

}  // namespace

llvm::Function* EmitMatvecOfColumns(ModuleEmitter& shared, const MatvecTypes& types,
                                    const MatvecSizes& sizes) {
  return Columns(shared, types, sizes).Emit();
}

}  // namespace frazil::targets::native
