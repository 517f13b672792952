// Mappings have powers of two as their sizes; a smaller buffer lies at one end of one, so that using it again takes no call of
// the system.
#include "exec/native/fenced_scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace frazil::exec {
namespace {

constexpr uint64_t FenceBytes = 64 << 10;
constexpr uint64_t LeastBytes = 64 << 10;
constexpr uint64_t MostKeptBytes = 16 << 20;  // all that a thread keeps
constexpr uint64_t MostBytes = uint64_t{1} << 40;
// A process may have some 65,000 mappings, and each of ours counts as three. Recursion may want more buffers than this.
constexpr size_t MostFenced = 256;
constexpr uint64_t Alignment = 64;  // which all code may rely on
constexpr uint64_t CanaryBytes = 256;
constexpr uint8_t Canary = 0xc5;

constexpr uint64_t RoundUp(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool IsCanary(const std::byte* from, const std::byte* to) {
  static const std::array<std::byte, CanaryBytes> whole = [] {
    std::array<std::byte, CanaryBytes> bytes;
    bytes.fill(std::byte{Canary});
    return bytes;
  }();
  return std::memcmp(from, whole.data(), static_cast<size_t>(to - from)) == 0;
}

}  // namespace

struct FencedScratch::Block {
  Block(uint64_t size, bool fenced) : is_fenced(fenced), size(size) {
    if (!is_fenced) {
      begin = static_cast<std::byte*>(std::aligned_alloc(Alignment, size));
      return;
    }
    void* const place = mmap(nullptr, size + 2 * FenceBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return;
    begin = static_cast<std::byte*>(place) + FenceBytes;
    if (mprotect(begin, size, PROT_READ | PROT_WRITE) == 0) return;
    munmap(place, size + 2 * FenceBytes);
    begin = nullptr;
  }
  ~Block() {
    if (!is_fenced)
      std::free(begin);
    else if (begin != nullptr)
      munmap(begin - FenceBytes, size + 2 * FenceBytes);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Zeroed, with canaries around it as far as the mapping goes.
  void Lay(uint64_t wanted, Fence fence) {
    bytes = wanted;
    const uint64_t room = RoundUp(bytes, Alignment);
    data = !is_fenced ? begin + CanaryBytes : fence == Fence::Behind ? begin + size - room : begin;
    std::memset(CanaryBegin(), Canary, static_cast<size_t>(data - CanaryBegin()));
    std::memset(data, 0, bytes);
    std::memset(data + bytes, Canary, static_cast<size_t>(CanaryEnd() - data - bytes));
  }
  bool IsWhole() const {
    return IsCanary(CanaryBegin(), data) && IsCanary(data + bytes, CanaryEnd());
  }
  std::byte* CanaryBegin() const {
    return data - std::min<uint64_t>(CanaryBytes, static_cast<uint64_t>(data - begin));
  }
  std::byte* CanaryEnd() const {
    std::byte* const behind = data + bytes;
    return behind + std::min<uint64_t>(CanaryBytes, static_cast<uint64_t>(begin + size - behind));
  }

  const bool is_fenced;
  const uint64_t size;  // that can be touched
  std::byte* begin = nullptr;
  std::byte* data = nullptr;
  uint64_t bytes = 0;  // of the buffer
};

namespace {

using Block = FencedScratch::Block;

// What a thread keeps, the youngest last.
class Kept {
 public:
  std::unique_ptr<Block> Take(uint64_t size) {
    const auto found = std::ranges::find(blocks_.rbegin(), blocks_.rend(), size,
                                         [](const auto& block) { return block->size; });
    if (found == blocks_.rend()) return nullptr;
    std::swap(*found, blocks_.back());
    std::unique_ptr<Block> block = std::move(blocks_.back());
    blocks_.pop_back();
    bytes_ -= size;
    return block;
  }
  void Keep(std::unique_ptr<Block> block) noexcept {
    if (!block->is_fenced || block->size > MostKeptBytes / 2) return;
    // Who needs other sizes now will not need those of before.
    while (bytes_ + block->size > MostKeptBytes) {
      bytes_ -= blocks_.front()->size;
      blocks_.erase(blocks_.begin());
    }
    const uint64_t size = block->size;
    try {
      blocks_.push_back(std::move(block));
    } catch (const std::bad_alloc&) {
      return;
    }
    bytes_ += size;
  }

 private:
  std::vector<std::unique_ptr<Block>> blocks_;
  uint64_t bytes_ = 0;
};
thread_local Kept kept;

std::unique_ptr<Block> NewBlock(uint64_t bytes, bool is_fenced) {
  const uint64_t need = RoundUp(bytes, Alignment) + 2 * CanaryBytes;
  if (!is_fenced) return std::make_unique<Block>(need, false);
  const uint64_t size = std::bit_ceil(std::max(need, LeastBytes));
  std::unique_ptr<Block> block = kept.Take(size);
  return block != nullptr ? std::move(block) : std::make_unique<Block>(size, true);
}

}  // namespace

FencedScratch::FencedScratch(NativeRun& run, Fence fence)
    : run_(run), fence_(fence), first_mark_(run.scratch) {}

FencedScratch::~FencedScratch() {
  while (!live_.empty()) Pop();
  run_.scratch = first_mark_;
}

void* FencedScratch::Youngest() const { return live_.empty() ? first_mark_ : live_.back().get(); }

void FencedScratch::Pop() {
  std::unique_ptr<Block> block = std::move(live_.back());
  live_.pop_back();
  is_whole_ = is_whole_ && block->IsWhole();
  run_.memory_left += block->bytes;
  kept.Keep(std::move(block));
}

void* FencedScratch::Alloc(NativeRun* run, int64_t length, uint64_t element_bytes) noexcept {
  is_used_rightly_ = is_used_rightly_ && run == &run_ && run_.scratch == Youngest();
  if (!is_used_rightly_ || length < 0 ||
      static_cast<uint64_t>(length) > run_.memory_left / element_bytes)
    return nullptr;
  const uint64_t bytes = static_cast<uint64_t>(length) * element_bytes;
  if (bytes > MostBytes) return nullptr;
  try {
    std::unique_ptr<Block> block = NewBlock(bytes, live_.size() < MostFenced);
    if (block->begin == nullptr) return nullptr;
    live_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  Block& block = *live_.back();
  block.Lay(bytes, fence_);
  run_.scratch = &block;
  run_.memory_left -= bytes;
  return block.data;
}

void FencedScratch::Release(NativeRun* run, void* mark) noexcept {
  // The youngest first: recursion may have thousands of them.
  const bool is_known =
      mark == first_mark_ || std::any_of(live_.rbegin(), live_.rend(),
                                         [&](const auto& block) { return block.get() == mark; });
  is_used_rightly_ = is_used_rightly_ && run == &run_ && run_.scratch == Youngest() && is_known;
  if (!is_used_rightly_) return;
  while (Youngest() != mark) Pop();
  run_.scratch = mark;
}

bool FencedScratch::IsWhole() const {
  return is_whole_ &&
         std::ranges::all_of(live_, [](const auto& block) { return block->IsWhole(); });
}

}  // namespace frazil::exec
