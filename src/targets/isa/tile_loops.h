// The fast loops, for one CPU level. Included once for each, with FRAZIL_TILE_LEVEL as the namespace and
// FRAZIL_TILE_TARGET as the attribute of every loop, hence no guard (as exec/batch_loops.h).
//
// A result may lie where an operand lies, element on element: no iteration reads what another one writes, which is what
// the pragma says. `restrict` would say too much.

#if defined(__clang__)
#define FRAZIL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define FRAZIL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace frazil::targets::isa::FRAZIL_TILE_LEVEL {

namespace functors = exec::functors;
namespace meaning = exec::meaning;

// Operand i of the lane, or the one element that is there for all.
template <bool Same, typename T>
inline T Lane(const T* operand, T same, size_t i) {
  if constexpr (Same)
    return same;
  else
    return operand[i];
}

template <typename F, typename T, ModeSet Modes>
FRAZIL_TILE_TARGET void Binary(const KernelArguments& k) {
  using R = decltype(F{}(T{}, T{}));
  const T* a = static_cast<const T*>(k.a);
  const T* b = static_cast<const T*>(k.b);
  R* out = static_cast<R*>(k.result);
  const size_t lanes = k.lanes;
  const T a0 = *a, b0 = *b;
  FRAZIL_INDEPENDENT
  for (size_t i = 0; i < lanes; ++i) out[i] = F{}(Lane<(Modes & 1) != 0>(a, a0, i), Lane<(Modes & 2) != 0>(b, b0, i));
}

// The first of two ops: its NaN need not be the one quiet NaN, because the second op makes it so or drops it.
template <typename F, typename T>
inline T First(T a, T b) {
  if constexpr (!std::floating_point<T>)
    return F{}(a, b);
  else if constexpr (std::same_as<F, functors::Add>)
    return a + b;
  else if constexpr (std::same_as<F, functors::Sub>)
    return a - b;
  else
    return a * b;
}

template <typename F, typename G, bool Swapped, typename T, ModeSet Modes>
FRAZIL_TILE_TARGET void Pair(const KernelArguments& k) {
  const T* a = static_cast<const T*>(k.a);
  const T* b = static_cast<const T*>(k.b);
  const T* c = static_cast<const T*>(k.c);
  T* out = static_cast<T*>(k.result);
  const size_t lanes = k.lanes;
  const T b0 = *b, c0 = *c;
  FRAZIL_INDEPENDENT
  for (size_t i = 0; i < lanes; ++i) {
    const T first = First<F, T>(a[i], Lane<(Modes & 2) != 0>(b, b0, i));
    const T third = Lane<(Modes & 4) != 0>(c, c0, i);
    out[i] = Swapped ? G{}(third, first) : G{}(first, third);
  }
}

// As the functor, but a truth value that stays in a mask register.
template <typename F, typename T>
inline bool Holds(T a, T b) {
  if constexpr (std::same_as<F, functors::Lt>)
    return a < b;
  else if constexpr (std::same_as<F, functors::Le>)
    return a <= b;
  else if constexpr (std::same_as<F, functors::Gt>)
    return a > b;
  else
    return a >= b;
}

template <typename F, typename T, ModeSet Modes>
FRAZIL_TILE_TARGET void Choice(const KernelArguments& k) {
  const T* a = static_cast<const T*>(k.a);
  const T* b = static_cast<const T*>(k.b);
  const T* c = static_cast<const T*>(k.c);
  const T* d = static_cast<const T*>(static_cast<const TileArguments&>(k).d);
  T* out = static_cast<T*>(k.result);
  const size_t lanes = k.lanes;
  const T b0 = *b, c0 = *c, d0 = *d;
  FRAZIL_INDEPENDENT
  for (size_t i = 0; i < lanes; ++i) {
    const T first = a[i], no = Lane<(Modes & 8) != 0>(d, d0, i);
    const T yes = (Modes & 1) != 0 ? first : Lane<(Modes & 4) != 0>(c, c0, i);
    out[i] = Holds<F>(first, Lane<(Modes & 2) != 0>(b, b0, i)) ? yes : no;
  }
}

template <typename Bits>
FRAZIL_TILE_TARGET void Fill(void* out, const void* value, size_t lanes) {
  const Bits same = *static_cast<const Bits*>(value);
  Bits* to = static_cast<Bits*>(out);
  for (size_t i = 0; i < lanes; ++i) to[i] = same;
}

template <typename Bits>
FRAZIL_TILE_TARGET void Blend(void* out, const void* values, const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(values);
  FRAZIL_INDEPENDENT
  for (size_t i = 0; i < lanes; ++i)
    if (mask[i] != 0) to[i] = from[i];
}

