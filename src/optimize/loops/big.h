// Signed integers of 768 bits with overflow that is noticed: bounds of what a loop computes. Sums of eighth powers of
// 64-bit numbers over 2^64 turns need 640.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/number/wide.h"
#include "ir/type.h"

namespace frazil::optimize {

class Big {
 public:
  static constexpr size_t Limbs = 12;

  Big() = default;
  Big(int64_t value) { wide::FromInt64(value, limbs_); }
  static Big FromUint64(uint64_t value) {
    Big big;
    wide::FromUint64(value, big.limbs_);
    return big;
  }
  // A machine integer, bool, index or int<k> with k < Limbs, as exec stores it; nothing for others.
  static std::optional<Big> Of(ir::Type type, std::span<const uint64_t> words);
  static Big PowerOfTwo(uint32_t exponent);
  // The low words: the value modulo 2^(64 count).
  std::vector<uint64_t> Words(size_t count) const {
    return {limbs_.begin(), limbs_.begin() + static_cast<ptrdiff_t>(count)};
  }
  // Modulo p.
  uint64_t Field() const;

  bool overflowed() const {
    return overflowed_;
  }  // this value, or one that it was made of, did not fit

  friend Big operator+(const Big& a, const Big& b) { return Make(wide::Add, a, b); }
  friend Big operator-(const Big& a, const Big& b) { return Make(wide::Sub, a, b); }
  friend Big operator*(const Big& a, const Big& b) { return Make(wide::Mul, a, b); }
  friend bool operator<(const Big& a, const Big& b) {
    return wide::Compare(a.limbs_, b.limbs_) < 0;
  }
  friend bool operator==(const Big& a, const Big& b) { return a.limbs_ == b.limbs_; }

 private:
  static Big Make(bool (*op)(wide::Limbs, wide::ConstLimbs, wide::ConstLimbs), const Big& a,
                  const Big& b) {
    Big result;
    const bool fits = op(result.limbs_, a.limbs_, b.limbs_);
    result.overflowed_ = !fits || a.overflowed_ || b.overflowed_;
    return result;
  }

  std::array<uint64_t, Limbs> limbs_ = {};
  bool overflowed_ = false;
};

struct Interval {
  Big low, high;
  bool Within(const Interval& outer) const {
    return !low.overflowed() && !high.overflowed() && !(low < outer.low) && !(outer.high < high);
  }
};
// Every value of an integer type or bool; nothing for others and for int<k> too wide to reckon with.
std::optional<Interval> RangeOf(ir::Type type);
Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);

}  // namespace frazil::optimize
