// What a site can tell of itself, in at most five lines.
#include <fmt/format.h>

#include "engine/improver.h"
#include "ir/digest.h"

namespace frazil::engine {
namespace {

std::string Duration(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.1f} ms", ns / 1e6);
  return fmt::format("{:.2f} s", ns / 1e9);
}

std::string Trust(const Form& form) {
  const verify::EvidencePair& evidence = form.evidence();
  return fmt::format("meaning {} ({}: {}); code {} ({}: {})", verify::GradeName(evidence.meaning.grade),
                     evidence.meaning.judge, evidence.meaning.detail,
                     verify::GradeName(evidence.lowering.grade), evidence.lowering.judge,
                     evidence.lowering.detail);
}

}  // namespace

SiteReport Site::Report() const {
  SiteReport report;
  report.exact = impl_->exact;
  report.state = state();
  const auto forms = slot_->forms();
  std::lock_guard lock(impl_->mutex);
  report.calls = impl_->profile.calls();
  report.solid_calls = impl_->solid_calls;
  report.fluid_ns = impl_->fluid_times.Median();
  report.solid_ns = impl_->solid_times.Median();
  const std::string name = ir::ShortDigest(impl_->exact);
  if (forms.empty()) {
    report.what = fmt::format("{} is {}: the interpreter answers", name, dispatch::StateName(report.state));
    report.since = fmt::format("{} calls so far, {} each", report.calls, Duration(report.fluid_ns));
    report.trust = "the interpreter is the meaning of the program";
    report.saved = "nothing yet";
    report.reopen = "a verified form that is cheaper";
    return report;
  }
  const Form& form = forms.front()->form();
  // A site that started solid never saw the interpreter: the price list did.
  const double reference = report.fluid_ns > 0 ? report.fluid_ns : form->cost.reference_ns;
  report.saved_ms = std::max(0.0, (reference - report.solid_ns) * static_cast<double>(report.solid_calls) / 1e6);
  report.what = fmt::format("{} is {}: {} code of {} bytes for {}, guard {}", name,
                            dispatch::StateName(report.state), form->target, form->image.code.size(),
                            exec::CpuLevelName(form->image.level), form->guard);
  report.since = fmt::format("from {}, {}; made by {}", impl_->from, impl_->since, form->toolchain);
  report.trust = Trust(form);
  report.saved = report.solid_calls == 0
                     ? fmt::format("{} a call instead of {} when it was priced; too few calls to tell more",
                                   Duration(form->cost.ns_per_call), Duration(form->cost.reference_ns))
                     : fmt::format("{} a call instead of {}, {} calls: {} saved", Duration(report.solid_ns),
                                   Duration(reference), report.solid_calls, Duration(report.saved_ms * 1e6));
  report.reopen = "a shadow run that differs, guard misses beyond the drift test, or `unfreeze`/`ban` by hand";
  return report;
}

}  // namespace frazil::engine
