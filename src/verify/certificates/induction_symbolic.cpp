// Loops with bounds that are values. Let n = hi - lo >= 1 and g(t) = f(lo + t). By Newton's forward differences
// g(t) = sum c_j C(t, j) with c_j integer polynomials, and the sum of C(t, j) over t < n is C(n, j+1): base and
// step of the induction. So the loop gives init + sum c_j C(n, j+1). A claimed term is read as a polynomial in the
// same atoms and compared modulo 2^width (or p). For shifts and masks n is split into 2^s m + r, each r a case; the empty
// range is one more case, in which the claim must be `init`.
//
// A value of type T is always wrap_T(P) for its polynomial P over the integers; it is P itself where the interval of P
// lies within T. Shifts, widening casts and comparisons need that.
#include <algorithm>
#include <bitset>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "verify/internal/induction.h"
#include "verify/internal/polynomial.h"

namespace frazil::verify {
namespace {

using ir::Op;

using Atom = uint32_t;
using Monomial = std::multiset<Atom>;
using Poly = Polynomial<Atom>;

constexpr Atom LowAtom = 0, CountAtom = 1, IndexAtom = 2, CarriedAtom = 3, FirstFree = 4;
constexpr size_t MaxDegree = 6;
constexpr size_t MaxTerms = 200;

Poly Number(const BigInt& n) { return n.is_zero() ? Poly{} : Poly{{Monomial{}, n}}; }
Poly Variable(Atom atom) { return {{Monomial{atom}, BigInt(1)}}; }
BigInt ConstantPart(const Poly& p) {
  const auto found = p.find({});
  return found == p.end() ? BigInt(0) : found->second;
}
std::optional<BigInt> AsNumber(const Poly& p) {
  if (p.empty()) return BigInt(0);
  if (p.size() == 1 && p.begin()->first.empty()) return p.begin()->second;
  return std::nullopt;
}
Poly Substitute(const Poly& p, Atom atom, const Poly& by) {
  Poly result;
  for (const auto& [monomial, coefficient] : p) {
    Monomial rest = monomial;
    Poly part = {{Monomial{}, coefficient}};
    for (size_t n = rest.erase(atom); n > 0; --n) part = Times(part, by);
    result = Plus(result, Times(part, {{rest, BigInt(1)}}), 1);
  }
  return result;
}

// Signs of a difference, and those of a - b for which the comparison of a and b holds.
using Signs = std::bitset<3>;
constexpr Signs Negative = 1, Zero = 2, Positive = 4;
std::optional<Signs> SignsFor(Op op) {
  switch (op) {
    case Op::Lt: return Negative;
    case Op::Le: return Negative | Zero;
    case Op::Gt: return Positive;
    case Op::Ge: return Positive | Zero;
    case Op::Eq: return Zero;
    case Op::Ne: return Negative | Positive;
    default: return std::nullopt;
  }
}

// The inverse of an odd number modulo 2^bits, by Newton's iteration.
BigInt InverseOdd(const BigInt& odd, uint32_t bits) {
  const BigInt modulus = BigInt::PowerOfTwo(bits);
  BigInt x = odd.Mod(modulus);
  for (uint32_t correct = 3; correct < bits; correct *= 2)
    x = (x * (BigInt(2) - odd * x)).Mod(modulus);
  return x;
}

// One case: n = 2^split m + residue, or an empty range.
struct Case {
  bool empty = false;
  uint32_t split = 0;
  int64_t residue = 0;
};

class CaseProof {
 public:
  CaseProof(const SymbolicLoop& loop, Case which, std::string& why)
      : loop_(loop), terms_(*loop.terms), case_(which), why_(why) {
    const Interval low = *loop.ranges->Of(loop.low), high = *loop.ranges->Of(loop.high);
    atoms_ = {{LowAtom, low}, {IndexAtom, {low.low, high.high}}};
    const BigInt most = case_.empty ? low.high - high.low : high.high - low.low;
    if (case_.empty) {  // hi = lo - m
      count_ = Plus({}, Variable(CountAtom), -1);
      atoms_[CountAtom] = {0, std::max(most, BigInt(0))};
    } else {
      const BigInt factor = BigInt::PowerOfTwo(case_.split);
      count_ = Plus(Number(case_.residue), Variable(CountAtom), factor);
      BigInt greatest, rest;
      BigInt::DivRem(std::max(most, BigInt(0)), factor, greatest, rest);
      atoms_[CountAtom] = {case_.residue == 0 ? 1 : 0, greatest};
      count_interval_ = {1, most};
    }
    const auto low_constant = terms_.ConstantOf(loop.low);
    low_poly_ = low_constant
                    ? Number(BigInt::FromWords(*low_constant, ir::IsSigned(loop.index_type.scalar)))
                    : Variable(LowAtom);
  }

