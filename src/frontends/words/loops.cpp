// What needs a loop: sums and products over ranges, counting, powers, factorials, Fibonacci, gcd,
// primes, Collatz, roots. Bounds of the carried values come from exact partial results where they
// are cheap; only Collatz has none, so it uses checked arithmetic.
#include <fmt/format.h>

#include "frontends/words/lowering.h"

namespace frazil::frontends::words {

using ir::Op;

Result<Val> Lowering::Whole(const Node& node, const Term& term, std::string_view what) const {
  if (term.whole()) return term.num;
  return Fail(Diag::NoAnswer, fmt::format("{} must be a whole number", what), node.location);
}

Result<int64_t> Lowering::Known(const Node& node, const Term& term, std::string_view what) const {
  const Val value = TRY(Whole(node, term, what));
  if (value.lo.huge() || value.hi.huge())
    return Fail(Diag::LimitReached, fmt::format("{} needs more than 4096 bits", what),
                node.location);
  if (!value.point())
    return Fail(Diag::NoAnswer, fmt::format("{} must be known before the program runs", what),
                node.location);
  const std::optional<int64_t> known = value.lo.ToInt64();
  // A bound above its loop must fit too.
  if (!known || *known == INT64_MAX)
    return Fail(Diag::LimitReached, fmt::format("{} must be less than 2^63 - 1", what),
                node.location);
  return *known;
}

// Powers
// ---------------------------------------------------------------------------------------------

Result<Term> Lowering::Power(const Node& node, const Term& base, const Term& exponent) {
  const int64_t n = TRY(Known(node, exponent, "an exponent"));
  if (n >= 0) return WholePower(base, n);
  if (n == INT64_MIN) return Fail(Diag::LimitReached, "an exponent is too large", node.location);
  return Divide(Term{coder_.Const(1)}, WholePower(base, -n));
}

Term Lowering::WholePower(const Term& base, int64_t exponent) {
  if (base.whole()) return {PowerOf(base.num, exponent)};
  Term result{PowerOf(base.num, exponent)};
  result.den = base.den.point()
                   ? coder_.Const(Big::Power(base.den.lo, static_cast<uint64_t>(exponent)))
                   : PowerOf(base.den, exponent);
  return Settle(std::move(result));
}

Val Lowering::PowerOf(const Val& base, int64_t exponent) {
  if (exponent == 2) return coder_.Multiply(base, base);
  if (exponent == 3) return coder_.Multiply(coder_.Multiply(base, base), base);
  const Big most = Big::Power(Max(base.lo.Abs(), base.hi.Abs()), static_cast<uint64_t>(exponent));
  const Big high = Max(most, 1);
  const Val range = Coder::Between(base.lo.sign() < 0 ? -high : Big(0), high);
  Val result = coder_.For(coder_.Const(0), coder_.Const(exponent), 1, {coder_.Const(1)}, {range},
                          Coder::Counter::Unused, [&](const Val&, const Coder::Vals& v) {
                            return Coder::Vals{coder_.MultiplyWithin(v[0], base, range)};
                          })[0];
  if (base.point()) result.lo = result.hi = Big::Power(base.lo, static_cast<uint64_t>(exponent));
  return result;
}

// Sums and products over ranges
// ------------------------------------------------------------------------

Val Lowering::TermOf(const Node& node, const Val& i) {
  switch (node.term) {
    case SeriesTerm::Itself: return i;
    case SeriesTerm::Square: return coder_.Multiply(i, i);
    case SeriesTerm::Cube: return coder_.Multiply(coder_.Multiply(i, i), i);
  }
  return i;
}

namespace {

// The sum from a to b by step, for a <= b and b reached.
Big ArithmeticSum(const Big& a, const Big& b, const Big& step) {
  return (a + b) * ((b - a) / step + 1) / 2;
}

struct Extent {
  Big low = 0, high = 0, last = 0;  // least and greatest partial sum, and the final one
  bool exact = false;
};

Extent SumExtent(const Node& node, const Big& from, const Big& to) {
  if (from > to) return {0, 0, 0, true};
  const Big step = node.step;
  const Big end = from + (to - from) / step * step;
  if (node.term != SeriesTerm::Itself) {
    const uint64_t degree = node.term == SeriesTerm::Square ? 2 : 3;
    const Big most = Big::Power(Max(from.Abs(), end.Abs()), degree) * ((end - from) / step + 1);
    return {degree == 3 && from.sign() < 0 ? -most : Big(0), most, 0, false};
  }
  Extent extent;
  extent.last = ArithmeticSum(from, end, step);
  extent.exact = true;
  extent.high = Max(extent.last, 0);
  if (from.sign() < 0) {
    // Partial sums fall until the terms turn positive.
    const Big turn = end.sign() < 0 ? end : from + (-from) / step * step;
    extent.low = Min(ArithmeticSum(from, turn, step), 0);
  }
  return extent;
}

// The least and greatest partial product and the final one; huge after a few thousand factors at
// most, since all but 0, 1 and -1 at least double it.
Extent ProductExtent(const Node& node, int64_t from, int64_t to) {
  Extent extent{1, 1, 1, true};
  const uint64_t degree = node.term == SeriesTerm::Itself   ? 1
                          : node.term == SeriesTerm::Square ? 2
                                                            : 3;
  for (Big i = from; i <= Big(to); i = i + node.step) {
    extent.last = extent.last * Big::Power(i, degree);
    extent.low = Min(extent.low, extent.last);
    extent.high = Max(extent.high, extent.last);
    if (extent.last.huge() || extent.last.is_zero()) break;
  }
  return extent;
}

}  // namespace

Result<Term> Lowering::Sum(const Node& node, const Term& from, const Term& to) {
  const int64_t a = TRY(Known(node, from, "the start of a range"));
  const int64_t b = TRY(Known(node, to, "the end of a range"));
  const Extent extent = SumExtent(node, a, b);
  const Val range = Coder::Between(extent.low, extent.high);
  Val sum = coder_.For(from.num, coder_.Const(Big(b) + 1), node.step, {coder_.Const(0)}, {range},
                       Coder::Counter::Used, [&](const Val& i, const Coder::Vals& v) {
                         return Coder::Vals{coder_.AddWithin(v[0], TermOf(node, i), range)};
                       })[0];
  if (extent.exact) sum.lo = sum.hi = extent.last;
  return Term{sum};
}

Result<Term> Lowering::Product(const Node& node, const Term& from, const Term& to) {
  TRY(Known(node, from, "the start of a range"));
  TRY(Known(node, to, "the end of a range"));
  return Term{ProductLoop(from.num, to.num, node)};
}

Val Lowering::ProductLoop(const Val& from, const Val& to, const Node& node) {
  const Extent extent = ProductExtent(node, *from.lo.ToInt64(), *to.lo.ToInt64());
  const Val range = Coder::Between(extent.low, extent.high);
  Val product =
      coder_.For(from, coder_.Const(to.lo + 1), node.step, {coder_.Const(1)}, {range},
                 Coder::Counter::Used, [&](const Val& i, const Coder::Vals& v) {
                   return Coder::Vals{coder_.MultiplyWithin(v[0], TermOf(node, i), range)};
                 })[0];
  product.lo = product.hi = extent.last;
  return product;
}

Result<Term> Lowering::Factorial(const Node& node, const Term& n) {
  if (TRY(Known(node, n, "the number of a factorial")) < 0)
    return Fail(Diag::NoAnswer, "a negative number has no factorial", node.location);
  return Term{ProductLoop(coder_.Const(1), n.num, node)};
}

// Both ends are known, and so is the number of turns: a `for`, so that a long one has a formula.
Result<Term> Lowering::CountTo(const Node& node, const Term& from, const Term& to) {
  const int64_t a = TRY(Known(node, from, "the start of a count"));
  const int64_t b = TRY(Known(node, to, "the end of a count"));
  const bool up = a < b;
  Val last =
      coder_.For(coder_.Const(std::min(a, b)), coder_.Const(std::max(a, b)), 1, {from.num},
                 {Coder::Between(std::min(a, b), std::max(a, b))}, Coder::Counter::Unused,
                 [&](const Val&, const Coder::Vals& v) {
                   const Val one = coder_.Const(1);
                   return Coder::Vals{up ? coder_.Add(v[0], one) : coder_.Subtract(v[0], one)};
                 })[0];
  last.lo = last.hi = b;
  return Term{last};
}

Result<Term> Lowering::Fibonacci(const Node& node, const Term& n) {
  const int64_t count = TRY(Known(node, n, "the number of a Fibonacci term"));
  if (count < 0) return Fail(Diag::NoAnswer, "Fibonacci numbers start at the 0th", node.location);
  Big now = 0, next = 1;
  for (int64_t i = 0; i < count && !next.huge(); ++i) {
    const Big sum = now + next;
    now = std::move(next);
    next = sum;
  }
  if (next.huge()) now = Big::Huge();
  const Val range = Coder::Between(0, next);
  Val result =
      coder_.For(coder_.Const(0), n.num, 1, {coder_.Const(0), coder_.Const(1)}, {range, range},
                 Coder::Counter::Unused, [&](const Val&, const Coder::Vals& v) {
                   return Coder::Vals{v[1], coder_.AddWithin(v[0], v[1], range)};
                 })[0];
  result.lo = result.hi = now;
  return Term{result};
}

// Divisors, primes, Collatz, roots
// -----------------------------------------------------------------------

Val Lowering::GcdOf(const Val& a, const Val& b) {
  const Big most = Max(Max(a.lo.Abs(), a.hi.Abs()), Max(b.lo.Abs(), b.hi.Abs()));
  const bool positive = a.lo.sign() >= 0 && b.lo.sign() >= 0;
  const Val range = Coder::Between(positive ? Big(0) : -most, most);
  Val result = coder_.While(
      {a, b}, {range, range},
      [&](const Coder::Vals& v) { return coder_.Compare(Op::Ne, v[1], coder_.Const(0)); },
      [&](const Coder::Vals& v) { return Coder::Vals{v[1], coder_.Remainder(v[0], v[1])}; })[0];
  if (!positive) result = coder_.Absolute(result);
  if (a.point() && b.point()) result.lo = result.hi = words::Gcd(a.lo, b.lo);
  return result;
}

Result<Term> Lowering::Gcd(const Node& node, const Term& a, const Term& b) {
  const Val x = TRY(Whole(node, a, "a common divisor or multiple: each number"));
  const Val y = TRY(Whole(node, b, "a common divisor or multiple: each number"));
  const Val divisor = GcdOf(x, y);
  if (node.kind == Kind::Gcd) return Term{divisor};
  if (x.is(0) && y.is(0))
    return Fail(Diag::NoAnswer, "0 and 0 have no least common multiple", node.location);
  const Val multiple = coder_.Multiply(coder_.Divide(x, divisor), y);
  return Term{multiple.lo.sign() < 0 ? coder_.Absolute(multiple) : multiple};
}

Result<Term> Lowering::Collatz(const Node& node, const Term& n) {
  const Val start = TRY(Whole(node, n, "the start of a Collatz sequence"));
  if (start.lo.sign() <= 0)
    return Fail(Diag::NoAnswer, "Collatz sequences start at 1 or above", node.location);
  if (!start.hi.ToInt64())
    return Fail(Diag::LimitReached, "the start of a Collatz sequence must be less than 2^63",
                node.location);
  coder_.NeedBits(64);
  const Val value = Coder::Between(1, INT64_MAX), steps = Coder::Between(0, INT64_MAX);
  const Coder::Vals last = coder_.While(
      {start, coder_.Const(0)}, {value, steps},
      [&](const Coder::Vals& v) { return coder_.Compare(Op::Ne, v[0], coder_.Const(1)); },
      [&](const Coder::Vals& v) {
        const Truth even =
            coder_.Compare(Op::Eq, coder_.Remainder(v[0], coder_.Const(2)), coder_.Const(0));
        const Val next = coder_.If(
            even, value, [&] { return coder_.Divide(v[0], coder_.Const(2)); },
            [&] {
              const Val triple =
                  coder_.MultiplyWithin(v[0], coder_.Const(3), value, Overflow::Checked);
              return coder_.AddWithin(triple, coder_.Const(1), value, Overflow::Checked);
            });
        return Coder::Vals{next, coder_.AddWithin(v[1], coder_.Const(1), steps, Overflow::Checked)};
      });
  return Term{last[1]};
}

// The least divisor d >= 2 with d*d <= n, if there is one. d*d stays below 2n + 2, or at 4.
Result<Term> Lowering::IsPrime(const Node& node, const Term& n) {
  const Val number = TRY(Whole(node, n, "a prime test: the number"));
  const Big most = Max(number.hi * 2 + 2, 4);
  const Val square = Coder::Between(4, most), divisor = Coder::Between(2, Max(number.hi, 3));
  auto small = [&](const Val& d) {
    Val product = coder_.MultiplyWithin(d, d, square);
    return coder_.Compare(Op::Le, product, number);
  };
  const Val last = coder_.While(
      {coder_.Const(2)}, {divisor},
      [&](const Coder::Vals& v) {
        const Truth divides_not =
            coder_.Compare(Op::Ne, coder_.Remainder(number, v[0]), coder_.Const(0));
        return coder_.Both(small(v[0]), divides_not);
      },
      [&](const Coder::Vals& v) {
        return Coder::Vals{coder_.AddWithin(v[0], coder_.Const(1), divisor)};
      })[0];
  const Truth none = coder_.Compare(Op::Gt, coder_.MultiplyWithin(last, last, square), number);
  const Truth prime = coder_.Both(coder_.Compare(Op::Ge, number, coder_.Const(2)), none);
  return Term{{}, {1, 1, {}, -1, true}, prime};
}

Result<Term> Lowering::SquareRoot(const Node& node, const Term& a) {
  if (a.num.point() && a.den.point() && !a.num.lo.huge()) {
    const Rational value = Rational::Of(a.num.lo, a.den.lo);
    const std::optional<Big> num = ExactSquareRoot(value.num), den = ExactSquareRoot(value.den);
    if (num && den && a.den.lo == value.den)
      return Settle({RootOf(a.num, *num), coder_.Const(*den), {}});
    if (num && den) return Settle({RootOf(coder_.Const(value.num), *num), coder_.Const(*den), {}});
    const std::string text = PrintRational(value);
    return Fail(Diag::NoAnswer,
                fmt::format("the square root of {} has no exact value",
                            text.size() > 40 ? "this number" : text),
                node.location);
  }
  return Fail(Diag::NoAnswer,
              "the number under a square root must be known before the program runs",
              node.location);
}

// Newton from above: descends to the root and stops where it would rise.
Val Lowering::RootOf(const Val& square, const Big& root) {
  const Val range = Coder::Between(0, Max(square.hi, 1));
  const Val first = coder_.Divide(coder_.Add(square, coder_.Const(1)), coder_.Const(2));
  Val result = coder_.While(
      {square, first}, {range, range},
      [&](const Coder::Vals& v) { return coder_.Compare(Op::Lt, v[1], v[0]); },
      [&](const Coder::Vals& v) {
        const Val sum = coder_.Add(v[1], coder_.Divide(square, v[1]));
        return Coder::Vals{v[1], coder_.Divide(sum, coder_.Const(2))};
      })[0];
  result.lo = result.hi = root;
  return result;
}

}  // namespace frazil::frontends::words
