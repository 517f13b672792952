// What calls of compiled code in the uniform form (words in, words out, a run) have in common: arguments, results and
// streams as words, a stack that is large enough, and someone who ends a run when its time is over.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "embed/native_run.h"
#include "exec/marshal.h"
#include "exec/native/stack.h"
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::exec {

// The type of a value on a stream: its ir::Scalar, and for int<k> k above it.
uint16_t StreamCode(ir::Type scalar);
ir::Type StreamType(uint16_t code);

struct StreamWords : embed::StreamData {
  StreamWords() = default;
  explicit StreamWords(std::span<const Value> values);
  std::vector<Value> Values() const;
};

// A scalar is its words, a buffer its address and its length.
std::vector<uint64_t> ArgumentWords(const LoweredCall& call);
uint32_t WordCount(std::span<const ir::Type> scalars);
std::vector<Value> ValuesFromWords(std::span<const ir::Type> types,
                                   std::span<const uint64_t> words);

// The trap of a status: 0 is none, 1 + ir::Trap that trap, WrongTypeStatus an error about a stream.
using embed::WrongTypeStatus;
Result<std::optional<TrapInfo>> TrapOfStatus(int32_t status, std::optional<ir::Op> op,
                                             int64_t index);

// Sets a byte when the time of a run is over, or when the flag of the run's context is set.
class Watchdog {
 public:
  explicit Watchdog(const RunContext& context);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  const uint8_t* flag() const { return reinterpret_cast<const uint8_t*>(&stop_); }
  // Compiled code calls every end that the flag made `fuel`: says what it was.
  void Explain(std::optional<TrapInfo>& trap) const;

 private:
  void Watch();

  const RunContext& context_;
  std::atomic<uint8_t> stop_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};
static_assert(sizeof(std::atomic<uint8_t>) == 1);

// An upper bound, for compilers that do not say how large their frames are.
StackNeed FindStackNeed(const ir::Program& lowered);

// Calls `run` with the address below which recursion must not go, and room for the depth that the limits allow. Stack is
// memory too: recursion that needs more of it than a run may have ends with a depth trap.
Result<int32_t> CallOnStack(StackNeed need, const Limits& limits,
                            const std::function<int32_t(uint64_t limit)>& run);

}  // namespace frazil::exec