  bool Prove() {
    const ir::Type type = terms_.TypeOf(loop_.init);
    const std::optional<Poly> init = Evaluate(loop_.init, 0), closed = Evaluate(loop_.closed, 0);
    if (!init || !closed) return Fail("the formula is not understood");
    Poly expected = *init;
    if (!case_.empty) {
      const std::optional<Poly> sum = Sum(type);
      if (!sum) return false;
      expected = Plus(expected, *sum, 1);
    }
    const BigInt modulus = ModulusOf(type);
    for (const auto& [monomial, coefficient] : Plus(*closed, expected, -1)) {
      if (!coefficient.Mod(modulus).is_zero()) {
        return Fail(case_.empty
                        ? "the formula differs from the initial value where the range is empty"
                        : "the formula is not the sum");
      }
    }
    return true;
  }

 private:
  bool Fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }
  static BigInt ModulusOf(ir::Type type) {
    if (type.scalar == ir::Scalar::Field) return BigInt::FromUnsigned(goldilocks::P);
    return BigInt::PowerOfTwo(static_cast<uint32_t>(ir::BitsOf(type)));
  }

  // sum over t < n of f(lo + t), f read off the body.
  std::optional<Poly> Sum(ir::Type type) {
    in_body_ = true;
    std::optional<Poly> yield = Evaluate(loop_.yield, 0);
    in_body_ = false;
    if (!yield) return Unread("the body is not understood");
    Poly f = Plus(*yield, Variable(CarriedAtom), -1);
    size_t degree = 0;
    for (const auto& [monomial, coefficient] : f) {
      if (monomial.contains(CarriedAtom))
        return Unread("the body does more than add to what it carries");
      degree = std::max(degree, monomial.count(IndexAtom));
    }
    if (degree > MaxDegree) return Unread("the degree is too high");
    std::vector<Poly> differences;  // g(0), g(1), ... then, in place, their differences
    for (size_t t = 0; t <= degree; ++t) {
      differences.push_back(
          Substitute(f, IndexAtom, Plus(low_poly_, Number(BigInt(static_cast<int64_t>(t))), 1)));
    }
    Poly sum;
    for (size_t j = 0; j <= degree; ++j) {
      const std::optional<Poly> binomial = Binomial(j + 1, type);
      if (!binomial) return Unread("the number of turns is not split finely enough");
      sum = Plus(sum, Times(differences[0], *binomial), 1);
      for (size_t t = 0; t + j + 1 <= degree; ++t)
        differences[t] = Plus(differences[t + 1], differences[t], -1);
    }
    return sum;
  }
  std::optional<Poly> Unread(std::string why) {
    Fail(std::move(why));
    return std::nullopt;
  }

