// Facts of a path. An equation is used by replacing its newest base, if that occurs in it alone and linearly, by the
// rest: older terms cannot contain newer ones, so replacing ends.
#include "verify/tasm/terms/facts.h"

#include <algorithm>
#include <span>

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

using Kind = Literal::Kind;

uint64_t Key(const Literal& literal) {
  return (uint64_t{literal.term} << 2) | static_cast<uint64_t>(literal.kind);
}
bool IsZeroKind(Kind kind) { return kind == Kind::Zero || kind == Kind::NonZero; }

}  // namespace

// One of several ways to say a thing: zero tests of 0/1 values become conditions of what was tested, zero tests of
// high halves become ranges.
Facts::Normal Facts::Normalize(Literal literal) {
  Terms& terms = *terms_;
  for (int round = 0; round < 64; ++round) {
    const Term term = literal.term;
    const Interval range = RangeOf(term);
    if (!IsZeroKind(literal.kind)) {
      const bool wanted = literal.kind == Kind::Below32;
      if (range.Below32()) return {wanted, literal};
      if (range.low > 0xffff'ffffu) return {!wanted, literal};
      return {std::nullopt, literal};
    }
    const bool wanted = literal.kind == Kind::Zero;
    if (range.low > 0) return {!wanted, literal};
    if (range.high == 0) return {wanted, literal};
    Term base;
    uint64_t at0, at1;
    if (terms.BooleanForm(term, base, at0, at1)) {
      if (at0 != 0 && at1 != 0) return {!wanted, literal};
      const bool zero_at_1 = at1 == 0;  // exactly one of them is 0
      const bool base_is_1 = wanted == zero_at_1;
      if (terms.KindOf(base) == Base::IsZero) {
        literal = {base_is_1 ? Kind::Zero : Kind::NonZero, terms.Arguments(base)[0]};
        continue;
      }
      const Literal next = {base_is_1 ? Kind::NonZero : Kind::Zero, base};
      if (next == literal) return {std::nullopt, literal};
      literal = next;
      continue;
    }
    const Term monic = terms.Monic(term);
    const Polynomial& poly = terms.PolynomialOf(monic);
    if (poly.size() == 1 && terms.Monomial(poly[0].first).size() == 1) {
      const Term only = terms.Monomial(poly[0].first)[0].first;
      if (terms.KindOf(only) == Base::High) {
        literal = {wanted ? Kind::Below32 : Kind::Above32, terms.Arguments(only)[0]};
        continue;
      }
      literal.term = only;
      return {std::nullopt, literal};
    }
    literal.term = monic;
    return {std::nullopt, literal};
  }
  return {std::nullopt, literal};
}

std::optional<bool> Facts::Lookup(const Literal& literal) const {
  if (known_.contains(Key(literal))) return true;
  if (known_.contains(Key(Not(literal)))) return false;
  // A product of what is not 0 is not 0.
  if (!IsZeroKind(literal.kind)) return std::nullopt;
  const Polynomial& poly = terms_->PolynomialOf(literal.term);
  if (poly.size() != 1) return std::nullopt;
  bool all_nonzero = true;
  for (auto [base, exponent] : terms_->Monomial(poly[0].first)) {
    if (known_.contains(Key(Zero(base)))) return literal.kind == Kind::Zero;
    all_nonzero &= terms_->Range(base).low > 0 || known_.contains(Key(NonZero(base)));
  }
  if (all_nonzero) return literal.kind == Kind::NonZero;
  return std::nullopt;
}

namespace {

struct Parted {
  uint64_t constant;
  std::span<const Polynomial::value_type> rest;
};
Parted PartedOf(const Polynomial& poly) {
  const bool has = !poly.empty() && poly[0].first == 0;
  return {has ? poly[0].second : 0, std::span(poly).subspan(has ? 1 : 0)};
}

}  // namespace

// x + d is below 2^32 and x + d does not wrap, so x is; x is not, so x + d is not.
std::optional<bool> Facts::DecideByOffset(const Literal& literal) {
  if (IsZeroKind(literal.kind)) return std::nullopt;
  for (const Literal& known : literals_) {
    if (IsZeroKind(known.kind)) continue;
    const Parted asked = PartedOf(terms_->PolynomialOf(literal.term));
    const Parted told = PartedOf(terms_->PolynomialOf(known.term));
    if (!std::ranges::equal(asked.rest, told.rest)) continue;
    const bool below = known.kind == Kind::Below32;
    const uint64_t distance =
        below ? gl::Sub(told.constant, asked.constant) : gl::Sub(asked.constant, told.constant);
    const uint64_t most = RangeOf(below ? literal.term : known.term).high;
    if (most < gl::P && distance < gl::P - most) return below == (literal.kind == Kind::Below32);
  }
  return std::nullopt;
}

std::optional<bool> Facts::Decide(Literal literal) {
  Normal normal = Normalize(literal);
  if (normal.value) return normal.value;
  if (auto known = Lookup(normal.literal)) return known;
  const Term simpler = substitutions_.empty() ? literal.term : Simplify(literal.term);
  if (simpler != literal.term) {
    normal = Normalize({literal.kind, simpler});
    if (normal.value) return normal.value;
    if (auto known = Lookup(normal.literal)) return known;
  }
  if (auto known = DecideByOffset(normal.literal)) return known;
  constexpr int MaxChoices = 6;
  return DecideByCases(normal.literal, MaxChoices);
}

// Sound as the 0/1 value is one of the two. What it being 1 says of others is not used.
std::optional<bool> Facts::DecideByCases(const Literal& literal, int depth) {
  if (depth == 0 || terms_->Lead(literal.term) == NoTerm) return std::nullopt;
  Term at[2];
  terms_->Cofactors(literal.term, at[0], at[1]);
  std::optional<bool> both;
  for (const Term value : at) {
    const Normal normal = Normalize({literal.kind, value});
    std::optional<bool> one = normal.value;
    if (!one) one = Lookup(normal.literal);
    if (!one) one = DecideByCases(normal.literal, depth - 1);
    if (!one || (both && *both != *one)) return std::nullopt;
    both = one;
  }
  known_.insert(Key(*both ? literal : Not(literal)));
  return both;
}

bool Facts::AssumeOnlyCase(const Literal& literal, bool& possible) {
  const Term lead = terms_->Lead(literal.term);
  if (lead == NoTerm || lead == literal.term) return false;
  Term at[2];
  terms_->Cofactors(literal.term, at[0], at[1]);
  for (int other = 0; other < 2; ++other) {
    const Normal normal = Normalize({literal.kind, at[other]});
    const std::optional<bool> value = normal.value ? normal.value : Lookup(normal.literal);
    if (value.value_or(true)) continue;
    possible =
        Assume(other == 1 ? Zero(lead) : NonZero(lead)) && Assume({literal.kind, at[1 - other]});
    return true;
  }
  return false;
}

// x y = c with a product of 0/1 values: all are 1 (c = 1). Without it `and` made of `mul` would say nothing.
bool Facts::AssumeProduct(const Literal& literal, bool& contradiction) {
  Terms& terms = *terms_;
  const Polynomial poly = terms.PolynomialOf(literal.term);
  const bool negated = literal.kind == Kind::NonZero;
  if (!IsZeroKind(literal.kind) || poly.size() > 2 || poly.empty()) return false;
  const auto factors = terms.Monomial(poly.back().first);
  if (factors.size() < 2) return false;
  if (negated) {
    if (poly.size() != 1) return false;
  } else if (poly.size() != 2 || poly[0].first != 0) {
    return false;
  } else {
    for (auto [base, exponent] : factors) {
      if (!terms.IsBoolean(base)) return false;
    }
    if (gl::Neg(poly[0].second) != poly[1].second) return false;
  }
  for (auto [base, exponent] : factors) {
    if (!Assume(NonZero(base))) contradiction = true;
  }
  return true;
}

bool Facts::Assume(Literal literal) {
  if (auto known = Decide(literal)) return *known;
  literal.term = Simplify(literal.term);
  Normal normal = Normalize(literal);
  if (normal.value) return *normal.value;
  bool contradiction = false;
  if (AssumeProduct(normal.literal, contradiction)) return !contradiction;
  bool possible = true;
  if (AssumeOnlyCase(normal.literal, possible)) return possible;
  literals_.push_back(normal.literal);
  Learn(normal.literal);
  return !contradiction_;
}

void Facts::Learn(Literal literal) {
  Terms& terms = *terms_;
  known_.insert(Key(literal));
  const size_t before = terms.size();
  if (literal.kind == Kind::Below32) {
    const Term high = terms.High(literal.term);
    if (terms.KindOf(high) == Base::High) Substitute(high, terms.Constant(0), high >= before);
    return;
  }
  if (!IsZeroKind(literal.kind)) return;
  // The zero test itself, where it was made already or will be.
  const Term test = terms.IsZero(literal.term);
  if (terms.KindOf(test) == Base::IsZero) {
    Substitute(test, terms.Constant(literal.kind == Kind::Zero), test >= before);
  }
  if (literal.kind == Kind::NonZero) {
    if (terms.KindOf(literal.term) == Base::Less) {
      const Term value = terms.Arguments(literal.term)[0], bound = terms.Arguments(literal.term)[1];
      constexpr uint64_t MaxBound = 64;
      if (terms.IsConstant(bound) && terms.ConstantOf(bound) <= MaxBound)
        bounded_.emplace_back(value, terms.ConstantOf(bound));
      // Both are below 2^32, or there would be no comparison.
      if (terms.IsConstant(bound)) Bound(value, {0, terms.ConstantOf(bound) - 1});
      if (terms.IsConstant(value)) Bound(bound, {terms.ConstantOf(value) + 1, 0xffff'ffffu});
      Substitute(literal.term, terms.Constant(1), false);
    }
    CheckBounded(literal.term);
    return;
  }
  if (terms.KindOf(literal.term) == Base::Less) {
    const Term value = terms.Arguments(literal.term)[0], bound = terms.Arguments(literal.term)[1];
    if (terms.IsConstant(bound)) Bound(value, {terms.ConstantOf(bound), 0xffff'ffffu});
    if (terms.IsConstant(value)) Bound(bound, {0, terms.ConstantOf(value)});
  }
  // The newest base of the equation.
  const Polynomial poly = terms.PolynomialOf(literal.term);
  Term newest = NoTerm;
  for (auto [monomial, coefficient] : poly) {
    for (auto [base, exponent] : terms.Monomial(monomial)) {
      if (newest == NoTerm || base > newest) newest = base;
    }
  }
  if (newest == NoTerm) return;
  uint64_t factor = 0;
  for (auto [monomial, coefficient] : poly) {
    const auto& factors = terms.Monomial(monomial);
    for (auto [base, exponent] : factors) {
      if (base != newest) continue;
      if (factors.size() != 1 || exponent != 1) return;
      factor = coefficient;
    }
  }
  const Term monic = terms.Scale(literal.term, gl::Invert(factor));
  const Term rest = terms.Sub(newest, monic);
  // An application in place of which choices would stand hides them.
  if (!terms.Arguments(newest).empty() && terms.Lead(rest) != NoTerm) return;
  Substitute(newest, rest, false);
}

// What is below a bound and none of the numbers below it is nothing.
void Facts::CheckBounded(Term excluded) {
  for (size_t i = 0; i < bounded_.size() && !contradiction_; ++i) {
    const auto [value, bound] = bounded_[i];
    // Only what the new fact has to do with.
    const Term simpler = Simplify(value);
    if (terms_->IsConstant(simpler)) continue;
    const auto& factors = terms_->Monomial(terms_->PolynomialOf(simpler).back().first);
    if (!terms_->MayHave(excluded, factors[0].first)) continue;
    bool none = true;
    for (uint64_t number = 0; none && number < bound; ++number) {
      const Normal normal = Normalize(NonZero(terms_->Sub(simpler, terms_->Constant(number))));
      none = normal.value ? *normal.value : Lookup(normal.literal).value_or(false);
    }
    contradiction_ |= none;
  }
}

// `fresh`: the base was made just now, so nothing contains it yet.
void Facts::Substitute(Term base, Term value, bool fresh) {
  substitutions_.Put(base, value);
  if (fresh) return;
  ForgetWith(base);
  Renew();
}

// What was simplified before something was known of the base, as far as it has to do with it.
void Facts::ForgetWith(Term base) {
  memo_.Keep([&](const FlatMap::Entry& entry) {
    return !terms_->MayHave(static_cast<Term>(entry.key), base) &&
           !terms_->MayHave(entry.value, base);
  });
}

// Facts about terms that now have simpler forms are facts about those.
void Facts::Renew() {
  const std::vector<Literal> all = literals_;
  for (const Literal& literal : all) {
    if (memo_.contains(literal.term)) continue;
    const Term simpler = Rebuild(literal.term);
    if (simpler == literal.term) continue;
    const Normal normal = Normalize({literal.kind, simpler});
    if (!normal.value) known_.insert(Key(normal.literal));
    contradiction_ |= normal.value && !*normal.value;
  }
  // Applications of which something is known are known by their simpler arguments too.
  constexpr size_t MaxRenewed = 256;
  if (replacing_ || substitutions_.size() > MaxRenewed) return;
  std::vector<Term> more;
  for (const auto& [key, value] : substitutions_.All()) {
    const Term base = static_cast<Term>(key);
    if (terms_->Arguments(base).empty()) continue;
    const Term simpler = RebuildArguments(base);
    if (simpler == base || terms_->KindOf(simpler) == Base::None || simpler == value) continue;
    if (substitutions_.insert(simpler, value)) more.push_back(simpler);
  }
  for (const Term base : more) ForgetWith(base);
}

void Facts::Bound(Term term, Interval range) {
  Interval& own = bounds_.try_emplace(term, Interval{}).first->second;
  own = {std::max(own.low, range.low), std::min(own.high, range.high)};
  contradiction_ |= own.low > own.high;
}

Interval Facts::OwnRange(Term term) const {
  Interval range = terms_->Range(term);
  if (auto found = bounds_.find(term); found != bounds_.end()) {
    range.low = std::max(range.low, found->second.low);
    range.high = std::min(range.high, found->second.high);
  }
  if (known_.contains(Key(Below32(term))))
    range.high = std::min<uint64_t>(range.high, 0xffff'ffffu);
  if (range.low == 0 && known_.contains(Key(NonZero(term)))) range.low = 1;
  return range.low <= range.high ? range : terms_->Range(term);
}

Interval Facts::RangeOf(Term term) {
  const Interval range = OwnRange(term);
  if (range.high < gl::P - 1 || terms_->KindOf(term) != Base::None) return range;
  const Polynomial poly = terms_->PolynomialOf(term);
  // A number more or less than something whose range is known as a whole.
  if (poly.size() > 1 && poly[0].first == 0) {
    const uint64_t added = poly[0].second, taken = gl::Neg(added);
    const Interval rest = OwnRange(terms_->Sub(term, terms_->Constant(added)));
    if (rest.high < gl::P - added)
      return {std::max(range.low, rest.low + added), rest.high + added};
    if (rest.low >= taken) return {std::max(range.low, rest.low - taken), rest.high - taken};
  }
  // Sums, differences and products of what is known to be below 2^32, as integers.
  __extension__ using uint128 = unsigned __int128;
  __extension__ using int128 = __int128;
  int128 low = 0, high = 0;
  for (auto [monomial, coefficient] : poly) {
    const bool negative = coefficient > gl::P / 2;
    uint128 least = negative ? gl::Neg(coefficient) : coefficient, most = least;
    for (auto [base, exponent] : terms_->Monomial(monomial)) {
      const Interval of = OwnRange(base);
      for (uint32_t i = 0; i < exponent; ++i) {
        least *= of.low;
        most *= of.high;
        if (most >= gl::P) return range;
        if (of.high <= 1) break;
      }
    }
    low += negative ? -static_cast<int128>(most) : static_cast<int128>(least);
    high += negative ? -static_cast<int128>(least) : static_cast<int128>(most);
    if (high >= gl::P || low <= -static_cast<int128>(gl::P)) return range;
  }
  if (low < 0 && high >= 0) return range;
  if (high < 0) low += gl::P, high += gl::P;
  return {std::max(range.low, static_cast<uint64_t>(low)), static_cast<uint64_t>(high)};
}

Term Facts::Simplify(Term term) {
  if (known_.empty()) return term;
  return Rebuild(term);
}

Term Facts::RebuildBase(Term base) {
  if (const Term* found = substitutions_.find(base))
    return replacing_ ? *found : Rebuild(Term{*found});
  return RebuildArguments(base);
}

Term Facts::RebuildArguments(Term base) {
  Terms& terms = *terms_;
  const auto old = terms.Arguments(base);
  if (old.empty()) return base;
  std::vector<Term> arguments(old.begin(), old.end());
  bool changed = false;
  for (Term& argument : arguments) {
    const Term next = Rebuild(argument);
    changed |= next != argument;
    argument = next;
  }
  const Base kind = terms.KindOf(base);
  if (!changed && kind != Base::High && kind != Base::Less) return base;
  Term result = base;
  switch (kind) {
    case Base::IsZero: result = terms.IsZero(arguments[0]); break;
    case Base::Inverse: result = terms.Inverse(arguments[0]); break;
    case Base::High: {
      Term upper, lower;
      if (RangeOf(arguments[0]).Below32()) {
        result = terms.Constant(0);
      } else if (terms.SplitMultiples(arguments[0], upper, lower) &&
                 Terms::IsHighHalf(RangeOf(upper), RangeOf(lower))) {
        result = upper;
      } else {
        result = terms.High(arguments[0]);
      }
      break;
    }
    case Base::Quotient: result = terms.Quotient(arguments[0], arguments[1]); break;
    case Base::Less: {
      const Interval a = RangeOf(arguments[0]), b = RangeOf(arguments[1]);
      result = a.high < b.low    ? terms.Constant(1)
               : a.low >= b.high ? terms.Constant(0)
                                 : terms.Less(arguments[0], arguments[1]);
      break;
    }
    case Base::And: result = terms.And(arguments[0], arguments[1]); break;
    case Base::Log2: result = terms.Log2(arguments[0]); break;
    case Base::PopCount: result = terms.PopCount(arguments[0]); break;
    case Base::Named: result = arguments[0]; break;
    case Base::Guarded: result = terms.Mul(arguments[0], arguments[1]); break;
    case Base::Power: result = terms.Power(arguments[0], arguments[1]); break;
    case Base::Product: result = terms.Mul(arguments[0], arguments[1]); break;
    case Base::Sum: result = terms.Add(arguments[0], arguments[1]); break;
    default: result = terms.Apply(kind, arguments, terms.IndexOf(base), terms.TokenOf(base)); break;
  }
  // A new form may be one of which something is known.
  if (result != base && !replacing_) {
    if (const Term* found = substitutions_.find(result)) return Rebuild(Term{*found});
  }
  return result;
}

// A term is its own simplest form while it is being rebuilt: equations in a circle end there. Terms too deep for the
// call stack stay as they are.
Term Facts::Rebuild(Term term) {
  if (const Term* found = memo_.find(term)) return *found;
  constexpr int MaxDepth = 1500;
  if (depth_ >= MaxDepth) return term;
  ++depth_;
  memo_.Put(term, term);
  const Term result = RebuildOnce(term);
  memo_.Put(term, result);
  --depth_;
  return result;
}

Term Facts::RebuildOnce(Term term) {
  Terms& terms = *terms_;
  Term result = term;
  if (terms.KindOf(term) != Base::None) {
    result = RebuildBase(term);
  } else if (!terms.IsConstant(term)) {
    // Only what changes is computed anew: most of a sum stays as it is.
    const Polynomial poly = terms.PolynomialOf(term);
    for (auto [id, coefficient] : poly) {
      const auto factors = terms.Monomial(id);
      bool changed = false;
      for (auto [base, exponent] : factors) {
        changed |= Rebuild(base) != base;
        if (exponent > 4096) return term;
      }
      if (!changed) continue;
      Term before = terms.Constant(coefficient), after = before;
      for (auto [base, exponent] : factors) {
        const Term next = Rebuild(base);
        for (uint32_t i = 0; i < exponent; ++i) {
          before = terms.Mul(before, base);
          after = terms.Mul(after, next);
        }
      }
      result = terms.Add(terms.Sub(result, before), after);
    }
  }
  return result;
}

bool Facts::Equal(Term a, Term b) {
  if (a == b) return true;
  a = Simplify(a);
  b = Simplify(b);
  if (a == b) return true;
  return Decide(Zero(terms_->Sub(a, b))).value_or(false);
}

bool Facts::Differ(Term a, Term b) {
  if (a == b) return false;
  return Decide(NonZero(terms_->Sub(a, b))).value_or(false);
}

}  // namespace frazil::verify::tasm
