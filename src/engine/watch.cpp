// What callers' threads tell the engine, and what follows: a site gets hot, is worth specializing, has drifted, or
// is compared with the interpreter on copies of its own inputs.
#include <fmt/format.h>

#include <algorithm>

#include "engine/improver.h"
#include "engine/worker/wire.h"
#include "exec/value.h"

namespace frazil::engine {

using dispatch::State;

namespace {

// Tensors arrive here as buffers: such a call is no call of the source.
bool HasTensors(const ir::Program& source) {
  const ir::Function& entry = source.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (entry.param_type(i).is_tensor()) return true;
  }
  return std::ranges::any_of(entry.results, [](ir::Type type) { return type.is_tensor(); });
}

// How many fluid calls a thread makes before one is timed and told, which takes a quarter of a microsecond: as many as take
// 20 us together, so that a site is hot no later than 2 % after it was.
uint32_t FluidCountdown(double call_ns) {
  constexpr double TellEveryNs = 20'000, Most = 64;
  return static_cast<uint32_t>(std::clamp(TellEveryNs / std::max(1.0, call_ns), 1.0, Most));
}

// What WorkRequest::recent_call holds.
std::vector<std::vector<uint64_t>> SizesOf(const ir::Program& source, const CallLayout& layout,
                                           const uint64_t* arguments) {
  std::vector<std::vector<uint64_t>> sizes;
  if (HasTensors(source)) return sizes;
  for (uint32_t i = 0; i < layout.params().size(); ++i) {
    const uint64_t* words = arguments + layout.first_word(i);
    const ir::Type type = layout.params()[i];
    if (type.is_buffer()) {
      sizes.push_back({words[1]});
    } else {
      sizes.emplace_back(words, words + ir::WordsOf(type));
    }
  }
  return sizes;
}

}  // namespace

void Improver::Saw(Site& site, const uint64_t* arguments, const dispatch::Observation& seen) {
  Site::Impl& impl = *site.impl_;
  const State state = site.state();
  std::unique_lock lock(impl.mutex);
  impl.profile.Add(arguments, seen.calls, seen.ns);
  impl.solid_calls += seen.solid_calls;
  if (seen.was_solid) {
    impl.solid_times.Add(seen.ns);
    impl.solid_ns_total += impl.solid_times.Median() * static_cast<double>(seen.solid_calls);
  } else {
    impl.fluid_times.Add(seen.ns);
  }
  if (state == State::Solid) {
    // Only a form under a guard can miss; what misses is answered by the next form or the interpreter.
    if (impl.drift.Add(seen.calls, seen.misses)) {
      impl.drift.Reset();
      lock.unlock();
      return Drifted(site);
    }
    if (!impl.queued && WantsSpecializing(site)) {
      impl.queued = true;
      impl.specialize_at = UINT64_MAX;
      lock.unlock();
      return Enqueue(Job::Specialize, site);
    }
    if (!impl.queued && WantsTuning(site)) {
      impl.queued = true;
      impl.may_tune = false;
      impl.recent_call = SizesOf(impl.source, impl.fluid->layout(), arguments);
      lock.unlock();
      return Enqueue(Job::Tune, site);
    }
    lock.unlock();
    return MaybeShadow(site, arguments, seen.ns);
  }
  if (impl.queued || (state != State::Fluid && state != State::Warm)) return;
  if (options.hot_calls == 0) site.slot_->SetCountdown(FluidCountdown(impl.fluid_times.Median()));
  if (state == State::Fluid && impl.profile.calls() > 1) site.slot_->SetState(State::Warm);
  if (!IsHot(site)) return;
  impl.queued = true;
  const uint64_t calls = impl.profile.calls();
  const double ns = impl.profile.ns_per_call();
  lock.unlock();
  site.slot_->SetState(State::Candidate);
  Event event{0, {}, Verb::Observe, {}, {}, {}};
  event.numbers = {{Quantity::Calls, static_cast<double>(calls)}, {Quantity::Ns, ns}};
  Tell(site, std::move(event));
  TakeSample(site, arguments);
  Enqueue(Job::Improve, site);
}

