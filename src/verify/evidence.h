// Why something may be trusted, and how much that is worth.
#pragma once

#include <cstdint>
#include <optional>
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

// Of samples drawn at random from the inputs that matter: with this confidence the two differ on at most this share of
// them. Routed networks, whose paths answer for most inputs and not for all, are admitted by it.
struct Bound {
  double disagreement = 1;
  double confidence = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};
// The exact (Clopper-Pearson) bound after `mismatches` in `samples` independent draws.
Bound SampledBound(uint64_t samples, uint64_t mismatches, double confidence);

struct Evidence {
  Grade grade = Grade::None;
  // Who said so: "interpreter", "batch interpreter", "replay", "z3 4.8.12", "digest".
  std::string judge;
  std::string detail;  // one short sentence: "4,352 inputs, seed 91fe...", "12 rule instances"
  uint64_t cases = 0;  // inputs run; 0 for proofs
  std::optional<Bound> bound = {};  // of independent samples alone
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// The two halves of trust: the candidate means what the source means; the code does what the candidate says.
struct EvidencePair {
  Evidence meaning;
  Evidence lowering;
  friend bool operator==(const EvidencePair&, const EvidencePair&) = default;
};

// "proved by digest (equal canonical form)".
std::string Describe(const Evidence& evidence);
// "meaning proved by digest (equal canonical form), code sampled by interpreter (296 inputs)".
std::string Describe(const EvidencePair& evidence);

// What is asked of a program goes by the values it computes with. A program of several families takes the strictest.
enum class Family : uint8_t {
  Exact,   // integers, field, bool, bytes that are moved
  Float,   // floats
  Routed,  // networks whose routing was learned: no program says so of itself, its door does
};
std::string_view FamilyName(Family family);
Family FamilyOf(const ir::Program& program);  // exact or float

// The least that is accepted, compared componentwise.
struct Policy {
  Grade meaning = Grade::Proved;
  Grade lowering = Grade::Sampled;
  // Where samples are enough for the meaning, they must be independent draws that show this much.
  std::optional<Bound> meaning_bound = {};

  // Exact and float: (proved or exhaustive, sampled). Routed: (sampled within a bound, sampled).
  static Policy Of(Family family);
  static Policy Default(const ir::Program& program) { return Of(FamilyOf(program)); }
  friend bool operator==(const Policy&, const Policy&) = default;
};
bool Satisfies(const EvidencePair& evidence, const Policy& policy);
// Empty, or one sentence: what is asked for and not there.
std::string WhyNotEnough(const EvidencePair& evidence, const Policy& policy);

}  // namespace frazil::verify
