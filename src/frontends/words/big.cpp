// Numbers that fit a machine word stay in one; the rest goes through base/number/wide.h, so that the
// reader and the interpreter agree on what a limb is.
#include "frontends/words/big.h"

#include <algorithm>

#include "base/check.h"
#include "base/number/wide.h"

namespace frazil::frontends::words {

Big Big::Huge() {
  Big result;
  result.huge_ = true;
  return result;
}

Big Big::Trimmed(std::vector<uint64_t> limbs) {
  while (limbs.size() > 1) {
    uint64_t extension = static_cast<int64_t>(limbs[limbs.size() - 2]) < 0 ? UINT64_MAX : 0;
    if (limbs.back() != extension) break;
    limbs.pop_back();
  }
  Big result;
  if (limbs.size() == 1) {
    result.small_ = static_cast<int64_t>(limbs[0]);
  } else {
    result.limbs_ = std::move(limbs);
  }
  return result;
}

Big Big::FromWords(std::vector<uint64_t> words) { return Trimmed(std::move(words)); }

Big Big::FromDigits(std::string_view digits) {
  // 64 limbs hold 1233 decimal digits; leading zeros do not count.
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  if (digits.size() > 1240) return Huge();
  std::vector<uint64_t> limbs(std::min<size_t>(wide::MaxLimbs, digits.size() / 18 + 1));
  if (!wide::FromDigits(digits, 10, false, limbs)) return Huge();
  return Trimmed(std::move(limbs));
}

std::vector<uint64_t> Big::Limbs(size_t count) const {
  uint64_t extension = sign() < 0 ? UINT64_MAX : 0;
  std::vector<uint64_t> result(count, extension);
  if (limbs_.empty()) {
    result[0] = static_cast<uint64_t>(small_);
  } else {
    CHECK(limbs_.size() <= count);
    std::copy(limbs_.begin(), limbs_.end(), result.begin());
  }
  return result;
}

std::vector<uint64_t> Big::ToWords(uint32_t count) const {
  CHECK(!huge_);
  return Limbs(count);
}

int Big::sign() const {
  if (huge_) return 1;
  if (limbs_.empty()) return small_ < 0 ? -1 : small_ > 0;
  return static_cast<int64_t>(limbs_.back()) < 0 ? -1 : 1;
}

uint32_t Big::bits() const {
  CHECK(!huge_);
  uint64_t top = limbs_.empty() ? static_cast<uint64_t>(small_) : limbs_.back();
  size_t below = limbs_.empty() ? 0 : (limbs_.size() - 1) * 64;
  if (static_cast<int64_t>(top) < 0) top = ~top;
  uint32_t used = top == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(top));
  return static_cast<uint32_t>(below) + used + 1;
}

std::optional<int64_t> Big::ToInt64() const {
  if (!is_small()) return std::nullopt;
  return small_;
}

std::string Big::ToString() const {
  if (huge_) return "huge";
  if (limbs_.empty()) return std::to_string(small_);
  return wide::ToDecimal(limbs_);
}

Big Big::operator-() const { return Big(0) - *this; }

namespace {
// Room for an exact sum or product, as far as the type system goes.
size_t Capped(size_t limbs) { return std::min(limbs, wide::MaxLimbs); }
}  // namespace

Big operator+(const Big& a, const Big& b) {
  if (a.huge_ || b.huge_) return Big::Huge();
  int64_t sum;
  if (a.is_small() && b.is_small() && !__builtin_add_overflow(a.small_, b.small_, &sum)) return sum;
  size_t n = Capped(std::max(a.limbs_.size(), b.limbs_.size()) + 2);
  std::vector<uint64_t> x = a.Limbs(n);
  if (!wide::Add(x, x, b.Limbs(n))) return Big::Huge();
  return Big::Trimmed(std::move(x));
}

Big operator-(const Big& a, const Big& b) {
  if (a.huge_ || b.huge_) return Big::Huge();
  int64_t difference;
  if (a.is_small() && b.is_small() && !__builtin_sub_overflow(a.small_, b.small_, &difference))
    return difference;
  size_t n = Capped(std::max(a.limbs_.size(), b.limbs_.size()) + 2);
  std::vector<uint64_t> x = a.Limbs(n);
  if (!wide::Sub(x, x, b.Limbs(n))) return Big::Huge();
  return Big::Trimmed(std::move(x));
}

