// A plan that can be called: every argument of every step is put into its place once, and a call only fills in what it was
// given, then calls the forms one after the other.
//
// Any number of threads may call it: each call takes an arena and the words that go with it, and puts them back for the next.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/system/fork.h"
#include "exec/native/native_code.h"
#include "exec/plan/plan.h"
#include "exec/target.h"

namespace frazil::exec {

class PlanCode {
 public:
  // `codes`: of each form, in order. Fails with BadArtifact where the plan does not fit the program or its forms.
  static Result<std::shared_ptr<const PlanCode>> Link(
      const ir::Program& program, const Plan& plan,
      std::vector<std::shared_ptr<const NativeCode>> codes);
  ~PlanCode();
  PlanCode(const PlanCode&) = delete;
  PlanCode& operator=(const PlanCode&) = delete;

  // As native code is called (embed/native_run.h): 0, or 1 + the trap's kind. Without a run default limits hold.
  int32_t Call(const uint64_t* arguments, uint64_t* results, NativeRun* run = nullptr) const;

  size_t steps() const { return calls_.size(); }
  uint64_t arena_bytes() const { return arena_bytes_; }

 private:
  struct Instance;
  // One form, where its arguments begin, where its results go, and what follows from them.
  struct StepCall {
    NativeFunction function;
    uint32_t words = 0, results = 0;
    uint32_t first_copy = 0, copies = 0;
  };
  struct Copy {
    uint32_t from, to;
  };
  // An address or a scalar of the call's own words, with an offset.
  struct Patch {
    uint32_t from, to;
    uint64_t add;
  };

  PlanCode() = default;
  Result<void> AddStep(const ir::Program& program, const Plan& plan, size_t number);
  Result<void> AddScalar(const PlanScalar& scalar, ir::Type type);
  Result<void> AddPlace(const PlanPlace& place, ir::Type element);
  Result<void> AddResults(const ir::Program& program, const Plan& plan);
  Instance* Take() const;
  void Return(Instance* instance) const;
  int32_t Run(Instance& instance, NativeRun* run) const;

  std::vector<std::shared_ptr<const NativeCode>> codes_;
  std::vector<StepCall> calls_;
  std::vector<uint64_t> words_;    // of all steps, as far as they are the same for all calls
  std::vector<Copy> arena_words_;  // from: which of the offsets
  std::vector<uint64_t> arena_offsets_;
  std::vector<Patch> patches_;
  std::vector<Copy> copies_;                         // by step: of results into words
  std::vector<std::vector<uint32_t>> result_words_;  // by step and result: the first
  uint32_t result_count_ = 0;                        // words of all steps' scalar results
  struct Given {
    enum class From : uint8_t { Constant, Argument, Result };
    From from;
    uint64_t word;  // the constant, or where it is
  };
  std::vector<Given> given_;  // the program's own scalar results, a word each
  std::vector<uint32_t> param_words_, tensor_words_;  // of the program: by parameter, by result
  uint64_t arena_bytes_ = 0;

  mutable std::atomic<Instance*> ready_ = nullptr;  // the one that was used last
  mutable ForkMutex mutex_;
  mutable std::vector<std::unique_ptr<Instance>> spare_;
};

// The same for values.
Result<std::unique_ptr<Callable>> MakePlanCallable(std::shared_ptr<const PlanCode> code,
                                                   std::shared_ptr<const ir::Program> program);

}  // namespace frazil::exec
