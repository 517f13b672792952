// Programs that poll are watched by a thread, so that the code itself reads one byte and no clock.
#include "exec/word_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/deadline.h"

namespace frazil::exec {
namespace {

constexpr uint64_t LeastRecursionBytes = 16 << 20;

bool HasCycle(const std::vector<std::vector<uint32_t>>& callees) {
  enum : uint8_t { New, Open, Done };
  std::vector<uint8_t> state(callees.size(), New);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t first = 0; first < callees.size(); ++first) {
    if (state[first] != New) continue;
    state[first] = Open;
    stack.push_back({first, 0});
    while (!stack.empty()) {
      auto& [function, next] = stack.back();
      if (next == callees[function].size()) {
        state[function] = Done;
        stack.pop_back();
        continue;
      }
      const uint32_t callee = callees[function][next++];
      if (state[callee] == Open) return true;
      if (state[callee] == New) {
        state[callee] = Open;
        stack.push_back({callee, 0});
      }
    }
  }
  return false;
}

}  // namespace

uint16_t StreamCode(ir::Type scalar) {
  const uint32_t limbs = scalar.scalar == ir::Scalar::Int ? scalar.limbs : 0;
  return static_cast<uint16_t>(static_cast<uint32_t>(scalar.scalar) + 256 * limbs);
}

ir::Type StreamType(uint16_t code) {
  const auto scalar = static_cast<ir::Scalar>(code & 0xff);
  return scalar == ir::Scalar::Int ? ir::Type::Int(code >> 8) : ir::Type::Of(scalar);
}

StreamWords::StreamWords(std::span<const Value> values) {
  for (const Value& value : values) {
    const auto span = value.scalar_words();
    words.insert(words.end(), span.begin(), span.end());
    types.push_back(StreamCode(value.type));
  }
}

std::vector<Value> StreamWords::Values() const {
  std::vector<ir::Type> scalars;
  for (uint16_t code : types) scalars.push_back(StreamType(code));
  return ValuesFromWords(scalars, words);
}

std::vector<uint64_t> ArgumentWords(const LoweredCall& call) {
  std::vector<uint64_t> in;
  for (const Value& argument : call.arguments()) {
    if (argument.memory == nullptr) {
      const auto words = argument.scalar_words();
      in.insert(in.end(), words.begin(), words.end());
    } else {
      in.push_back(reinterpret_cast<uintptr_t>(argument.memory->data()));
      in.push_back(static_cast<uint64_t>(argument.memory->length()));
    }
  }
  return in;
}

uint32_t WordCount(std::span<const ir::Type> scalars) {
  uint32_t count = 0;
  for (ir::Type type : scalars) count += ir::WordsOf(type);
  return count;
}

std::vector<Value> ValuesFromWords(std::span<const ir::Type> types,
                                   std::span<const uint64_t> words) {
  std::vector<Value> values;
  size_t position = 0;
  for (ir::Type type : types) {
    values.push_back(Value::Scalar(type, words.subspan(position, ir::WordsOf(type))));
    position += ir::WordsOf(type);
  }
  return values;
}

Result<std::optional<TrapInfo>> TrapOfStatus(int32_t status, std::optional<ir::Op> op,
                                             int64_t index) {
  if (status == 0) return std::optional<TrapInfo>();
  if (status == WrongTypeStatus && op)
    return Fail(Diag::WrongArgument,
                fmt::format("the next value of the {} stream has another type than the "
                            "program reads",
                            ir::Info(*op).mnemonic));
  if (status < 1 || status > ir::TrapCount || !op)
    return Fail(Diag::BadArtifact, fmt::format("compiled code gave the unknown status {}", status));
  return std::optional(TrapInfo{static_cast<ir::Trap>(status - 1), *op, index});
}

// --- time -------------------------------------------------------------------------------------------------

Watchdog::Watchdog(const RunContext& context) : context_(context) {
  if (context_.IsStopped()) stop_ = 1;
  thread_ = std::thread([this] { Watch(); });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::Explain(std::optional<TrapInfo>& trap) const {
  if (trap && trap->kind == ir::Trap::Fuel && stop_.load(std::memory_order_relaxed) != 0)
    trap = context_.Ended(trap->op, trap->index);
}

void Watchdog::Watch() {
  const Deadline deadline = Deadline::After(context_.limits.run_ms);
  std::unique_lock lock(mutex_);
  while (!done_) {
    // The context's flag cannot wake anybody: look at it often.
    const Deadline next = context_.stop == nullptr ? deadline : deadline.Within(1);
    changed_.wait_until(lock, next.at(), [this] { return done_; });
    if (!done_ && (context_.IsStopped() || deadline.Passed())) {
      stop_.store(1, std::memory_order_relaxed);
      return;
    }
  }
}

// --- stack ------------------------------------------------------------------------------------------------

StackNeed FindStackNeed(const ir::Program& lowered) {
  StackNeed need;
  std::vector<std::vector<uint32_t>> callees(lowered.functions.size());
  for (size_t f = 0; f < lowered.functions.size(); ++f) {
    const ir::Function& function = lowered.functions[f];
    need.frame_bytes += 512;
    // Compilers may give every value its place.
    for (const ir::ValueInfo& value : function.values)
      need.frame_bytes += 16 + 2 * ir::BytesOf(value.type.element());
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Call)
        callees[f].push_back(static_cast<uint32_t>(function.word(inst, 0)));
  }
  need.recursive = HasCycle(callees);
  return need;
}

Result<int32_t> CallOnStack(StackNeed need, const Limits& limits,
                            const std::function<int32_t(uint64_t limit)>& run) {
  const uint64_t most = std::clamp(limits.memory_bytes, LeastRecursionBytes, LargestStackBytes);
  const uint64_t depth = std::min(limits.depth, DepthWithin(need, most));
  int32_t status = 0;
  if (!RunOnStack(need, depth, [&](uint64_t limit) { status = run(limit); }))
    return Fail(Diag::LimitReached, "there is no memory for the stack of the program");
  return status;
}

}  // namespace frazil::exec
