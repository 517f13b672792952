// The loop that lets programs set, written once, top to bottom:
//
//   observe      a site tells how often it was called and how long a call took       (watch.cpp, Saw)
//   store        is there a verified form already?                                   FromStore
//   propose, lower, verify, price    in the worker, another process                  FromWorker
//   admit        evidence >= policy and cost < cost of what is in use                AdmitForm, engine/admit.h
//   dispatch     the slot calls it from now on                                       Dispatch
//   keep         sealed, by content, for the next process                            AdmitForm
//   watch        guards that miss, shadow runs that differ                           (watch.cpp)
//   reopen       back to the fluid path, a ban, a reproducer                         (watch.cpp, Reopen)
//
// One thread per engine runs it; callers never wait for it.
#include <fmt/format.h>

#include "engine/admit.h"
#include "engine/improver.h"
#include "engine/wire.h"

namespace frazil::engine {
namespace {

// How many calls a thread makes before one is timed and told. A fluid call takes a microsecond at least, and telling
// takes a tenth of that; a solid one may take nanoseconds.
constexpr uint32_t SolidCountdown = 1024;

}  // namespace

void Improver::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    working_ = true;
    lock.unlock();
    switch (task.job) {
      case Job::Improve: Improve(*task.site, /*specialize=*/false); break;
      case Job::Specialize: Improve(*task.site, /*specialize=*/true); break;
      case Job::Shadow: Shadow(*task.site, task.arguments); break;
    }
    task.site.reset();  // perhaps the last to know it
    lock.lock();
    working_ = false;
    idle_.notify_all();
  }
}

void Improver::Improve(Site& site, bool specialize) {
  if (!specialize) {
    if (site.state() != dispatch::State::Candidate) return;  // frozen or banned in the meantime
    // Another process may have been here while this one counted.
    if (FromStore(site, "true")) return;
  }
  if (!options.compile) return FallBack(site, "compiling is switched off");
  const std::optional<std::string> sealed = FromWorker(site, specialize);
  if (sealed) AdmitForm(site, *sealed);
}

bool Improver::FromStore(Site& site, const std::string& guard) {
  if (store == nullptr) return false;
  std::optional<Form> form = store->FindVerified(KeyOf(site, guard), site.impl_->policy);
  if (!form || store->IsBanned((*form)->candidate_exact)) return false;
  return Dispatch(site, *form, "the store", "readmitted: its seal is this installation's");
}

std::optional<std::string> Improver::FromWorker(Site& site, bool specialize) {
  WorkRequest request;
  request.program = site.impl_->text;
  request.policy = site.impl_->policy;
  request.timeout_ms = options.limits.worker_ms;
  request.specialize = specialize;
  request.key = key;
  if (store != nullptr) {
    // What others left behind is a proposal: its program is lowered and verified again, its code is not used.
    if (auto foreign = store->FindForeign(KeyOf(site, "true")); foreign && !specialize) {
      request.foreign_candidate = foreign->candidate;
      request.foreign_guard = foreign->guard;
      Tell(site, "propose",
           "the store has a form that this installation did not make: its program is judged anew");
    }
  }
  {
    std::lock_guard lock(site.impl_->mutex);
    request.observed.constant_arguments = site.impl_->profile.ConstantArguments();
    request.observed.calls = site.impl_->profile.calls();
    request.banned = site.impl_->banned;
    if (!site.impl_->sample.empty())
      request.sample_arguments = wire::EncodeValues(site.impl_->sample);
  }
  Result<WorkReply> reply = worker.Improve(request);
  if (const std::string complaint = worker.TakeComplaint(); !complaint.empty())
    Tell(site, "worker", complaint);
  if (!reply) {
    FallBack(site, reply.error().message);
    return std::nullopt;
  }
  AddLog(site, reply->log);
  if (reply->sealed.empty()) {
    FallBack(site, "no candidate was verified and cheaper");
    return std::nullopt;
  }
  std::lock_guard lock(mutex_);
  estimate_ms_ = 0.5 * (estimate_ms_ + reply->compile_ms + reply->verify_ms + reply->price_ms);
  return std::move(reply->sealed);
}

bool Improver::AdmitForm(Site& site, const std::string& sealed) {
  // The guard is the worker's choice; it becomes part of what is expected, and of what the slot tests.
  Result<exec::CompiledForm> claimed = verify::ReadForeign(sealed);
  if (!claimed) {
    FallBack(site, claimed.error().message);
    return false;
  }
  verify::Expected expected;
  expected.source_exact = site.impl_->exact;
  expected.guard = claimed->guard;
  expected.target = "native";
  expected.level = exec::HostLevel();
  expected.policy = site.impl_->policy;
  Result<Form> form = verify::Readmit(sealed, key, expected);
  if (!form) {
    FallBack(site, form.error().message);
    return false;
  }
  const auto forms = site.slot_->forms();
  const Admission admission =
      Admit(*form, forms.empty() ? nullptr : &forms.front()->form(), site.impl_->policy);
  Tell(site, "admit", admission.reason);
  if (!admission.admitted) {
    FallBack(site, admission.reason);
    return false;
  }
  if (!Dispatch(site, *form, "the worker", admission.reason)) return false;
  // Callers are served already: a disk may take its time.
  if (store != nullptr) store->Put(KeyOf(site, (*form)->guard), sealed);
  return true;
}

bool Improver::Dispatch(Site& site, const Form& form, std::string_view from, std::string_view why) {
  Result<std::shared_ptr<const dispatch::Solid>> solid =
      dispatch::Solid::Make(form, site.impl_->source);
  if (!solid) {
    FallBack(site, solid.error().message);
    return false;
  }
  if (!site.slot_->Install(*std::move(solid))) {
    FallBack(site, "the site was frozen or banned in the meantime");
    return false;
  }
  site.slot_->SetCountdown(SolidCountdown);
  {
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->queued = false;
    site.impl_->drift.Reset();
    site.impl_->from = from;
    site.impl_->since =
        fmt::format("{:.1f} ms after the engine started",
                    std::chrono::duration<double, std::milli>(Clock::now() - start_).count());
  }
  // A call that began on the interpreter long ago need not go on there.
  site.impl_->fluid->InterruptRunning();
  Tell(site, "dispatch", fmt::format("solid from {}: {}", from, why));
  return true;
}

void Improver::FallBack(Site& site, std::string why) {
  {
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->queued = false;
    // Not before the site was called four times as often: a program that cannot be improved costs little.
    site.impl_->retry_at_calls = 4 * site.impl_->profile.calls() + 1;
  }
  if (site.state() == dispatch::State::Candidate) site.slot_->SetState(dispatch::State::Warm);
  Tell(site, "keep", std::move(why));
}

}  // namespace frazil::engine
