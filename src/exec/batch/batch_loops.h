// The loops over lanes. Included once for each instruction set, with FRAZIL_BATCH_ISA as the
// namespace and FRAZIL_BATCH_TARGET as the attribute of every loop, hence no guard: the same
// source, so that a wider machine gets wider vectors and nothing else. Only the loops carry the
// attribute; what they call is inlined.

namespace frazil::exec::FRAZIL_BATCH_ISA {

template <typename T>
struct Unchecked {
  using Type = T;
};
template <typename T>
struct Unchecked<meaning::Checked<T>> {
  using Type = T;
};

// A lane's answer, in its place; the first trap of a lane stays.
template <typename R>
inline void Write(R answer, size_t i, R* __restrict result, uint8_t* __restrict) {
  result[i] = answer;
}
template <typename R>
inline void Write(meaning::Checked<R> answer, size_t i, R* __restrict result,
                  uint8_t* __restrict traps) {
  result[i] = answer.value;
  traps[i] = traps[i] != 0 ? traps[i] : answer.trap;
}

template <typename F, typename T>
FRAZIL_BATCH_TARGET void Unary(const KernelArguments& k) {
  using R = typename Unchecked<decltype(F{}(T{}))>::Type;
  const T* __restrict a = static_cast<const T*>(k.a);
  R* __restrict result = static_cast<R*>(k.result);
  uint8_t* __restrict traps = k.traps;
  const size_t lanes = k.lanes;
  for (size_t i = 0; i < lanes; ++i) Write(F{}(a[i]), i, result, traps);
}

template <typename F, typename T>
FRAZIL_BATCH_TARGET void Binary(const KernelArguments& k) {
  using R = typename Unchecked<decltype(F{}(T{}, T{}))>::Type;
  const T* __restrict a = static_cast<const T*>(k.a);
  const T* __restrict b = static_cast<const T*>(k.b);
  R* __restrict result = static_cast<R*>(k.result);
  uint8_t* __restrict traps = k.traps;
  const size_t lanes = k.lanes;
  for (size_t i = 0; i < lanes; ++i) Write(F{}(a[i], b[i]), i, result, traps);
}

template <typename F, typename T>
FRAZIL_BATCH_TARGET void Ternary(const KernelArguments& k) {
  using R = typename Unchecked<decltype(F{}(T{}, T{}, T{}))>::Type;
  const T* __restrict a = static_cast<const T*>(k.a);
  const T* __restrict b = static_cast<const T*>(k.b);
  const T* __restrict c = static_cast<const T*>(k.c);
  R* __restrict result = static_cast<R*>(k.result);
  uint8_t* __restrict traps = k.traps;
  const size_t lanes = k.lanes;
  for (size_t i = 0; i < lanes; ++i) Write(F{}(a[i], b[i], c[i]), i, result, traps);
}

// select moves bits, so the width is all that matters.
template <typename Bits>
FRAZIL_BATCH_TARGET void Select(const KernelArguments& k) {
  const uint8_t* __restrict condition = static_cast<const uint8_t*>(k.a);
  const Bits* __restrict b = static_cast<const Bits*>(k.b);
  const Bits* __restrict c = static_cast<const Bits*>(k.c);
  Bits* __restrict result = static_cast<Bits*>(k.result);
  const size_t lanes = k.lanes;
  for (size_t i = 0; i < lanes; ++i) result[i] = condition[i] != 0 ? b[i] : c[i];
}

}  // namespace frazil::exec::FRAZIL_BATCH_ISA
