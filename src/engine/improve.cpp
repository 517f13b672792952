// The loop that lets programs set, written once, top to bottom:
//
//   observe      a site tells how often it was called and how long a call took       (watch.cpp, Saw)
//   store        is there a verified form already?                                   FromStore, FromStoreUnderGuard
//   propose, lower, verify, price    in the worker, another process                  FromWorker
//   tune         still hot: the same candidate, compiled with more effort              Tune
//   admit        evidence >= policy and cost < cost of what is in use                AdmitForm, engine/admit.h
//   dispatch     the slot calls it from now on                                       Dispatch
//   keep         sealed, by content, for the next process                            TakeWork
//   watch        guards that miss, shadow runs that differ                           (watch.cpp)
//   reopen       back to the fluid path, a ban, a reproducer                         (watch.cpp, Reopen; distrust.cpp)
//
// One thread per engine runs it; callers never wait for it.
#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "engine/improver.h"
#include "engine/worker/wire.h"
#include "exec/guard_eval.h"

namespace frazil::engine {
namespace {

// How many calls a thread makes before one is timed and told. A fluid call takes a microsecond at least, and telling
// takes a tenth of that; a solid one may take nanoseconds.
constexpr uint32_t SolidCountdown = 1024;
// Of calls that take long, fewer: what follows from them (tuning above all) would come after seconds.
constexpr uint32_t LeastCountdown = 8;
constexpr double TellEveryNs = 1e6;

// How many workers one program may use up by proposals whose code is wrong.
constexpr int MostWorkers = 4;

}  // namespace

void Improver::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.Wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    working_ = true;
    lock.unlock();
    switch (task.job) {
      case Job::Improve: Improve(*task.site, /*specialize=*/false); break;
      case Job::Specialize: Improve(*task.site, /*specialize=*/true); break;
      case Job::Tune: Tune(*task.site); break;
      case Job::Shadow: Shadow(*task.site, task.arguments); break;
    }
    task.site.reset();  // perhaps the last to know it
    lock.lock();
    working_ = false;
    idle_.NotifyAll();
  }
}

void Improver::Improve(Site& site, bool specialize) {
  if (!specialize) {
    if (site.state() != dispatch::State::Candidate) return;  // frozen or banned in the meantime
    // Another process may have been here while this one counted.
    if (FromStore(site, "true")) return;
  }
  if (FromStoreUnderGuard(site, specialize)) return;
  if (!specialize && FromCalls(site)) return;
  if (!options.compile) return FallBack(site, "compiling is switched off");
  if (const std::optional<WorkReply> reply = FromWorker(site, specialize)) TakeWork(site, *reply);
}

bool Improver::IsBanned(const Site& site, const std::string& candidate_exact) const {
  if (store != nullptr && store->IsBanned(candidate_exact)) return true;
  std::lock_guard lock(site.impl_->mutex);
  return std::ranges::find(site.impl_->banned, candidate_exact) != site.impl_->banned.end();
}

// The first form was made soon; for a site that runs on, one that takes longer to make may be worth it.
void Improver::Tune(Site& site) {
  const auto forms = site.slot_->forms();
  if (forms.empty()) {
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->queued = false;
    return;
  }
  const Form& in_use = forms.front()->form();
  if (const auto reply = FromWorker(site, /*specialize=*/in_use->guard != "true", &in_use))
    TakeWork(site, *reply);
}

bool Improver::FromStore(Site& site, const std::string& guard) {
  if (store == nullptr) return false;
  // What was made by nobody knows whom is not looked for.
  const std::string toolchain = worker.toolchain();
  if (toolchain.empty()) return false;
  const std::optional<Form> form =
      store->FindVerified(KeyOf(site, guard, toolchain), site.impl_->policy);
  return form && !IsBanned(site, (*form)->candidate_exact) && AdmitForm(site, *form, "the store");
}

