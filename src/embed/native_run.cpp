// The helpers that native code calls through its run's table. None throws; each is called with the C convention.
#include "embed/native_run.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/limits.h"
#include "base/number/goldilocks.h"
#include "base/number/wide.h"

namespace frazil::embed {
namespace {

constexpr uint64_t PieceBytes = 64 << 10;
constexpr size_t Alignment = 64;
constexpr uint8_t NeverStops = 0;
// What the last checked frame of a recursion and the helpers may still take.
constexpr uint64_t StackReserveBytes = 128 << 10;

using Limbs = wide::Limbs;
using ConstLimbs = wide::ConstLimbs;

// A zeroed buffer, or null where the length is negative or the limit is reached.
void* Alloc(NativeRun* run, int64_t length, uint64_t element_bytes) noexcept {
  if (length < 0 || static_cast<uint64_t>(length) > run->memory_left / element_bytes)
    return nullptr;
  const uint64_t bytes = static_cast<uint64_t>(length) * element_bytes;
  auto* block = run->arena.Push(static_cast<ScratchArena::Block*>(run->scratch), bytes);
  if (block == nullptr) return nullptr;
  run->scratch = block;
  run->memory_left -= bytes;
  return reinterpret_cast<char*>(block) + ScratchArena::DataOffset;
}

// Ends every buffer that is younger than the mark.
void Release(NativeRun* run, void* mark) noexcept {
  while (run->scratch != mark) {
    auto* block = static_cast<ScratchArena::Block*>(run->scratch);
    run->scratch = block->before;
    run->memory_left += block->bytes;
    run->arena.Pop(block);
  }
}

// The next value of a stream; gives a status.
int32_t Read(NativeRun* run, uint32_t which, uint32_t type, uint64_t* words,
             uint64_t count) noexcept {
  const bool is_input = which == static_cast<uint32_t>(NativeStream::Input);
  const StreamData* stream = is_input ? run->input : run->hints;
  NativeRun::Position& position = is_input ? run->input_position : run->hint_position;
  if (stream == nullptr || position.values == stream->types.size())
    return 1 + static_cast<int32_t>(TrapKind::OutOfBounds);
  if (stream->types[position.values] != type) return WrongTypeStatus;
  std::copy_n(stream->words.begin() + static_cast<ptrdiff_t>(position.words), count, words);
  position.words += count;
  position.values += 1;
  return 0;
}

int32_t Output(NativeRun* run, uint32_t type, const uint64_t* words, uint64_t count) noexcept {
  try {
    run->output.insert(run->output.end(), words, words + count);
    run->output_types.push_back(static_cast<uint16_t>(type));
  } catch (const std::bad_alloc&) {
    return 1 + static_cast<int32_t>(TrapKind::Memory);
  }
  return 0;
}

// 1 where the exact result does not fit.
int32_t WideMul(uint64_t* result, const uint64_t* a, const uint64_t* b, uint64_t limbs) noexcept {
  return wide::Mul(Limbs(result, limbs), ConstLimbs(a, limbs), ConstLimbs(b, limbs)) ? 0 : 1;
}

int32_t WideDiv(uint64_t* result, const uint64_t* a, const uint64_t* b, uint64_t limbs) noexcept {
  uint64_t rest[wide::MaxLimbs];
  return wide::DivTrunc(Limbs(result, limbs), Limbs(rest, limbs), ConstLimbs(a, limbs),
                        ConstLimbs(b, limbs))
             ? 0
             : 1;
}

int32_t WideRem(uint64_t* result, const uint64_t* a, const uint64_t* b, uint64_t limbs) noexcept {
  uint64_t quotient[wide::MaxLimbs];
  wide::DivTrunc(Limbs(quotient, limbs), Limbs(result, limbs), ConstLimbs(a, limbs),
                 ConstLimbs(b, limbs));
  return 0;
}

double Fma(double a, double b, double c) noexcept { return std::fma(a, b, c); }

uint64_t FieldInvert(uint64_t a) noexcept { return goldilocks::Invert(a); }

void XFieldInvert(uint64_t* words) noexcept {
  const goldilocks::XElement inverse = goldilocks::Invert({words[0], words[1], words[2]});
  std::ranges::copy(inverse, words);
}

template <typename Function>
const void* Address(Function* function) {
  return std::bit_cast<const void*>(function);
}

// In the order of NativeHelper.
const void* const* HelperTable() {
  static const void* const table[] = {
      Address(Alloc),       Address(Release),      Address(Read),    Address(Output),
      Address(WideMul),     Address(WideDiv),      Address(WideRem), Address(Fma),
      Address(FieldInvert), Address(XFieldInvert),
  };
  static_assert(sizeof table / sizeof *table == NativeHelperCount);
  return table;
}

}  // namespace

const ThreadStack& StackOfThread() {
  thread_local const ThreadStack stack = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return ThreadStack{};
    void* low = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    const auto begin = reinterpret_cast<uint64_t>(low);
    return ThreadStack{begin + std::min<uint64_t>(StackReserveBytes, size / 2), begin + size};
  }();
  return stack;
}

NativeRun::NativeRun()
    : helpers(HelperTable()),
      fuel(Limits().fuel),
      depth_left(Limits().depth),
      stop(&NeverStops),
      memory_left(Limits().memory_bytes) {}

NativeRun::~NativeRun() = default;

void NativeRun::ReleaseScratch() { Release(this, nullptr); }

ScratchArena::~ScratchArena() {
  while (piece_ != nullptr) std::free(std::exchange(piece_, piece_->before));
  std::free(spare_);
}

ScratchArena::Block* ScratchArena::Push(Block* before, uint64_t bytes) {
  static_assert(sizeof(Piece) <= Alignment && sizeof(Block) <= DataOffset);
  const uint64_t need = DataOffset + (bytes + Alignment - 1) / Alignment * Alignment;
  if (need < bytes) return nullptr;
  if (piece_ == nullptr || piece_->size - piece_->used < need) {
    Piece* piece = nullptr;
    if (spare_ != nullptr && spare_->size >= need) {
      piece = std::exchange(spare_, nullptr);
    } else {
      const uint64_t size = std::max(need, PieceBytes);
      if (size > UINT64_MAX - 2 * Alignment) return nullptr;
      piece = static_cast<Piece*>(std::aligned_alloc(Alignment, Alignment + size));
      if (piece == nullptr) return nullptr;
      piece->size = size;
    }
    piece->before = piece_;
    piece->used = 0;
    piece_ = piece;
  }
  auto* block =
      reinterpret_cast<Block*>(reinterpret_cast<char*>(piece_) + Alignment + piece_->used);
  *block = {before, bytes, piece_->used};
  piece_->used += need;
  std::memset(reinterpret_cast<char*>(block) + DataOffset, 0, bytes);
  return block;
}

void ScratchArena::Pop(Block* block) {
  piece_->used = block->start;
  if (piece_->used != 0) return;
  Piece* empty = std::exchange(piece_, piece_->before);
  if (spare_ == nullptr || spare_->size < empty->size) std::swap(spare_, empty);
  std::free(empty);
}

}  // namespace frazil::embed
