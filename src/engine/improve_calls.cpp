// Programs of so much work that they cannot be judged by running them: cut into calls of forms that are (engine/calls.h).
#include <fmt/format.h>

#include "engine/improver.h"
#include "exec/plan/plan.h"

namespace frazil::engine {

// False: it is no such program, or it could not be done; then it is improved like any other.
bool Improver::FromCalls(Site& site) {
  if (!WantsCalls(site.impl_->source)) return false;
  if (book_ == nullptr) {
    FormBook::Work work;
    if (options.compile)
      work = [this](const WorkRequest& request) { return worker.Improve(request); };
    book_ = std::make_unique<FormBook>(store.get(), worker.toolchain(), std::move(work));
  }
  const FormBook::Counts before = book_->counts();
  Result<CallsForm> calls = MakeCalls(*site.impl_->signed_source, *book_);
  TellComplaint(site);
  if (!calls) {
    DistrustCaught(site);
    Tell(site, Verb::Refuse, calls.error().message, "calls");
    return false;
  }
  const FormBook::Counts after = book_->counts();
  Tell(site, Verb::Verify,
       fmt::format("{}; {} forms: {} known, {} from the store, {} made in {:.1f} ms; {}",
                   calls->is_stored ? "the plan was judged before"
                                    : fmt::format("cut in {:.2f} ms, proved in {:.2f} ms",
                                                  calls->cut_ms, calls->judge_ms),
                   calls->parts.size(), after.known - before.known, after.stored - before.stored,
                   after.made - before.made, calls->forms_ms,
                   verify::Describe(calls->form.evidence())),
       "calls");
  if (!AdmitForm(site, calls->form, "calls")) return false;
  // A plan is proved here; whoever made the code that it calls vouches for it.
  std::lock_guard lock(mutex_);
  for (const dispatch::JudgedCode& part : calls->parts) {
    FormBook::Origin origin = book_->OriginOf(part.form()->source_exact);
    if (origin.worker == 0) continue;
    vouched_.push_back({origin.worker, site.weak_from_this(), calls->form->candidate_exact,
                        calls->form->guard, std::move(origin.key), std::move(origin.content)});
  }
  return true;
}

Result<std::shared_ptr<const dispatch::Solid>> Improver::MakeSolid(const Site& site,
                                                                   const Form& form) {
  const ir::SignedProgram& source = *site.impl_->signed_source;
  if (form->target == "native" || book_ == nullptr) return dispatch::Solid::Make(form, source);
  return dispatch::Solid::MakeCalls(form, TRY(book_->GetAll(TRY(exec::ParsePlan(form->payload)))),
                                    source);
}

}  // namespace frazil::engine
