// What the machine computes beyond + and *, simplified where that holds for all values on which the machine does not
// crash. Low halves, remainders and exclusive ors are polynomials over high halves, quotients and ands, so that
// hi 2^32 + lo = x, q d + r = n and a ^ b = a + b - 2 (a & b) hold by themselves.
//
// A range is put on a term only if an application of the instruction is part of it: it then exists only where the
// instruction has run, which is what makes the range true. After ways came together a term is the word of both, so the
// application must be part of it whatever zero tests and comparisons are: its factor is a number, or never 0.
#include <algorithm>
#include <bit>

#include "verify/tasm/terms/term.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

constexpr uint64_t Max32 = 0xffff'ffffu;

bool IsMask(uint64_t value) { return ((value + 1) & value) == 0; }

}  // namespace

Term Terms::IsZero(Term a) {
  if (IsConstant(a)) return Constant(ConstantOf(a) == 0);
  if (Range(a).low > 0) return Constant(0);
  Term base;
  uint64_t at0, at1;
  if (BooleanForm(a, base, at0, at1)) {
    const uint64_t zero0 = at0 == 0, zero1 = at1 == 0;
    return Combine(base, gl::Sub(zero1, zero0), Constant(zero0), 1);
  }
  // What is -1 or 0, or 0 or 1, as a whole: one of the two ways to test it.
  for (const Term other : {Add(a, Constant(1)), Sub(Constant(1), a)}) {
    if (IsBoolean(other) && (!IsBoolean(a) || other < a)) return Sub(Constant(1), IsZero(other));
  }
  a = Monic(a);
  const Polynomial& poly = PolynomialOf(a);
  if (poly.size() == 1 && Monomial(poly[0].first).size() == 1) a = Monomial(poly[0].first)[0].first;
  const Term result = Apply(Base::IsZero, {&a, 1});
  Restrict(result, {0, 1});
  return result;
}

Term Terms::Inverse(Term a) {
  if (IsConstant(a)) return Constant(ConstantOf(a) == 0 ? 0 : gl::Invert(ConstantOf(a)));
  const Polynomial& poly = PolynomialOf(a);
  const uint64_t factor = gl::Invert(poly.back().second);
  auto inverse = [this](Term of) {
    const Term result = Apply(Base::Inverse, {&of, 1});
    Restrict(result, {1, gl::P - 1});
    return result;
  };
  if (poly.size() > 1) return Scale(inverse(Monic(a)), factor);
  Term product = Constant(factor);
  const auto factors = Monomial(poly[0].first);
  for (auto [base, exponent] : factors) {
    const Term one = KindOf(base) == Base::Inverse ? Arguments(base)[0] : inverse(base);
    if (exponent > 64) return Scale(inverse(Monic(a)), factor);
    for (uint32_t i = 0; i < exponent; ++i) product = Mul(product, one);
  }
  return product;
}

bool Terms::SplitMultiples(Term a, Term& upper, Term& lower) {
  constexpr size_t MaxMonomials = 16;
  if (PolynomialOf(a).size() > MaxMonomials) return false;
  Polynomial multiples, rest;
  for (auto [monomial, coefficient] : PolynomialOf(a)) {
    if ((coefficient & Max32) == 0) {
      multiples.emplace_back(monomial, coefficient >> 32);
    } else {
      rest.emplace_back(monomial, coefficient);
    }
  }
  if (multiples.empty()) return false;
  upper = Intern(std::move(multiples));
  lower = Intern(std::move(rest));
  return true;
}

// The sum is below p then: (2^32 - 1) 2^32 is p - 1.
bool Terms::IsHighHalf(Interval upper, Interval lower) {
  return upper.high < Max32 ? lower.high <= Max32 : upper.high == Max32 && lower.high == 0;
}

Term Terms::High(Term a) {
  if (IsConstant(a)) return Constant(ConstantOf(a) >> 32);
  const Interval range = Range(a);
  if (range.low >> 32 == range.high >> 32) return Constant(range.low >> 32);
  Term upper, lower;
  if (SplitMultiples(a, upper, lower) && IsHighHalf(Range(upper), Range(lower))) return upper;
  const Term result = Apply(Base::High, {&a, 1});
  Restrict(result, {range.low >> 32, range.high >> 32});
  return result;
}

Term Terms::Low(Term a) {
  const Term high = High(a);
  const Term low = Combine(a, 1, high, gl::Neg(1ull << 32));
  if (!IsConstant(high)) Restrict(low, {0, Max32});
  return low;
}

Term Terms::Less(Term a, Term b) {
  const Interval ra = Range(a), rb = Range(b);
  if (ra.high < rb.low) return Constant(1);
  if (a == b || ra.low >= std::min(rb.high, Max32)) return Constant(0);
  if (IsConstant(a) && ConstantOf(a) == 0) return Sub(Constant(1), IsZero(b));
  if (IsConstant(b) && ConstantOf(b) == 1) return IsZero(a);
  const Term arguments[] = {a, b};
  const Term result = Apply(Base::Less, arguments);
  Restrict(result, {0, 1});
  return result;
}

