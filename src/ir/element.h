// The types of a C++ program (base/element.h) as types of the IR, and back.
#pragma once

#include <optional>

#include "base/element.h"
#include "ir/type.h"

namespace frazil::ir {

static_assert(static_cast<int>(Kind::I8) == static_cast<int>(Scalar::I8) &&
              static_cast<int>(Kind::U64) == static_cast<int>(Scalar::U64) &&
              static_cast<int>(Kind::F16) == static_cast<int>(Scalar::F16) &&
              static_cast<int>(Kind::F64) == static_cast<int>(Scalar::F64) &&
              static_cast<int>(Kind::Bool) == static_cast<int>(Scalar::Bool) &&
              static_cast<int>(Kind::Index) == static_cast<int>(Scalar::Index));

constexpr Type TypeOf(Kind kind) { return Type::Of(static_cast<Scalar>(kind)); }
template <Element T>
constexpr Type TypeOf() {
  return TypeOf(KindOf<T>());
}
// Nothing: C++ has no such type.
constexpr std::optional<Kind> KindOf(Scalar scalar) {
  if (scalar > Scalar::Index) return std::nullopt;
  return static_cast<Kind>(scalar);
}

}  // namespace frazil::ir
