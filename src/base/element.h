// The types of elements and scalars, as far as a C++ program has them: one list for calls (frazil/frazil.h), executors
// (kernel/) and embedded kernels (embed/), and one map from C++ types. In the order of ir::Scalar, which ir/element.h
// holds them against.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace frazil {

enum class Kind : uint8_t {
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  Bool,
  Index
};
constexpr size_t KindCount = 14;

// 16-bit floats as their bits; C++ compilers of record have no such types yet.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

template <typename T>
concept HalfElement = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <typename T>
concept Element = HalfElement<T> ||
                  (std::is_arithmetic_v<T> && !std::is_same_v<T, long double> && sizeof(T) <= 8);

template <Element T>
constexpr Kind KindOf() {
  if constexpr (std::is_same_v<T, F16>) return Kind::F16;
  if constexpr (std::is_same_v<T, BF16>) return Kind::BF16;
  if constexpr (std::is_same_v<T, bool>) return Kind::Bool;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Kind::F32 : Kind::F64;
  return static_cast<Kind>(std::countr_zero(sizeof(T)) + (std::is_signed_v<T> ? 0 : 4));
}

constexpr uint32_t BytesOf(Kind kind) {
  constexpr uint8_t Bytes[KindCount] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 8};
  return Bytes[static_cast<size_t>(kind)];
}
constexpr bool IsInteger(Kind kind) { return kind <= Kind::U64 || kind == Kind::Index; }
constexpr bool IsSigned(Kind kind) { return kind <= Kind::I64 || kind == Kind::Index; }
// The greatest number of an integer type; 0 of others.
constexpr uint64_t MostOf(Kind kind) {
  if (!IsInteger(kind)) return 0;
  return UINT64_MAX >> (64 - 8 * BytesOf(kind) + (IsSigned(kind) ? 1 : 0));
}

// A value as the word of a call: integers sign- or zero-extended, floats their bits.
template <Element T>
constexpr uint64_t WordOf(T value) {
  if constexpr (HalfElement<T>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return static_cast<uint64_t>(
        static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
}

template <Element T>
constexpr T FromWord(uint64_t word) {
  if constexpr (HalfElement<T>)
    return {static_cast<uint16_t>(word)};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(word);
  else
    return static_cast<T>(word);
}

}  // namespace frazil
