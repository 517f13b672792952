// Pages are used again: a judge asks for thousands of small pieces, and fresh ones cost a call of the system, a fault for
// each page and a call to give them back, a third of a verdict's time.
#include "verify/internal/guarded_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace frazil::verify {
namespace {

using exec::Memory;

constexpr size_t CanaryBytes = 256;
constexpr uint8_t Canary = 0xc5;
constexpr uint64_t PageBytes = 4096;
constexpr size_t FenceBytes = 16 * PageBytes;
constexpr size_t MostKeptBytes = size_t{16} << 20;  // of a thread

size_t WholePages(size_t bytes) { return (bytes + PageBytes - 1) / PageBytes * PageBytes; }

// Pages that nobody may touch lie around all of them.
std::byte* Map(size_t bytes) {
  void* const place =
      mmap(nullptr, bytes + 2 * FenceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(place != MAP_FAILED);
  std::byte* const first = static_cast<std::byte*>(place) + FenceBytes;
  CHECK(mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0);
  return first;
}

void Unmap(std::byte* first, size_t bytes) { munmap(first - FenceBytes, bytes + 2 * FenceBytes); }

// What this thread has given back, by size.
class Pool {
 public:
  ~Pool() {
    for (const auto& [bytes, places] : free_)
      for (std::byte* place : places) Unmap(place, bytes);
  }
  std::byte* Take(size_t bytes) {
    std::vector<std::byte*>& places = free_[bytes];
    if (places.empty()) return Map(bytes);
    kept_bytes_ -= bytes;
    std::byte* const place = places.back();
    places.pop_back();
    return place;
  }
  void Give(std::byte* place, size_t bytes) {
    if (kept_bytes_ + bytes > MostKeptBytes) return Unmap(place, bytes);
    kept_bytes_ += bytes;
    free_[bytes].push_back(place);
  }

 private:
  std::map<size_t, std::vector<std::byte*>> free_;
  size_t kept_bytes_ = 0;
};

thread_local Pool pool;

struct Pages {
  explicit Pages(size_t wanted) : bytes(WholePages(wanted)), first(pool.Take(bytes)) {}
  ~Pages() {
    if (is_read_only) CHECK(mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0);
    pool.Give(first, bytes);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  const size_t bytes;
  std::byte* const first;
  mutable bool is_read_only = false;
};

struct GuardedMemory : Pages, Memory {
  GuardedMemory(ir::Type element, int64_t length, uint64_t offset, size_t wanted, uint64_t at)
      : Pages(wanted), Memory(element, length, first + offset), place(at) {}
  const uint64_t place;
};

// Inputs have no other.
const GuardedMemory& GuardedOf(const Memory& memory) {
  return static_cast<const GuardedMemory&>(memory);
}

bool IsAtAnEnd(uint64_t place) { return place == AtItsEnd || place == AtItsBegin; }

// Its elements are whatever lay there.
std::shared_ptr<GuardedMemory> Make(ir::Type element, int64_t length, uint64_t place) {
  const uint64_t size = static_cast<uint64_t>(length) * ir::BytesOf(element);
  uint64_t all, start;
  if (IsAtAnEnd(place)) {
    all = WholePages(size + CanaryBytes);
    start = place == AtItsEnd ? all - size : 0;
  } else {
    place %= PageBytes;
    start = place < CanaryBytes ? place + PageBytes : place;
    all = start + size + CanaryBytes;
  }
  auto memory = std::make_shared<GuardedMemory>(element, length, start, all, place);
  const uint64_t before = IsAtAnEnd(place) ? start : CanaryBytes;
  std::memset(memory->first + start - before, Canary, before);
  std::memset(memory->first + start + size, Canary,
              IsAtAnEnd(place) ? all - start - size : CanaryBytes);
  return memory;
}

}  // namespace

std::shared_ptr<Memory> MakeGuardedMemory(ir::Type element, int64_t length, uint64_t offset_bytes) {
  std::shared_ptr<Memory> memory = Make(element, length, offset_bytes);
  std::memset(memory->data(), 0, memory->size_bytes());
  return memory;
}

std::shared_ptr<Memory> CopyGuardedMemory(const Memory& memory) {
  std::shared_ptr<Memory> copy = Make(memory.element(), memory.length(), PlaceOf(memory));
  std::memcpy(copy->data(), memory.data(), copy->size_bytes());
  return copy;
}

uint64_t PlaceOf(const Memory& memory) { return GuardedOf(memory).place; }

void MakeReadOnly(const Memory& memory) {
  const GuardedMemory& guarded = GuardedOf(memory);
  if (!IsAtAnEnd(guarded.place)) return;
  CHECK(mprotect(guarded.first, guarded.bytes, PROT_READ) == 0);
  guarded.is_read_only = true;
}

bool CanariesIntact(const Memory& memory) {
  const GuardedMemory& guarded = GuardedOf(memory);
  auto intact = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == std::byte{Canary}; });
  };
  const std::byte* const data = memory.data();
  const std::byte* const behind = data + memory.size_bytes();
  if (IsAtAnEnd(guarded.place))
    return intact(guarded.first, data) && intact(behind, guarded.first + guarded.bytes);
  return intact(data - CanaryBytes, data) && intact(behind, behind + CanaryBytes);
}

}  // namespace frazil::verify
