// Names of the four answers, and what each says.
#include "verify/verdict.h"

#include <fmt/format.h>

#include <array>

namespace frazil::verify {

std::string_view VerdictName(const Verdict& verdict) {
  constexpr std::array<std::string_view, std::variant_size_v<Verdict>> Names = {
      "proved", "tested", "refuted", "unknown"};
  return Names[verdict.index()];
}

const Evidence* EvidenceOf(const Verdict& verdict) {
  if (const Proved* proved = std::get_if<Proved>(&verdict)) return &proved->evidence;
  if (const Tested* tested = std::get_if<Tested>(&verdict)) return &tested->evidence;
  return nullptr;
}

std::string WhyNot(const Verdict& verdict) {
  if (const Refuted* refuted = std::get_if<Refuted>(&verdict)) return refuted->difference;
  if (const Unknown* unknown = std::get_if<Unknown>(&verdict)) return unknown->reason;
  return {};
}

std::string Describe(const Verdict& verdict) {
  if (const Evidence* evidence = EvidenceOf(verdict))
    return fmt::format("{}: {}", GradeName(evidence->grade), evidence->detail);
  return fmt::format("{}: {}", VerdictName(verdict), WhyNot(verdict));
}

bool CallsEqual(const Verdict& verdict) {
  const Evidence* evidence = EvidenceOf(verdict);
  return evidence != nullptr && Worth(evidence->grade) >= Worth(Grade::Algebraic);
}

bool IsLimited(const Verdict& verdict) {
  if (const Tested* tested = std::get_if<Tested>(&verdict)) return tested->is_limited;
  if (const Unknown* unknown = std::get_if<Unknown>(&verdict)) return unknown->is_limited;
  return false;
}

}  // namespace frazil::verify
