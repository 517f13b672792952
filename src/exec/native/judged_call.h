// A call as a judge makes it: it takes nothing for granted that callers do not give. Registers, stack and results hold other leftovers
// each time, words lie around the arguments and the results, memory that cannot be touched beside scratch, and code that says
// it needs no run gets none. Whoever says that a limit was reached must have come to one: such an end is no answer, and
// nobody would look at it again.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "exec/native/native_code.h"

namespace frazil::exec {

class JudgedCall {
 public:
  JudgedCall(std::span<const uint64_t> arguments, size_t result_words, NativeRun& run);

  int32_t Enter(const NativeCode& code);
  // Did it touch only what is its own, and leave the run as it must? Fails (BadArtifact) with one sentence. Nothing to say
  // of code that was not entered.
  Result<void> Check(int32_t status) const;
  std::span<const uint64_t> results() const;

 private:
  struct Lent {  // of the run
    explicit Lent(const NativeRun& run);
    const void* const* helpers;
    const uint8_t* stop;
    const void *scratch, *input, *hints;
    uint64_t depth_left, memory_left;
  };
  Result<void> CheckLimit(int32_t status) const;

  const std::vector<uint64_t> arguments_;  // as they were
  std::vector<uint64_t> given_, results_;  // with words around them
  NativeRun& run_;
  const Lent lent_;
  const NativeCode* entered_ = nullptr;
  bool had_no_memory_ = false;  // a helper said so
  bool has_other_modes_ = false;
  bool scratch_is_whole_ = true, scratch_is_used_rightly_ = true, scratch_is_left_ = true;
};

// One call with all of this, on a stack that is large enough; leaves the run as good as before.
Result<int32_t> CallJudged(const NativeCode& code, std::span<const uint64_t> arguments,
                           std::span<uint64_t> results, NativeRun& run);

}  // namespace frazil::exec
