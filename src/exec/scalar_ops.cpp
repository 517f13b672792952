// From words to the meaning on C++ types and back. One switch over all ops, without a default: an
// op that is added to ops.def and not here does not compile.
#include "exec/scalar_ops.h"

#include <concepts>

#include "base/check.h"
#include "exec/cast_meaning.h"
#include "exec/scalar_functors.h"
#include "exec/scalar_types.h"

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

    // Wide types: scalar_ops_wide.cpp.
    case Op::MakeXField:
    case Op::PartXField:
    case Op::MakeDigest:
    case Op::PartDigest:
    // Math functions: calls by now (ir::ExpandPrelude).
    case Op::Exp:
    case Op::Exp2:
    case Op::Expm1:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Erf:
    case Op::Gelu:
    case Op::Rsqrt:
    case Op::Cbrt:
    case Op::Pow:
    case Op::ExpFast:
    case Op::LogFast:
    case Op::TanhFast:
    case Op::SigmoidFast:
    case Op::RandomBits:
    case Op::RandomUniform:
    case Op::RandomNormal:
    case Op::FieldPow:
    case Op::Hash:
    case Op::SpongeInit:
    case Op::SpongeAbsorb:
    case Op::SpongeSqueeze:
    case Op::MerkleStep:
    case Op::Tasm:
    // Not arithmetic: the interpreter's own.
    case Op::Const:
    case Op::Lookup:
    case Op::Load:
    case Op::Store:
    case Op::Length:
    case Op::Alloc:
    case Op::AtomicRmw:
    case Op::AtomicCas:
    case Op::Input:
    case Op::Output:
    case Op::Hint:
    case Op::Assert:
    case Op::Unreachable:
    case Op::If:
    case Op::For:
    case Op::While:
    case Op::Switch:
    case Op::Parallel:
    case Op::Barrier:
    case Op::Call:
    case Op::Return:
    case Op::Yield:
    case Op::Condition:
    case Op::Map:
    case Op::Reduce:
    case Op::Matmul:
    case Op::MatmulFast:
    case Op::Reshape:
    case Op::Transpose:
    case Op::Broadcast:
    case Op::Slice:
    case Op::Concat:
    case Op::Gather:
    case Op::Iota:
    case Op::TensorUniform:
    case Op::TensorNormal:
    case Op::Extract:
    case Op::TensorLoad:
    case Op::TensorStore: break;
  }
  CHECK(!"an op on one-word scalars");
  return 0;
}

#undef UNARY
#undef BINARY
#undef TERNARY

}  // namespace frazil::exec
