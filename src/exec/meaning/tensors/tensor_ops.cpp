// Tensor ops that move elements. All of them are bytes from here to there: bits stay as they are.
#include "exec/meaning/tensors/tensor_ops.h"

#include <algorithm>
#include <cstring>

#include "exec/meaning/scalar_ops.h"

namespace frazil::exec {
namespace {

void CopyElements(const Memory& from, int64_t from_index, Memory& to, int64_t to_index,
                  int64_t count) {
  if (count == 0) return;
  const uint64_t bytes = ir::BytesOf(to.element());
  std::memcpy(to.data() + static_cast<uint64_t>(to_index) * bytes,
              from.data() + static_cast<uint64_t>(from_index) * bytes,
              static_cast<uint64_t>(count) * bytes);
}

int64_t Product(Dims dims) {
  // Unsigned: sizes beside a zero may be anything.
  uint64_t product = 1;
  for (int64_t size : dims) product *= static_cast<uint64_t>(size);
  return static_cast<int64_t>(product);
}

}  // namespace

std::vector<int64_t> StridesOf(Dims dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  // Unsigned, as above: in an empty tensor no stride is used.
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] =
        static_cast<int64_t>(static_cast<uint64_t>(strides[i]) * static_cast<uint64_t>(dims[i]));
  return strides;
}

void CopyStrided(const Object& from, int64_t start, std::span<const int64_t> strides, Object& to) {
  std::vector<int64_t> at(to.dims.size(), 0);
  int64_t source = start;
  for (int64_t index = 0; index < to.memory->length(); ++index) {
    CopyElements(*from.memory, source, *to.memory, index, 1);
    // The next place: the last axis first, carrying.
    for (size_t axis = at.size(); axis-- > 0;) {
      source += strides[axis];
      if (++at[axis] < to.dims[axis]) break;
      source -= strides[axis] * at[axis];
      at[axis] = 0;
    }
  }
}

void Fill(std::span<const uint64_t> words, Object& to) {
  for (int64_t i = 0; i < to.memory->length(); ++i) to.memory->Set(i, words);
}

void Iota(size_t axis, Object& to) {
  const int64_t stride = StridesOf(to.dims)[axis];
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    const uint64_t position = static_cast<uint64_t>(i / stride % to.dims[axis]);
    // Memory keeps the low bits, which is what the cast from index does.
    to.memory->Set(i, std::span(&position, 1));
  }
}

void Concat(std::span<const Object* const> parts, size_t axis, Object& to) {
  const int64_t outer = Product(Dims(to.dims).first(axis));
  const int64_t inner = Product(Dims(to.dims).subspan(axis + 1));
  if (to.memory->length() == 0) return;
  int64_t target = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (const Object* part : parts) {
      const int64_t run = part->dims[axis] * inner;
      CopyElements(*part->memory, o * run, *to.memory, target, run);
      target += run;
    }
  }
}

std::optional<ir::Trap> Gather(const Object& from, const Object& picks, size_t axis, Object& to) {
  const int64_t size = from.dims[axis];
  const int64_t outer = Product(Dims(from.dims).first(axis));
  const int64_t inner = Product(Dims(from.dims).subspan(axis + 1));
  // Nothing is picked; the loops over the other axes might still be endless.
  if (to.memory->length() == 0) return std::nullopt;
  int64_t target = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t p = 0; p < picks.memory->length(); ++p) {
      uint64_t word = 0;
      picks.memory->Get(p, std::span(&word, 1));
      const int64_t pick = static_cast<int64_t>(word);
      if (pick < 0 || pick >= size) return ir::Trap::OutOfBounds;
      CopyElements(*from.memory, (o * size + pick) * inner, *to.memory, target, inner);
      target += inner;
    }
  }
  return std::nullopt;
}

}  // namespace frazil::exec
