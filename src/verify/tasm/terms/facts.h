// What holds on a path: conditions of branches that were taken and of instructions that did not crash, and terms
// simplified under them.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "verify/tasm/flat.h"
#include "verify/tasm/terms/term.h"

namespace frazil::verify::tasm {

struct Literal {
  enum class Kind : uint8_t { Zero, NonZero, Below32, Above32 } kind;
  Term term;
  friend bool operator==(const Literal&, const Literal&) = default;
};
inline Literal Zero(Term term) { return {Literal::Kind::Zero, term}; }
inline Literal NonZero(Term term) { return {Literal::Kind::NonZero, term}; }
inline Literal Below32(Term term) { return {Literal::Kind::Below32, term}; }
inline Literal Not(Literal literal) {
  return {static_cast<Literal::Kind>(static_cast<uint8_t>(literal.kind) ^ 1), literal.term};
}

class Facts {
 public:
  explicit Facts(Terms& terms) : terms_(&terms) {}

  // Adds what must hold; false: it contradicts what is known (the path cannot be taken).
  bool Assume(Literal literal);
  std::optional<bool> Decide(Literal literal);
  // The term under all that is known.
  Term Simplify(Term term);
  bool Equal(Term a, Term b);
  // Provably different.
  bool Differ(Term a, Term b);
  // A range of the term under what is known.
  Interval RangeOf(Term term);
  // A range that follows from what is known.
  void Bound(Term term, Interval range);
  // Plain replacement, all at once; nothing else may be known.
  void Replace(Term base, Term value) {
    replacing_ = true;
    substitutions_.Put(base, value);
    known_.insert(~0ull);
  }
  // Forget what was simplified with fewer facts.
  void Refresh() { memo_.clear(); }

  const std::vector<Literal>& literals() const { return literals_; }
  // Atoms and applications that are known to equal other terms.
  const FlatMap& substitutions() const { return substitutions_; }
  Terms& terms() { return *terms_; }

 private:
  struct Normal {
    std::optional<bool> value;
    Literal literal;
  };
  Normal Normalize(Literal literal);
  std::optional<bool> Lookup(const Literal& literal) const;
  // By what is known of a term that differs by a number.
  std::optional<bool> DecideByOffset(const Literal& literal);
  // Decided in all cases of the 0/1 values that a term is a sum with.
  std::optional<bool> DecideByCases(const Literal& literal, int depth);
  bool AssumeProduct(const Literal& literal, bool& contradiction);
  // One of a 0/1 value's two cases contradicts the literal: the other one and what is left of the literal hold.
  bool AssumeOnlyCase(const Literal& literal, bool& possible);
  void Learn(Literal literal);
  void CheckBounded(Term excluded);
  void ForgetWith(Term base);
  void Substitute(Term base, Term value, bool fresh);
  Term Rebuild(Term term);
  Term RebuildOnce(Term term);
  Term RebuildBase(Term base);
  Term RebuildArguments(Term base);
  void Renew();
  Interval OwnRange(Term term) const;

  Terms* terms_;
  std::vector<Literal> literals_;  // in order of their arrival, as they were given
  FlatMap known_;                  // a set
  FlatMap substitutions_;
  FlatMap memo_;
  std::unordered_map<Term, Interval> bounds_;       // by comparisons with numbers
  std::vector<std::pair<Term, uint64_t>> bounded_;  // what is known to be below a small number
  int depth_ = 0;
  bool replacing_ = false;
  bool contradiction_ = false;
};

}  // namespace frazil::verify::tasm
