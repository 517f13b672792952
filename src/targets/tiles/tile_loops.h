// The fast loops, for one CPU level. Included once for each, with FRAZIL_TILE_LEVEL as the namespace and
// FRAZIL_TILE_TARGET as the attribute of every loop, hence no guard (as exec/batch/batch_loops.h).
//
// A result may lie where an operand lies, element on element: no iteration reads what another one writes, which is what
// the pragma says. `restrict` would say too much.

#if defined(__clang__)
#define FRAZIL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define FRAZIL_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL {

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
  for (size_t i = 0; i < lanes; ++i)
    out[i] = F{}(Lane<(Modes & 1) != 0>(a, a0, i), Lane<(Modes & 2) != 0>(b, b0, i));
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

}  // namespace frazil::targets::tiles::FRAZIL_TILE_LEVEL
