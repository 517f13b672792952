// How ops are called: one function object for each row of ops.def, which takes elements of any type that the row has.
// Types are settled when a call is compiled, and the kernel of a type when the program is linked.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "runtime/op_types.h"
#include "runtime/view.h"

namespace frazil::runtime::internal {

enum class OpId : uint8_t {
#define FRAZIL_OP(shape, module, name, types, kernel) module##_##name,
#include "runtime/ops.def"
#undef FRAZIL_OP
};

// One bit for each kind that a row has.
constexpr uint32_t KindsOf(OpId op) {
#define FRAZIL_KIND(op, kind, type, kernel) | 1u << static_cast<uint32_t>(Kind::kind)
  switch (op) {
#define FRAZIL_OP(shape, module, name, types, kernel) \
  case OpId::module##_##name: return 0 FRAZIL_TYPES_##types(FRAZIL_KIND, name, kernel);
#include "runtime/ops.def"
#undef FRAZIL_OP
  }
#undef FRAZIL_KIND
  return 0;
}
constexpr bool HasKernel(OpId op, Kind kind) {
  return (KindsOf(op) >> static_cast<uint32_t>(kind) & 1) != 0;
}

// An operand without its type.
struct Part {
  void* data;
  size_t size;
  void* home;
};
template <typename T>
Part PartOf(const View<T>& view) {
  return {const_cast<std::remove_const_t<T>*>(view.data()), view.size(), view.home()};
}

// Checks and runs; one for each row and kind, in ops_*.cpp.
template <OpId Op, Kind K, typename... Operands>
Result<void> RunOp(Operands... operands);

// What every call does with its operands; T is the type that the last one has.
template <OpId Op, typename T>
struct Typed {
  static_assert(HasKernel(Op, KindOf<T>()),
                "there is no standard kernel of this op for elements of this type: runtime/ops.def "
                "lists those that there are");
  template <typename A>
  static Part In(const A& a) {
    static_assert(std::is_same_v<ElementOf<const A>, T>, "operands of an op are of one type");
    return PartOf(View<const T>(a));
  }
  template <typename A>
  static Part Out(A&& a) {
    return PartOf(View<T>(std::forward<A>(a)));
  }
  template <typename... Operands>
  static Result<void> Run(Operands... operands) {
    return RunOp<Op, KindOf<T>()>(operands...);
  }
};

template <OpId Op>
struct Unary {
  template <Elements X, Elements Y>
  Result<void> operator()(const X& x, Y&& y) const {
    using Call = Typed<Op, ElementOf<Y>>;
    return Call::Run(Call::In(x), Call::Out(std::forward<Y>(y)));
  }
};

template <OpId Op>
struct Binary {
  template <Elements A, Elements B, Elements C>
  Result<void> operator()(const A& a, const B& b, C&& c) const {
    using Call = Typed<Op, ElementOf<C>>;
    return Call::Run(Call::In(a), Call::In(b), Call::Out(std::forward<C>(c)));
  }
};

template <OpId Op>
struct Scalar {
  template <Elements X, Elements Y>
  Result<void> operator()(const X& x, Y&& y, ElementOf<Y> scalar) const {
    using Call = Typed<Op, ElementOf<Y>>;
    return Call::Run(Call::In(x), Call::Out(std::forward<Y>(y)), WordOf(scalar));
  }
};

template <OpId Op>
struct Clip {
  template <Elements X, Elements Y>
  Result<void> operator()(const X& x, Y&& y, ElementOf<Y> lo, ElementOf<Y> hi) const {
    using Call = Typed<Op, ElementOf<Y>>;
    return Call::Run(Call::In(x), Call::Out(std::forward<Y>(y)), WordOf(lo), WordOf(hi));
  }
};

template <OpId Op>
struct Fill {
  template <Elements Y>
  Result<void> operator()(Y&& y, ElementOf<Y> value) const {
    using Call = Typed<Op, ElementOf<Y>>;
    return Call::Run(Call::Out(std::forward<Y>(y)), WordOf(value));
  }
};

template <OpId Op>
struct Fold {
  // The element itself, or written to the first element of `result`.
  template <Elements A>
  Result<ElementOf<A>> operator()(const A& a) const {
    using T = ElementOf<A>;
    using Call = Typed<Op, T>;
    T cell{};
    Part part = Call::In(a);
    TRY_VOID(Call::Run(part, Part{&cell, 1, part.home}));
    return cell;
  }
  template <Elements A, Elements R>
  Result<void> operator()(const A& a, R&& result) const {
    using Call = Typed<Op, ElementOf<R>>;
    return Call::Run(Call::In(a), Call::Out(std::forward<R>(result)));
  }
};

}  // namespace frazil::runtime::internal
