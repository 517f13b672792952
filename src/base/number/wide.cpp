// Multi-limb integers by the schoolbook algorithms: at 64 limbs nothing faster pays, and this is
// code that the reference interpreter and the text reader must be able to trust. Signed work is
// done on magnitudes: |a| of k limbs always fits k unsigned limbs.
#include "base/number/wide.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace frazil::wide {
namespace {

using Magnitude = std::array<uint64_t, MaxLimbs>;
__extension__ using uint128 = unsigned __int128;

constexpr uint64_t SignBit = uint64_t{1} << 63;

void Copy(Limbs dst, ConstLimbs src) { std::ranges::copy(src, dst.begin()); }

// dst = -a modulo 2^(64 k).
void Negate(Limbs dst, ConstLimbs a) {
  uint64_t carry = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t limb = ~a[i] + carry;
    carry = carry != 0 && limb == 0 ? 1 : 0;
    dst[i] = limb;
  }
}

Limbs MagnitudeOf(ConstLimbs a, Magnitude& storage) {
  CHECK(a.size() <= MaxLimbs);
  const Limbs magnitude = Limbs(storage).first(a.size());
  if (IsNegative(a)) {
    Negate(magnitude, a);
  } else {
    Copy(magnitude, a);
  }
  return magnitude;
}

// dst = the magnitude with a sign; false if it does not fit.
bool WithSign(Limbs dst, ConstLimbs magnitude, bool negative) {
  const bool fits = !IsNegative(magnitude) || (negative && magnitude.back() == SignBit &&
                                               IsZero(magnitude.first(magnitude.size() - 1)));
  if (negative) {
    Negate(dst, magnitude);
  } else {
    Copy(dst, magnitude);
  }
  return fits;
}

size_t SignificantLimbs(ConstLimbs a) {
  size_t n = a.size();
  while (n > 0 && a[n - 1] == 0) --n;
  return n;
}

// a = a * factor + addend; the limb that falls out.
uint64_t MulAddSmall(Limbs a, uint64_t factor, uint64_t addend) {
  uint64_t carry = addend;
  for (uint64_t& limb : a) {
    const uint128 t = uint128{limb} * factor + carry;
    limb = static_cast<uint64_t>(t);
    carry = static_cast<uint64_t>(t >> 64);
  }
  return carry;
}

// a = a / divisor; the remainder.
uint64_t DivSmall(Limbs a, uint64_t divisor) {
  uint64_t rem = 0;
  for (size_t i = a.size(); i-- > 0;) {
    const uint128 t = (uint128{rem} << 64) | a[i];
    a[i] = static_cast<uint64_t>(t / divisor);
    rem = static_cast<uint64_t>(t % divisor);
  }
  return rem;
}

// dst = a << shift (shift < 64), dst.size() >= a.size(); limbs of dst beyond a's take what falls
// out.
void ShiftLeft(Limbs dst, ConstLimbs a, int shift) {
  uint64_t carry = 0;
  for (size_t i = 0; i < dst.size(); ++i) {
    const uint64_t limb = i < a.size() ? a[i] : 0;
    dst[i] = (limb << shift) | carry;
    carry = shift == 0 ? 0 : limb >> (64 - shift);
  }
}

// u[0..n] -= q * v[0..n-1]; true if it went below zero.
bool SubtractProduct(Limbs u, ConstLimbs v, uint64_t q) {
  uint64_t carry = 0;
  uint64_t borrow = 0;
  for (size_t i = 0; i < u.size(); ++i) {
    const uint128 product = uint128{q} * (i < v.size() ? v[i] : 0) + carry;
    carry = static_cast<uint64_t>(product >> 64);
    const uint128 difference = uint128{u[i]} - static_cast<uint64_t>(product) - borrow;
    u[i] = static_cast<uint64_t>(difference);
    borrow = static_cast<uint64_t>(difference >> 64) & 1;
  }
  return borrow != 0;
}

void AddBack(Limbs u, ConstLimbs v) {
  uint64_t carry = 0;
  for (size_t i = 0; i < u.size(); ++i) {
    const uint128 sum = uint128{u[i]} + (i < v.size() ? v[i] : 0) + carry;
    u[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> 64);
  }
}