Term Terms::Choice(Term c, Term a, Term b) {
  if (IsConstant(c)) return ConstantOf(c) != 0 ? a : b;
  if (a == b) return a;
  const Term result = Add(b, Mul(c, Sub(a, b)));
  const Interval ra = Range(a), rb = Range(b);
  Restrict(result, {std::min(ra.low, rb.low), std::max(ra.high, rb.high)});
  return result;
}

Term Terms::And(Term a, Term b) {
  if (IsConstant(a) && IsConstant(b)) return Constant(ConstantOf(a) & ConstantOf(b));
  if (a == b) return a;
  if (IsConstant(b)) std::swap(a, b);
  if (IsConstant(a)) {
    const uint64_t mask = ConstantOf(a);
    if (mask == 0) return a;
    if (mask == Max32) return b;
    if (IsMask(mask)) return Remainder(b, Constant(mask + 1));
  }
  if (IsBoolean(a) && IsBoolean(b)) return Mul(a, b);
  if (a > b) std::swap(a, b);
  const Term arguments[] = {a, b};
  const Term result = Apply(Base::And, arguments);
  Restrict(result, {0, std::min({Range(a).high, Range(b).high, Max32})});
  return result;
}

Term Terms::Xor(Term a, Term b) {
  const Term both = And(a, b);
  const Term result = Combine(Add(a, b), 1, both, gl::P - 2);
  // `both` is then an and, or, with a mask, holds a quotient, with a number as factor; or a product of booleans, where one is
  // always part of the result, with 1 or -1 as factor.
  if (!IsConstant(both) && both != a && both != b) {
    const uint64_t most = std::min(std::max(Range(a).high, Range(b).high), Max32);
    Restrict(result, {0, std::bit_ceil(most + 1) - 1});
  }
  return result;
}

Term Terms::Or(Term a, Term b) {
  const Term both = And(a, b);
  const Term result = Sub(Add(a, b), both);
  if (!IsConstant(both) && both != a && both != b) {
    const uint64_t most = std::min(std::max(Range(a).high, Range(b).high), Max32);
    Restrict(result, {0, std::bit_ceil(most + 1) - 1});
  }
  return result;
}

Term Terms::Log2(Term a) {
  if (IsConstant(a))
    return Constant(ConstantOf(a) == 0 ? 0
                                       : static_cast<uint64_t>(std::bit_width(ConstantOf(a))) - 1);
  const Term result = Apply(Base::Log2, {&a, 1});
  Restrict(result, {0, 31});
  return result;
}

Term Terms::PopCount(Term a) {
  if (IsConstant(a)) return Constant(static_cast<uint64_t>(std::popcount(ConstantOf(a))));
  if (IsBoolean(a)) return a;
  const Term result = Apply(Base::PopCount, {&a, 1});
  Restrict(result, {0, 32});
  return result;
}

Term Terms::Power(Term base, Term exponent) {
  if (IsConstant(exponent)) {
    const uint64_t e = ConstantOf(exponent);
    if (IsConstant(base)) return Constant(gl::Pow(ConstantOf(base), e));
    if (e <= 16) {
      Term result = Constant(1);
      for (uint64_t i = 0; i < e; ++i) result = Mul(result, base);
      return result;
    }
  }
  if (IsConstant(base) && ConstantOf(base) == 1) return base;
  if (IsConstant(base) && ConstantOf(base) == 0) return IsZero(exponent);
  if (IsBoolean(exponent)) return Add(Constant(1), Mul(exponent, Sub(base, Constant(1))));
  const Term arguments[] = {base, exponent};
  const Term result = Apply(Base::Power, arguments);
  const Interval range = Range(exponent);
  if (IsConstant(base) && ConstantOf(base) == 2 && range.high < 64) {
    Restrict(result, {1ull << range.low, std::min<uint64_t>(1ull << range.high, gl::P - 1)});
  }
  return result;
}

Term Terms::Quotient(Term n, Term d) {
  if (IsConstant(n) && IsConstant(d))
    return Constant(ConstantOf(d) == 0 ? 0 : ConstantOf(n) / ConstantOf(d));
  if (IsConstant(d) && ConstantOf(d) == 1) return n;
  if (n == d) return Constant(1);
  const Interval rn = Range(n), rd = Range(d);
  if (rn.high < rd.low) return Constant(0);
  const Term arguments[] = {n, d};
  const Term result = Apply(Base::Quotient, arguments);
  Restrict(result, {std::min(rn.low, Max32) / std::max<uint64_t>(1, std::min(rd.high, Max32)),
                    std::min(rn.high, Max32) / std::max<uint64_t>(1, std::min(rd.low, Max32))});
  return result;
}

Term Terms::Remainder(Term n, Term d) {
  const Term quotient = Quotient(n, d);
  const Term result = Sub(n, Mul(quotient, d));
  // By a divisor that is 0 unless something holds (or if it does) the difference is n itself there, and nothing was divided.
  constexpr int MaxChoices = 6;
  if (KindOf(quotient) == Base::Quotient && quotient != n && !CanVanish(d, MaxChoices)) {
    const uint64_t most = std::min(std::max<uint64_t>(1, std::min(Range(d).high, Max32)) - 1,
                                   std::min(Range(n).high, Max32));
    Restrict(result, {0, most});
  }
  return result;
}

}  // namespace frazil::verify::tasm