// count x t0 >= 0.1 x (compile + verify) while the worker is idle, the whole of it while it is busy.
bool Improver::IsHot(const Site& site) const {
  const Site::Impl& impl = *site.impl_;
  const uint64_t calls = impl.profile.calls();
  if (calls < impl.retry_at_calls) return false;
  if (options.hot_calls > 0) return calls >= options.hot_calls;
  double estimate_ms;
  {
    std::lock_guard lock(mutex_);
    estimate_ms = estimate_ms_;
  }
  const double share = worker.busy() ? 1.0 : 0.1;
  return impl.profile.total_ns() >= share * estimate_ms * 1e6;
}

// Constants were seen long enough, and the site runs long enough, that another compile may pay.
bool Improver::WantsSpecializing(const Site& site) const {
  const Site::Impl& impl = *site.impl_;
  // Without a compiler there may still be forms that the store has.
  const bool can = options.compile || store != nullptr;
  if (!options.specialize || !can || impl.solid_calls < impl.specialize_at) return false;
  double estimate_ms;
  {
    std::lock_guard lock(mutex_);
    estimate_ms = estimate_ms_;
  }
  if (impl.solid_ns_total < 2 * estimate_ms * 1e6) return false;
  for (const std::vector<uint64_t>& words : impl.profile.ConstantArguments()) {
    if (!words.empty()) return true;
  }
  return false;
}

// Tuned code takes longer to make and is seldom twice as fast: the site must have run for many times as long.
bool Improver::WantsTuning(const Site& site) const {
  constexpr double Patience = 10;
  const Site::Impl& impl = *site.impl_;
  if (!impl.may_tune || !options.tune || !options.compile || worker.busy()) return false;
  std::lock_guard lock(mutex_);
  return impl.solid_ns_total >= Patience * estimate_ms_ * 1e6;
}

// A real call to price with, if copying it costs a caller little.
void Improver::TakeSample(Site& site, const uint64_t* arguments) {
  constexpr uint64_t MostBytes = 64 << 10;
  const CallLayout& layout = site.impl_->fluid->layout();
  if (HasTensors(site.impl_->source) || layout.BufferBytes(arguments) > MostBytes) return;
  std::vector<exec::Value> sample = layout.Values(arguments, /*copy=*/true);
  std::lock_guard lock(site.impl_->mutex);
  site.impl_->sample = std::move(sample);
}

void Improver::MaybeShadow(Site& site, const uint64_t* arguments, double ns) {
  Site::Impl& impl = *site.impl_;
  const uint64_t bytes = impl.fluid->layout().BufferBytes(arguments);
  if (bytes > options.shadow_bytes || options.shadow_share <= 0 || worker.busy()) return;
  {
    std::lock_guard lock(impl.mutex);
    // What a comparison will cost: both paths once, and the copies (10 GB/s is slow for a copy).
    const double cost = impl.fluid_times.Median() + ns + static_cast<double>(bytes) / 5;
    if (impl.queued || impl.shadow_ns_total + cost > options.shadow_share * impl.solid_ns_total)
      return;
    impl.shadow_ns_total += cost;
    impl.queued = true;
  }
  Enqueue(Job::Shadow, site, impl.fluid->layout().Values(arguments, /*copy=*/true));
}

