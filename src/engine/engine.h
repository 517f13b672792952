// The door of engine/: call sites that get fast by themselves. engine/improve.cpp is the loop, written once, top to
// bottom: observe, look in the store, propose, lower, verify, price, admit, keep, dispatch, watch, reopen.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/launch_record.h"
#include "dispatch/slot.h"
#include "engine/event.h"
#include "engine/worker/package.h"
#include "engine/worker/worker.h"
#include "ir/program.h"
#include "ir/signed_program.h"
#include "store/store.h"
#include "verify/verify.h"

namespace frazil::engine {

struct EngineOptions {
  bool use_store = true;
  store::StoreOptions store;
  WorkerOptions worker;
  bool compile = true;  // off: sites stay fluid, unless the store has a form for them
  // Tier-up starts when calls x time per call reaches 0.1 x (compile + verify), 1 x while the worker is busy.
  // A count, if set, wins over that rule.
  uint64_t hot_calls = 0;
  double first_estimate_ms = 12;  // of compile + verify, until one was measured
  bool specialize = true;
  bool tune = true;             // make the form of a site that runs on again, with more effort
  double shadow_share = 0.005;  // of the time spent in solid calls
  uint64_t shadow_bytes = 1ull << 20;    // largest arguments that are copied
  double drift_expected = 0.01;          // share of guard misses that is normal
  double drift_alpha = 1e-6;             // chance of a false alarm over a site's whole life
  std::optional<verify::Policy> policy;  // default: verify::Policy::Default of the program
  std::string reproducers;               // folder for reproducer files; empty: <store>/reproducers
  // Depth and memory of calls. Fuel and run_ms are not applied: compiled code counts neither.
  Limits limits;
  std::function<void(const Event&)>
      on_event;  // called on the engine's own thread or a caller's; must not call back
};

// What `frazil why` tells of one program.
struct SiteReport {
  std::string exact;
  dispatch::State state = dispatch::State::Fluid;
  uint64_t calls = 0, solid_calls = 0;
  double fluid_ns = 0, solid_ns = 0;  // per call, as observed
  double saved_ms = 0;
  std::string what, since, trust, saved, reopen;  // one line each
};

class Improver;

// One call site of one program. Calls may come from any thread, also after the engine is gone.
class Site final : public std::enable_shared_from_this<Site>, private dispatch::Watcher {
 public:
  ~Site() override;
  // 0, 1 + ir::Trap, or LaunchFailed (engine/fluid.h).
  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run = nullptr) {
    return slot_->Call(arguments, results, run);
  }
  // For calls that come again with the same buffers. The site outlives its records.
  dispatch::LaunchRecord Record() { return dispatch::LaunchRecord(*slot_); }
  const ir::Program& program() const;  // as given
  const ir::Function& entry() const;   // of the form whose words a call takes: tensors are buffers
  const std::string& exact() const;
  dispatch::State state() const { return slot_->state(); }
  SiteReport Report() const;

  // By hand: keep what is there; let it change again; never use a compiled form.
  void Freeze();
  void Unfreeze();
  void Ban();

  struct Impl;

 private:
  friend class Improver;
  explicit Site(std::unique_ptr<Impl> impl);
  void Observe(const uint64_t* arguments, const dispatch::Observation& seen) override;

  std::unique_ptr<Impl> impl_;
  std::unique_ptr<dispatch::Slot> slot_;
};

class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  ~Engine();  // does not wait for a compile that is under way

  // A checked program; the store is asked at once, so that a site may start solid.
  Result<std::shared_ptr<Site>> Load(std::shared_ptr<const ir::SignedProgram> program);
  Result<std::shared_ptr<Site>> Load(const ir::Program& program);
  // Until nothing is queued or under way. For tests and demonstrations; false: it took longer.
  bool Settle(std::chrono::milliseconds longest);

  store::Store* store();  // null without one
  Worker& worker();
  const EngineOptions& options() const;

 private:
  std::shared_ptr<Improver> improver_;
};

}  // namespace frazil::engine
