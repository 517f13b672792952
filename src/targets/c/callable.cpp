// Calls compiled code. Programs with deep frames run on a stack of their own size, and programs that poll are
// watched by a thread that ends them when their time is over or someone asks for it.
#include "targets/c/callable.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "exec/marshal.h"
#include "targets/c/ctype.h"
#include "targets/c/facts.h"
#include "targets/c/run_layout.h"

namespace frazil::targets::c {
namespace {

using exec::Value;

// A caller's stack is good for this much.
constexpr uint64_t SmallStackBytes = 256 << 10;
constexpr uint64_t LargestStackBytes = uint64_t{1} << 30;
constexpr uint64_t LeastRecursionBytes = 16 << 20;
// Below the last checked frame: what its own locals and helpers take.
constexpr uint64_t StackReserveBytes = 256 << 10;

// An upper bound of one frame of each function together: compilers may give every value its place.
uint64_t FrameBytes(const ir::Program& program) {
  uint64_t bytes = 0;
  for (const ir::Function& function : program.functions) {
    bytes += 512;
    for (const ir::ValueInfo& value : function.values)
      bytes += 16 + 2 * ir::BytesOf(value.type.element());
  }
  return bytes;
}

// Sets a byte when the time of a run is over, or when the flag of the run's context is set.
class Watchdog {
 public:
  Watchdog(const exec::RunContext& context) : context_(context) {
    if (IsStopped()) stop_ = 1;
    thread_ = std::thread([this] { Watch(); });
  }
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  const uint8_t* flag() const { return reinterpret_cast<const uint8_t*>(&stop_); }

 private:
  bool IsStopped() const {
    return context_.stop != nullptr && context_.stop->load(std::memory_order_relaxed);
  }

  void Watch() {
    using std::chrono::milliseconds;
    // A century is no limit; more would overflow the clock.
    constexpr uint64_t MostMs = uint64_t{100} * 365 * 24 * 3600 * 1000;
    const auto deadline =
        std::chrono::steady_clock::now() + milliseconds(std::min(context_.limits.run_ms, MostMs));
    std::unique_lock lock(mutex_);
    while (!done_) {
      // The context's flag cannot wake anybody: look at it often.
      const auto next =
          context_.stop == nullptr
              ? deadline
              : std::min(deadline, std::chrono::steady_clock::now() + milliseconds(1));
      changed_.wait_until(lock, next, [this] { return done_; });
      if (!done_ && (IsStopped() || std::chrono::steady_clock::now() >= deadline)) {
        stop_.store(1, std::memory_order_relaxed);
        return;
      }
    }
  }

  const exec::RunContext& context_;
  std::atomic<uint8_t> stop_ = 0;
  static_assert(sizeof(std::atomic<uint8_t>) == 1);
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

struct StreamWords {
  std::vector<uint64_t> words;
  std::vector<uint16_t> types;

  explicit StreamWords(const std::vector<Value>& values) {
    for (const Value& value : values) {
      const auto span = value.scalar_words();
      words.insert(words.end(), span.begin(), span.end());
      types.push_back(StreamCode(value.type));
    }
  }
  StreamLayout layout() const { return {words.data(), words.size(), types.data()}; }
};

struct Invocation {
  EntryFunction entry;
  const uint64_t* arguments;
  uint64_t* results;
  RunLayout* run;
  uint64_t stack_bytes;
  int status;

  static void* Start(void* self) {
    Invocation& call = *static_cast<Invocation*>(self);
    const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    call.run->stack_end = here - call.stack_bytes + StackReserveBytes;
    call.status = call.entry(call.arguments, call.results, call.run);
    return nullptr;
  }
};

// Runs the invocation on a thread whose stack is that large.
Result<void> CallOnLargeStack(Invocation& call) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // Some of it is the thread's own.
  int failed = pthread_attr_setstacksize(&attributes, call.stack_bytes + (64 << 10));
  pthread_t thread;
  if (failed == 0) failed = pthread_create(&thread, &attributes, Invocation::Start, &call);
  pthread_attr_destroy(&attributes);
  if (failed != 0)
    return Fail(Diag::LimitReached,
                fmt::format("no stack of {} bytes for the program can be had", call.stack_bytes));
  pthread_join(thread, nullptr);
  return {};
}

class CCallable : public exec::Callable {
 public:
  CCallable(CompiledProgram program, EntryFunction entry)
      : program_(std::move(program)),
        entry_(entry),
        frame_bytes_(FrameBytes(*program_.lowered)),
        recursive_(FindFacts(*program_.lowered, false).has_recursion) {}