// What a worker found to be best under a guard is found again where calls like those come here.
bool Improver::FromStoreUnderGuard(Site& site, bool specialize) {
  if (store == nullptr) return false;
  const auto forms = site.slot_->forms();
  for (const std::string& text : store->Guards(KeyOf(site, "true", worker.toolchain()))) {
    const bool in_use =
        std::ranges::any_of(forms, [&](const auto& solid) { return solid->form()->guard == text; });
    const Result<ir::Guard> guard = ir::ParseGuard(text, site.impl_->source);
    if (!in_use && guard && Suits(site, *guard, specialize) && FromStore(site, text)) return true;
  }
  return false;
}

// Constants are believed as they are where code is made for them: if calls were seen to have them. The rest of the guard is tried
// on a call that came; where none was copied, the slot will tell.
bool Improver::Suits(const Site& site, const ir::Guard& guard, bool specialize) {
  std::lock_guard lock(site.impl_->mutex);
  const std::vector<std::vector<uint64_t>> constants = site.impl_->profile.ConstantArguments();
  ir::Guard rest;
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind != ir::GuardKind::Equals)
      rest.atoms.push_back(atom);
    else if (!specialize || constants[atom.arg] != atom.low)
      return false;
  }
  return site.impl_->sample.empty() || exec::Holds(rest, site.impl_->sample);
}

std::optional<WorkReply> Improver::FromWorker(Site& site, bool specialize, const Form* tune) {
  WorkRequest request;
  request.program = site.impl_->signed_source->text();
  request.policy = site.impl_->policy;
  request.timeout_ms = options.limits.worker_ms;
  request.specialize = specialize;
  request.key = key;
  const auto forms = site.slot_->forms();
  request.tuned = !forms.empty() && (tune != nullptr || forms.front()->tuned());
  request.same_candidate = tune != nullptr;
  if (!forms.empty())
    request.in_use = verify::Seal(tune != nullptr ? *tune : forms.front()->form(), key);
  if (const std::string toolchain = worker.toolchain();
      store != nullptr && tune == nullptr && !toolchain.empty()) {
    // What others left behind is a proposal: its program is lowered and verified again, its code is not used.
    if (auto foreign = store->FindForeign(KeyOf(site, "true", toolchain)); foreign && !specialize) {
      request.foreign_candidate = foreign->candidate;
      request.foreign_guard = foreign->guard;
      Tell(site, Verb::Propose,
           "the store has a form that this installation did not make: its program is judged anew");
    }
  }
  {
    std::lock_guard lock(site.impl_->mutex);
    request.observed.constant_arguments = site.impl_->profile.ConstantArguments();
    request.observed.calls = site.impl_->profile.calls();
    request.banned = site.impl_->banned;
    if (tune != nullptr) request.recent_call = site.impl_->recent_call;
    if (!site.impl_->sample.empty())
      request.sample_arguments = wire::EncodeValues(site.impl_->sample);
  }
  Result<WorkReply> reply = WorkReply();
  for (int workers = 0; workers < MostWorkers; ++workers) {
    reply = worker.Improve(request);
    TellComplaint(site);
    if (!reply) {
      DistrustCaught(site);
      FallBack(site, reply.error().message);
      return std::nullopt;
    }
    TakeRecords(site, *reply);
    if (reply->refuted.empty()) break;
    // It ran wrong code and stopped; the next one is not given that.
    std::lock_guard lock(site.impl_->mutex);
    for (const std::string& exact : reply->refuted) site.impl_->banned.push_back(exact);
    request.banned = site.impl_->banned;
  }
  if (reply->sealed.empty()) {
    FallBack(site, "no candidate was verified and cheaper");
    return std::nullopt;
  }
  if (tune != nullptr) return std::move(*reply);
  std::lock_guard lock(mutex_);
  estimate_ms_ = 0.5 * (estimate_ms_ + reply->compile_ms + reply->verify_ms + reply->price_ms);
  return std::move(*reply);
}

// The guard is the worker's choice; it becomes part of what is expected, and of what the slot tests. Everything else was
// asked for: a worker that vouches for anything else is not believed again.
Result<Form> Improver::Open(const Site& site, const WorkReply& reply) const {
  verify::Expected expected;
  expected.source_exact = site.impl_->exact;
  expected.target = "native";
  expected.toolchain = reply.toolchain;
  expected.profile = exec::CpuLevelName(exec::HostLevel());
  expected.policy = site.impl_->policy;
  Form form = TRY(verify::Readmit(reply.sealed, key, expected));
  if (IsBanned(site, form->candidate_exact))
    return Fail(Diag::NotAdmitted, "the form is of a candidate that is banned");
  return form;
}

