// Grades and the one comparison that admission rests on.
#include "verify/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/names.h"

namespace frazil::verify {

std::string_view GradeName(Grade grade) {
  static constexpr Named<Grade> names[] = {{"none", Grade::None},
                                           {"sampled", Grade::Sampled},
                                           {"algebraic", Grade::Algebraic},
                                           {"exhaustive", Grade::Exhaustive},
                                           {"proved", Grade::Proved}};
  return NameOf(names, grade);
}

std::string_view FamilyName(Family family) {
  static constexpr Named<Family> names[] = {
      {"exact", Family::Exact}, {"float", Family::Float}, {"routed", Family::Routed}};
  return NameOf(names, family);
}

Family FamilyOf(const ir::Program& program) {
  const auto computes_floats = [](const ir::Function& function) {
    return std::ranges::any_of(function.values,
                               [](const auto& value) { return ir::IsFloat(value.type.scalar); });
  };
  return std::ranges::any_of(program.functions, computes_floats) ? Family::Float : Family::Exact;
}

// Floats ask for no less than integers: a candidate that rounds differently has another meaning. Every input run is as
// good as a proof for both.
Policy Policy::Of(Family family) {
  switch (family) {
    case Family::Exact:
    case Family::Float: return {Grade::Proved, Grade::Sampled};
    // At most one input in a hundred, at 99 %: what the design asks of routed networks before a path answers for them.
    case Family::Routed: return {Grade::Sampled, Grade::Sampled, Bound{0.01, 0.99}};
  }
  return {};
}

// The largest p for which so few mismatches still have a chance of 1 - confidence, by halving: P(X <= mismatches) falls
// with p. Terms are summed by their logarithms, so that millions of samples are no trouble.
Bound SampledBound(uint64_t samples, uint64_t mismatches, double confidence) {
  if (samples == 0 || mismatches >= samples) return {1, confidence};
  const auto n = static_cast<double>(samples);
  const auto chance = [&](double p) {
    double sum = 0;
    for (uint64_t i = 0; i <= mismatches; ++i) {
      const auto k = static_cast<double>(i);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                      k * std::log(p) + (n - k) * std::log1p(-p));
    }
    return sum;
  };
  double low = 0, high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (chance(middle) > 1 - confidence ? low : high) = middle;
  }
  return {high, confidence};
}

std::string Describe(const Evidence& evidence) {
  return fmt::format("{} by {}{}", GradeName(evidence.grade), evidence.judge,
                     evidence.detail.empty() ? "" : fmt::format(" ({})", evidence.detail));
}

std::string Describe(const EvidencePair& evidence) {
  return fmt::format("meaning {}, code {}", Describe(evidence.meaning),
                     Describe(evidence.lowering));
}

namespace {

// Anything better than samples needs no bound.
bool WithinBound(const Evidence& evidence, const Policy& policy) {
  if (!policy.meaning_bound || evidence.grade != Grade::Sampled) return true;
  return evidence.bound && evidence.bound->disagreement <= policy.meaning_bound->disagreement &&
         evidence.bound->confidence >= policy.meaning_bound->confidence;
}

}  // namespace

bool Satisfies(const EvidencePair& evidence, const Policy& policy) {
  return Worth(evidence.meaning.grade) >= Worth(policy.meaning) &&
         Worth(evidence.lowering.grade) >= Worth(policy.lowering) &&
         WithinBound(evidence.meaning, policy);
}

std::string WhyNotEnough(const EvidencePair& evidence, const Policy& policy) {
  if (Satisfies(evidence, policy)) return {};
  if (!WithinBound(evidence.meaning, policy) &&
      Worth(evidence.lowering.grade) >= Worth(policy.lowering))
    return fmt::format("samples without a bound of {:.3g} at confidence {:.3g} are not enough",
                       policy.meaning_bound->disagreement, policy.meaning_bound->confidence);
  return fmt::format("the evidence ({}, {}) is less than the policy asks for ({}, {})",
                     GradeName(evidence.meaning.grade), GradeName(evidence.lowering.grade),
                     GradeName(policy.meaning), GradeName(policy.lowering));
}

}  // namespace frazil::verify
