// The inside of the engine: what a site knows, and the one thread that improves sites. Private to engine/.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <thread>

#include "base/system/fork.h"
#include "engine/admit.h"
#include "engine/calls.h"
#include "engine/engine.h"
#include "engine/fluid.h"
#include "profile/profile.h"

namespace frazil::engine {

using Clock = std::chrono::steady_clock;
using Form = verify::Verified<exec::CompiledForm>;

// The time of a call, from the last timed ones: a median, because one that waited for a processor must not stand for
// all.
class RecentTimes {
 public:
  void Add(double ns) { ns_[count_++ % ns_.size()] = ns; }
  double Median() const {
    std::array<double, 15> sorted = ns_;
    const size_t count = std::min(count_, ns_.size());
    if (count == 0) return 0;
    std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(count));
    return sorted[count / 2];
  }

 private:
  std::array<double, 15> ns_{};
  size_t count_ = 0;
};

// Everything about a site that is not on its hot path.
struct Site::Impl {
  Impl(std::shared_ptr<const ir::SignedProgram> program,
       std::unique_ptr<InterpreterFluid> fluid_path, std::shared_ptr<Improver> improver);

  std::shared_ptr<const ir::SignedProgram> signed_source;
  const ir::Program& source;  // as given
  const std::string& exact;
  verify::Policy policy;
  std::unique_ptr<InterpreterFluid> fluid;
  std::shared_ptr<Improver> improver;  // outlives the engine: its sites may still be called

  mutable ForkMutex mutex;  // of everything below
  profile::CallProfile profile;
  profile::DriftTest drift;
  uint64_t solid_calls = 0;
  double solid_ns_total = 0;   // estimated: timed calls stand for the untimed ones
  double shadow_ns_total = 0;  // spent copying and comparing
  RecentTimes fluid_times, solid_times;
  bool queued = false;
  uint64_t retry_at_calls = 0;  // after a failure: not before that many calls
  uint64_t specialize_at =
      1000;  // solid calls before constants are believed; none: tried for those there are now
  bool may_tune = false;  // the form in front is not tuned, and it was not tried yet
  std::vector<std::vector<uint64_t>> recent_call;  // when tuning was asked for (WorkRequest)
  std::vector<exec::Value>
      sample;  // the call that forms are priced on: the same one, so that prices compare
  std::vector<std::string> banned;
  std::string since;  // when it set, for people
  std::string from;   // "the store" or "the worker"
  std::string kept;   // why it is not solid, as far as that was tried
};

class Improver : public std::enable_shared_from_this<Improver> {
 public:
  explicit Improver(EngineOptions options);
  ~Improver();

  Result<std::shared_ptr<Site>> Load(std::shared_ptr<const ir::SignedProgram> program);
  bool Settle(std::chrono::milliseconds longest);

  // Told by a site, on a caller's thread: short, and never waits for the loop.
  void Saw(Site& site, const uint64_t* arguments, const dispatch::Observation& seen);
  void Stop();              // ends the thread and the worker; sites stay as they are
  void Forget(Site& site);  // told by its destructor

  // The time and the site are filled in.
  void Tell(const Site& site, Event event) const;
  void Tell(const Site& site, Verb verb, std::string detail, std::string who = {}) const {
    Tell(site, Event{0, {}, verb, std::move(who), std::move(detail), {}});
  }

  EngineOptions options;
  std::unique_ptr<store::Store> store;  // null: none
  verify::InstallKey key;               // the store's, or one of this process alone
  Worker worker;

 private:
  enum class Job : uint8_t { Improve, Specialize, Tune, Shadow };
  struct Task {
    Job job;
    std::shared_ptr<Site> site;
    std::vector<exec::Value> arguments;  // Shadow: copies of a real call's
  };

  // improve.cpp: the loop and its steps, in order.
  void Loop();
  void Improve(Site& site, bool specialize);
  void Tune(Site& site);
  bool FromStore(Site& site, const std::string& guard);
  bool FromStoreUnderGuard(Site& site, bool specialize);
  static bool Suits(const Site& site, const ir::Guard& guard, bool specialize);
  std::optional<WorkReply> FromWorker(Site& site, bool specialize, const Form* tune = nullptr);
  void TakeWork(Site& site, const WorkReply& reply);
  Result<Form> Open(const Site& site, const WorkReply& reply) const;
  std::expected<void, std::string> AdmitForm(Site& site, const Form& form, std::string_view from);
  std::expected<void, std::string> Dispatch(Site& site, const Admitted& admitted,
                                            std::string_view from);
  // improve_calls.cpp: large programs as calls of forms.
  bool FromCalls(Site& site);
  Result<std::shared_ptr<const dispatch::Solid>> MakeSolid(const Site& site, const Form& form);
  void FallBack(Site& site, std::string why);
  bool IsBanned(const Site& site, const std::string& candidate_exact) const;

  // distrust.cpp: what follows when a worker was caught.
  struct Vouched {
    uint64_t worker;
    std::weak_ptr<Site> site;
    std::string candidate_exact, guard;
    std::optional<store::StoreKey> key;  // where it is kept
    std::string content;                 // digest of what is kept there
  };
  void Distrust(Site& site, uint64_t worker_number, const std::string& why);
  void DistrustCaught(Site& site);
  void TellComplaint(const Site& site);
  std::optional<uint64_t> WhoVouchedFor(const Site& site, const Form& form) const;

  // watch.cpp
  bool IsHot(const Site& site) const;
  bool WantsSpecializing(const Site& site) const;
  bool WantsTuning(const Site& site) const;
  static void TakeSample(Site& site, const uint64_t* arguments);
  void Enqueue(Job job, Site& site, std::vector<exec::Value> arguments = {});
  void MaybeShadow(Site& site, const uint64_t* arguments, double ns);
  void Shadow(Site& site, const std::vector<exec::Value>& arguments);
  void Drifted(Site& site);
  void Reopen(Site& site, std::string why);
  void Reopened(Site& site, std::string why);
  std::string WriteReproducer(const Site& site, const Form& form,
                              const std::vector<exec::Value>& arguments,
                              const std::string& difference) const;

  store::StoreKey KeyOf(const Site& site, const std::string& guard,
                        const std::string& toolchain) const;
  void TakeRecords(const Site& site, const WorkReply& reply) const;

  std::unique_ptr<FormBook> book_;  // made with the first program that is cut; of the loop's thread
  Clock::time_point start_ = Clock::now();
  mutable ForkMutex mutex_;  // of everything below
  double estimate_ms_;       // compile + verify, measured as we go
  ForkCondition wake_, idle_;
  std::deque<Task> tasks_;
  std::set<Site*> sites_;  // all that live
  std::vector<Vouched> vouched_;
  bool working_ = false;
  bool stopping_ = false;
  std::thread thread_;  // started with the first task
  // In a child: there is no thread and no worker until a site is hot again, and nothing is under way.
  void BeginAgain();
  std::deque<Task> abandoned_;  // the parent's; not ended in BeginAgain, where nothing may end
  AfterFork after_fork_{[this] { BeginAgain(); }};
};

}  // namespace frazil::engine
