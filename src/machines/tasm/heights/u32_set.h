// The distinct entries of the u32 table and their rows. Operands are ordered: (and, a, b) is not (and, b, a).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace frazil::machines::tasm {

enum class U32Op : uint8_t { Split, Lt, And, Log2Floor, PopCount, Pow };

inline uint64_t U32Rows(U32Op op, uint64_t left, uint64_t right) {
  const uint64_t dominant = op == U32Op::Pow ? right : std::max(left, right);
  return dominant == 0 ? 1 : 1 + static_cast<uint64_t>(std::bit_width(dominant));
}

// Distinct pairs of numbers; open addressing, at most half full. The pair (0, 0) is kept apart, as the empty slot.
class PairSet {
 public:
  bool Add(uint64_t a, uint64_t b) {
    if ((a | b) == 0) return !std::exchange(has_zero_, true);
    if (2 * (count_ + 1) > slots_.size()) Grow();
    return Insert(a, b);
  }

 private:
  struct Slot {
    uint64_t a = 0, b = 0;
  };
  bool Insert(uint64_t a, uint64_t b) {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = (a ^ std::rotl(b, 29)) * 0x9e37'79b9'7f4a'7c15u;
    hash ^= hash >> 32;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.a == a && slot.b == b) return false;
      if ((slot.a | slot.b) != 0) continue;
      slot = {a, b};
      ++count_;
      return true;
    }
  }
  void Grow() {
    std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<size_t>(64, 2 * slots_.size())));
    count_ = 0;
    for (const Slot& slot : old)
      if ((slot.a | slot.b) != 0) Insert(slot.a, slot.b);
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
  bool has_zero_ = false;
};

class U32Set {
 public:
  // Rows that this entry added: none if it was there.
  uint64_t Add(U32Op op, uint64_t left, uint64_t right) {
    // Operands other than a base have 32 bits; the operation goes above the right one.
    const uint64_t second =
        op == U32Op::Pow ? right : right | (static_cast<uint64_t>(op) + 1) << 32;
    PairSet& set = op == U32Op::Pow ? powers_ : others_;
    if (!set.Add(left, second)) return 0;
    const uint64_t rows = U32Rows(op, left, right);
    rows_ += rows;
    return rows;
  }
  uint64_t rows() const { return rows_; }

 private:
  PairSet others_, powers_;
  uint64_t rows_ = 0;
};

}  // namespace frazil::machines::tasm
