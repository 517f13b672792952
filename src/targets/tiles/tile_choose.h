// From ops, types and modes to the loops of tile_loops.h, for one CPU level: included behind it, as it is.

namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL {

template <typename F>
Kernel VisitFast(ir::Scalar type, F&& f) {
  switch (type) {
    case ir::Scalar::I32: return f.template operator()<int32_t>();
    case ir::Scalar::U32: return f.template operator()<uint32_t>();
    case ir::Scalar::I64:
    case ir::Scalar::Index: return f.template operator()<int64_t>();
    case ir::Scalar::U64: return f.template operator()<uint64_t>();
    case ir::Scalar::F32: return f.template operator()<float>();
    case ir::Scalar::F64: return f.template operator()<double>();
    default: return nullptr;
  }
}

template <typename F>
Kernel ChooseBinary(ir::Scalar type, ModeSet modes) {
  return VisitFast(type, [&]<typename T>() -> Kernel {
    if constexpr (std::invocable<F, T, T>) {
      constexpr Kernel all[3] = {&Binary<F, T, 0>, &Binary<F, T, 1>, &Binary<F, T, 2>};
      return modes < 3 ? all[modes] : nullptr;
    } else {
      return nullptr;
    }
  });
}

#define FRAZIL_TILE_BINARY_OPS(X)                                                                     \
  X(Add) X(Sub) X(Mul) X(Div) X(Min) X(Max) X(Minimum) X(Maximum) X(Eq) X(Ne) X(Lt) X(Le) X(Gt) X(Ge) \
  X(And) X(Or) X(Xor) X(Shl) X(Shr)

inline Kernel FindBinary(ir::Op op, ir::Scalar type, ModeSet modes) {
  switch (op) {
#define FRAZIL_CASE(Name) \
  case ir::Op::Name:      \
    return ChooseBinary<functors::Name>(type, modes);
    FRAZIL_TILE_BINARY_OPS(FRAZIL_CASE)
#undef FRAZIL_CASE
    default: return nullptr;
  }
}

template <typename F, typename G, bool Swapped>
Kernel ChoosePair(ir::Scalar type, ModeSet modes) {
  const auto of = [&]<typename T>() -> Kernel {
    constexpr Kernel all[4] = {&Pair<F, G, Swapped, T, 0>, &Pair<F, G, Swapped, T, 2>,
                               &Pair<F, G, Swapped, T, 4>, &Pair<F, G, Swapped, T, 6>};
    return (modes & ~6u) == 0 ? all[modes / 2] : nullptr;
  };
  if (type == ir::Scalar::F32) return of.template operator()<float>();
  if (type == ir::Scalar::F64) return of.template operator()<double>();
  return nullptr;
}

template <typename F>
Kernel ChooseSecond(ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes) {
  switch (op2) {
    case ir::Op::Add: return ChoosePair<F, functors::Add, false>(type, modes);
    case ir::Op::Mul: return ChoosePair<F, functors::Mul, false>(type, modes);
    case ir::Op::Sub:
      return swapped ? ChoosePair<F, functors::Sub, true>(type, modes)
                     : ChoosePair<F, functors::Sub, false>(type, modes);
    case ir::Op::Max: return ChoosePair<F, functors::Max, false>(type, modes);
    case ir::Op::Min: return ChoosePair<F, functors::Min, false>(type, modes);
    default: return nullptr;
  }
}

inline Kernel FindPair(ir::Op op1, ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes) {
  switch (op1) {
    case ir::Op::Add: return ChooseSecond<functors::Add>(op2, swapped, type, modes);
    case ir::Op::Sub: return ChooseSecond<functors::Sub>(op2, swapped, type, modes);
    case ir::Op::Mul: return ChooseSecond<functors::Mul>(op2, swapped, type, modes);
    default: return nullptr;
  }
}

template <typename F>
Kernel ChooseChoice(ir::Scalar type, ModeSet modes) {
  const auto of = [&]<typename T>() -> Kernel {
    constexpr Kernel all[8] = {&Choice<F, T, 0>,  &Choice<F, T, 2>, &Choice<F, T, 4>,
                               &Choice<F, T, 6>,  &Choice<F, T, 8>, &Choice<F, T, 10>,
                               &Choice<F, T, 12>, &Choice<F, T, 14>};
    constexpr Kernel of_itself[4] = {&Choice<F, T, 1>, &Choice<F, T, 3>, &Choice<F, T, 9>,
                                     &Choice<F, T, 11>};
    if ((modes & ~11u) == 0 && (modes & 1) != 0)
      return of_itself[(modes & 2) / 2 + (modes & 8) / 4];
    return (modes & ~14u) == 0 ? all[modes / 2] : nullptr;
  };
  if (type == ir::Scalar::F32) return of.template operator()<float>();
  if (type == ir::Scalar::F64) return of.template operator()<double>();
  if (type == ir::Scalar::I32) return of.template operator()<int32_t>();
  return nullptr;
}

inline Kernel FindChoice(ir::Op compare, ir::Scalar type, ModeSet modes) {
  switch (compare) {
    case ir::Op::Lt: return ChooseChoice<functors::Lt>(type, modes);
    case ir::Op::Le: return ChooseChoice<functors::Le>(type, modes);
    case ir::Op::Gt: return ChooseChoice<functors::Gt>(type, modes);
    case ir::Op::Ge: return ChooseChoice<functors::Ge>(type, modes);
    default: return nullptr;
  }
}

}  // namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL
