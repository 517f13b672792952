// Integers without a bound, for intervals and closed forms: small and obvious rather than fast.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace frazil::verify {

class BigInt {
 public:
  BigInt() = default;
  BigInt(int64_t value);  // NOLINT: integers are integers
  static BigInt FromUnsigned(uint64_t value);
  // Two's complement, least significant word first; or its low words read as unsigned.
  static BigInt FromWords(std::span<const uint64_t> words, bool is_signed);
  static BigInt PowerOfTwo(uint32_t exponent);

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_odd() const { return !digits_.empty() && (digits_[0] & 1) != 0; }
  uint32_t bits() const;  // of the magnitude
  bool FitsInt64(int64_t& value) const;

  BigInt operator-() const;
  friend BigInt operator+(const BigInt& a, const BigInt& b);
  friend BigInt operator-(const BigInt& a, const BigInt& b);
  friend BigInt operator*(const BigInt& a, const BigInt& b);
  // Towards zero; b is not 0.
  static void DivRem(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder);
  // In [0, m), m > 0.
  BigInt Mod(const BigInt& m) const;
  // Two's complement in so many words, what does not fit cut off.
  std::vector<uint64_t> ToWords(size_t count) const;
  std::string ToString() const;

  friend bool operator==(const BigInt&, const BigInt&) = default;
  friend std::strong_ordering operator<=>(const BigInt& a, const BigInt& b);

 private:
  using Digits = std::vector<uint32_t>;
  static void LongDivision(const Digits& a, const Digits& b, Digits& quotient, Digits& remainder);
  static int CompareMagnitude(const BigInt& a, const BigInt& b);
  static BigInt AddMagnitude(const BigInt& a, const BigInt& b);
  static BigInt SubMagnitude(const BigInt& a, const BigInt& b);  // |a| >= |b|
  void Trim();

  bool negative_ = false;
  Digits digits_;  // base 2^32, least significant first, no leading zero
};

BigInt Gcd(BigInt a, BigInt b);

}  // namespace frazil::verify
