// Engine and Site: making, asking, ending. What happens in between is in improve.cpp and watch.cpp.
#include "engine/engine.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <new>

#include "base/check.h"
#include "base/deadline.h"
#include "dispatch/threads.h"
#include "engine/improver.h"
#include "ir/check/check.h"
#include "ir/digest.h"

namespace frazil::engine {
namespace {

verify::InstallKey RandomKey() {
  verify::InstallKey key{};
  // 32 bytes never come in part (getrandom(2)).
  CHECK(getrandom(key.data(), key.size(), 0) == static_cast<ssize_t>(key.size()));
  return key;
}

profile::CallProfile MakeProfile(const CallLayout& layout) {
  std::vector<uint32_t> words, first;
  for (uint32_t i = 0; i < layout.params().size(); ++i) {
    words.push_back(layout.params()[i].is_buffer() ? 0 : ir::WordsOf(layout.params()[i]));
    first.push_back(layout.first_word(i));
  }
  return profile::CallProfile(std::move(words), std::move(first));
}

}  // namespace

Engine::Engine(EngineOptions options) : improver_(std::make_shared<Improver>(std::move(options))) {}
Engine::~Engine() { improver_->Stop(); }
Result<std::shared_ptr<Site>> Engine::Load(std::shared_ptr<const ir::SignedProgram> program) {
  return improver_->Load(std::move(program));
}
Result<std::shared_ptr<Site>> Engine::Load(const ir::Program& program) {
  return improver_->Load(ir::SignedProgram::Of(program));
}
bool Engine::Settle(std::chrono::milliseconds longest) { return improver_->Settle(longest); }
store::Store* Engine::store() { return improver_->store.get(); }
Worker& Engine::worker() { return improver_->worker; }
const EngineOptions& Engine::options() const { return improver_->options; }

Improver::Improver(EngineOptions engine_options)
    : options(std::move(engine_options)),
      worker(options.worker),
      estimate_ms_(options.first_estimate_ms) {
  dispatch::
      HasMembarrier();  // made before us, it is told of a fork before us: slots are changed then
  if (options.use_store) store = store::Store::Open(options.store);
  key = store != nullptr ? store->key() : RandomKey();
}

void Improver::BeginAgain() {
  new (&thread_) std::thread;  // without its destructor: there is nobody to wait for
  working_ = false;
  abandoned_.swap(tasks_);
  vouched_.clear();
  for (Site* site : sites_) {
    site->impl_->queued = false;
    // What the parent counted is for the parent to tell.
    site->impl_->solid_calls = 0;
    site->impl_->solid_ns_total = site->impl_->shadow_ns_total = 0;
    if (site->state() == dispatch::State::Candidate) site->slot_->SetState(dispatch::State::Warm);
  }
}

void Improver::Forget(Site& site) {
  std::lock_guard lock(mutex_);
  sites_.erase(&site);
}

Improver::~Improver() { Stop(); }

void Improver::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  worker.Stop();  // a compile that is under way ends with an error
  if (thread_.joinable()) thread_.join();
  std::deque<Task> dropped, abandoned;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(tasks_);
    abandoned.swap(abandoned_);
  }
}

Site::Impl::Impl(std::shared_ptr<const ir::SignedProgram> program,
                 std::unique_ptr<InterpreterFluid> fluid_path,
                 std::shared_ptr<Improver> its_improver)
    : signed_source(std::move(program)),
      source(signed_source->program()),
      exact(signed_source->exact()),
      policy(its_improver->options.policy.value_or(verify::Policy::Default(source))),
      fluid(std::move(fluid_path)),
      improver(std::move(its_improver)),
      profile(MakeProfile(fluid->layout())),
      drift(improver->options.drift_expected, improver->options.drift_alpha) {}

Result<std::shared_ptr<Site>> Improver::Load(std::shared_ptr<const ir::SignedProgram> program) {
  TRY_VOID(ir::Check(program->program(), options.limits));
  if (UsesStreams(program->program())) {
    return Fail(Diag::Unsupported,
                "A call site has no input, output or hint stream; run this program on a target.");
  }
  Limits limits = options.limits;
  limits.fuel = Limits().fuel;
  auto fluid = TRY(InterpreterFluid::Create(program, limits));
  auto impl =
      std::make_unique<Site::Impl>(std::move(program), std::move(fluid), shared_from_this());
  std::shared_ptr<Site> site(new Site(std::move(impl)));
  dispatch::Watcher& watcher = *site;
  site->slot_ = std::make_unique<dispatch::Slot>(*site->impl_->signed_source, *site->impl_->fluid,
                                                 watcher, limits);
  site->impl_->fluid->SetRestart([slot = site->slot_.get()](const uint64_t* arguments,
                                                            uint64_t* results,
                                                            exec::NativeRun* run) {
    return slot->Call(arguments, results, run);
  });
  site->slot_->SetCountdown(1);
  {
    std::lock_guard lock(mutex_);
    sites_.insert(site.get());
  }
  FromStore(*site, "true");
  return site;
}

bool Improver::Settle(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  return idle_.WaitUntil(lock, Deadline::After(longest).at(),
                         [&] { return tasks_.empty() && !working_; });
}

void Improver::Enqueue(Job job, Site& site, std::vector<exec::Value> arguments) {
  std::shared_ptr<Site> kept = site.weak_from_this().lock();
  std::lock_guard lock(mutex_);
  if (kept == nullptr || stopping_) return;
  tasks_.push_back({job, std::move(kept), std::move(arguments)});
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  wake_.NotifyAll();
}

store::StoreKey Improver::KeyOf(const Site& site, const std::string& guard,
                                const std::string& toolchain) const {
  store::StoreKey store_key;
  store_key.source_exact = site.impl_->exact;
  store_key.guard = guard;
  store_key.toolchain = toolchain;
  store_key.profile = exec::CpuLevelName(exec::HostLevel());
  return store_key;
}

void Improver::Tell(const Site& site, Event event) const {
  if (!options.on_event) return;
  event.ms = std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  event.site = ir::ShortDigest(site.impl_->exact);
  options.on_event(event);
}

// What a worker did, as it happened; what became of each proposal is kept for whoever asks.
void Improver::TakeRecords(const Site& site, const WorkReply& reply) const {
  for (const Event& event : reply.events) Tell(site, event);
  if (store == nullptr) return;
  for (const Attempt& attempt : reply.attempts) store->AppendAttempt(PrintAttempt(attempt));
}

Site::Site(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Site::~Site() {
  impl_->improver->Forget(*this);
  // For `frazil why`, in whichever process asks.
  store::Store* store = impl_->improver->store.get();
  if (store == nullptr || impl_->solid_calls == 0) return;
  store->AppendProfile(impl_->exact,
                       {impl_->solid_calls, static_cast<uint64_t>(impl_->solid_ns_total)});
}

void Site::Observe(const uint64_t* arguments, const dispatch::Observation& seen) {
  impl_->improver->Saw(*this, arguments, seen);
}

const ir::Program& Site::program() const { return impl_->source; }
const ir::Function& Site::entry() const { return impl_->fluid->lowered().entry_function(); }
const std::string& Site::exact() const { return impl_->exact; }

void Site::Freeze() { slot_->Freeze(); }
void Site::Unfreeze() { slot_->Unfreeze(); }
void Site::Ban() { slot_->Ban(); }

}  // namespace frazil::engine