Big operator*(const Big& a, const Big& b) {
  if (a.huge_ || b.huge_) return Big::Huge();
  int64_t product;
  if (a.is_small() && b.is_small() && !__builtin_mul_overflow(a.small_, b.small_, &product))
    return product;
  size_t n = Capped(std::max<size_t>(a.limbs_.size(), 1) + std::max<size_t>(b.limbs_.size(), 1));
  std::vector<uint64_t> x = a.Limbs(n), y = b.Limbs(n), result(n);
  if (!wide::Mul(result, x, y)) return Big::Huge();
  return Big::Trimmed(std::move(result));
}

Big Big::Divide(const Big& a, const Big& b, bool remainder) {
  if (a.huge_ || b.huge_) return Huge();
  CHECK(!b.is_zero());
  if (a.is_small() && b.is_small() && !(a.small_ == INT64_MIN && b.small_ == -1))
    return remainder ? a.small_ % b.small_ : a.small_ / b.small_;
  size_t n = Capped(std::max(a.limbs_.size(), b.limbs_.size()) + 2);
  std::vector<uint64_t> quotient(n), rest(n);
  if (!wide::DivTrunc(quotient, rest, a.Limbs(n), b.Limbs(n))) return Huge();
  return Trimmed(remainder ? std::move(rest) : std::move(quotient));
}

Big operator/(const Big& a, const Big& b) { return Big::Divide(a, b, false); }
Big operator%(const Big& a, const Big& b) { return Big::Divide(a, b, true); }

bool operator==(const Big& a, const Big& b) {
  return !a.huge_ && !b.huge_ && a.small_ == b.small_ && a.limbs_ == b.limbs_;
}

std::strong_ordering operator<=>(const Big& a, const Big& b) {
  if (a.huge_ || b.huge_) return a.huge_ <=> b.huge_;
  if (a.is_small() && b.is_small()) return a.small_ <=> b.small_;
  size_t n = std::max<size_t>({a.limbs_.size(), b.limbs_.size(), 1});
  return wide::Compare(a.Limbs(n), b.Limbs(n)) <=> 0;
}

Big Big::Power(const Big& base, uint64_t exponent) {
  Big result = 1, square = base;
  // 0, 1 and -1 never grow; anything else is huge after a dozen squarings.
  for (uint64_t rest = exponent; rest != 0; rest >>= 1) {
    if (rest & 1) result = result * square;
    if (result.huge()) return Huge();
    if (rest > 1) square = square * square;
  }
  return result;
}

Big Gcd(Big a, Big b) {
  if (a.huge() || b.huge()) return Big::Huge();
  a = a.Abs();
  b = b.Abs();
  while (!b.is_zero()) {
    Big rest = a % b;
    a = std::move(b);
    b = std::move(rest);
  }
  return a;
}

Big Min(const Big& a, const Big& b) { return a < b ? a : b; }
Big Max(const Big& a, const Big& b) { return a < b ? b : a; }

std::optional<Big> ExactSquareRoot(const Big& a) {
  if (a.huge() || a.sign() < 0) return std::nullopt;
  Big root = a, next = (a + 1) / 2;
  // Newton from above descends until it would rise again.
  while (next < root) {
    root = next;
    next = (root + a / root) / 2;
  }
  if (root * root == a) return root;
  return std::nullopt;
}

Rational Rational::Of(Big num, Big den) {
  Big divisor = Gcd(num, den);
  if (divisor.huge() || divisor.is_zero()) return {Big::Huge(), 1};
  if (den.sign() < 0) divisor = -divisor;
  return {num / divisor, den / divisor};
}

std::string PrintRational(const Rational& value) {
  if (value.whole()) return value.num.ToString();
  Big rest = value.den, scale = 1;
  size_t twos = 0, fives = 0;
  for (; (rest % 2).is_zero(); ++twos) rest = rest / 2;
  for (; (rest % 5).is_zero(); ++fives) rest = rest / 5;
  size_t places = std::max(twos, fives);
  Big scaled = value.num.Abs() * Big::Power(10, places);
  if (rest != Big(1) || scaled.huge()) return value.num.ToString() + "/" + value.den.ToString();
  std::string digits = (scaled / value.den).ToString();
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  digits.insert(digits.size() - places, ".");
  return value.num.sign() < 0 ? "-" + digits : digits;
}

}  // namespace frazil::frontends::words