// Knuth, TAOCP 2, algorithm D. quot and a have one length; on return a holds the remainder.
void DivMagnitude(Limbs quot, Limbs a, ConstLimbs b) {
  std::ranges::fill(quot, 0);
  const size_t n = SignificantLimbs(b);
  const size_t m = SignificantLimbs(a);
  if (m < n) return;
  if (n == 1) {
    Copy(quot, a);
    const uint64_t rem = DivSmall(quot, b[0]);
    std::ranges::fill(a, 0);
    a[0] = rem;
    return;
  }
  const int shift = std::countl_zero(b[n - 1]);
  std::array<uint64_t, MaxLimbs + 1> u_storage;
  Magnitude v_storage;
  const Limbs u = Limbs(u_storage).first(m + 1);
  const Limbs v = Limbs(v_storage).first(n);
  ShiftLeft(u, a.first(m), shift);
  ShiftLeft(v, b.first(n), shift);
  for (size_t j = m - n + 1; j-- > 0;) {
    const uint128 top = (uint128{u[j + n]} << 64) | u[j + n - 1];
    uint128 digit = top / v[n - 1];
    uint128 rest = top % v[n - 1];
    while ((digit >> 64) != 0 ||
           uint128{static_cast<uint64_t>(digit)} * v[n - 2] > ((rest << 64) | u[j + n - 2])) {
      digit -= 1;
      rest += v[n - 1];
      if ((rest >> 64) != 0) break;
    }
    const Limbs window = u.subspan(j, n + 1);
    uint64_t q = static_cast<uint64_t>(digit);
    if (SubtractProduct(window, v, q)) {
      q -= 1;
      AddBack(window, v);
    }
    quot[j] = q;
  }
  std::ranges::fill(a, 0);
  for (size_t i = 0; i < n; ++i) {
    a[i] = (u[i] >> shift) | (shift == 0 ? 0 : u[i + 1] << (64 - shift));
  }
}

}  // namespace

bool IsNegative(ConstLimbs a) { return !a.empty() && (a.back() & SignBit) != 0; }

bool IsZero(ConstLimbs a) {
  return std::ranges::all_of(a, [](uint64_t limb) { return limb == 0; });
}

bool Add(Limbs dst, ConstLimbs a, ConstLimbs b) {
  const bool a_negative = IsNegative(a);
  const bool b_negative = IsNegative(b);
  uint64_t carry = 0;
  for (size_t i = 0; i < dst.size(); ++i) {
    const uint128 sum = uint128{a[i]} + b[i] + carry;
    dst[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> 64);
  }
  return a_negative != b_negative || IsNegative(dst) == a_negative;
}

bool Sub(Limbs dst, ConstLimbs a, ConstLimbs b) {
  const bool a_negative = IsNegative(a);
  const bool b_negative = IsNegative(b);
  uint64_t borrow = 0;
  for (size_t i = 0; i < dst.size(); ++i) {
    const uint128 difference = uint128{a[i]} - b[i] - borrow;
    dst[i] = static_cast<uint64_t>(difference);
    borrow = static_cast<uint64_t>(difference >> 64) & 1;
  }
  return a_negative == b_negative || IsNegative(dst) == a_negative;
}

bool Mul(Limbs dst, ConstLimbs a, ConstLimbs b) {
  Magnitude a_storage;
  Magnitude b_storage;
  const Limbs x = MagnitudeOf(a, a_storage);
  const Limbs y = MagnitudeOf(b, b_storage);
  const bool negative = IsNegative(a) != IsNegative(b);
  std::array<uint64_t, 2 * MaxLimbs> product{};
  const size_t y_count = SignificantLimbs(y);
  for (size_t i = 0; i < SignificantLimbs(x); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < y_count; ++j) {
      const uint128 t = uint128{x[i]} * y[j] + product[i + j] + carry;
      product[i + j] = static_cast<uint64_t>(t);
      carry = static_cast<uint64_t>(t >> 64);
    }
    product[i + y_count] = carry;
  }
  const ConstLimbs low = ConstLimbs(product).first(dst.size());
  const bool high_is_zero = IsZero(ConstLimbs(product).subspan(dst.size(), dst.size()));
  return WithSign(dst, low, negative) && high_is_zero;
}