  // C(n, k) modulo the type's modulus, as a polynomial of the split count.
  std::optional<Poly> Binomial(size_t k, ir::Type type) const {
    Poly product = Number(1);
    BigInt factorial = 1;
    for (size_t i = 0; i < k; ++i) {
      product = Times(product, Plus(count_, Number(BigInt(static_cast<int64_t>(i))), -1));
      factorial = factorial * BigInt(static_cast<int64_t>(i + 1));
    }
    BigInt even = 1, inverse;
    if (type.scalar == ir::Scalar::Field) {
      inverse =
          BigInt::FromUnsigned(goldilocks::Invert(factorial.Mod(ModulusOf(type)).ToWords(1)[0]));
    } else {
      while (!factorial.is_odd()) {
        BigInt rest;
        BigInt::DivRem(factorial, BigInt(2), factorial, rest);
        even = even * 2;
      }
      inverse = InverseOdd(factorial, static_cast<uint32_t>(ir::BitsOf(type)));
    }
    Poly result;
    for (const auto& [monomial, coefficient] : product) {
      BigInt quotient, rest;
      BigInt::DivRem(coefficient, even, quotient, rest);
      if (!rest.is_zero()) return std::nullopt;
      AddTo(result, monomial, quotient * inverse);
    }
    return result;
  }

  // --- reading terms -------------------------------------------------------------------------------------------

  std::optional<Poly> Evaluate(TermId term, int depth) {
    const TermId root = terms_.Find(term);
    const ir::Type type = terms_.TypeOf(root);
    if (depth > 40 || !type.is_scalar()) return std::nullopt;
    if (root == terms_.Find(loop_.low)) return low_poly_;
    if (root == terms_.Find(loop_.high)) return Plus(low_poly_, count_, 1);
    if (const auto constant = terms_.ConstantOf(root)) {
      if (ir::WordsOf(type) != 1 || ir::IsFloat(type.scalar)) return std::nullopt;
      return Number(BigInt::FromWords(*constant, ir::IsSigned(type.scalar)));
    }
    if (root == terms_.Find(loop_.index))
      return in_body_ ? std::optional(Variable(IndexAtom)) : std::nullopt;
    if (root == terms_.Find(loop_.carried))
      return in_body_ ? std::optional(Variable(CarriedAtom)) : std::nullopt;
    if (const auto known = known_.find({root, in_body_}); known != known_.end())
      return known->second;
    known_[{root, in_body_}] = std::nullopt;  // a class that needs itself has no value that way
    const std::optional<Poly> value = EvaluateMembers(root, depth);
    known_[{root, in_body_}] = value;
    return value;
  }

  // Any member will do: all are equal.
  std::optional<Poly> EvaluateMembers(TermId root, int depth) {
    TermId member = root;
    do {
      const Terms::Node& node = terms_.node(member);
      if (node.kind == Terms::Kind::Apply) {
        std::optional<Poly> value = EvaluateNode(node, depth);
        if (value && value->size() <= MaxTerms) return value;
      }
      member = terms_.Next(member);
    } while (member != root);
    // What no turn changes is any integer of its type.
    const std::optional<Interval> interval = loop_.ranges->Of(root);
    const bool is_field = terms_.TypeOf(root).scalar == ir::Scalar::Field;
    if ((!interval && !is_field) || terms_.TypeOf(root).scalar == ir::Scalar::Int || Varies(root))
      return std::nullopt;
    const auto [place, is_new] =
        free_.try_emplace(root, FirstFree + static_cast<Atom>(free_.size()));
    if (is_new && interval) atoms_[place->second] = *interval;
    return Variable(place->second);
  }

  // Whether the class may be made of the index or of what the loop carries: whether these can be reached from it. Of the
  // classes on the way to them nothing is kept, since in a cycle one may be looked at before what it is made of.
  bool Varies(TermId root) {
    std::set<TermId> seen = {terms_.Find(root)};
    std::vector<TermId> work = {terms_.Find(root)};
    while (!work.empty()) {
      const TermId first = work.back();
      work.pop_back();
      if (terms_.Equal(first, loop_.index) || terms_.Equal(first, loop_.carried)) return true;
      if (constant_.contains(first)) continue;
      TermId member = first;
      do {
        for (const TermId child : terms_.node(member).children) {
          if (seen.insert(terms_.Find(child)).second) work.push_back(terms_.Find(child));
        }
        member = terms_.Next(member);
      } while (member != first);
    }
    constant_.insert(seen.begin(), seen.end());
    return false;
  }