template <typename Bits>
FRAZIL_TILE_TARGET size_t Gather(void* out, const void* data, uint64_t length, const int64_t* index,
                                 const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(data);
  uint64_t outside = 0;
  if (mask == nullptr) {
    for (size_t i = 0; i < lanes; ++i) {
      const uint64_t at = static_cast<uint64_t>(index[i]);
      outside |= at >= length ? 1 : 0;
      to[i] = from[at < length ? at : 0];
    }
  } else {
    for (size_t i = 0; i < lanes; ++i) {
      const uint64_t at = static_cast<uint64_t>(index[i]);
      outside |= at >= length ? mask[i] : 0;
      to[i] = from[at < length ? at : 0];
    }
  }
  if (outside == 0) return lanes;
  for (size_t i = 0; i < lanes; ++i)
    if (static_cast<uint64_t>(index[i]) >= length && (mask == nullptr || mask[i] != 0)) return i;
  return lanes;
}

template <typename Bits>
FRAZIL_TILE_TARGET size_t Scatter(void* data, uint64_t length, const int64_t* index, const void* values,
                                  const uint8_t* mask, size_t lanes) {
  Bits* to = static_cast<Bits*>(data);
  const Bits* from = static_cast<const Bits*>(values);
  for (size_t i = 0; i < lanes; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    const uint64_t at = static_cast<uint64_t>(index[i]);
    if (at >= length) return i;
    to[at] = from[i];
  }
  return lanes;
}

template <typename Bits>
FRAZIL_TILE_TARGET void Strided(void* out, const void* data, int64_t start, int64_t stride, size_t lanes) {
  Bits* to = static_cast<Bits*>(out);
  const Bits* from = static_cast<const Bits*>(data);
  for (size_t i = 0; i < lanes; ++i) to[i] = from[start + static_cast<int64_t>(i) * stride];
}

FRAZIL_TILE_TARGET inline size_t MaskBoth(uint8_t* out, const uint8_t* base, const uint8_t* value, size_t lanes) {
  uint64_t count = 0;
  if (base == nullptr) {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = value[i] & 1;
  } else {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = base[i] & value[i] & 1;
  }
  return count;
}

FRAZIL_TILE_TARGET inline size_t MaskWithout(uint8_t* out, const uint8_t* base, const uint8_t* value, size_t lanes) {
  uint64_t count = 0;
  if (base == nullptr) {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = (value[i] & 1) ^ 1;
  } else {
    FRAZIL_INDEPENDENT
    for (size_t i = 0; i < lanes; ++i) count += out[i] = base[i] & ((value[i] & 1) ^ 1);
  }
  return count;
}

FRAZIL_TILE_TARGET inline void Iota(int64_t* out, int64_t start, int64_t stride, size_t lanes) {
  for (size_t i = 0; i < lanes; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(stride));
}

#if defined(__x86_64__)
// Stores around the caches need their own alignment; what is before and behind goes the usual way.
FRAZIL_TILE_TARGET inline void StreamBytes(void* out, const void* values, size_t bytes) {
  std::byte* to = static_cast<std::byte*>(out);
  const std::byte* from = static_cast<const std::byte*>(values);
  const size_t head = std::min(bytes, (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) {
#if defined(__clang__)
    using Line = long long __attribute__((vector_size(64)));
    Line line;
    std::memcpy(&line, from + at, 64);
    __builtin_nontemporal_store(line, reinterpret_cast<Line*>(to + at));
#else
    for (size_t part = 0; part < 64; part += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + part)));
#endif
  }
  std::memcpy(to + at, from + at, bytes - at);
}
#else
inline void StreamBytes(void* out, const void* values, size_t bytes) { std::memcpy(out, values, bytes); }
#endif

template <typename Bits>
FRAZIL_TILE_TARGET void Stream(void* out, const void* values, size_t lanes) {
  StreamBytes(out, values, lanes * sizeof(Bits));
}

// Short copies, without the choices that memmove has to make. Both are the same place or have nothing in common.
FRAZIL_TILE_TARGET inline void Copy(void* out, const void* values, size_t bytes) {
  struct Line {
    long long part[8];
  };
  std::byte* to = static_cast<std::byte*>(out);
  const std::byte* from = static_cast<const std::byte*>(values);
  if (bytes < 64 || bytes > 16384) {
    std::memmove(to, from, bytes);
    return;
  }
  Line last, lines[4];
  std::memcpy(&last, from + bytes - 64, 64);
  size_t at = 0;
  for (; at + 256 <= bytes; at += 256) {
    for (size_t i = 0; i < 4; ++i) std::memcpy(&lines[i], from + at + 64 * i, 64);
    for (size_t i = 0; i < 4; ++i) std::memcpy(to + at + 64 * i, &lines[i], 64);
  }
  for (; at + 64 <= bytes; at += 64) {
    std::memcpy(&lines[0], from + at, 64);
    std::memcpy(to + at, &lines[0], 64);
  }
  std::memcpy(to + bytes - 64, &last, 64);
}

