// From op and type to the loop. Included for each instruction set, like the loops, without a guard.

#include "exec/batch/batch_loops.h"

namespace frazil::exec::FRAZIL_BATCH_ISA {

template <int Count, typename F>
Kernel Choose(ir::Scalar type, F) {
  return VisitType(type, []<typename T>() -> Kernel {
    if constexpr (Count == 1 && std::invocable<F, T>)
      return &Unary<F, T>;
    else if constexpr (Count == 2 && std::invocable<F, T, T>)
      return &Binary<F, T>;
    else if constexpr (Count == 3 && std::invocable<F, T, T, T>)
      return &Ternary<F, T>;
    else
      return nullptr;
  });
}

inline Kernel ChooseSelect(ir::Scalar type) {
  switch (ir::BytesOf(ir::Type::Of(type))) {
    case 1: return &Select<uint8_t>;
    case 2: return &Select<uint16_t>;
    case 4: return &Select<uint32_t>;
    default: return &Select<uint64_t>;
  }
}

inline Kernel ChooseArithmetic(ir::Op op, ir::Scalar type) {
  using ir::Op;
  switch (op) {
#define FRAZIL_CASE(Name) \
  case Op::Name:          \
    return Choose<1>(type, functors::Name{});
    FRAZIL_UNARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
#define FRAZIL_CASE(Name) \
  case Op::Name:          \
    return Choose<2>(type, functors::Name{});
    FRAZIL_BINARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
#define FRAZIL_CASE(Name) \
  case Op::Name:          \
    return Choose<3>(type, functors::Name{});
    FRAZIL_TERNARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
    case Op::Select: return ChooseSelect(type);
    // No loop means that the interpreter does it: nothing can be forgotten here, only be slow.
    default: return nullptr;
  }
}

}  // namespace frazil::exec::FRAZIL_BATCH_ISA
