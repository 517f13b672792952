// When a worker was caught: it answered with nonsense, vouched for what it was not asked for, or vouched for code that a
// shadow run then found wrong. It had the key, so that a seal says nothing about what it made: the process is ended, and
// all that it sealed for this engine is taken out of slots and store. Another one judges anew.
#include <fmt/format.h>

#include <algorithm>

#include "engine/improver.h"

namespace frazil::engine {

void Improver::TellComplaint(const Site& site) {
  if (const std::string complaint = worker.TakeComplaint(); !complaint.empty())
    Tell(site, Verb::Worker, complaint);
}

std::optional<uint64_t> Improver::WhoVouchedFor(const Site& site, const Form& form) const {
  std::lock_guard lock(mutex_);
  for (const Vouched& vouched : vouched_) {
    const bool is_it = vouched.candidate_exact == form->candidate_exact &&
                       vouched.guard == form->guard && vouched.site.lock().get() == &site;
    if (is_it) return vouched.worker;
  }
  return std::nullopt;
}

void Improver::DistrustCaught(Site& site) {
  for (const uint64_t number : worker.TakeCaught())
    Distrust(site, number, "it answered with nonsense");
}

void Improver::Distrust(Site& site, uint64_t worker_number, const std::string& why) {
  worker.Dismiss(worker_number, why);
  TellComplaint(site);
  if (book_ != nullptr) book_->Forget(worker_number);
  std::vector<Vouched> gone;
  {
    std::lock_guard lock(mutex_);
    const auto rest = std::ranges::partition(
        vouched_, [&](const Vouched& vouched) { return vouched.worker != worker_number; });
    gone.assign(std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    vouched_.erase(rest.begin(), rest.end());
  }
  for (const Vouched& vouched : gone) {
    if (vouched.key) {
      store->Remove(*vouched.key);
      store->Ban(vouched.content, why);  // a remote store may still have it
    }
    const std::shared_ptr<Site> other = vouched.site.lock();
    if (other == nullptr) continue;
    for (const auto& solid : other->slot_->forms()) {
      if (solid->form()->candidate_exact != vouched.candidate_exact ||
          solid->form()->guard != vouched.guard)
        continue;
      other->slot_->Retire(*solid);
      Reopened(*other, fmt::format("the worker that vouched for it was caught: {}", why));
    }
  }
}

}  // namespace frazil::engine
