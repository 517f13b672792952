// Guards on scalars as sets that can be counted and walked.
#include "verify/internal/domain.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/number/goldilocks.h"

namespace frazil::verify {
namespace {

using ir::Scalar;

constexpr uint64_t SignBit = 1ull << 63;
constexpr uint64_t SignBit32 = 1ull << 31;

// A zero bound means both zeros, because guards compare values.
uint64_t LowRank(ir::Type type, uint64_t word) {
  const bool is_zero = (type.scalar == Scalar::F32 && (word & ~SignBit32) == 0) ||
                       (type.scalar == Scalar::F64 && (word & ~SignBit) == 0);
  if (!is_zero) return RankOf(type, word);
  return RankOf(type, type.scalar == Scalar::F32 ? SignBit32 : SignBit);
}

uint64_t HighRank(ir::Type type, uint64_t word) {
  const bool is_zero = (type.scalar == Scalar::F32 && (word & ~SignBit32) == 0) ||
                       (type.scalar == Scalar::F64 && (word & ~SignBit) == 0);
  return RankOf(type, is_zero ? 0 : word);
}

bool IsNan(ir::Type type, uint64_t word) {
  if (type.scalar == Scalar::F32) return (word & ~SignBit32) > 0x7f800000u;
  if (type.scalar == Scalar::F64) return (word & ~SignBit) > 0x7ff0000000000000ull;
  return false;
}

}  // namespace

uint64_t ExtendWord(ir::Type type, uint64_t bits) {
  if (type.scalar == Scalar::Field) return bits % goldilocks::P;
  const int width = ir::BitsOf(type);
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (ir::IsSigned(type.scalar) && (bits >> (width - 1)) != 0) bits |= ~0ull << width;
  return bits;
}

uint64_t RankOf(ir::Type type, uint64_t word) {
  if (type.scalar == Scalar::F32)
    return (word & SignBit32) != 0 ? ~word & 0xffffffffu : word | SignBit32;
  if (type.scalar == Scalar::F64) return (word & SignBit) != 0 ? ~word : word | SignBit;
  return ir::IsSigned(type.scalar) ? word ^ SignBit : word;
}

uint64_t WordOfRank(ir::Type type, uint64_t rank) {
  if (type.scalar == Scalar::F32)
    return (rank & SignBit32) != 0 ? rank & ~SignBit32 : ~rank & 0xffffffffu;
  if (type.scalar == Scalar::F64) return (rank & SignBit) != 0 ? rank & ~SignBit : ~rank;
  return ir::IsSigned(type.scalar) ? rank ^ SignBit : rank;
}

void PutElement(ir::Type type, uint64_t word, std::byte* element) {
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(element, &word, ir::BytesOf(type));
}

uint64_t GetElement(ir::Type type, const std::byte* element) {
  uint64_t word = 0;
  std::memcpy(&word, element, ir::BytesOf(type));
  return type.scalar == Scalar::Bool ? word : ExtendWord(type, word);
}

bool Domain::Contains(std::span<const uint64_t> words) const {
  if (one_) return std::ranges::equal(words, *one_);
  if (!ranged_) return true;
  if (IsNan(type_, words[0])) return false;
  const uint64_t rank = RankOf(type_, words[0]);
  return low_ <= rank && rank <= high_;
}

bool Domain::Narrow(const ir::GuardAtom& atom) {
  if (atom.kind == ir::GuardKind::Equals) {
    if (!Contains(atom.low)) return false;
    one_ = atom.low;
    return true;
  }
  const uint64_t low = LowRank(type_, atom.low[0]);
  const uint64_t high = HighRank(type_, atom.high[0]);
  if (one_) {
    if (IsNan(type_, (*one_)[0])) return false;
    const uint64_t rank = RankOf(type_, (*one_)[0]);
    return low <= rank && rank <= high;
  }
  low_ = ranged_ ? std::max(low_, low) : low;
  high_ = ranged_ ? std::min(high_, high) : high;
  ranged_ = true;
  return low_ <= high_;
}

std::optional<uint64_t> Domain::Count() const {
  if (one_) return 1;
  if (ranged_) {
    const uint64_t last = high_ - low_;
    if (last == ~0ull) return std::nullopt;
    return last + 1;
  }
  if (type_.scalar == Scalar::Bool) return 2;
  if (ir::WordsOf(type_) != 1 || type_.scalar == Scalar::Int || ir::BitsOf(type_) >= 63)
    return std::nullopt;
  return 1ull << ir::BitsOf(type_);
}

uint64_t Domain::At(uint64_t number) const {
  if (one_) return (*one_)[0];
  if (ranged_) return WordOfRank(type_, low_ + number);
  return type_.scalar == Scalar::Bool ? number : ExtendWord(type_, number);
}

void Domain::Write(uint64_t first, size_t count, std::byte* elements) const {
  const uint32_t bytes = ir::BytesOf(type_);
  if (is_full() && bytes == 4) {  // the case that is counted to 2^32
    uint32_t* out = reinterpret_cast<uint32_t*>(elements);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint32_t>(first + i);
    return;
  }
  for (size_t i = 0; i < count; ++i) PutElement(type_, At(first + i), elements + i * bytes);
}

}  // namespace frazil::verify
