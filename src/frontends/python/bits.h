// Sets of locals as words of bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frazil::frontends::python {

using Bits = std::vector<uint64_t>;

inline Bits NoBits(size_t count) { return Bits((count + 63) / 64, 0); }
inline bool Has(const Bits& bits, uint32_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
inline void Put(Bits& bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
inline void Union(Bits& to, const Bits& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] |= from[i];
}
inline void Intersect(Bits& to, const Bits& with) {
  for (size_t i = 0; i < to.size(); ++i) to[i] &= with[i];
}
inline void Remove(Bits& from, const Bits& what) {
  for (size_t i = 0; i < from.size(); ++i) from[i] &= ~what[i];
}

}  // namespace frazil::frontends::python
