// Terms over the elements of slots, kept in normal form as they are made. A term is what one element of a slot holds,
// as a function of the elements with the same number of all slots before the program ran.
//
// Rewriting is by rules of ir/rules/rules.def, left to right, chosen by name in normal_terms.cpp. It ends: every rule used
// makes a term lighter and names no hole more often (optimize/reduce.h has the argument, MakesLighter checks it for
// each rule, a test asserts it). It is confluent: all critical pairs, modulo exchanging operands of ops that commute,
// are computed by normal_terms_test.cpp and join (with termination: Newman's lemma). So a term has one normal form,
// whatever order it was built in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "ir/rules/rules.h"
#include "ir/type.h"

namespace frazil::optimize {

using TermId = uint32_t;
constexpr TermId NoTerm = UINT32_MAX;

struct NormalTerm {
  enum class Kind : uint8_t {
    Slot,      // words[0]: the element, as it was, of this buffer parameter
    First,     // words[0]: element 0, as it was, of this buffer parameter
    Param,     // words[0]: a scalar parameter
    Index,     // the element's own number
    Constant,  // words
    Apply,     // op on children
    Reduce,    // the child over all elements; words: attributes of the op
  };
  Kind kind = Kind::Constant;
  ir::Op op = ir::Op::Const;
  ir::Type type = {}, result = {};  // the row's T; of the value
  std::vector<uint64_t> words = {};
  std::vector<TermId> children = {};
  bool uniform = true;      // the same for all elements
  bool arithmetic = false;  // no NaN with a payload: what the condition `arith` asks for
  uint64_t hash = 0;  // of the content: the order of operands must not depend on who was made first
};

// The rules of the normal form, in the order of the table.
std::span<const ir::Rule* const> NormalFormRules();

class NormalTerms {
 public:
  NormalTerms() : NormalTerms(NormalFormRules()) {}
  // With other rules, proved or not: for tests.
  explicit NormalTerms(std::span<const ir::Rule* const> rules, bool only_proved = true);

  TermId Leaf(NormalTerm::Kind kind, ir::Type result, uint64_t which = 0);
  TermId Constant(ir::Type type, std::span<const uint64_t> words);
  TermId Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
               std::span<const TermId> children);
  TermId Reduce(ir::Type result, std::span<const uint64_t> words, TermId child);
  // The term as it is, without rules: for tests of confluence.
  TermId Raw(ir::Op op, ir::Type type, ir::Type result, std::span<const TermId> children);
  // Every term that one step of one rule makes of this one at its root.
  std::vector<TermId> StepsAtRoot(TermId term);

  const NormalTerm& operator[](TermId id) const { return terms_[id]; }
  size_t size() const { return terms_.size(); }
  uint64_t rewrites() const { return rewrites_; }
  // Content only; a total order.
  bool Before(TermId a, TermId b) const { return Compare(a, b) < 0; }

 private:
  struct Goal {
    uint32_t pattern;
    TermId term;
  };
  struct Match {
    const ir::Rule* rule = nullptr;
    ir::Type type;
    bool typed = false;
    std::vector<TermId> holes;
  };
  int Compare(TermId a, TermId b) const;
  TermId Intern(NormalTerm term);
  TermId Rewrite(TermId term);
  bool MatchRoot(const ir::Rule& rule, TermId term);
  bool Solve(size_t goal);
  bool SolveApply(const ir::PatternNode& pattern, TermId term, size_t goal);
  bool BindType(ir::PatternType pattern, ir::Type type);
  bool Conditions() const;
  bool Found();
  TermId Build(uint32_t node);
  bool Evaluate(const ir::Pattern& pattern, uint32_t node, std::vector<uint64_t>& words) const;

  std::vector<std::vector<const ir::Rule*>> rules_;  // by op of the left side's root
  bool only_proved_;
  std::vector<NormalTerm> terms_;
  std::unordered_multimap<uint64_t, TermId> known_;
  uint64_t rewrites_ = 0;

  Match match_;
  std::vector<Goal> goals_;
  std::vector<TermId>* all_ = nullptr;  // StepsAtRoot: collect instead of stopping
  bool raw_ = false;                    // build without rewriting
};

}  // namespace frazil::optimize
