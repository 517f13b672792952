// The lowering of one tree, shared by lower.cpp (arithmetic of fractions) and loops.cpp (everything
// that needs a loop).
#pragma once

#include "frontends/words/lower.h"

namespace frazil::frontends::words {

// The value of a node: num / den with den > 0, or a yes or no.
struct Term {
  Val num;
  Val den{1, 1, {}, -1, true};
  std::optional<Truth> truth = {};
  bool whole() const { return den.is(1); }
};

class Lowering {
 public:
  Lowering(const Tree& tree, Coder& coder)
      : tree_(tree), coder_(coder), terms_(tree.nodes.size()) {}

  Result<Term> Run(ExprId from);
  // Lowest terms, denominator above 0; traps if it is 0.
  Term Reduce(const Term& term);

 private:
  Result<Term> LowerNode(ExprId id);
  Result<Term> Binary(const Node& node, const Term& a, const Term& b);

  // --- fractions (lower.cpp)
  Val Scale(const Val& a, const Val& by);
  Term Settle(Term term);
  Term Multiply(const Term& a, const Term& b);
  Term Divide(const Term& a, const Term& b);
  Term WholeDivide(const Term& a, const Term& b);
  struct Common {
    Val a, b, den;
  };
  Common OverOneDenominator(const Term& a, const Term& b);

  // --- loops (loops.cpp)
  Result<Term> Power(const Node& node, const Term& base, const Term& exponent);
  Term WholePower(const Term& base, int64_t exponent);
  Val PowerOf(const Val& base, int64_t exponent);
  Result<Term> Sum(const Node& node, const Term& from, const Term& to);
  Result<Term> Product(const Node& node, const Term& from, const Term& to);
  Val ProductLoop(const Val& from, const Val& to, const Node& node);
  Val TermOf(const Node& node, const Val& i);
  Result<Term> CountTo(const Node& node, const Term& from, const Term& to);
  Result<Term> Factorial(const Node& node, const Term& n);
  Result<Term> Fibonacci(const Node& node, const Term& n);
  Result<Term> Gcd(const Node& node, const Term& a, const Term& b);
  Result<Term> Collatz(const Node& node, const Term& n);
  Result<Term> IsPrime(const Node& node, const Term& n);
  Result<Term> SquareRoot(const Node& node, const Term& a);
  Val RootOf(const Val& square, const Big& root);
  Val GcdOf(const Val& a, const Val& b);

  // A whole number that the range analysis knows, as counting needs; `what` names it in the
  // refusal.
  Result<int64_t> Known(const Node& node, const Term& term, std::string_view what) const;
  Result<Val> Whole(const Node& node, const Term& term, std::string_view what) const;

  const Tree& tree_;
  Coder& coder_;
  std::vector<Term> terms_;
};

}  // namespace frazil::frontends::words