  std::optional<Poly> EvaluateNode(const Terms::Node& node, int depth) {
    const ir::Scalar scalar = node.type.scalar;
    const bool is_ring = ir::IsFixedInt(scalar) || scalar == ir::Scalar::Field;
    if (node.op == Op::Select) return EvaluateSelect(node, depth);
    if (!is_ring || node.children.empty() || node.children.size() > 2) return std::nullopt;
    const std::optional<Poly> a = Evaluate(node.children[0], depth + 1);
    const std::optional<Poly> b = Evaluate(node.children.back(), depth + 1);
    if (!a || !b) return std::nullopt;
    const bool is_integer = ir::IsFixedInt(scalar);
    switch (node.op) {
      FRAZIL_CASES(Ring) return RingResult(node.op, *a, *b, Plus<Atom>, Times<Atom>);
      case Op::Cast: return EvaluateCast(node, *a);
      case Op::Shl:
      case Op::Shr:
      case Op::And:
      case Op::Or: return is_integer ? EvaluateBits(node, *a, *b) : std::nullopt;
      default: return std::nullopt;
    }
  }

  std::optional<Poly> EvaluateCast(const Terms::Node& node, const Poly& a) {
    const ir::Type from = terms_.TypeOf(node.children[0]);
    if (!ir::IsFixedInt(from.scalar)) return std::nullopt;
    const bool narrows =
        ir::IsFixedInt(node.type.scalar) && ir::BitsOf(node.type) <= ir::BitsOf(from);
    if (!narrows && !IsExact(a, from)) return std::nullopt;
    return a;
  }

  // Low bits of the polynomial if they are the same for all atoms.
  static std::optional<BigInt> LowBits(const Poly& p, uint32_t bits) {
    const BigInt modulus = BigInt::PowerOfTwo(bits);
    for (const auto& [monomial, coefficient] : p) {
      if (!monomial.empty() && !coefficient.Mod(modulus).is_zero()) return std::nullopt;
    }
    return ConstantPart(p).Mod(modulus);
  }

  std::optional<Poly> EvaluateBits(const Terms::Node& node, const Poly& a, const Poly& b) {
    const auto width = static_cast<uint32_t>(ir::BitsOf(node.type));
    std::optional<BigInt> amount = AsNumber(b);
    const Poly* value = &a;
    if (!amount && (node.op == Op::And || node.op == Op::Or)) {  // these commute
      amount = AsNumber(a);
      value = &b;
    }
    if (!amount || amount->is_negative()) return std::nullopt;
    if (node.op == Op::And || node.op == Op::Or) {
      const uint32_t bits = amount->bits();  // all bits of the constant lie below
      const std::optional<BigInt> low = LowBits(*value, bits);
      if (!low) return std::nullopt;
      const uint64_t x = low->ToWords(1)[0], k = amount->ToWords(1)[0];
      if (node.op == Op::And) return Number(BigInt::FromUnsigned(x & k));
      return Plus(*value, Number(BigInt::FromUnsigned(x | k) - BigInt::FromUnsigned(x)), 1);
    }
    const auto shift = static_cast<uint32_t>(amount->ToWords(1)[0] % width);
    if (node.op == Op::Shl) return Plus({}, a, BigInt::PowerOfTwo(shift));
    const std::optional<BigInt> low = LowBits(a, shift);
    if (!low || !IsExact(a, node.type)) return std::nullopt;
    Poly result;
    for (const auto& [monomial, coefficient] : Plus(a, Number(*low), -1)) {
      BigInt quotient, rest;
      BigInt::DivRem(coefficient, BigInt::PowerOfTwo(shift), quotient, rest);
      AddTo(result, monomial, quotient);
    }
    return result;
  }

