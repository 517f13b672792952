// Why something may be trusted, and how much that is worth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::verify {

// none < sampled < algebraic < {exhaustive, proved}
enum class Grade : uint8_t { None, Sampled, Algebraic, Exhaustive, Proved };
std::string_view GradeName(Grade grade);
// Exhaustive and proved are worth the same.
constexpr int Worth(Grade grade) { return grade == Grade::Proved ? 3 : static_cast<int>(grade); }

struct Evidence {
  Grade grade = Grade::None;
  std::string
      judge;  // who said so: "interpreter", "batch interpreter", "replay", "z3 4.8.12", "digest"
  std::string detail;  // one short sentence: "4,352 inputs, seed 91fe...", "12 rule instances"
  uint64_t cases = 0;  // inputs run; 0 for proofs
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// The two halves of trust: the candidate means what the source means; the code does what the candidate says.
struct EvidencePair {
  Evidence meaning;
  Evidence lowering;
  friend bool operator==(const EvidencePair&, const EvidencePair&) = default;
};

// "meaning proved by digest (equal canonical form), code sampled by interpreter (296 inputs)".
std::string Describe(const EvidencePair& evidence);

// The least that is accepted, compared componentwise.
struct Policy {
  Grade meaning = Grade::Proved;
  Grade lowering = Grade::Sampled;
  // The default for a program: integers, field, bool and floats (proved or exhaustive, sampled); a
  // program of several families takes the strictest.
  static Policy Default(const ir::Program& program);
};
bool Satisfies(const EvidencePair& evidence, const Policy& policy);

}  // namespace frazil::verify