void Improver::TakeWork(Site& site, const WorkReply& reply) {
  const Result<Form> form = Open(site, reply);
  if (!form) {
    Distrust(site, reply.worker, form.error().message);
    return FallBack(site, form.error().message);
  }
  if (auto done = AdmitForm(site, *form, "the worker"); !done)
    return FallBack(site, std::move(done.error()));
  // Callers are served already: a disk may take its time.
  Vouched vouched{reply.worker,   site.weak_from_this(), (*form)->candidate_exact,
                  (*form)->guard, std::nullopt,          Sha256Hex(reply.sealed)};
  if (store != nullptr && !reply.toolchain.empty()) {
    vouched.key = KeyOf(site, (*form)->guard, reply.toolchain);
    store->Put(*vouched.key, reply.sealed);
  }
  std::lock_guard lock(mutex_);
  vouched_.push_back(std::move(vouched));
}

// The one way into a slot, wherever a form comes from.
std::expected<void, std::string> Improver::AdmitForm(Site& site, const Form& form,
                                                     std::string_view from) {
  const auto forms = site.slot_->forms();
  const std::expected<Admitted, std::string> admitted =
      Admit(form, forms.empty() ? nullptr : &forms.front()->form(), site.impl_->policy);
  Tell(site, Verb::Admit, admitted ? admitted->reason() : admitted.error());
  if (!admitted) return std::unexpected(admitted.error());
  if (auto done = Dispatch(site, *admitted, from); !done) return done;
  // Behind a form with the same guard it would never be asked again.
  if (!forms.empty() && forms.front()->form()->guard == form->guard)
    site.slot_->Retire(*forms.front());
  return {};
}

std::expected<void, std::string> Improver::Dispatch(Site& site, const Admitted& admitted,
                                                    std::string_view from) {
  Result<std::shared_ptr<const dispatch::Solid>> solid = MakeSolid(site, admitted.form());
  if (!solid) return std::unexpected(solid.error().message);
  const bool tuned = (*solid)->tuned();
  if (!site.slot_->Install(*std::move(solid)))
    return std::unexpected("the site was frozen or banned in the meantime");
  const Form& form = admitted.form();
  const auto& cost = std::get<exec::CallTime>(form->cost);
  double call_ns = cost.ns_per_call;
  {
    std::lock_guard lock(site.impl_->mutex);
    // Priced on one call; the calls that came may be longer.
    if (const double fluid_ns = site.impl_->fluid_times.Median();
        fluid_ns > 0 && cost.reference_ns > 0)
      call_ns *= fluid_ns / cost.reference_ns;
    site.impl_->queued = false;
    site.impl_->drift.Reset();
    site.impl_->may_tune = !tuned;
    site.impl_->from = from;
    site.impl_->kept.clear();
    site.impl_->since =
        fmt::format("{:.1f} ms after the engine started",
                    std::chrono::duration<double, std::milli>(Clock::now() - start_).count());
  }
  site.slot_->SetCountdown(static_cast<uint32_t>(std::clamp(
      TellEveryNs / std::max(1.0, call_ns), double{LeastCountdown}, double{SolidCountdown})));
  // A call that began on the interpreter long ago need not go on there.
  site.impl_->fluid->InterruptRunning();
  Tell(site, Verb::Dispatch, admitted.reason(), std::string(from));
  return {};
}

void Improver::FallBack(Site& site, std::string why) {
  {
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->queued = false;
    // Not before the site was called four times as often: a program that cannot be improved costs little.
    site.impl_->retry_at_calls = 4 * site.impl_->profile.calls() + 1;
    site.impl_->kept = why;
  }
  if (site.state() == dispatch::State::Candidate) site.slot_->SetState(dispatch::State::Warm);
  Tell(site, Verb::Keep, std::move(why));
}

}  // namespace frazil::engine
