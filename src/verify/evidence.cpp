// Grades and the one comparison that admission rests on.
#include "verify/evidence.h"

#include <fmt/format.h>

namespace frazil::verify {

std::string_view GradeName(Grade grade) {
  switch (grade) {
    case Grade::None: return "none";
    case Grade::Sampled: return "sampled";
    case Grade::Algebraic: return "algebraic";
    case Grade::Exhaustive: return "exhaustive";
    case Grade::Proved: return "proved";
  }
  return "none";
}

// Every family that the IR has so far asks for the same pair, so the strictest is that pair, whatever types meet in
// the program. A family with another minimum (routed networks) would be told apart here.
Policy Policy::Default(const ir::Program&) { return {Grade::Proved, Grade::Sampled}; }

std::string Describe(const EvidencePair& evidence) {
  return fmt::format("meaning {} by {} ({}), code {} by {} ({})", GradeName(evidence.meaning.grade),
                     evidence.meaning.judge, evidence.meaning.detail,
                     GradeName(evidence.lowering.grade), evidence.lowering.judge,
                     evidence.lowering.detail);
}

bool Satisfies(const EvidencePair& evidence, const Policy& policy) {
  return Worth(evidence.meaning.grade) >= Worth(policy.meaning) &&
         Worth(evidence.lowering.grade) >= Worth(policy.lowering);
}

}  // namespace frazil::verify
