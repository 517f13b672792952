// The C++ types of one-word scalars, and what an op on them gives.
#pragma once

#include <concepts>
#include <cstdint>

#include "ir/op.h"

namespace frazil::exec::meaning {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};
struct Field {
  uint64_t value;
};

template <typename T>
concept Integer = std::integral<T>;
template <typename T>
concept Half = std::same_as<T, F16> || std::same_as<T, BF16>;
template <typename T>
concept Float = std::floating_point<T> || Half<T>;

// 0: no trap, else 1 + ir::Trap.
using TrapCode = uint8_t;
constexpr TrapCode CodeOf(ir::Trap trap) {
  return static_cast<TrapCode>(1 + static_cast<uint8_t>(trap));
}
constexpr TrapCode CodeIf(bool condition, ir::Trap trap) {
  return condition ? CodeOf(trap) : TrapCode{0};
}

template <typename T>
struct Checked {
  T value;
  TrapCode trap;
};

}  // namespace frazil::exec::meaning
