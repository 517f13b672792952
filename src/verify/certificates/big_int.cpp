// Schoolbook arithmetic: the numbers of a closed form have a few hundred bits.
#include "verify/internal/big_int.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace frazil::verify {

BigInt::BigInt(int64_t value) : negative_(value < 0) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  for (; magnitude != 0; magnitude >>= 32) digits_.push_back(static_cast<uint32_t>(magnitude));
}

BigInt BigInt::FromUnsigned(uint64_t value) {
  BigInt result;
  for (; value != 0; value >>= 32) result.digits_.push_back(static_cast<uint32_t>(value));
  return result;
}

BigInt BigInt::FromWords(std::span<const uint64_t> words, bool is_signed) {
  BigInt result;
  for (uint64_t word : words) {
    result.digits_.push_back(static_cast<uint32_t>(word));
    result.digits_.push_back(static_cast<uint32_t>(word >> 32));
  }
  result.Trim();
  if (is_signed && !words.empty() && (words.back() >> 63) != 0) {
    result = result - PowerOfTwo(static_cast<uint32_t>(64 * words.size()));
  }
  return result;
}

BigInt BigInt::PowerOfTwo(uint32_t exponent) {
  BigInt result;
  result.digits_.assign(exponent / 32, 0);
  result.digits_.push_back(uint32_t{1} << (exponent % 32));
  return result;
}

uint32_t BigInt::bits() const {
  if (digits_.empty()) return 0;
  return static_cast<uint32_t>(32 * digits_.size()) -
         static_cast<uint32_t>(std::countl_zero(digits_.back()));
}

bool BigInt::FitsInt64(int64_t& value) const {
  if (*this < BigInt(INT64_MIN) || *this > BigInt(INT64_MAX)) return false;
  value = static_cast<int64_t>(ToWords(1)[0]);
  return true;
}

void BigInt::Trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  if (digits_.empty()) negative_ = false;
}

BigInt BigInt::operator-() const {
  BigInt result = *this;
  if (!result.is_zero()) result.negative_ = !negative_;
  return result;
}

int BigInt::CompareMagnitude(const BigInt& a, const BigInt& b) {
  if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size() ? -1 : 1;
  for (size_t i = a.digits_.size(); i-- > 0;) {
    if (a.digits_[i] != b.digits_[i]) return a.digits_[i] < b.digits_[i] ? -1 : 1;
  }
  return 0;
}

BigInt BigInt::AddMagnitude(const BigInt& a, const BigInt& b) {
  BigInt result;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
    carry += i < a.digits_.size() ? a.digits_[i] : 0;
    carry += i < b.digits_.size() ? b.digits_[i] : 0;
    result.digits_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return result;
}

BigInt BigInt::SubMagnitude(const BigInt& a, const BigInt& b) {
  BigInt result;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.digits_.size(); ++i) {
    int64_t digit = int64_t{a.digits_[i]} - (i < b.digits_.size() ? b.digits_[i] : 0) - borrow;
    borrow = digit < 0 ? 1 : 0;
    if (digit < 0) digit += int64_t{1} << 32;
    result.digits_.push_back(static_cast<uint32_t>(digit));
  }
  result.Trim();
  return result;
}

BigInt operator+(const BigInt& a, const BigInt& b) {
  BigInt result;
  if (a.negative_ == b.negative_) {
    result = BigInt::AddMagnitude(a, b);
    result.negative_ = a.negative_;
  } else if (BigInt::CompareMagnitude(a, b) >= 0) {
    result = BigInt::SubMagnitude(a, b);
    result.negative_ = a.negative_;
  } else {
    result = BigInt::SubMagnitude(b, a);
    result.negative_ = b.negative_;
  }
  result.Trim();
  return result;
}

BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }

BigInt operator*(const BigInt& a, const BigInt& b) {
  BigInt result;
  if (a.is_zero() || b.is_zero()) return result;
  result.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
  for (size_t i = 0; i < a.digits_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.digits_.size(); ++j) {
      carry += uint64_t{a.digits_[i]} * b.digits_[j] + result.digits_[i + j];
      result.digits_[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    result.digits_[i + b.digits_.size()] = static_cast<uint32_t>(carry);
  }
  result.negative_ = a.negative_ != b.negative_;
  result.Trim();
  return result;
}

// Long division in base 2^32 (Knuth's algorithm D), by single digits where the divisor is one.
void BigInt::DivRem(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder) {
  CHECK(!b.is_zero());
  BigInt q, r;
  if (CompareMagnitude(a, b) < 0) {
    r = a;
  } else if (b.digits_.size() == 1) {
    q.digits_.assign(a.digits_.size(), 0);
    uint64_t rest = 0;
    for (size_t i = a.digits_.size(); i-- > 0;) {
      rest = rest << 32 | a.digits_[i];
      q.digits_[i] = static_cast<uint32_t>(rest / b.digits_[0]);
      rest %= b.digits_[0];
    }
    r = FromUnsigned(rest);
  } else {
    LongDivision(a.digits_, b.digits_, q.digits_, r.digits_);
  }
  q.negative_ = a.negative_ != b.negative_;
  r.negative_ = a.negative_;
  q.Trim();
  r.Trim();
  quotient = std::move(q);
  remainder = std::move(r);
}

void BigInt::LongDivision(const Digits& a, const Digits& b, Digits& quotient, Digits& remainder) {
  const int shift = std::countl_zero(b.back());
  auto shifted = [shift](const Digits& from) {
    Digits to(from.size() + 1);
    for (size_t i = 0; i < from.size(); ++i) {
      const uint64_t wide = uint64_t{from[i]} << shift;
      to[i] |= static_cast<uint32_t>(wide);
      to[i + 1] = static_cast<uint32_t>(wide >> 32);
    }
    return to;
  };
  Digits u = shifted(a), v = shifted(b);
  v.pop_back();
  const size_t n = v.size();
  quotient.assign(a.size() - n + 1, 0);
  for (size_t j = a.size() - n + 1; j-- > 0;) {
    const uint64_t top = uint64_t{u[j + n]} << 32 | u[j + n - 1];
    uint64_t guess = top / v[n - 1], rest = top % v[n - 1];
    while (guess >> 32 != 0 || guess * v[n - 2] > (rest << 32 | u[j + n - 2])) {
      --guess;
      rest += v[n - 1];
      if (rest >> 32 != 0) break;
    }
    int64_t borrow = 0;
    uint64_t carry = 0;
    for (size_t i = 0; i < n; ++i) {
      carry += guess * v[i];
      const int64_t digit = int64_t{u[i + j]} - static_cast<int64_t>(carry & 0xffffffff) + borrow;
      u[i + j] = static_cast<uint32_t>(digit);
      borrow = digit >> 32;
      carry >>= 32;
    }
    const int64_t last = int64_t{u[j + n]} - static_cast<int64_t>(carry) + borrow;
    u[j + n] = static_cast<uint32_t>(last);
    if (last < 0) {  // the guess was one too many
      --guess;
      uint64_t sum = 0;
      for (size_t i = 0; i < n; ++i) {
        sum += uint64_t{u[i + j]} + v[i];
        u[i + j] = static_cast<uint32_t>(sum);
        sum >>= 32;
      }
      u[j + n] += static_cast<uint32_t>(sum);
    }
    quotient[j] = static_cast<uint32_t>(guess);
  }
  remainder.assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    remainder[i] = static_cast<uint32_t>((uint64_t{u[i + 1]} << 32 | u[i]) >> shift);
  }
}

BigInt BigInt::Mod(const BigInt& m) const {
  if (!negative_ && CompareMagnitude(*this, m) < 0) return *this;
  BigInt quotient, remainder;
  DivRem(*this, m, quotient, remainder);
  return remainder.is_negative() ? remainder + m : remainder;
}

std::vector<uint64_t> BigInt::ToWords(size_t count) const {
  std::vector<uint64_t> words(count, 0);
  for (size_t i = 0; i < digits_.size() && i / 2 < count; ++i)
    words[i / 2] |= uint64_t{digits_[i]} << (32 * (i % 2));
  if (negative_) {
    uint64_t carry = 1;
    for (uint64_t& word : words) {
      word = ~word + carry;
      carry = carry != 0 && word == 0 ? 1 : 0;
    }
  }
  return words;
}

std::string BigInt::ToString() const {
  if (is_zero()) return "0";
  std::string text;
  BigInt rest = negative_ ? -*this : *this;
  while (!rest.is_zero()) {
    BigInt digit;
    DivRem(rest, BigInt(10), rest, digit);
    text += static_cast<char>('0' + (digit.is_zero() ? 0 : digit.digits_[0]));
  }
  if (negative_) text += '-';
  std::ranges::reverse(text);
  return text;
}

std::strong_ordering operator<=>(const BigInt& a, const BigInt& b) {
  if (a.negative_ != b.negative_)
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  const int magnitude = BigInt::CompareMagnitude(a, b);
  return (a.negative_ ? -magnitude : magnitude) <=> 0;
}

BigInt Gcd(BigInt a, BigInt b) {
  if (a.is_negative()) a = -a;
  if (b.is_negative()) b = -b;
  while (!b.is_zero()) {
    BigInt quotient, remainder;
    BigInt::DivRem(a, b, quotient, remainder);
    a = std::move(b);
    b = std::move(remainder);
  }
  return a;
}

}  // namespace frazil::verify
