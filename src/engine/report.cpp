// What a site can tell of itself, in at most five lines.
#include <fmt/format.h>

#include "base/duration.h"
#include "engine/improver.h"
#include "engine/worker/find_worker.h"
#include "ir/digest.h"

namespace frazil::engine {

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
    const bool tiles = impl_->fluid->has_tiles();
    report.what = fmt::format("{} is {}: the {} answers", name, dispatch::StateName(report.state),
                              tiles ? "tile interpreter" : "interpreter");
    report.since =
        fmt::format("{} calls so far, {} each", report.calls, PrintDuration(report.fluid_ns));
    report.trust = tiles ? "its instructions, lifted back, are the program"
                         : "the interpreter is the meaning of the program";
    // Without a worker nothing will ever set: that is said before it was tried.
    const bool compiles = impl_->improver->options.compile;
    const WorkerSearch search = FindWorker(impl_->improver->options.worker.program);
    std::string why = impl_->kept;
    if (compiles && search.program.empty()) why = search.Sentence();
    report.saved = why.empty() ? "nothing yet" : fmt::format("nothing yet: {}", why);
    report.reopen = "a verified form that is cheaper";
    return report;
  }
  const Form& form = forms.front()->form();
  // A site that started solid never saw the interpreter: its price says by what factor that is slower, and the calls that
  // came may be larger than the one that was priced.
  const bool seen = report.fluid_ns > 0;
  const auto& cost = std::get<exec::CallTime>(form->cost);
  const double factor = cost.ns_per_call > 0 ? cost.reference_ns / cost.ns_per_call : 1;
  const double reference = seen ? report.fluid_ns : report.solid_ns * factor;
  report.saved_ms =
      std::max(0.0, (reference - report.solid_ns) * static_cast<double>(report.solid_calls) / 1e6);
  report.what = fmt::format("{} is {}: {} code of {} bytes for {}, guard {}", name,
                            dispatch::StateName(report.state), form->target,
                            forms.front()->code_bytes(), form->profile, form->guard);
  report.since = fmt::format("from {}, {}; made by {}", impl_->from, impl_->since, form->toolchain);
  report.trust = verify::Describe(form.evidence());
  report.saved =
      report.solid_calls == 0
          ? fmt::format("{} a call instead of {} when it was priced; too few calls to tell more",
                        PrintDuration(cost.ns_per_call), PrintDuration(cost.reference_ns))
          : fmt::format("{} a call instead of {}{}, {} calls: {} saved",
                        PrintDuration(report.solid_ns), seen ? "" : "an estimated ",
                        PrintDuration(reference), report.solid_calls,
                        PrintDuration(report.saved_ms * 1e6));
  report.reopen =
      "a shadow run that differs, guard misses beyond the drift test, or `unfreeze`/`ban` by hand";
  return report;
}

}  // namespace frazil::engine
