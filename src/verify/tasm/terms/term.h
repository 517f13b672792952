// Values of a symbolic execution: hash-consed terms over the field.
//
// A term is a polynomial in normal form whose indeterminates ("bases") are atoms (a word of the initial stack, an
// input, ...) and applications of what the machine computes beyond + and *: zero test, high half, quotient, and,
// permutation, ... Two terms with one id are equal wherever both are defined. A polynomial that grows too large becomes an
// opaque base that carries its values at three points (`points.h`); from then on terms over it are told apart by those
// values, `inexact()` says so, and the answer is algebraic instead of proved.
//
// A product with a zero test or a comparison c is not expanded: t = t0 + c x with the newest such c of a term, c x is one base
// (`Guarded`), and x is over older ones alone. As c is 0 or 1, t0 is the value at 0 and t0 + x that at 1, so this form is as
// unique as the two are, choices and arithmetic that chooses have it in common, and a row of n choices has size n.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/number/goldilocks.h"
#include "verify/tasm/terms/points.h"

namespace frazil::verify::tasm {

using Term = uint32_t;
constexpr Term NoTerm = ~0u;

enum class Base : uint8_t {
  None,  // the term is not a single base
  // Atoms; numbers: a token (which run of the stream, memory, ...) and a position in it.
  Stack,
  Input,
  Secret,
  Digest,
  SpongeWord,
  SpongeReady,
  ProgramWord,
  Loop,
  // Applications.
  IsZero,    // 1 if the argument is 0, else 0
  Inverse,   // of a polynomial that is not 0
  High,      // x div 2^32 of the canonical value
  Quotient,  // n, d: integers below 2^32
  Less,      // a, b: 1 if a < b
  And,       // a, b
  Log2,      // floor
  PopCount,
  Power,    // b, e
  Ram,      // address, in the memory `token`
  Permute,  // sixteen words -> word `index`
  Guarded,  // c, x: x if the zero test or comparison c is 1, else 0
  Named,    // x, as one: a sum of many choices that is multiplied
  Merkle,   // index, node x5, sibling x5 -> word `index` of the parent
  Product,  // opaque: too large to expand
  Sum,      // likewise
};

struct Interval {
  uint64_t low = 0, high = goldilocks::P - 1;  // of the canonical value
  bool Below32() const { return high <= 0xffff'ffffu; }
};

// Sum of coefficient times monomial; monomial 0 is 1. Sorted by monomial.
using Polynomial = std::vector<std::pair<uint32_t, uint64_t>>;

// Which bases a term is made of, a bit for each by its number; two of them may share one.
struct Support {
  std::array<uint64_t, 4> bits{};
  void Add(Term base) { bits[(base >> 6) & 3] |= uint64_t{1} << (base & 63); }
  void Add(const Support& other) {
    for (size_t i = 0; i < bits.size(); ++i) bits[i] |= other.bits[i];
  }
  bool MayHave(Term base) const { return (bits[(base >> 6) & 3] >> (base & 63) & 1) != 0; }
};

class Terms {
 public:
  explicit Terms(const Seed& seed);

  Term Constant(uint64_t value);
  Term Atom(Base kind, uint32_t token, uint64_t index);
  Term Apply(Base kind, std::span<const Term> arguments, uint64_t index = 0, uint32_t token = 0);

  Term Add(Term a, Term b) { return Combine(a, 1, b, 1); }
  Term Sub(Term a, Term b) { return Combine(a, 1, b, goldilocks::P - 1); }
  Term Mul(Term a, Term b);
  Term Scale(Term a, uint64_t factor) { return Combine(a, factor, a, 0); }
  Term Neg(Term a) { return Scale(a, goldilocks::P - 1); }
  // Divided by the coefficient of its last monomial; 0 stays 0.
  Term Monic(Term a);

  // What the machine computes; each is defined only where the machine does not crash.
  Term IsZero(Term a);
  Term Inverse(Term a);
  Term High(Term a);
  Term Low(Term a);
  Term Less(Term a, Term b);
  Term And(Term a, Term b);
  Term Xor(Term a, Term b);
  Term Or(Term a, Term b);
  Term Log2(Term a);
  Term PopCount(Term a);
  Term Power(Term base, Term exponent);
  Term Quotient(Term n, Term d);
  Term Remainder(Term n, Term d);
  // a if the 0/1 value c is 1, else b.
  Term Choice(Term c, Term a, Term b);
  // The newest zero test or comparison of which the term is a sum with; NoTerm: of none. Its values at 0 and at 1.
  Term Lead(Term a) const { return nodes_[a].lead; }
  void Cofactors(Term a, Term& at0, Term& at1);