bool Neg(Limbs dst, ConstLimbs a) {
  const bool negative = IsNegative(a);
  Negate(dst, a);
  return !(negative && IsNegative(dst));
}

bool Abs(Limbs dst, ConstLimbs a) {
  if (IsNegative(a)) return Neg(dst, a);
  Copy(dst, a);
  return true;
}

bool DivTrunc(Limbs quot, Limbs rem, ConstLimbs a, ConstLimbs b) {
  CHECK(!IsZero(b));
  const bool a_negative = IsNegative(a);
  const bool b_negative = IsNegative(b);
  Magnitude a_storage;
  Magnitude b_storage;
  Magnitude quot_storage;
  const Limbs x = MagnitudeOf(a, a_storage);
  const Limbs y = MagnitudeOf(b, b_storage);
  const Limbs q = Limbs(quot_storage).first(a.size());
  DivMagnitude(q, x, y);
  WithSign(rem, x, a_negative);
  return WithSign(quot, q, a_negative != b_negative);
}

int Compare(ConstLimbs a, ConstLimbs b) {
  if (IsNegative(a) != IsNegative(b)) return IsNegative(a) ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

bool FromInt64(int64_t value, Limbs dst) {
  std::ranges::fill(dst, value < 0 ? ~uint64_t{0} : 0);
  dst[0] = static_cast<uint64_t>(value);
  return true;
}

bool FromUint64(uint64_t value, Limbs dst) {
  std::ranges::fill(dst, 0);
  dst[0] = value;
  return !IsNegative(dst);
}

bool ToInt64(ConstLimbs a, int64_t& value) {
  uint64_t limb = 0;
  const bool fits = Resize(Limbs(&limb, 1), a);
  value = static_cast<int64_t>(limb);
  return fits;
}

bool ToUint64(ConstLimbs a, uint64_t& value) {
  value = a[0];
  return !IsNegative(a) && IsZero(a.subspan(1));
}

bool Resize(Limbs dst, ConstLimbs src) {
  const uint64_t fill = IsNegative(src) ? ~uint64_t{0} : 0;
  const bool negative = IsNegative(src);
  bool fits = true;
  for (size_t i = dst.size(); i < src.size(); ++i) fits = fits && src[i] == fill;
  for (size_t i = 0; i < dst.size(); ++i) dst[i] = i < src.size() ? src[i] : fill;
  return fits && IsNegative(dst) == negative;
}

bool FromDigits(std::string_view digits, uint32_t base, bool negative, Limbs dst) {
  CHECK(dst.size() <= MaxLimbs && (base == 10 || base == 16));
  if (digits.empty()) return false;
  Magnitude storage{};
  const Limbs magnitude = Limbs(storage).first(dst.size());
  for (const char c : digits) {
    uint32_t digit = 16;
    if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A') + 10;
    if (digit >= base) return false;
    if (MulAddSmall(magnitude, base, digit) != 0) return false;
  }
  return WithSign(dst, magnitude, negative);
}

bool FromDecimal(std::string_view text, Limbs dst) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return FromDigits(text, 10, negative, dst);
}

std::string ToDecimal(ConstLimbs a) {
  constexpr uint64_t ChunkBase = 10'000'000'000'000'000'000u;
  constexpr int ChunkDigits = 19;
  Magnitude storage;
  const Limbs magnitude = MagnitudeOf(a, storage);
  std::string reversed;
  do {
    uint64_t chunk = DivSmall(magnitude, ChunkBase);
    const bool last = IsZero(magnitude);
    for (int i = 0; i < ChunkDigits && (!last || chunk != 0 || i == 0); ++i) {
      reversed += static_cast<char>('0' + chunk % 10);
      chunk /= 10;
    }
  } while (!IsZero(magnitude));
  if (IsNegative(a)) reversed += '-';
  std::ranges::reverse(reversed);
  return reversed;
}

}  // namespace frazil::wide
