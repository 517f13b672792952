// Another stack is a mapping whose pages come when they are touched, with one below it that never does. Going there costs
// some 3 ns (a thread of its own took 30 us), because a thread keeps one, with its pages, until it ends.
#include "exec/native/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "embed/native_run.h"

namespace frazil::exec {
namespace {

// For what the last frame calls: helpers, and a signal's handler.
constexpr uint64_t ReserveBytes = 256 << 10;
constexpr uint64_t LeastStackBytes = 1 << 20;
constexpr uint64_t MostKeptBytes = 64 << 20;
// The frames of the entry and of the call beyond the limit, which traps.
constexpr uint64_t MoreFrames = 2;

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

class Stack {
 public:
  static std::unique_ptr<Stack> Map(uint64_t bytes) {
    const uint64_t page = PageBytes();
    uint64_t size = (std::max(bytes + ReserveBytes, LeastStackBytes) + page - 1) / page * page;
    // Powers of two, so that a thread whose calls need more and more maps few of them.
    if (size <= MostKeptBytes) size = std::bit_ceil(size);
    void* base = mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    auto stack = std::unique_ptr<Stack>(new Stack(base, size + page));
    return mprotect(base, page, PROT_NONE) == 0 ? std::move(stack) : nullptr;
  }
  ~Stack() { munmap(base_, mapped_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* begin() const { return static_cast<char*>(base_) + PageBytes(); }
  uint64_t end() const { return reinterpret_cast<uint64_t>(base_) + mapped_; }
  uint64_t size() const { return mapped_ - PageBytes(); }
  bool Holds(uint64_t bytes) const { return size() >= bytes + ReserveBytes; }

 private:
  Stack(void* base, uint64_t mapped) : base_(base), mapped_(mapped) {}
  void* base_;
  uint64_t mapped_;
};

// The one that a thread keeps. Null while it is in use: a call within the call has one of its own.
constinit thread_local Stack* kept = nullptr;
constinit thread_local bool has_ended = false;
struct Keeper {
  ~Keeper() {
    delete std::exchange(kept, nullptr);
    has_ended = true;
  }
};

std::unique_ptr<Stack> Take(uint64_t bytes) {
  std::unique_ptr<Stack> stack(std::exchange(kept, nullptr));
  return stack != nullptr && stack->Holds(bytes) ? std::move(stack) : Stack::Map(bytes);
}

void GiveBack(std::unique_ptr<Stack> stack) {
  if (has_ended || stack->size() > MostKeptBytes) return;
  thread_local Keeper keeper;
  if (kept == nullptr) kept = stack.release();
}

struct Call {
  void (*run)(void* context, uint64_t limit);
  void* context;
  uint64_t limit;
  static void Start(void* self) {
    const Call& call = *static_cast<Call*>(self);
    call.run(call.context, call.limit);
  }
};

#if defined(__x86_64__)
// Nothing that is called throws, and everything returns.
[[gnu::noinline]] bool CallOn(const Stack& stack, void (*function)(void*), void* context) {
  // Asked for so that the frame has a pointer of its own, by which a debugger finds its way back.
  const uint64_t frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[end], %%rsp\n\t"
      "call *%[function]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(context)
      : [end] "r"(stack.end()), [function] "r"(function), "m"(frame)
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "cc", "memory");
  return true;
}
#else
// By a thread; what the system keeps on its stack comes off the reserve.
bool CallOn(const Stack& stack, void (*function)(void*), void* context) {
  std::pair call(function, context);
  auto start = [](void* self) -> void* {
    const auto& [its_function, its_context] = *static_cast<decltype(call)*>(self);
    its_function(its_context);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  const bool runs = pthread_attr_setstack(&attributes, stack.begin(), stack.size()) == 0 &&
                    pthread_create(&thread, &attributes, start, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (runs) pthread_join(thread, nullptr);
  return runs;
}
#endif

// How far this thread's stack goes below `here`; 0 where `here` is on another one.
uint64_t LeftBelow(uint64_t here) {
  const embed::ThreadStack& own = embed::StackOfThread();
  return here > own.limit && here < own.end ? here - own.limit : 0;
}

}  // namespace

uint64_t DepthWithin(StackNeed need, uint64_t bytes) {
  if (!need.recursive) return UINT64_MAX;
  const uint64_t frames = bytes / std::max<uint64_t>(need.frame_bytes, 1);
  return frames - std::min(frames, MoreFrames + 1);
}

bool RunOnStack(StackNeed need, uint64_t depth, void (*run)(void* context, uint64_t limit),
                void* context) {
  if (depth > DepthWithin(need, LargestStackBytes) || need.frame_bytes > LargestStackBytes)
    return false;
  const uint64_t above = need.recursive ? (depth + MoreFrames) * need.frame_bytes : 0;
  const uint64_t bytes = above + need.frame_bytes;
  const uint64_t here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (LeftBelow(here) >= bytes) {
    run(context, here - above);
    return true;
  }
  std::unique_ptr<Stack> stack = Take(bytes);
  if (stack == nullptr) return false;
  Call call{run, context, stack->end() - above};
  const bool has_run = CallOn(*stack, Call::Start, &call);
  GiveBack(std::move(stack));
  return has_run;
}

}  // namespace frazil::exec
