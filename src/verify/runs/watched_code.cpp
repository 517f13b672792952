#include "verify/internal/watched_code.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace frazil::verify {

namespace {
constexpr unsigned char Breakpoint = 0xcc;
constexpr size_t MostWatched = 64;  // at a time

constexpr uint32_t MostHits = 200;  // of a branch that is aimed at, in one run

// Registers in the order of the instruction set, as a signal has them.
constexpr int Registers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};

// Is a jump of this condition taken? Conditions come in pairs, the odd one being the other's opposite.
bool IsTaken(uint8_t condition, uint64_t flags) {
  const bool carry = (flags & 0x001) != 0, parity = (flags & 0x004) != 0;
  const bool zero = (flags & 0x040) != 0, sign = (flags & 0x080) != 0;
  const bool overflow = (flags & 0x800) != 0;
  const bool tests[] = {overflow,
                        carry,
                        zero,
                        carry || zero,
                        sign,
                        parity,
                        sign != overflow,
                        zero || sign != overflow};
  return tests[condition / 2] != (condition % 2 == 1);
}

uint64_t ValueOf(const CodeOperand& operand, uint8_t bits, const long long* registers) {
  auto value_of = [&](std::optional<uint8_t> number) {
    return number ? static_cast<uint64_t>(registers[Registers[*number]]) : 0;
  };
  const auto number = static_cast<uint64_t>(operand.number);
  if (!operand.is_memory) return operand.base ? value_of(operand.base) : number;
  // It was read a moment ago, by the instruction before.
  const uint64_t address =
      value_of(operand.base) + value_of(operand.index) * operand.scale + number;
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bits / 8);
  return value;
}

}  // namespace

uint64_t DistanceOf(const CodeBranch& branch, bool wanted, uint8_t bits, uint64_t left,
                    uint64_t right) {
  const bool is_signed = branch.condition >= 8;
  auto extended = [&](uint64_t value) -> __int128 {
    const int shift = 64 - bits;
    return is_signed ? __int128{static_cast<int64_t>(value << shift) >> shift}
                     : __int128{value << shift >> shift};
  };
  const __int128 a = extended(left);
  const __int128 b = extended(right);
  // A loop that ends where it should is always one step away from another turn: the further its end, the nearer it is.
  if (branch.is_turn && wanted) {
    constexpr __int128 Most = 1 << 20;
    const __int128 greatest = std::max(a < 0 ? -a : a, b < 0 ? -b : b);
    return static_cast<uint64_t>(Most - std::min(greatest, Most - 1));
  }
  // The even conditions of each pair: below, equal, not above, negative, less, not greater.
  const bool holds = wanted != (branch.condition % 2 == 1);
  __int128 distance = 0;
  switch (branch.condition / 2) {
    case 1:
    case 4:
    case 6: distance = holds ? a - b + 1 : b - a; break;
    case 2: distance = holds ? (a > b ? a - b : b - a) : (a == b ? 1 : 0); break;
    case 3:
    case 7: distance = holds ? a - b : b - a + 1; break;
    default: return WatchedCode::Far - 1;
  }
  return static_cast<uint64_t>(std::clamp<__int128>(distance, 0, WatchedCode::Far - 1));
}

// Who is asked when a breakpoint is hit. Entries come and go under the mutex; the handler only reads them.
struct Watchers {
  std::mutex mutex;
  std::atomic<WatchedImage*> watched[MostWatched] = {};
  size_t count = 0;
  struct sigaction before = {};

  static Watchers& Get() {
    static Watchers* const watchers = new Watchers;
    return *watchers;
  }

  static void Handle(int signal, siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const uint64_t place = static_cast<uint64_t>(registers[REG_RIP]) - 1;
    for (std::atomic<WatchedImage*>& entry : Get().watched) {
      WatchedImage* const code = entry.load(std::memory_order_acquire);
      if (code == nullptr) continue;
      const auto next = code->Hit(place, registers);
      if (!next) continue;
      registers[REG_RIP] = static_cast<greg_t>(*next);
      return;
    }
    const struct sigaction& before = Get().before;
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler == SIG_IGN) return;
    if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
    ::signal(SIGTRAP, SIG_DFL);
    raise(SIGTRAP);
  }

  bool Add(WatchedImage& code) {
    std::lock_guard lock(mutex);
    auto* const free =
        std::ranges::find_if(watched, [](auto& entry) { return entry.load() == nullptr; });
    if (free == std::end(watched)) return false;
    if (count++ == 0) {
      struct sigaction action = {};
      action.sa_sigaction = Handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigaction(SIGTRAP, &action, &before);
    }
    free->store(&code, std::memory_order_release);
    return true;
  }
  void Remove(WatchedImage& code) {
    std::lock_guard lock(mutex);
    auto* const entry =
        std::ranges::find_if(watched, [&](auto& other) { return other.load() == &code; });
    if (entry == std::end(watched)) return;
    entry->store(nullptr, std::memory_order_release);
    if (--count == 0) sigaction(SIGTRAP, &before, nullptr);
  }
};