  Result<exec::Outcome> Run(std::span<const Value> arguments,
                            const exec::RunContext& context) override {
    exec::LoweredCall call =
        TRY(exec::LoweredCall::Create(*program_.source, arguments, context.limits));
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
    uint32_t out_words = 0;
    for (ir::Type type : call.scalar_results()) out_words += ir::WordsOf(type);
    std::vector<uint64_t> out(out_words);
    const StreamWords input(context.input);
    const StreamWords hints(context.hints);
    RunLayout run;
    run.fuel = context.limits.fuel;
    run.depth = context.limits.depth;
    run.memory_bytes = context.limits.memory_bytes;
    run.input = input.layout();
    run.hints = hints.layout();
    Result<int> status = Invoke(in, out, run, context);
    std::vector<Value> output = status ? TakeOutput(run) : std::vector<Value>{};
    std::free(run.output);
    std::free(run.output_types);
    const auto trap = TRY(TrapOf(TRY(std::move(status)), run));
    std::vector<Value> results;
    size_t position = 0;
    for (ir::Type type : call.scalar_results()) {
      results.push_back(Value::Scalar(type, std::span(out).subspan(position, ir::WordsOf(type))));
      position += ir::WordsOf(type);
    }
    return std::move(call).Finish(trap, std::move(results), std::move(output));
  }

 private:
  Result<int> Invoke(const std::vector<uint64_t>& in, std::vector<uint64_t>& out, RunLayout& run,
                     const exec::RunContext& context) const {
    std::unique_ptr<Watchdog> watchdog;
    if (program_.polls) {
      watchdog = std::make_unique<Watchdog>(context);
      run.stop = watchdog->flag();
    }
    if (!recursive_ && frame_bytes_ <= SmallStackBytes) return entry_(in.data(), out.data(), &run);
    __extension__ using uint128 = unsigned __int128;
    const uint128 frames = recursive_ ? uint128{context.limits.depth} + 2 : 1;
    const uint128 wanted = frames * frame_bytes_ + 2 * StackReserveBytes;
    // Stack is memory too. Recursion that needs more ends with a depth trap.
    const uint64_t most =
        std::clamp(context.limits.memory_bytes, LeastRecursionBytes, LargestStackBytes);
    const uint64_t bytes = wanted > most ? most : static_cast<uint64_t>(wanted);
    Invocation call{entry_, in.data(), out.data(), &run, bytes, 0};
    TRY_VOID(CallOnLargeStack(call));
    return call.status;
  }

  static std::vector<Value> TakeOutput(const RunLayout& run) {
    std::vector<Value> output;
    size_t position = 0;
    for (uint64_t i = 0; i < run.output_values; ++i) {
      const ir::Type type = StreamType(run.output_types[i]);
      output.push_back(Value::Scalar(type, std::span(run.output + position, ir::WordsOf(type))));
      position += ir::WordsOf(type);
    }
    return output;
  }

  static Result<std::optional<exec::TrapInfo>> TrapOf(int status, const RunLayout& run) {
    if (status == 0) return std::optional<exec::TrapInfo>();
    const auto op = run.trap_op != nullptr ? ir::OpNamed(run.trap_op) : std::nullopt;
    if (status == WrongTypeStatus && op) {
      return Fail(Diag::WrongArgument,
                  fmt::format("the next value of the {} stream has another type than the "
                              "program reads",
                              run.trap_op));
    }
    if (status < 1 || status > ir::TrapCount || !op)
      return Fail(Diag::BadArtifact,
                  fmt::format("compiled code gave the unknown status {}", status));
    return std::optional(exec::TrapInfo{static_cast<ir::Trap>(status - 1), *op, run.trap_index});
  }

  CompiledProgram program_;
  EntryFunction entry_;
  uint64_t frame_bytes_;
  bool recursive_;
};

}  // namespace

Result<std::unique_ptr<exec::Callable>> MakeCallable(CompiledProgram program) {
  using Layout = uint64_t (*)();
  using Entry = EntryFunction (*)(uint64_t);
  const auto layout = reinterpret_cast<Layout>(program.object->Find("frz_layout"));
  const auto entry = reinterpret_cast<Entry>(program.object->Find("frz_entry"));
  if (layout == nullptr || entry == nullptr || layout() != sizeof(RunLayout))
    return Fail(Diag::BadArtifact, "compiled code has no entry point of this version");
  const EntryFunction function = entry(program.number);
  if (function == nullptr) return Fail(Diag::BadArtifact, "compiled code has no such entry point");
  return std::make_unique<CCallable>(std::move(program), function);
}

}  // namespace frazil::targets::c
