// The admission rule. Both halves are asked here and nowhere else.
#include "engine/admit.h"

#include <fmt/format.h>

namespace frazil::engine {
namespace {

// Time as a share of the interpreter's in the same interleaved run: what makes costs of different runs comparable.
double Share(const exec::Cost& cost) {
  return cost.reference_ns > 0 ? cost.ns_per_call / cost.reference_ns : 1.0;
}

}  // namespace

std::expected<Admitted, std::string> Admit(const verify::Verified<exec::CompiledForm>& candidate,
                                           const verify::Verified<exec::CompiledForm>* in_use,
                                           const verify::Policy& policy) {
  if (!verify::Satisfies(candidate.evidence(), policy)) {
    return std::unexpected(fmt::format("evidence ({}, {}) is below the policy's ({}, {})",
                                       verify::GradeName(candidate.evidence().meaning.grade),
                                       verify::GradeName(candidate.evidence().lowering.grade),
                                       verify::GradeName(policy.meaning),
                                       verify::GradeName(policy.lowering)));
  }
  const double used = in_use == nullptr ? 1.0 : Share((*in_use)->cost);
  const double offered = Share(candidate->cost);
  // Written so that a NaN is not admitted.
  if (!(offered < used * (1.0 - AdmissionMargin))) {
    return std::unexpected(
        fmt::format("not cheaper: {:.3g} of the interpreter's time against {:.3g}", offered, used));
  }
  return Admitted(candidate, fmt::format("{:.1f} times as fast", used / offered));
}

}  // namespace frazil::engine
