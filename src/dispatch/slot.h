// A slot: one call site of one program, fluid or solid. The hot path: one acquire load, at most eight guard
// atoms, one call, one thread-local countdown. No read-modify-write, clock, lock or allocation.
//
// Arguments are words in the form of exec::NativeEntry: a scalar is its words, a buffer its address and length.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/native_code.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "verify/verified.h"

namespace frazil::dispatch {

enum class State : uint8_t { Fluid, Warm, Candidate, Solid, Suspect, Frozen, Banned };
std::string_view StateName(State state);

// What answers when no compiled form may: the interpreter. Given by the engine; must be callable from any thread.
class Fluid {
 public:
  virtual ~Fluid() = default;
  virtual int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) = 0;
};

// What a thread tells when its countdown reaches zero.
struct Observation {
  uint64_t calls = 0;        // since this thread last told, the timed one included
  uint64_t solid_calls = 0;  // of these, answered by a compiled form
  uint64_t misses = 0;       // of these, for which the first form's guard did not hold
  double ns = 0;             // of the last call, the only one that was timed
  bool was_solid = false;    // whether that one was answered by a compiled form
};

// Told after the timed call has returned, on the caller's thread; never on the hot path otherwise.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Observe(const uint64_t* arguments, const Observation& seen) = 0;
};

// A verified form, mapped, with its guard flattened for the hot path.
class Solid {
 public:
  static Result<std::shared_ptr<const Solid>> Make(const verify::Verified<exec::CompiledForm>& form,
                                                   const ir::Program& source);
  ~Solid();
  const verify::Verified<exec::CompiledForm>& form() const;
  bool Holds(const uint64_t* arguments) const;  // compared with exec::Holds in tests

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Slot {
 public:
  Slot(const ir::Program& program, Fluid& fluid, Watcher& watcher);
  ~Slot();

  // 0, or 1 + ir::Trap. `run` may be null: then default limits hold and a trap's place is not told.
  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run = nullptr);

  // Puts a form in front of the chain (at most four; the last one goes). Old chains are freed when no thread can be
  // inside them. Any thread.
  void Install(std::shared_ptr<const Solid> solid);
  void Retire(const Solid& solid);  // takes one form out
  void Melt();                      // takes all out: fluid again

  State state() const;
  void SetState(State state);
  std::vector<std::shared_ptr<const Solid>> forms() const;

  // How many calls a thread makes before it tells the watcher: small while fluid, larger when solid.
  void SetCountdown(uint32_t calls);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Frees what can be freed now; for tests and for shutting down.
void CollectRetired();

}  // namespace frazil::dispatch
