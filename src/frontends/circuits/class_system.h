// The 96 classes of the circuit language: names of slots, with the permutations that its transforms are.
//
//   class = 24 h2 + 8 d + l      h2 (scope) 0..3, d 0 neutral 1 produce 2 consume, l 0..7
//
// R+k adds k to h2 (mod 4), T+k adds k to l (mod 8), ~ exchanges d = 1 and d = 2, S+s adds s / 4 to h2 and s % 4 to d
// (mod 3). R, T and ~ act on different parts and commute; S comes first where it is used.
#pragma once

#include <cstdint>

namespace frazil::frontends::circuits {

constexpr int ClassCount = 96;
constexpr int PageCount = 48;
constexpr int PageBytes = 256;
constexpr uint32_t ClassBytes = PageCount * PageBytes;  // 12288

struct ClassParts {
  uint8_t scope = 0, modality = 0, context = 0;  // h2, d, l
  friend bool operator==(const ClassParts&, const ClassParts&) = default;
};
constexpr ClassParts PartsOf(uint8_t class_index) {
  return {static_cast<uint8_t>(class_index / 24), static_cast<uint8_t>(class_index / 8 % 3),
          static_cast<uint8_t>(class_index % 8)};
}
constexpr uint8_t ClassOf(ClassParts parts) {
  return static_cast<uint8_t>(24 * parts.scope + 8 * parts.modality + parts.context);
}

struct Transform {
  uint8_t rotate = 0;  // 0..3
  uint8_t twist = 0;   // 0..7
  bool mirror = false;
  bool is_identity() const { return rotate == 0 && twist == 0 && !mirror; }
  friend bool operator==(const Transform&, const Transform&) = default;
};
// Any amounts, taken modulo 4 and 8.
Transform MakeTransform(int64_t rotate, int64_t twist, bool mirror);
uint8_t Apply(Transform transform, uint8_t class_index);
Transform Compose(Transform first, Transform second);
// S has no syntax; scope is 0..15.
uint8_t ApplyScope(uint8_t scope, uint8_t class_index);

// Bytes. b7 b6 are h2; (b4, b5) give d: 10 produce, 01 consume, 00 and 11 neutral; b3 b2 b1 are l; b0 is ignored.
uint8_t ClassOfByte(uint8_t byte);
uint8_t CanonicalByte(
    uint8_t class_index);  // the byte of the class with b0 = 0 and, for d = 0, b4 = b5 = 0
// Place on the belt of 48 x 256 bytes: 256 page + byte.
uint32_t BeltAddress(uint8_t page, uint8_t byte);
// Phi(class, page, byte): place in the arena of 96 x 12288 bytes.
uint32_t PhiAddress(uint8_t class_index, uint8_t page, uint8_t byte);

}  // namespace frazil::frontends::circuits