template <typename Bits>
constexpr MoveLoops MovesFor() {
  return {&Fill<Bits>, &Blend<Bits>, &Stream<Bits>, &Copy, &Gather<Bits>, &Scatter<Bits>, &Strided<Bits>};
}
inline constexpr MoveLoops Moves[4] = {MovesFor<uint8_t>(), MovesFor<uint16_t>(), MovesFor<uint32_t>(),
                                       MovesFor<uint64_t>()};
inline constexpr MaskLoops Masks = {&MaskBoth, &MaskWithout, &Iota};

// From ops, types and modes to loops.

template <typename F>
Kernel VisitFast(ir::Scalar type, F&& f) {
  switch (type) {
    case ir::Scalar::I32:
      return f.template operator()<int32_t>();
    case ir::Scalar::U32:
      return f.template operator()<uint32_t>();
    case ir::Scalar::I64:
    case ir::Scalar::Index:
      return f.template operator()<int64_t>();
    case ir::Scalar::U64:
      return f.template operator()<uint64_t>();
    case ir::Scalar::F32:
      return f.template operator()<float>();
    case ir::Scalar::F64:
      return f.template operator()<double>();
    default:
      return nullptr;
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
    default:
      return nullptr;
  }
}

template <typename F, typename G, bool Swapped>
Kernel ChoosePair(ir::Scalar type, ModeSet modes) {
  const auto of = [&]<typename T>() -> Kernel {
    constexpr Kernel all[4] = {&Pair<F, G, Swapped, T, 0>, &Pair<F, G, Swapped, T, 2>, &Pair<F, G, Swapped, T, 4>,
                               &Pair<F, G, Swapped, T, 6>};
    return (modes & ~6u) == 0 ? all[modes / 2] : nullptr;
  };
  if (type == ir::Scalar::F32) return of.template operator()<float>();
  if (type == ir::Scalar::F64) return of.template operator()<double>();
  return nullptr;
}

template <typename F>
Kernel ChooseSecond(ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes) {
  switch (op2) {
    case ir::Op::Add:
      return ChoosePair<F, functors::Add, false>(type, modes);
    case ir::Op::Mul:
      return ChoosePair<F, functors::Mul, false>(type, modes);
    case ir::Op::Sub:
      return swapped ? ChoosePair<F, functors::Sub, true>(type, modes)
                     : ChoosePair<F, functors::Sub, false>(type, modes);
    case ir::Op::Max:
      return ChoosePair<F, functors::Max, false>(type, modes);
    case ir::Op::Min:
      return ChoosePair<F, functors::Min, false>(type, modes);
    default:
      return nullptr;
  }
}

inline Kernel FindPair(ir::Op op1, ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes) {
  switch (op1) {
    case ir::Op::Add:
      return ChooseSecond<functors::Add>(op2, swapped, type, modes);
    case ir::Op::Sub:
      return ChooseSecond<functors::Sub>(op2, swapped, type, modes);
    case ir::Op::Mul:
      return ChooseSecond<functors::Mul>(op2, swapped, type, modes);
    default:
      return nullptr;
  }
}

template <typename F>
Kernel ChooseChoice(ir::Scalar type, ModeSet modes) {
  const auto of = [&]<typename T>() -> Kernel {
    constexpr Kernel all[8] = {&Choice<F, T, 0>, &Choice<F, T, 2>,  &Choice<F, T, 4>,  &Choice<F, T, 6>,
                               &Choice<F, T, 8>, &Choice<F, T, 10>, &Choice<F, T, 12>, &Choice<F, T, 14>};
    constexpr Kernel of_itself[4] = {&Choice<F, T, 1>, &Choice<F, T, 3>, &Choice<F, T, 9>, &Choice<F, T, 11>};
    if ((modes & ~11u) == 0 && (modes & 1) != 0) return of_itself[(modes & 2) / 2 + (modes & 8) / 4];
    return (modes & ~14u) == 0 ? all[modes / 2] : nullptr;
  };
  if (type == ir::Scalar::F32) return of.template operator()<float>();
  if (type == ir::Scalar::F64) return of.template operator()<double>();
  if (type == ir::Scalar::I32) return of.template operator()<int32_t>();
  return nullptr;
}

inline Kernel FindChoice(ir::Op compare, ir::Scalar type, ModeSet modes) {
  switch (compare) {
    case ir::Op::Lt:
      return ChooseChoice<functors::Lt>(type, modes);
    case ir::Op::Le:
      return ChooseChoice<functors::Le>(type, modes);
    case ir::Op::Gt:
      return ChooseChoice<functors::Gt>(type, modes);
    case ir::Op::Ge:
      return ChooseChoice<functors::Ge>(type, modes);
    default:
      return nullptr;
  }
}

}  // namespace frazil::targets::isa::FRAZIL_TILE_LEVEL