  std::optional<Poly> EvaluateSelect(const Terms::Node& node, int depth) {
    const std::optional<bool> condition = Decide(node.children[0], depth + 1);
    if (!condition) return std::nullopt;
    return Evaluate(node.children[*condition ? 1 : 2], depth + 1);
  }

  // A comparison of exact integers, by the interval of their difference.
  std::optional<bool> Decide(TermId term, int depth) {
    const TermId first = terms_.First(term);
    TermId member = first;
    do {
      const Terms::Node& node = terms_.node(member);
      member = terms_.Next(member);
      if (node.kind != Terms::Kind::Apply || node.children.size() != 2 ||
          !ir::IsFixedInt(node.type.scalar))
        continue;
      const std::optional<Poly> a = Evaluate(node.children[0], depth),
                                b = Evaluate(node.children[1], depth);
      if (!a || !b) continue;
      const bool low_or_high = IsBound(node.children[0]) && IsBound(node.children[1]);
      if (!low_or_high && (!IsExact(*a, node.type) || !IsExact(*b, node.type))) continue;
      const std::optional<Interval> d = IntervalOfPoly(Plus(*a, *b, -1));
      if (!d) continue;
      const std::optional<Signs> holds = SignsFor(node.op);
      if (!holds) continue;
      Signs possible;
      if (d->low.is_negative()) possible |= Negative;
      if (d->low <= BigInt(0) && d->high >= BigInt(0)) possible |= Zero;
      if (d->high > BigInt(0)) possible |= Positive;
      if ((possible & *holds) == possible) return true;
      if ((possible & *holds).none()) return false;
    } while (member != first);
    return std::nullopt;
  }
  // The loop's own bounds are exact, though the interval of lo + n does not see it.
  bool IsBound(TermId term) const {
    return terms_.Equal(term, loop_.low) || terms_.Equal(term, loop_.high);
  }

  // --- intervals -----------------------------------------------------------------------------------------------

  std::optional<Interval> IntervalOfPoly(const Poly& p) const {
    // The count as a whole has a sharper interval than the sum of its parts.
    if (!case_.empty && Plus(p, count_, -1).empty()) return count_interval_;
    Interval sum{0, 0};
    for (const auto& [monomial, coefficient] : p) {
      Interval part{coefficient, coefficient};
      for (Atom atom : monomial) {
        const auto found = atoms_.find(atom);
        if (found == atoms_.end()) return std::nullopt;
        part = *ExactInterval(Op::Mul, part, &found->second);
      }
      sum = *ExactInterval(Op::Add, sum, &part);
    }
    return sum;
  }
  bool IsExact(const Poly& p, ir::Type type) const {
    const std::optional<Interval> whole = IntervalOf(type), interval = IntervalOfPoly(p);
    return whole && interval && Within(*interval, *whole);
  }

  const SymbolicLoop& loop_;
  const Terms& terms_;
  Case case_;
  std::string& why_;
  std::map<Atom, Interval> atoms_;
  std::map<TermId, Atom> free_;
  std::set<TermId> constant_;  // classes of which neither can be reached
  std::map<std::pair<TermId, bool>, std::optional<Poly>> known_;
  Poly count_, low_poly_;
  Interval count_interval_;
  bool in_body_ = false;
};

}  // namespace

bool ClosedFormHolds(const SymbolicLoop& loop, std::string& why) {
  const ir::Type type = loop.terms->TypeOf(loop.init);
  if (!type.is_scalar() || !(ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Field)) {
    why = "only wrapping integers and fields have symbolic sums";
    return false;
  }
  if (!CaseProof(loop, {.empty = true}, why).Prove()) return false;
  constexpr uint32_t split = 3;
  for (int64_t residue = 0; residue < int64_t{1} << split; ++residue) {
    if (!CaseProof(loop, {.empty = false, .split = split, .residue = residue}, why).Prove())
      return false;
  }
  return true;
}

}  // namespace frazil::verify
