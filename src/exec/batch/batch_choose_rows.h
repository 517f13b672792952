// Rows of products. Included for each instruction set, like the loops of batch_loops.h, without a guard.

namespace frazil::exec::FRAZIL_BATCH_ISA {

struct Fused {
  template <typename T>
  auto operator()(T a, T b, T sum) const -> decltype(functors::Fma{}(a, b, sum)) {
    return functors::Fma{}(a, b, sum);
  }
};
struct Apart {
  template <typename T>
  auto operator()(T a, T b, T sum) const -> decltype(functors::Add{}(sum, functors::Mul{}(a, b))) {
    return functors::Add{}(sum, functors::Mul{}(a, b));
  }
};

template <typename Step, typename T>
FRAZIL_BATCH_TARGET void Row(const RowArguments& row) {
  const T* a = static_cast<const T*>(row.a);
  const T* __restrict b = static_cast<const T*>(row.b);
  T* __restrict sums = static_cast<T*>(row.sums);
  const size_t columns = row.columns;
  for (size_t k = 0; k < row.depth; ++k, b += columns) {
    const T x = a[k];
    for (size_t j = 0; j < columns; ++j) sums[j] = Step{}(x, b[j], sums[j]);
  }
}

template <typename Step>
RowKernel ChooseRow(ir::Scalar type) {
  return VisitType(type, []<typename T>() -> RowKernel {
    if constexpr (std::invocable<Step, T, T, T>)
      return &Row<Step, T>;
    else
      return nullptr;
  });
}

}  // namespace frazil::exec::FRAZIL_BATCH_ISA