Result<std::unique_ptr<WatchedImage>> WatchedImage::Map(const exec::NativeImage& image,
                                                        CodeParts parts) {
  std::unique_ptr<WatchedImage> watched(new WatchedImage);
  const std::vector<CodeBlock>& blocks = parts.blocks;
  for (const CodeBlock& block : blocks) watched->first_bytes_ += image.code[block.begin];
  for (const CodeBranch& branch : parts.branches)
    watched->branch_bytes_ += image.code[branch.place];
  for (const exec::CodeThreshold& threshold : image.thresholds) {
    // What is lowered must be data: other code than the judged would be called.
    const auto behind = std::ranges::find_if(
        blocks, [&](const CodeBlock& block) { return block.end > threshold.offset; });
    if (behind != blocks.end() && behind->begin < threshold.offset + sizeof(uint64_t))
      return Fail(Diag::Unsupported,
                  fmt::format("the threshold at +{:#x} is code", threshold.offset));
    if (image.code.size() < sizeof(uint64_t) ||
        threshold.offset > image.code.size() - sizeof(uint64_t))
      return Fail(Diag::Unsupported,
                  fmt::format("the threshold at +{:#x} lies outside", threshold.offset));
    uint64_t usual = 0;
    std::memcpy(&usual, image.code.data() + threshold.offset, sizeof usual);
    watched->thresholds_.push_back({threshold.offset, usual, threshold.least});
  }
  watched->has_run_ = std::make_unique<std::atomic<bool>[]>(blocks.size());
  watched->states_ = std::make_unique<BranchState[]>(parts.branches.size());
  const int file = memfd_create("frazil code", MFD_CLOEXEC);
  if (file < 0) return Fail(Diag::EngineFailed, "no memory that can be mapped twice");
  Result<std::shared_ptr<const exec::NativeCode>> code = exec::NativeCode::MapFrom(image, file);
  if (code) {
    watched->size_ = (*code)->size();
    void* const writable =
        mmap(nullptr, watched->size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    watched->writable_ = writable == MAP_FAILED ? nullptr : static_cast<std::byte*>(writable);
  }
  close(file);
  watched->code_ = TRY(std::move(code));
  watched->blocks_ = std::move(parts.blocks);
  watched->branches_ = std::move(parts.branches);
  if (watched->writable_ == nullptr || !Watchers::Get().Add(*watched))
    return Fail(Diag::EngineFailed, "no memory for code that is watched");
  watched->Rearm();
  return watched;
}

void WatchedImage::Rearm() {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    has_run_[i].store(false);
    writable_[blocks_[i].begin] = std::byte{Breakpoint};
  }
  for (size_t i = 0; i < branches_.size(); ++i) {
    states_[i].taken.store(false);
    SetByte(branches_[i].place);
  }
}

void WatchedImage::Lower(bool lowered, std::optional<size_t> except) {
  for (size_t i = 0; i < thresholds_.size(); ++i) {
    const Threshold& threshold = thresholds_[i];
    std::memcpy(writable_ + threshold.offset,
                lowered && except != i ? &threshold.least : &threshold.usual, sizeof(uint64_t));
  }
}

WatchedImage::~WatchedImage() {
  Watchers::Get().Remove(*this);
  if (writable_ != nullptr) munmap(writable_, size_);
}

WatchedCode::Mark WatchedCode::MarkRun() const {
  Mark mark;
  for (size_t i = 0; i < blocks_.size(); ++i) mark.has_run.push_back(HasRun(i));
  for (size_t i = 0; i < branches_.size(); ++i) mark.was_taken.push_back(WasTaken(i));
  return mark;
}

