// The C++ types of one-word scalars (scalar_meaning.h), chosen by a scalar kind at run time, and
// their words: integers extended by their signedness, everything else as its bits with zeros above.
#pragma once

#include <bit>
#include <cstdint>

#include "base/check.h"
#include "exec/meaning/scalar_meaning.h"
#include "ir/type.h"

namespace frazil::exec {

// f.operator()<T>() for the C++ type of the scalar. Index is i64.
template <typename F>
auto VisitType(ir::Scalar scalar, F&& f) {
  using ir::Scalar;
  switch (scalar) {
    case Scalar::I8: return f.template operator()<int8_t>();
    case Scalar::I16: return f.template operator()<int16_t>();
    case Scalar::I32: return f.template operator()<int32_t>();
    case Scalar::I64: return f.template operator()<int64_t>();
    case Scalar::U8: return f.template operator()<uint8_t>();
    case Scalar::U16: return f.template operator()<uint16_t>();
    case Scalar::U32: return f.template operator()<uint32_t>();
    case Scalar::U64: return f.template operator()<uint64_t>();
    case Scalar::F16: return f.template operator()<meaning::F16>();
    case Scalar::BF16: return f.template operator()<meaning::BF16>();
    case Scalar::F32: return f.template operator()<float>();
    case Scalar::F64: return f.template operator()<double>();
    case Scalar::Bool: return f.template operator()<meaning::Bool>();
    case Scalar::Index: return f.template operator()<int64_t>();
    case Scalar::Field: return f.template operator()<meaning::Field>();
    case Scalar::Int:
    case Scalar::XField:
    case Scalar::Digest: break;
  }
  CHECK(!"a scalar of one word");
  return f.template operator()<uint64_t>();
}

template <typename T>
T Decode(uint64_t word) {
  if constexpr (std::integral<T>)
    return static_cast<T>(word);
  else if constexpr (std::same_as<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(word);
  else if constexpr (meaning::Half<T>)
    return T{static_cast<uint16_t>(word)};
  else if constexpr (std::same_as<T, meaning::Bool>)
    return T{static_cast<uint8_t>(word)};
  else
    return meaning::Field{word};
}

template <std::integral T>
uint64_t Encode(T value) {
  return static_cast<uint64_t>(value);
}
template <meaning::Half T>
uint64_t Encode(T value) {
  return value.bits;
}
inline uint64_t Encode(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t Encode(double value) { return std::bit_cast<uint64_t>(value); }
inline uint64_t Encode(meaning::Bool value) { return value.value; }
inline uint64_t Encode(meaning::Field value) { return value.value; }

}  // namespace frazil::exec
