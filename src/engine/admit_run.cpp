#include "engine/admit_run.h"

namespace frazil::engine {

std::expected<AdmittedRun, std::string> AdmitRun(const verify::JudgedRun& run,
                                                 const verify::Policy& policy) {
  std::expected<Admitted, std::string> admitted = Admit(run.form(), nullptr, policy);
  if (!admitted) return std::unexpected(std::move(admitted.error()));
  return AdmittedRun(std::move(*admitted), run.outcome());
}

}  // namespace frazil::engine
