// The admission rule. Both halves are asked here and nowhere else.
#include "engine/admit.h"

#include <fmt/format.h>

namespace frazil::engine {
namespace {

using Answer = std::expected<std::string, std::string>;  // why, or why not

// Time as a share of the interpreter's in the same interleaved run: what makes costs of different runs comparable.
double Share(const exec::CallTime& cost) {
  return cost.reference_ns > 0 ? cost.ns_per_call / cost.reference_ns : 1.0;
}

Answer Cheaper(const exec::CallTime& candidate, const exec::CallTime* in_use) {
  const double used = in_use == nullptr ? 1.0 : Share(*in_use);
  const double offered = Share(candidate);
  // Written so that a NaN is not admitted.
  if (!(offered < used * (1.0 - AdmissionMargin)))
    return std::unexpected(
        fmt::format("not cheaper: {:.3g} of the interpreter's time against {:.3g}", offered, used));
  return fmt::format("{:.1f} times as fast", used / offered);
}

std::string Print(const exec::TableHeights& cost) {
  return fmt::format("padded {}, tallest {}, rows of words {}, of cycles {}", cost.padded,
                     cost.tallest, cost.words, cost.cycles);
}

Answer Cheaper(const exec::TableHeights& candidate, const exec::TableHeights* in_use) {
  if (in_use == nullptr) return Print(candidate);
  if (!(candidate < *in_use))
    return std::unexpected(
        fmt::format("not cheaper: {} against {}", Print(candidate), Print(*in_use)));
  return fmt::format("{} instead of {}", Print(candidate), Print(*in_use));
}

Answer Cheaper(const exec::Bytes& candidate, const exec::Bytes* in_use) {
  if (in_use == nullptr) return fmt::format("{} bytes", candidate.count);
  if (candidate.count >= in_use->count)
    return std::unexpected(
        fmt::format("not cheaper: {} bytes against {}", candidate.count, in_use->count));
  return fmt::format("{} bytes instead of {}", candidate.count, in_use->count);
}

// Like with like, or not at all.
Answer Compare(const exec::Cost& candidate, const exec::Cost* in_use) {
  if (in_use != nullptr && in_use->index() != candidate.index())
    return std::unexpected(fmt::format("costs in {} and in {} cannot be compared",
                                       exec::CostKindName(candidate), exec::CostKindName(*in_use)));
  return std::visit(
      [&](const auto& cost) {
        return Cheaper(
            cost, in_use == nullptr ? nullptr : std::get_if<std::decay_t<decltype(cost)>>(in_use));
      },
      candidate);
}

}  // namespace

std::expected<Admitted, std::string> Admit(const verify::Verified<exec::CompiledForm>& candidate,
                                           const verify::Verified<exec::CompiledForm>* in_use,
                                           const verify::Policy& policy) {
  if (in_use == nullptr) return AdmitBelow(candidate, nullptr, policy);
  if ((*in_use)->source_exact != candidate->source_exact)
    return std::unexpected("it answers for another program than the form in use");
  return AdmitBelow(candidate, &(*in_use)->cost, policy);
}

std::expected<Admitted, std::string> AdmitBelow(
    const verify::Verified<exec::CompiledForm>& candidate, const exec::Cost* cost,
    const verify::Policy& policy) {
  if (std::string why = verify::WhyNotEnough(candidate.evidence(), policy); !why.empty())
    return std::unexpected(std::move(why));
  Answer cheaper = Compare(candidate->cost, cost);
  if (!cheaper) return std::unexpected(std::move(cheaper.error()));
  return Admitted(candidate, std::move(*cheaper));
}

}  // namespace frazil::engine