void Improver::Shadow(Site& site, const std::vector<exec::Value>& arguments) {
  Site::Impl& impl = *site.impl_;
  const auto forms = site.slot_->forms();
  {
    std::lock_guard lock(impl.mutex);
    impl.queued = false;
  }
  if (forms.empty()) return;
  const Form& form = forms.front()->form();
  // A worker loads code, not plans; the forms that a plan calls were judged, and its order was proved.
  if (form->target != "native") return;
  ShadowRequest request;
  request.program = impl.signed_source->text();
  request.key = key;
  request.sealed = verify::Seal(form, key);
  request.arguments = wire::EncodeValues(arguments);
  Result<ShadowReply> reply = worker.Shadow(request);
  // A worker that failed says nothing about the form.
  if (!reply) return DistrustCaught(site);
  if (reply->agreed) return;
  const std::string file = WriteReproducer(site, form, arguments, reply->difference);
  {
    std::lock_guard lock(impl.mutex);
    impl.banned.push_back(form->candidate_exact);
  }
  if (store != nullptr) {
    store->Ban(form->candidate_exact, reply->difference);
    store->Remove(KeyOf(site, form->guard, form->toolchain));
  }
  Reopen(site, fmt::format("a shadow run differs ({}); banned, reproducer in {}", reply->difference,
                           file));
  if (const std::optional<uint64_t> number = WhoVouchedFor(site, form))
    Distrust(site, *number, "it vouched for code that is wrong");
}

// The form in front was made for calls that no longer come. What stands behind it goes on answering.
void Improver::Drifted(Site& site) {
  const auto forms = site.slot_->forms();
  if (forms.size() < 2) {
    // Another form under the same guard would miss again, whatever the calls are like that it is priced on.
    if (!forms.empty() && forms.front()->form()->guard != "true") {
      std::lock_guard lock(site.impl_->mutex);
      site.impl_->banned.push_back(forms.front()->form()->candidate_exact);
    }
    return Reopen(site, "the guard misses more calls than it should");
  }
  site.slot_->Retire(*forms.front());
  {
    // What comes now may be constant again, and is believed later than the first time.
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->profile.ForgetArguments();
    site.impl_->specialize_at = 4 * site.impl_->solid_calls + 1000;
  }
  Tell(site, Verb::Reopen,
       fmt::format("the form for {} is retired: its guard misses more calls than it should",
                   forms.front()->form()->guard));
}

void Improver::Reopen(Site& site, std::string why) {
  if (site.state() != State::Solid) return;
  site.slot_->SetState(State::Suspect);
  site.slot_->Melt();
  Reopened(site, std::move(why));
}

// After some form was taken out: callers are heard more often, and the site may be improved anew.
void Improver::Reopened(Site& site, std::string why) {
  if (site.state() == State::Fluid) {
    site.slot_->SetState(State::Warm);
    site.slot_->SetCountdown(1);
  }
  {
    std::lock_guard lock(site.impl_->mutex);
    site.impl_->drift.Reset();
    site.impl_->specialize_at = 4 * site.impl_->solid_calls + 1000;
    site.impl_->retry_at_calls = site.impl_->profile.calls() + 1;
  }
  Tell(site, Verb::Reopen, std::move(why));
}

std::string Improver::WriteReproducer(const Site& site, const Form& form,
                                      const std::vector<exec::Value>& arguments,
                                      const std::string& difference) const {
  const std::string name =
      fmt::format("{}-{}", site.impl_->exact.substr(0, 12), form->candidate_exact.substr(0, 12));
  std::string text =
      fmt::format("# A compiled form that differed from its program: {}\n", difference);
  text += fmt::format(
      "# guard {}, made by {}, image {} bytes\n# frazil run this file with the arguments below\n",
      form->guard, form->toolchain, form->payload.size());
  for (const exec::Value& value : arguments) text += "# --arg '" + exec::PrintValue(value) + "'\n";
  text += site.impl_->signed_source->text();
  text += "\n# the candidate:\n";
  std::string line;
  for (const char c : form->candidate) {
    if (line.empty()) text += "# ";
    line += c;
    text += c;
    if (c == '\n') line.clear();
  }
  std::optional<std::string> path;
  if (!options.reproducers.empty())
    path = store::WriteReproducerIn(options.reproducers, name, text);
  else if (store != nullptr)
    path = store->WriteReproducer(name, text);
  return path.value_or("no file (it could not be written)");
}

}  // namespace frazil::engine
