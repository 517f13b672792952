// From words to the meaning on C++ types and back. One switch over all ops, without a default: an
// op that is added to ops.def and not here does not compile.
#include "exec/meaning/scalar_ops.h"

#include <concepts>

#include "base/check.h"
#include "exec/meaning/cast_meaning.h"
#include "exec/meaning/scalar_functors.h"
#include "exec/meaning/scalar_types.h"

namespace frazil::exec {
namespace {

using ir::Op;
using ir::Scalar;
using Word = std::expected<uint64_t, ir::Trap>;

template <typename T>
Word Answer(T value) {
  return Encode(value);
}

template <typename T>
Word Answer(meaning::Checked<T> checked) {
  if (checked.trap != 0) [[unlikely]]
    return std::unexpected(static_cast<ir::Trap>(checked.trap - 1));
  return Encode(checked.value);
}

// f on the words as values of the type; a type that the op does not have breaks an invariant.
template <int Count, typename F>
Word On(Scalar type, F f, uint64_t a, uint64_t b, uint64_t c) {
  return VisitType(type, [=]<typename T>() -> Word {
    if constexpr (Count == 1 && std::invocable<F, T>) {
      return Answer(f(Decode<T>(a)));
    } else if constexpr (Count == 2 && std::invocable<F, T, T>) {
      return Answer(f(Decode<T>(a), Decode<T>(b)));
    } else if constexpr (Count == 3 && std::invocable<F, T, T, T>) {
      return Answer(f(Decode<T>(a), Decode<T>(b), Decode<T>(c)));
    } else {
      CHECK(!"op and type fit, as ir::Check promises");
      return 0;
    }
  });
}

template <typename F>
Word Convert(Scalar to, Scalar from, uint64_t word, F f) {
  return VisitType(to, [&]<typename To>() -> Word {
    return VisitType(from, [&]<typename From>() -> Word {
      if constexpr (requires { f.template operator()<To>(From{}); }) {
        return Answer(f.template operator()<To>(Decode<From>(word)));
      } else {
        CHECK(!"the conversion exists, as ir::Check promises");
        return 0;
      }
    });
  });
}

Word Cast(Scalar to, Scalar from, uint64_t word) {
  return Convert(to, from, word, []<typename To>(auto a) -> decltype(meaning::Cast<To>(a)) {
    return meaning::Cast<To>(a);
  });
}

Word CastChecked(Scalar to, Scalar from, uint64_t word) {
  return Convert(to, from, word, []<typename To>(auto a) -> decltype(meaning::CastChecked<To>(a)) {
    return meaning::CastChecked<To>(a);
  });
}

// The same bits: reading the word as the other type of that width drops and extends what must be.
Word Bitcast(Scalar to, uint64_t word) {
  return VisitType(to, [&]<typename T>() -> Word { return Encode(Decode<T>(word)); });
}

}  // namespace

#define UNARY(Name) On<1>(type, functors::Name{}, a, b, c)
#define BINARY(Name) On<2>(type, functors::Name{}, a, b, c)
#define TERNARY(Name) On<3>(type, functors::Name{}, a, b, c)

Word EvalWord(Op op, Scalar type, Scalar source, uint64_t a, uint64_t b, uint64_t c) {
  switch (op) {
    case Op::Add: return BINARY(Add);
    case Op::Sub: return BINARY(Sub);
    case Op::Mul: return BINARY(Mul);
    case Op::Neg: return UNARY(Neg);
    case Op::MulHi: return BINARY(MulHi);
    case Op::DivTrunc: return BINARY(DivTrunc);
    case Op::DivFloor: return BINARY(DivFloor);
    case Op::RemTrunc: return BINARY(RemTrunc);
    case Op::RemFloor: return BINARY(RemFloor);
    case Op::Abs: return UNARY(Abs);

    case Op::AddChecked: return BINARY(AddChecked);
    case Op::SubChecked: return BINARY(SubChecked);
    case Op::MulChecked: return BINARY(MulChecked);
    case Op::NegChecked: return UNARY(NegChecked);
    case Op::AbsChecked: return UNARY(AbsChecked);
    case Op::DivChecked: return BINARY(DivChecked);
    case Op::RemChecked: return BINARY(RemChecked);

    case Op::Div: return BINARY(Div);
    case Op::Fma: return TERNARY(Fma);
    case Op::Sqrt: return UNARY(Sqrt);
    case Op::Floor: return UNARY(Floor);
    case Op::Ceil: return UNARY(Ceil);
    case Op::Trunc: return UNARY(Trunc);
    case Op::Nearest: return UNARY(Nearest);
    case Op::CopySign: return BINARY(CopySign);
    case Op::FieldDiv: return BINARY(FieldDiv);
    case Op::Invert: return UNARY(Invert);

    case Op::Min: return BINARY(Min);
    case Op::Max: return BINARY(Max);
    case Op::Minimum: return BINARY(Minimum);
    case Op::Maximum: return BINARY(Maximum);
    case Op::Eq: return BINARY(Eq);
    case Op::Ne: return BINARY(Ne);
    case Op::Lt: return BINARY(Lt);
    case Op::Le: return BINARY(Le);
    case Op::Gt: return BINARY(Gt);
    case Op::Ge: return BINARY(Ge);
    case Op::Select: return a != 0 ? b : c;

    case Op::And: return BINARY(And);
    case Op::Or: return BINARY(Or);
    case Op::Xor: return BINARY(Xor);
    case Op::Not: return UNARY(Not);
    case Op::Shl: return BINARY(Shl);
    case Op::Shr: return BINARY(Shr);
    case Op::Rotl: return BINARY(Rotl);
    case Op::Rotr: return BINARY(Rotr);
    case Op::Clz: return UNARY(Clz);
    case Op::Ctz: return UNARY(Ctz);
    case Op::Popcnt: return UNARY(Popcnt);

    case Op::Cast: return Cast(type, source, a);
    case Op::CastChecked: return CastChecked(type, source, a);
    case Op::Bitcast: return Bitcast(type, a);

    // Wide types (scalar_ops_wide.cpp), math functions (calls by now, ir::ExpandPrelude), and what is not arithmetic:
    // the interpreter's own.
    FRAZIL_CASES(Parts)
    FRAZIL_CASES(Prelude)
    FRAZIL_CASES(Prover)
    FRAZIL_CASES(Data)
    FRAZIL_CASES(Memory)
    FRAZIL_CASES(Stream)
    FRAZIL_CASES(Stop)
    FRAZIL_CASES(Structure)
    FRAZIL_CASES(Tensor) break;
  }
  CHECK(!"an op on one-word scalars");
  return 0;
}

#undef UNARY
#undef BINARY
#undef TERNARY

}  // namespace frazil::exec
