// The instruction that multiplies bytes takes one operand without a sign and adds two products in 16 bits, where they may
// saturate. Weights lose their sign by an offset of 128, or 8 for those of four bits, whose part of the sum is taken off at the end:
// it is the dot of a with a row of zeros. Numbers of a are cut into 16 * high + low, so that no two products leave 16 bits:
// 2 * 255 * 15 = 7,650; with weights of four bits 2 * 2 * 15 * 128 = 7,680 without a cut.
#include "targets/native/kernels/kernel_quantized_dots.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

constexpr unsigned BlockWords = 4;  // of 16 bytes, inside of which interleaving is one instruction

}  // namespace

QuantizedDots::QuantizedDots(Builder& builder, exec::CpuLevel level, bool has_nibbles)
    : builder_(builder),
      has_nibbles_(has_nibbles),
      is_wide_(level == exec::CpuLevel::Avx512),
      words_(VectorBytes(level) / 4),
      groups_(words_ / (has_nibbles ? 4 : 8)) {}

llvm::Value* QuantizedDots::Bytes(llvm::Value* value) {
  return builder_.CreateBitCast(value,
                                llvm::FixedVectorType::get(builder_.getInt8Ty(), words_ * 4));
}

llvm::Value* QuantizedDots::MultiplyBytes(llvm::Value* unsigned_bytes, llvm::Value* signed_bytes) {
  const auto id =
      is_wide_ ? llvm::Intrinsic::x86_avx512_pmaddubs_w_512 : llvm::Intrinsic::x86_avx2_pmadd_ub_sw;
  return builder_.CreateIntrinsic(id, {}, {unsigned_bytes, signed_bytes});
}

llvm::Value* QuantizedDots::MultiplyHalves(llvm::Value* halves, uint64_t factor) {
  const auto id =
      is_wide_ ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
  return builder_.CreateIntrinsic(id, {}, {halves, Splat(halves->getType(), factor)});
}

QuantizedDots::Factors QuantizedDots::Prepare(llvm::Value* a) {
  auto* halves = llvm::FixedVectorType::get(builder_.getInt16Ty(), groups_ * 16);
  if (has_nibbles_) {
    // Numbers at even places meet lower halves of bytes, those behind them upper ones.
    auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), words_ * 4);
    llvm::Value* pairs = builder_.CreateBitCast(a, halves);
    return {builder_.CreateTrunc(pairs, bytes),
            builder_.CreateTrunc(builder_.CreateLShr(pairs, 8), bytes)};
  }
  llvm::Value* bytes = Bytes(a);
  llvm::Type* type = bytes->getType();
  llvm::Value* high = builder_.CreateAShr(bytes, Splat(type, 4));
  return {high, builder_.CreateAnd(bytes, Splat(type, 15))};
}

llvm::Value* QuantizedDots::Partial(const Factors& a, llvm::Value* weights) {
  llvm::Value* bytes = Bytes(weights);
  llvm::Type* type = bytes->getType();
  bytes = builder_.CreateXor(bytes, Splat(type, has_nibbles_ ? 0x88 : 0x80));
  if (!has_nibbles_)
    return builder_.CreateAdd(MultiplyHalves(MultiplyBytes(bytes, a.first), 16),
                              MultiplyHalves(MultiplyBytes(bytes, a.second), 1));
  llvm::Value* low = builder_.CreateAnd(bytes, Splat(type, 15));
  llvm::Value* high = builder_.CreateLShr(bytes, Splat(type, 4));
  return MultiplyHalves(
      builder_.CreateAdd(MultiplyBytes(low, a.first), MultiplyBytes(high, a.second)), 1);
}

// As Transposed (vectors/transpose.h), but what belongs to one group is added on the way, so that there is less and less.
LlvmValues QuantizedDots::Collect(LlvmValues rows) {
  llvm::SmallVector<int, 16> low, high, even, odd;
  for (unsigned c = 0; c < words_; ++c) {
    const unsigned at = c - c % BlockWords + c % BlockWords / 2 + (c % 2 == 0 ? 0 : words_);
    low.push_back(static_cast<int>(at));
    high.push_back(static_cast<int>(at + BlockWords / 2));
    const unsigned block = c / BlockWords * 2 * BlockWords + c % BlockWords;
    even.push_back(static_cast<int>(block));
    odd.push_back(static_cast<int>(block + BlockWords));
  }
  auto both = [&](llvm::Value* a, llvm::Value* b, llvm::ArrayRef<int> first,
                  llvm::ArrayRef<int> second) {
    return builder_.CreateAdd(builder_.CreateShuffleVector(a, b, first),
                              builder_.CreateShuffleVector(a, b, second));
  };
  // Four rows become one vector: of every block its sum, for each of the four.
  LlvmValues fours;
  for (size_t r = 0; r < rows.size(); r += 4)
    fours.push_back(both(both(rows[r], rows[r + 2], low, high),
                         both(rows[r + 1], rows[r + 3], low, high), low, high));
  // Blocks of one group are added, then those of different groups go apart.
  for (unsigned words = partial(); words > BlockWords; words /= 2) {
    LlvmValues next;
    for (size_t i = 0; i < fours.size(); i += 2)
      next.push_back(both(fours[i], fours[i + 1], even, odd));
    fours = std::move(next);
  }
  for (unsigned apart = 1; apart < groups_; apart *= 2) {
    LlvmValues next(fours.size());
    for (size_t i = 0; i < fours.size() / 2; ++i) {
      next[i] = builder_.CreateShuffleVector(fours[2 * i], fours[2 * i + 1], even);
      next[i + fours.size() / 2] =
          builder_.CreateShuffleVector(fours[2 * i], fours[2 * i + 1], odd);
    }
    fours = std::move(next);
  }
  return fours;
}

LlvmValues QuantizedDots::Make(llvm::Value* a, const LlvmValues& weights) {
  const Factors factors = Prepare(a);
  LlvmValues partials;
  // A word less in every row than to collect the offset once more.
  llvm::Value* offset = Partial(factors, llvm::Constant::getNullValue(weights[0]->getType()));
  for (llvm::Value* row : weights)
    partials.push_back(builder_.CreateSub(Partial(factors, row), offset));
  return Collect(std::move(partials));
}

}  // namespace frazil::targets::native
