// A slot: one call site of one program, fluid or solid. The hot path: one acquire load, at most eight guard
// atoms, one call, one thread-local countdown. No read-modify-write, clock, lock or allocation.
//
// Arguments are words in the form of exec::NativeEntry: a scalar is its words, a buffer its address and length.
// Tensors are passed as buffers, those of the results after the parameters (ir/lower/lower.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "dispatch/slot_core.h"
#include "dispatch/state.h"
#include "exec/call_words.h"
#include "exec/native/native_code.h"
#include "ir/guard.h"
#include "ir/program.h"
#include "ir/signed_program.h"
#include "verify/verified.h"

namespace frazil::exec {
class PlanCode;
}

namespace frazil::dispatch {

class JudgedCode;

// What answers when no compiled form may: the interpreter. Given by the engine; must be callable from any thread. Gives
// 0, 1 + ir::Trap, or a negative number for arguments that it refuses.
class Fluid {
 public:
  virtual ~Fluid() = default;
  virtual int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) = 0;
};

// What one thread did on one slot since it was last told.
struct Observation {
  uint64_t calls = 0;
  uint64_t solid_calls = 0;  // answered by a compiled form
  uint64_t misses =
      0;  // the first form's guard did not hold: a later form or the fluid path answered
  double ns =
      0;  // of the one call that was timed, the last of them; the clock's own time is taken off
  bool was_solid = false;  // whether that call was solid
};

// Told when a thread's countdown reaches zero, after that call and outside of the slot: it may change the slot. Never
// told of a call that was refused.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Observe(const uint64_t* arguments, const Observation& seen) = 0;
};

// A verified form, mapped, with its guard flattened for the hot path.
class Solid {
 public:
  // `source` is the program that the form answers for: refused if its exact digest is another.
  static Result<std::shared_ptr<const Solid>> Make(const verify::Verified<exec::CompiledForm>& form,
                                                   const ir::SignedProgram& source);
  // Of a form that is a plan of calls (dispatch/calls.h).
  static Result<std::shared_ptr<const Solid>> MakeCalls(
      const verify::Verified<exec::CompiledForm>& form, std::span<const JudgedCode> parts,
      const ir::SignedProgram& source);
  ~Solid();
  const verify::Verified<exec::CompiledForm>& form() const { return form_; }
  size_t code_bytes() const { return code_bytes_; }
  bool tuned() const { return tuned_; }  // there is no form that takes longer to make
  bool Holds(const uint64_t* arguments) const {
    return guard_.Holds(arguments);
  }  // as exec::Holds does

 private:
  friend class Slot;
  Solid(const verify::Verified<exec::CompiledForm>& form, FlatGuard guard, FlatGuard::Parts parts,
        std::shared_ptr<const exec::NativeCode> code, const exec::NativeImage& image);

  verify::Verified<exec::CompiledForm> form_;
  FlatGuard guard_;
  FlatGuard::Parts parts_;                      // of the guard, for calls that bring a record
  std::shared_ptr<const exec::PlanCode> plan_;  // what the code calls, if that is a plan
  std::shared_ptr<const exec::NativeCode> code_;
  size_t code_bytes_;
  bool tuned_;
};

class Slot {
 public:
  // `program` as its callers see it, before lowering: forms answer for it. Nobody may be calling when the slot goes.
  // Depth and memory of the limits hold for calls that bring no run.
  Slot(const ir::SignedProgram& program, Fluid& fluid, Watcher& watcher, const Limits& limits = {});
  ~Slot();

  // 0, 1 + ir::Trap, or a negative number where the fluid path refused the arguments. `run` may be null: then the
  // slot's limits hold, a trap's place is not told and output goes nowhere.
  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run = nullptr) {
    return core_.Call(arguments, results, run);
  }

  // Puts a form in front of the chain (at most four; the last one goes) and makes the slot solid. False, and nothing
  // has changed: the slot is frozen or banned, or the form is not one of its program. Any thread.
  bool Install(std::shared_ptr<const Solid> solid);
  // Takes one form out; fluid after the last. Also from a frozen slot, which stays frozen. False: it was not there.
  bool Retire(const Solid& solid);
  // Takes all out. A call that begins after this is fluid; one that is under way may end in the old code, which is
  // freed after it has. Quiesce (dispatch/threads.h) waits for those.
  void Melt();

  State state() const { return core_.state(); }
  // False: the transition is not allowed (dispatch/state.h), leaves a state set by hand, or wants Solid or Suspect
  // without a form. Going to Fluid or Banned melts.
  bool SetState(State state) { return core_.SetState(state); }
  bool Freeze() { return core_.SetState(State::Frozen); }
  bool Unfreeze() { return core_.Unfreeze(); }  // to Solid, or Fluid without a form
  bool Ban() { return core_.SetState(State::Banned); }
  bool Unban() { return core_.Unban(); }                    // to Fluid
  std::vector<std::shared_ptr<const Solid>> forms() const;  // in the order they are tried

  // How many calls a thread makes before it tells the watcher: small while fluid, larger when solid. A thread takes a
  // smaller number over at its next call that is not solid, and any at its next turn.
  void SetCountdown(uint32_t calls) { core_.SetCountdown(calls); }

 private:
  friend class LaunchRecord;    // calls with buffers that were looked at before
  friend class SlotCoreTester;  // of tests and benchmarks of the mechanism alone
  SlotCore core_;
  std::string source_exact_;
  exec::CallWords words_;
};

}  // namespace frazil::dispatch