void WatchedImage::BackTo(const Mark& mark) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    has_run_[i].store(mark.has_run[i]);
    SetByte(blocks_[i].begin);
  }
  for (size_t i = 0; i < branches_.size(); ++i) {
    states_[i].taken.store(mark.was_taken[i]);
    SetByte(branches_[i].place);
  }
}

void WatchedImage::AimAt(std::vector<Aim> aims) {
  std::swap(aims_, aims);
  for (const Aim& aim : aims) states_[aim.branch].wanted.store(-1);
  for (const Aim& aim : aims_) {
    BranchState& state = states_[aim.branch];
    state.wanted.store(aim.is_taken ? 1 : 0);
    state.hits.store(0);
    state.distance.store(Far);
  }
  for (const std::vector<Aim>* list : {&aims, &aims_})
    for (const Aim& aim : *list) SetByte(branches_[aim.branch].place);
}

uint64_t WatchedImage::Distance(size_t aim) const {
  return states_[aims_[aim].branch].distance.load();
}

// As it has to be now: a breakpoint where a block has not run, a turn was not taken, or a branch is aimed at.
void WatchedImage::SetByte(uint32_t offset) {
  const auto block = std::ranges::lower_bound(blocks_, offset, {}, &CodeBlock::begin);
  const auto branch = std::ranges::lower_bound(branches_, offset, {}, &CodeBranch::place);
  auto byte = std::byte{Breakpoint};
  bool is_watched = false;
  if (block != blocks_.end() && block->begin == offset) {
    const auto number = static_cast<size_t>(block - blocks_.begin());
    byte = static_cast<std::byte>(first_bytes_[number]);
    is_watched = !has_run_[number].load();
  }
  if (branch != branches_.end() && branch->place == offset) {
    const auto number = static_cast<size_t>(branch - branches_.begin());
    const BranchState& state = states_[number];
    byte = static_cast<std::byte>(branch_bytes_[number]);
    is_watched = is_watched || (branch->is_turn && !state.taken.load()) ||
                 (state.wanted.load() >= 0 && state.hits.load() < MostHits);
  }
  writable_[offset] = is_watched ? std::byte{Breakpoint} : byte;
}

// Returning from the signal makes the processor see the byte. Another thread may have been here first.
std::optional<uint64_t> WatchedImage::Hit(uint64_t place, const long long* registers) {
  const uint64_t base = reinterpret_cast<uint64_t>(code_->base());
  if (place < base || place >= base + size_) return std::nullopt;
  const auto offset = static_cast<uint32_t>(place - base);
  const auto block = std::ranges::lower_bound(blocks_, offset, {}, &CodeBlock::begin);
  const auto branch = std::ranges::lower_bound(branches_, offset, {}, &CodeBranch::place);
  const bool is_block = block != blocks_.end() && block->begin == offset;
  const bool is_branch = branch != branches_.end() && branch->place == offset;
  if (!is_block && !is_branch) return std::nullopt;
  if (is_block) has_run_[static_cast<size_t>(block - blocks_.begin())].store(true);
  uint64_t next = place;
  if (is_branch) {
    BranchState& state = states_[static_cast<size_t>(branch - branches_.begin())];
    const bool is_taken = IsTaken(branch->condition, static_cast<uint64_t>(registers[REG_EFL]));
    if (is_taken) state.taken.store(true);
    if (const int8_t wanted = state.wanted.load(); wanted >= 0) {
      state.hits.fetch_add(1);
      uint64_t distance = Far - 1;
      if (const std::optional<CodeCompare>& compare = branch->compare)
        distance = DistanceOf(*branch, wanted == 1, compare->bits,
                              ValueOf(compare->left, compare->bits, registers),
                              ValueOf(compare->right, compare->bits, registers));
      if (distance < state.distance.load()) state.distance.store(distance);
    }
    next = base + (is_taken ? branch->target : branch->next);
  }
  SetByte(offset);
  return next;
}

bool WatchedImage::HasRun(size_t block) const { return has_run_[block].load(); }

std::string WatchedCode::PlaceText(uint32_t place) const { return fmt::format("+{:#x}", place); }

size_t WatchedCode::CountRun() const {
  size_t count = 0;
  for (size_t i = 0; i < blocks_.size(); ++i) count += HasRun(i) ? 1 : 0;
  return count;
}

}  // namespace frazil::verify
