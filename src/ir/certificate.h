// Why a candidate means what its source means, as a proposer states it. A certificate is a claim: verify/
// checks every line with its own code and believes nothing else. A wrong one costs the proposer its
// candidate, never the user an answer.
//
// The proof is about values, not places. A checker walks source and candidate side by side over what they
// do (effects, traps, structure) and must show that corresponding operands are equal. It gives each pure
// value a term, closes under congruence, and uses the equalities stated here, each an instance of a rule
// of rules.def or of folding a constant. Hence moving, sharing and dropping pure values need no line at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"

namespace frazil::ir {

// Terms are numbered in order; children come before parents.
struct CertTerm {
  enum class Kind : uint8_t {
    SourceValue,     // value `value` of function `function` of the source program
    CandidateValue,  // the same of the candidate
    Constant,        // of type `type` with `words`
    Apply,           // op on children; `type` is the op's T, `result` the result type, `words` attributes
  };
  Kind kind = Kind::Constant;
  uint32_t function = 0;
  uint32_t value = 0;
  Op op = Op::Const;
  Type type = {};
  Type result = {};
  std::vector<uint64_t> words;
  std::vector<uint32_t> children;
};

// left = right, because `rule` says so with its holes bound as in left. Rule "fold": left is an op on
// constants and right the constant it gives.
struct CertEquality {
  std::string rule;
  bool reversed = false;  // right matches the rule's left side
  uint32_t left = 0;
  uint32_t right = 0;
};

// A loop of the source that the candidate replaces by a formula: result k of instruction `inst` of the
// function equals term `closed`. The checker proves it by induction on the number of turns.
struct CertClosedForm {
  uint32_t function = 0;
  uint32_t inst = 0;
  uint32_t result = 0;
  uint32_t closed = 0;  // a term over source values that are visible at the loop
};

struct Certificate {
  std::vector<CertTerm> terms;
  std::vector<CertEquality> equalities;
  std::vector<CertClosedForm> closed_forms;
};

// A flat text, one line each, for stores and for `frazil why`. Parse refuses what does not fit.
// (ir/certificate.cpp)
std::string PrintCertificate(const Certificate& certificate);

}  // namespace frazil::ir
