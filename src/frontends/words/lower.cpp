// Arithmetic of exact fractions, made of whole operations. A fraction stays unreduced until it is
// returned or divided by something that may be 0; where the ranges show that a quotient is whole it
// becomes one division at once ("48 / 6" is const, const, div).
#include "frontends/words/lower.h"

#include <fmt/format.h>

#include "base/check.h"
#include "frontends/words/lowering.h"

namespace frazil::frontends::words {

using ir::Op;

// a * by, where a factor of 1 costs nothing and a constant is scaled as it is written.
Val Lowering::Scale(const Val& a, const Val& by) {
  if (by.is(1)) return a;
  if (a.is(1)) return by;
  if (a.written() && by.constant) return coder_.Const(a.lo * by.lo);
  return coder_.Multiply(a, by);
}

// A fraction that is known to be whole becomes whole.
Term Lowering::Settle(Term term) {
  if (term.whole() || !term.num.point() || !term.den.point()) return term;
  if (term.num.lo.huge() || term.den.lo.huge() || !(term.num.lo % term.den.lo).is_zero())
    return term;
  return {coder_.Divide(term.num, term.den)};
}

Term Lowering::Multiply(const Term& a, const Term& b) {
  if (a.whole() && b.whole()) return {coder_.Multiply(a.num, b.num)};
  return Settle({coder_.Multiply(a.num, b.num), Scale(a.den, b.den), {}});
}

Term Lowering::Divide(const Term& a, const Term& b) {
  if (b.num.is(0)) return {coder_.Divide(a.num, b.num)};
  Term result{Scale(a.num, b.den), Scale(a.den, b.num), {}};
  if (result.den.point() && result.den.lo.sign() < 0) {
    result.num = result.num.written() ? coder_.Const(-result.num.lo) : coder_.Negate(result.num);
    result.den = coder_.Const(-result.den.lo);
  } else if (result.den.lo.sign() <= 0) {
    return Reduce(result);
  }
  return Settle(std::move(result));
}

Term Lowering::WholeDivide(const Term& a, const Term& b) {
  return {coder_.Divide(Scale(a.num, b.den), Scale(a.den, b.num))};
}

Lowering::Common Lowering::OverOneDenominator(const Term& a, const Term& b) {
  if (a.den.point() && b.den.point()) {
    const Big common = a.den.lo / words::Gcd(a.den.lo, b.den.lo) * b.den.lo;
    if (!common.huge())
      return {Scale(a.num, coder_.Const(common / a.den.lo)),
              Scale(b.num, coder_.Const(common / b.den.lo)), coder_.Const(common)};
  }
  return {Scale(a.num, b.den), Scale(b.num, a.den), Scale(a.den, b.den)};
}

// Euclid. The first remainder is by the denominator itself, so a denominator of 0 traps here.
Term Lowering::Reduce(const Term& term) {
  const Val n = coder_.Hold(term.num), d = coder_.Hold(term.den);
  const Big most = Max(d.lo.Abs(), d.hi.Abs());
  const bool positive = n.lo.sign() >= 0 && d.lo.sign() > 0;
  const Big least = positive ? Big(0) : -most;
  const Val rest = coder_.Remainder(n, d);
  const Val range = Coder::Between(least, most);
  const Coder::Vals last = coder_.While(
      {d, rest}, {range, range},
      [&](const Coder::Vals& v) { return coder_.Compare(Op::Ne, v[1], coder_.Const(0)); },
      [&](const Coder::Vals& v) { return Coder::Vals{v[1], coder_.Remainder(v[0], v[1])}; });
  Val divisor = last[0];
  if (!positive) {
    divisor = coder_.Absolute(divisor);
    if (d.lo.sign() <= 0)
      divisor = coder_.Select(coder_.Compare(Op::Lt, d, coder_.Const(0)), coder_.Negate(divisor),
                              divisor);
  }
  Term reduced{coder_.Divide(n, divisor), coder_.Divide(d, divisor), {}};
  reduced.den.lo = 1;
  reduced.den.hi = Max(most, 1);
  return reduced;
}

Result<Term> Lowering::Run(ExprId from) {
  for (ExprId id : tree_.PostOrder(from)) terms_[id.index] = TRY(LowerNode(id));
  return terms_[from.index];
}

Result<Term> Lowering::LowerNode(ExprId id) {
  const Node& node = tree_.at(id);
  if (node.kind == Kind::Number)
    return Term{coder_.Literal(node.value.num, id.index), coder_.Const(node.value.den), {}};
  if (node.kind == Kind::Truth)
    return Term{{}, {1, 1, {}, -1, true}, coder_.Constant(!node.value.num.is_zero())};
  const Term& a = terms_[node.a.index];
  const Term none;
  const Term& b = node.b.valid() ? terms_[node.b.index] : none;
  const bool truths = a.truth.has_value() || b.truth.has_value();
  if (truths != (node.kind == Kind::Both))
    return Fail(Diag::NoAnswer, "a yes or no cannot be used as a number", node.location);
  return Binary(node, a, b);
}

Result<Term> Lowering::Binary(const Node& node, const Term& a, const Term& b) {
  switch (node.kind) {
    case Kind::Multiply: return Multiply(a, b);
    case Kind::Divide: return Divide(a, b);
    case Kind::WholeDivide: return WholeDivide(a, b);
    case Kind::Power: return Power(node, a, b);
    case Kind::Negate: return Term{coder_.Negate(a.num), a.den, {}};
    case Kind::Absolute: return Term{coder_.Absolute(a.num), a.den, {}};
    case Kind::Gcd:
    case Kind::Lcm: return Gcd(node, a, b);
    case Kind::SquareRoot: return SquareRoot(node, a);
    case Kind::Factorial: return Factorial(node, a);
    case Kind::Fibonacci: return Fibonacci(node, a);
    case Kind::Collatz: return Collatz(node, a);
    case Kind::IsPrime: return IsPrime(node, a);
    case Kind::Sum: return Sum(node, a, b);
    case Kind::Product: return Product(node, a, b);
    case Kind::CountTo: return CountTo(node, a, b);
    case Kind::Both: return Term{{}, {1, 1, {}, -1, true}, coder_.Both(*a.truth, *b.truth)};
    default: break;
  }
  const Common both = OverOneDenominator(a, b);
  switch (node.kind) {
    case Kind::Add: return Settle({coder_.Add(both.a, both.b), both.den, {}});
    case Kind::Subtract: return Settle({coder_.Subtract(both.a, both.b), both.den, {}});
    case Kind::Remainder: return Settle({coder_.Remainder(both.a, both.b), both.den, {}});
    case Kind::Minimum: return Settle({coder_.Minimum(both.a, both.b), both.den, {}});
    case Kind::Maximum: return Settle({coder_.Maximum(both.a, both.b), both.den, {}});
    case Kind::Compare: {
      constexpr Op Ops[] = {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};
      const Op op = Ops[static_cast<size_t>(node.relation)];
      return Term{{}, {1, 1, {}, -1, true}, coder_.Compare(op, both.a, both.b)};
    }
    default: CHECK(false);
  }
}

namespace {

// Both passes end alike: a fraction is reduced, and what is returned must have an id and a range.
Term Finish(Lowering& lowering, Coder& coder, Term term) {
  if (term.truth) return term;
  if (!term.whole()) term = lowering.Reduce(term);
  term.num.id = coder.Id(term.num);
  if (!term.whole()) term.den.id = coder.Id(term.den);
  return term;
}

Result<Term> RunOn(const Tree& tree, ExprId from, Coder& coder) {
  Lowering lowering(tree, coder);
  const Term term = TRY(lowering.Run(from));
  Term finished = Finish(lowering, coder, term);
  if (coder.too_wide())
    return Fail(Diag::LimitReached, "the computation needs whole numbers of more than 4096 bits",
                tree.at(from).location);
  return finished;
}

}  // namespace

Result<Worth> Assess(const Tree& tree) {
  Coder coder;
  Lowering lowering(tree, coder);
  const Term term = TRY(lowering.Run(tree.root));
  if (term.truth) return Worth{{}, term.truth->known};
  if (coder.too_wide() || !term.num.point() || !term.den.point()) return Worth{};
  return Worth{Rational::Of(term.num.lo, term.den.lo), {}};
}

Result<Lowered> Lower(const Tree& tree, ExprId from) {
  Coder measuring;
  const Term measured = TRY(RunOn(tree, from, measuring));
  Lowered lowered;
  const bool fraction = !measured.truth && !measured.whole();
  lowered.kind = measured.truth ? AnswerKind::Truth
                 : fraction     ? AnswerKind::Fraction
                                : AnswerKind::Integer;
  std::vector<ir::Type> results(fraction ? 2 : 1,
                                measured.truth ? ir::types::Bool : measuring.type());
  ir::FunctionBuilder builder(lowered.program, "main", {}, std::move(results));
  Coder emitting(measuring, builder);
  const Term term = TRY(RunOn(tree, from, emitting));
  if (term.truth) {
    builder.Return({term.truth->id});
  } else if (fraction) {
    builder.Return({term.num.id, term.den.id});
  } else {
    builder.Return({term.num.id});
  }
  builder.Finish();
  return lowered;
}

}  // namespace frazil::frontends::words
