#include "exec/native/judged_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "exec/native/fenced_scratch.h"
#include "exec/native/native_run.h"

namespace frazil::exec {
namespace {

constexpr size_t Margin = 32;  // words on each side
constexpr uint64_t MarginWord = 0xc5c6c7c8c9cacbccu;

std::vector<uint64_t> WithMargins(std::span<const uint64_t> words) {
  std::vector<uint64_t> result(words.size() + 2 * Margin, MarginWord);
  std::ranges::copy(words, result.begin() + Margin);
  return result;
}

bool MarginsAreWhole(const std::vector<uint64_t>& words) {
  const auto is_whole = [](uint64_t word) { return word == MarginWord; };
  return std::all_of(words.begin(), words.begin() + Margin, is_whole) &&
         std::all_of(words.end() - Margin, words.end(), is_whole);
}

uint64_t NextCall() {
  static std::atomic<uint64_t> calls = 0;
  return calls.fetch_add(1, std::memory_order_relaxed);
}

// Calls by number would meet the same code in the same way where a judge's own calls have a period.
uint64_t Scrambled(uint64_t number) {
  uint64_t word = (number + 1) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  return word ^ (word >> 27);
}

// Whoever reads what he did not write gets something else each time, and now and then nothing but zeros.
uint64_t LeftoverOf(uint64_t scrambled) { return scrambled % 4 == 0 ? 0 : scrambled; }

// Most slips go too far, few begin too early.
FencedScratch::Fence FenceOf(uint64_t scrambled) {
  return (scrambled >> 32) % 3 == 2 ? FencedScratch::Fence::Before : FencedScratch::Fence::Behind;
}

// What the helpers of the call serve that this thread makes, and whether one of them found no memory.
thread_local const void* const* own_helpers = nullptr;
thread_local FencedScratch* own_scratch = nullptr;
thread_local bool found_no_memory = false;

void* Alloc(NativeRun* run, int64_t length, uint64_t element_bytes) noexcept {
  void* const buffer = own_scratch->Alloc(run, length, element_bytes);
  if (buffer == nullptr) found_no_memory = true;
  return buffer;
}

void Release(NativeRun* run, void* mark) noexcept { own_scratch->Release(run, mark); }

int32_t Output(NativeRun* run, uint32_t type, const uint64_t* words, uint64_t count) noexcept {
  using Helper = decltype(&Output);
  const auto helper = std::bit_cast<Helper>(own_helpers[static_cast<size_t>(NativeHelper::Output)]);
  const int32_t status = helper(run, type, words, count);
  if (status != 0) found_no_memory = true;
  return status;
}

}  // namespace

#if defined(__x86_64__)
namespace {
constexpr uint32_t ModesOfMxcsr = 0xffc0;  // without the flags that arithmetic leaves
uint32_t Modes() { return __builtin_ia32_stmxcsr() & ModesOfMxcsr; }
}  // namespace

// (arguments, results, run, entry, leftover): calls with the leftover in every register that a call may change, as wide as
// this processor has them, and in the 4 KiB of stack that the call takes for its frame. That comes last: whatever is called
// between would leave its own frame there, as a sanitizer's hooks do.
using DisturbedCall = int32_t(const uint64_t*, uint64_t*, NativeRun*, NativeEntry, uint64_t);
extern "C" DisturbedCall frazil_disturbed_call, frazil_disturbed_call_avx2,
    frazil_disturbed_call_avx512;
asm(R"(
  .macro frazil_begin name
  .text
  .p2align 4
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  .cfi_startproc
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  movq $-512, %rax
0:
  movq %r8, (%rsp,%rax,8)
  incq %rax
  jnz 0b
  movq %r8, %rax
  movq %r8, %rcx
  rolq $17, %rcx
  movq %rcx, %r9
  rolq $13, %r9
  movq %r9, %r10
  notq %r10
  movq %r10, %r11
  rolq $7, %r11
  movq %r8, %xmm0
  .endm
  .macro frazil_end name
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm

  frazil_begin frazil_disturbed_call
  punpcklqdq %xmm0, %xmm0
  .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqa %xmm0, %xmm\n
  .endr
  call *(%rsp)
  frazil_end frazil_disturbed_call

  frazil_begin frazil_disturbed_call_avx2
  .irp n, 15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0
  vpbroadcastq %xmm0, %ymm\n
  .endr
  call *(%rsp)
  vzeroupper
  frazil_end frazil_disturbed_call_avx2

  frazil_begin frazil_disturbed_call_avx512
  .irp n, 31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0
  vpbroadcastq %xmm0, %zmm\n
  .endr
  .irp n, 0,1,2,3,4,5,6,7
  kmovq %r8, %k\n
  .endr
  call *(%rsp)
  vzeroupper
  frazil_end frazil_disturbed_call_avx512
)");

namespace {
DisturbedCall* DisturbedCallHere() {
  switch (HostLevel()) {
    case CpuLevel::Avx512: return frazil_disturbed_call_avx512;
    case CpuLevel::Avx2: return frazil_disturbed_call_avx2;
    default: return frazil_disturbed_call;
  }
}
}  // namespace
#else
namespace {
// The memory that the next call takes for its frame.
[[gnu::noinline]] void LeaveOnStack(uint64_t word) {
  volatile uint64_t words[512];
  for (volatile uint64_t& each : words) each = word;
}
}  // namespace
#endif

JudgedCall::Lent::Lent(const NativeRun& run)
    : helpers(run.helpers),
      stop(run.stop),
      scratch(run.scratch),
      input(run.input),
      hints(run.hints),
      depth_left(run.depth_left),
      memory_left(run.memory_left) {}

JudgedCall::JudgedCall(std::span<const uint64_t> arguments, size_t result_words, NativeRun& run)
    : arguments_(arguments.begin(), arguments.end()),
      given_(WithMargins(arguments)),
      results_(WithMargins(std::vector<uint64_t>(result_words))),
      run_(run),
      lent_(run) {}

int32_t JudgedCall::Enter(const NativeCode& code) {
  const NativeFunction& function = code.function();
  entered_ = &code;
  std::array<const void*, embed::NativeHelperCount> helpers;
  std::copy_n(lent_.helpers, helpers.size(), helpers.begin());
  const auto replace = [&](NativeHelper helper, auto* ours) {
    helpers[static_cast<size_t>(helper)] = std::bit_cast<const void*>(ours);
  };
  replace(NativeHelper::Alloc, Alloc);
  replace(NativeHelper::Release, Release);
  replace(NativeHelper::Output, Output);
  const uint64_t scrambled = Scrambled(NextCall());
  FencedScratch scratch(run_, FenceOf(scrambled));
  own_helpers = lent_.helpers;
  own_scratch = &scratch;
  found_no_memory = false;
  run_.helpers = helpers.data();
  const uint64_t leftover = LeftoverOf(scrambled);
  NativeRun* const run = function.uses_run ? &run_ : nullptr;
  const uint64_t* const arguments = given_.data() + Margin;
  uint64_t* const results = results_.data() + Margin;
  // Callers give memory as they have it: what is no answer of the code must not look like one.
  std::fill(results_.begin() + Margin, results_.end() - Margin, ~scrambled | 1);
#if defined(__x86_64__)
  const uint32_t modes = Modes();
  const int32_t status = DisturbedCallHere()(arguments, results, run, function.entry, leftover);
  if (Modes() != modes) {
    has_other_modes_ = true;
    __builtin_ia32_ldmxcsr(modes);
  }
#else
  LeaveOnStack(leftover);
  const int32_t status = function.entry(arguments, results, run);
#endif
  had_no_memory_ = found_no_memory;
  own_scratch = nullptr;
  scratch_is_whole_ = scratch.IsWhole();
  scratch_is_used_rightly_ = scratch.is_used_rightly();
  // After a trap whoever called it cleans up.
  scratch_is_left_ = status != 0 || (scratch.is_given_back() && run_.scratch == lent_.scratch);
  if (run_.helpers == helpers.data()) run_.helpers = lent_.helpers;
  return status;
}

Result<void> JudgedCall::CheckLimit(int32_t status) const {
  const auto is = [&](ir::Trap trap) { return status == 1 + static_cast<int32_t>(trap); };
  const bool is_false =
      (is(ir::Trap::Fuel) && !entered_->metered() && *run_.stop == 0) ||
      (is(ir::Trap::Depth) && !entered_->function().stack.recursive && run_.depth_left != 0) ||
      (is(ir::Trap::Memory) && !had_no_memory_);
  if (!is_false) return {};
  return Fail(Diag::BadArtifact,
              fmt::format("compiled code says that it came to the limit of {}, and it did not",
                          ir::TrapName(static_cast<ir::Trap>(status - 1))));
}

Result<void> JudgedCall::Check(int32_t status) const {
  const auto wrong = [](const char* what) {
    return Fail(Diag::BadArtifact, std::string("compiled code ") + what);
  };
  if (entered_ == nullptr) return {};
  if (!MarginsAreWhole(results_)) return wrong("wrote beside its results");
  if (!MarginsAreWhole(given_) ||
      !std::equal(arguments_.begin(), arguments_.end(), given_.begin() + Margin))
    return wrong("wrote to its arguments");
  if (!scratch_is_whole_) return wrong("wrote beside its scratch");
  if (has_other_modes_) return wrong("changed how floats are rounded");
  const Lent now(run_);
  const bool is_kept = now.helpers == lent_.helpers && now.stop == lent_.stop &&
                       now.input == lent_.input && now.hints == lent_.hints;
  const bool is_left =
      scratch_is_used_rightly_ && scratch_is_left_ &&
      (status != 0 || (now.depth_left == lent_.depth_left && now.memory_left == lent_.memory_left));
  if (!is_kept || !is_left) return wrong("did not leave its run as it was");
  return CheckLimit(status);
}

std::span<const uint64_t> JudgedCall::results() const {
  return std::span(results_).subspan(Margin, results_.size() - 2 * Margin);
}

Result<int32_t> CallJudged(const NativeCode& code, std::span<const uint64_t> arguments,
                           std::span<uint64_t> results, NativeRun& run) {
  const uint64_t depth = run.depth_left;
  JudgedCall call(arguments, results.size(), run);
  int32_t status = 1 + static_cast<int32_t>(ir::Trap::Depth);
  RunOnStack(code.function().stack, depth, [&](uint64_t limit) {
    run.stack_limit = limit;
    status = call.Enter(code);
  });
  TRY_VOID(call.Check(status));
  std::ranges::copy(call.results(), results.begin());
  if (status != 0) {
    run.ReleaseScratch();
    run.depth_left = depth;
  }
  return status;
}

}  // namespace frazil::exec