  bool IsConstant(Term a) const { return nodes_[a].constant; }
  uint64_t ConstantOf(Term a) const {
    return nodes_[a].poly.empty() ? 0 : nodes_[a].poly[0].second;
  }
  Base KindOf(Term a) const { return nodes_[a].kind; }  // None: a proper polynomial
  std::span<const Term> Arguments(Term a) const { return nodes_[a].arguments; }
  uint64_t IndexOf(Term a) const { return nodes_[a].index; }
  uint32_t TokenOf(Term a) const { return nodes_[a].token; }
  const Polynomial& PolynomialOf(Term a) const { return nodes_[a].poly; }
  // Base and exponent of each factor.
  const std::vector<std::pair<Term, uint32_t>>& Monomial(uint32_t id) const {
    return monomials_[id].factors;
  }
  // A range that holds wherever the term is defined.
  Interval Range(Term a) const { return nodes_[a].range; }
  void Restrict(Term a, Interval range);
  // Values 0 and 1 only.
  bool IsBoolean(Term a) const { return nodes_[a].range.high <= 1; }
  // a = 2^32 upper + lower, by coefficients that are multiples of 2^32. False: there are none.
  bool SplitMultiples(Term a, Term& upper, Term& lower);
  // Whether the high half of 2^32 upper + lower is `upper` if the two have these ranges.
  static bool IsHighHalf(Interval upper, Interval lower);
  // If a is c0 + c1 b with a boolean base b: its values at b = 0 and b = 1.
  bool BooleanForm(Term a, Term& base, uint64_t& at0, uint64_t& at1) const;

  // False: the base is no part of it.
  bool MayHave(Term a, Term base) const { return nodes_[a].support.MayHave(base); }

  size_t size() const { return nodes_.size(); }
  // Some terms were called equal because their values at the points are.
  bool inexact_used() const { return inexact_used_; }
  uint64_t largest_degree() const { return largest_degree_; }
  // How probable it is that any two of the terms that differ were called equal: each search by values compares with all
  // terms that there are, and two polynomials of degree d agree at a point with probability d / p at most.
  double ErrorBound() const;

 private:
  using Values = Points::Values;
  struct Node {
    Base kind = Base::None;
    bool constant = false;
    bool exact = true;
    uint32_t token = 0;
    uint64_t index = 0;
    uint64_t degree = 1;
    Term lead = NoTerm;
    Support support;
    uint32_t weight = 0;  // how many guarded parts it has, and they have
    std::vector<Term> arguments;
    Polynomial poly;
    Interval range;
    Values values{};
  };
  struct MonomialNode {
    std::vector<std::pair<Term, uint32_t>> factors;
    uint64_t degree = 0;
    bool exact = true;
    Support support;
    uint32_t weight = 0;
    Term guard = NoTerm;  // the monomial is this 0/1 value, or something guarded by it
    Values values{1, 1, 1};
  };

  Term Combine(Term a, uint64_t ca, Term b, uint64_t cb);
  Term Intern(Polynomial poly);
  Term NewBase(Node node, bool random);
  Term Opaque(Base kind, Term a, Term b);
  // c x; what of x is over zero tests and comparisons is over older ones than c.
  Term Guard(Term c, Term x);
  // a = rest + c part
  void Split(Term a, Term c, Term& rest, Term& part);
  void MergeGuards(Polynomial& poly);
  bool Excludes(Term c, Term other);
  Term MulGuarded(Term a, Term b);
  Term Name(Term a);
  Term GuardedBase(Term c, Term x);
  void RangeByCases(Term a);
  // Whether the term is 0 for some values of the zero tests and comparisons that it is a sum with; of more than `depth` of
  // them nothing is said.
  bool CanVanish(Term a, int depth);
  uint32_t InternMonomial(std::vector<std::pair<Term, uint32_t>> factors);
  uint32_t MonomialProduct(uint32_t a, uint32_t b);
  void Describe(Node& node) const;  // degree, exactness, range and values of a polynomial

  std::vector<Node> nodes_;
  std::vector<MonomialNode> monomials_;
  std::unordered_multimap<uint64_t, Term> by_hash_;
  std::unordered_multimap<uint64_t, uint32_t> monomials_by_hash_;
  std::unordered_map<uint64_t, uint32_t> products_;
  std::unordered_multimap<uint64_t, Term> by_values_;
  Points points_;
  bool any_inexact_ = false;
  bool inexact_used_ = false;
  uint64_t largest_degree_ = 1;
  double compared_ = 0;  // pairs of terms, by their values
};

}  // namespace frazil::verify::tasm
