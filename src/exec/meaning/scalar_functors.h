// The meanings of scalar_meaning.h as function objects, one for each op, which can be asked whether
// they take a type: functors::Add{}(a, b) is meaning::Add(a, b).
#pragma once

#include "exec/meaning/scalar_meaning.h"

// clang-format off
#define FRAZIL_UNARY_OPS(X)                                                                        \
  X(Neg) X(Abs) X(NegChecked) X(AbsChecked) X(Sqrt) X(Floor) X(Ceil) X(Trunc) X(Nearest) X(Invert) \
  X(Not) X(Clz) X(Ctz) X(Popcnt)

#define FRAZIL_BINARY_OPS(X)                                                                       \
  X(Add) X(Sub) X(Mul) X(MulHi) X(DivTrunc) X(DivFloor) X(RemTrunc) X(RemFloor)                    \
  X(AddChecked) X(SubChecked) X(MulChecked) X(DivChecked) X(RemChecked)                            \
  X(Div) X(CopySign) X(FieldDiv) X(Min) X(Max) X(Minimum) X(Maximum)                               \
  X(Eq) X(Ne) X(Lt) X(Le) X(Gt) X(Ge) X(And) X(Or) X(Xor) X(Shl) X(Shr) X(Rotl) X(Rotr)
// clang-format on

#define FRAZIL_TERNARY_OPS(X) X(Fma)

namespace frazil::exec::functors {

#define FRAZIL_FUNCTOR(Name)                                         \
  struct Name {                                                      \
    template <typename... T>                                         \
    auto operator()(T... x) const -> decltype(meaning::Name(x...)) { \
      return meaning::Name(x...);                                    \
    }                                                                \
  };
FRAZIL_UNARY_OPS(FRAZIL_FUNCTOR)
FRAZIL_BINARY_OPS(FRAZIL_FUNCTOR)
FRAZIL_TERNARY_OPS(FRAZIL_FUNCTOR)
#undef FRAZIL_FUNCTOR

}  // namespace frazil::exec::functors
