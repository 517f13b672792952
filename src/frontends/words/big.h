// Whole numbers for the reader and the range analysis: exact up to 4096 bits, the widest type of
// the IR. What does not fit becomes `huge`, which is sticky, so a caller asks once at the end.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::frontends::words {

class Big {
 public:
  Big() = default;
  Big(int64_t value) : small_(value) {}  // implicit: constants read as numbers
  static Big Huge();
  static Big FromDigits(std::string_view digits);        // decimal digits only
  static Big FromWords(std::vector<uint64_t> words);     // two's complement
  static Big Power(const Big& base, uint64_t exponent);  // exponent 0 gives 1

  bool huge() const { return huge_; }
  int sign() const;  // -1, 0, 1; 1 if huge
  bool is_zero() const { return sign() == 0; }
  // Bits of the shortest two's complement form; 0 and -1 need one.
  uint32_t bits() const;
  std::optional<int64_t> ToInt64() const;
  std::vector<uint64_t> ToWords(uint32_t count) const;  // sign-extended; must fit
  std::string ToString() const;

  Big operator-() const;
  Big Abs() const { return sign() < 0 ? -*this : *this; }
  friend Big operator+(const Big& a, const Big& b);
  friend Big operator-(const Big& a, const Big& b);
  friend Big operator*(const Big& a, const Big& b);
  // Towards zero; the divisor is not 0.
  friend Big operator/(const Big& a, const Big& b);
  friend Big operator%(const Big& a, const Big& b);
  // A huge number equals nothing and is above everything.
  friend bool operator==(const Big& a, const Big& b);
  friend std::strong_ordering operator<=>(const Big& a, const Big& b);

 private:
  bool is_small() const { return limbs_.empty() && !huge_; }
  std::vector<uint64_t> Limbs(size_t count) const;
  static Big Trimmed(std::vector<uint64_t> limbs);
  static Big Divide(const Big& a, const Big& b, bool remainder);

  int64_t small_ = 0;
  std::vector<uint64_t> limbs_;  // in use only for values outside int64
  bool huge_ = false;
};

Big Gcd(Big a, Big b);  // >= 0
Big Min(const Big& a, const Big& b);
Big Max(const Big& a, const Big& b);
// The whole root of a number >= 0, if it has one.
std::optional<Big> ExactSquareRoot(const Big& a);

// A number as written: den > 0, reduced.
struct Rational {
  Big num = 0;
  Big den = 1;
  static Rational Of(Big num, Big den);  // den is not 0
  bool whole() const { return den == Big(1); }
  friend bool operator==(const Rational&, const Rational&) = default;
};

// "35", "-0.125" where the decimal is finite, else "1/3".
std::string PrintRational(const Rational& value);

}  // namespace frazil::frontends::words
