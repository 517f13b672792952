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

Word EvalWord(Op op, Scalar type, Scalar source, uint64_t a, uint64_t b, uint64_t c) {
  switch (op) {
#define FRAZIL_CASE(Name) \
  case Op::Name: return On<1>(type, functors::Name{}, a, b, c);
    FRAZIL_UNARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
#define FRAZIL_CASE(Name) \
  case Op::Name: return On<2>(type, functors::Name{}, a, b, c);
    FRAZIL_BINARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
#define FRAZIL_CASE(Name) \
  case Op::Name: return On<3>(type, functors::Name{}, a, b, c);
    FRAZIL_TERNARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
    case Op::Select: return a != 0 ? b : c;
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

}  // namespace frazil::exec
