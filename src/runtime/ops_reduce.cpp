// Reductions, losses and matrices. Kernels of reductions fold into what is there, so the result begins as the identity.
#include <fmt/format.h>
#include <frazil_stdlib.hpp>

#include <array>
#include <limits>

#include "runtime/ops.h"
#include "runtime/standard.h"

namespace frazil::runtime {
namespace internal {
namespace {

template <typename T>
T LeastOf() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <typename T>
T MostOf() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

// What every element replaces; sums begin as 0, also of no elements.
template <OpId Op, typename T>
T IdentityOf() {
  if constexpr (Op == OpId::reduce_min) return MostOf<T>();
  if constexpr (Op == OpId::reduce_max) return LeastOf<T>();
  return T{};
}

template <OpId Op, typename T, typename Kernel>
Result<void> RunFold(std::string_view name, Kernel kernel, Part a, Part result) {
  if (Op != OpId::reduce_sum && a.size == 0) [[unlikely]]
    return Fail(Diag::BadLaunch, "the least or greatest of no elements is not defined");
  if (result.size < 1) [[unlikely]]
    return Fail(Diag::BadLaunch, "the result needs room for one element");
  T* const cell = static_cast<T*>(result.data);
  *cell = IdentityOf<Op, T>();
  return LaunchStandard(
      name, IsPlain({a, result}, {a.size}),
      [&] {
        return kernel(std::span<const T>(static_cast<const T*>(a.data), a.size),
                      std::span<T>(cell, result.size), static_cast<uint32_t>(a.size));
      },
      [&] { return std::array<Operand, 3>{a, result, Operand::Extent(a.size)}; });
}

template <typename Kernel>
Result<float> Mean(std::string_view name, Kernel kernel, ops::In prediction, ops::In target,
                   size_t count) {
  if (prediction.size() != target.size())
    return Fail(Diag::BadLaunch, fmt::format("{} predictions are given beside {} targets",
                                             prediction.size(), target.size()));
  if (count == 0) return Fail(Diag::BadLaunch, "a mean over no elements is not defined");
  const size_t n = prediction.size();
  float sum = 0;
  const Part a = PartOf(prediction), b = PartOf(target), cell = {&sum, 1, a.home};
  TRY_VOID(LaunchStandard(
      name, IsPlain({a, b}, {n}),
      [&] {
        return kernel(prediction.span(), target.span(), std::span<float>(&sum, 1),
                      static_cast<uint32_t>(n));
      },
      [&] { return std::array<Operand, 4>{a, b, cell, Operand::Extent(n)}; }));
  return sum / static_cast<float>(count);
}

Result<void> Holds(std::string_view what, size_t length, size_t rows, size_t columns) {
  uint64_t needed = 0;
  if (!__builtin_mul_overflow(rows, columns, &needed) && needed <= length) return {};
  return Fail(Diag::BadLaunch, fmt::format("{} has {} elements, which is less than {} x {}", what,
                                           length, rows, columns));
}

uint32_t Narrow(size_t extent) { return static_cast<uint32_t>(extent); }

}  // namespace

#define FRAZIL_KERNEL(kernel) \
  [](const auto&... arguments) { return frazil_stdlib::kernel(arguments...); }
#define FRAZIL_RUN_Fold(op, kind, type, kernel)                                     \
  template <>                                                                       \
  Result<void> RunOp<OpId::op, Kind::kind>(Part a, Part result) {                   \
    return RunFold<OpId::op, type>(#kernel, FRAZIL_KERNEL(kernel), a, result);      \
  }
// Of ops.def only the folds are made here.
#define FRAZIL_NOT_HERE(op, kind, type, kernel)
#define FRAZIL_RUN_Unary FRAZIL_NOT_HERE
#define FRAZIL_RUN_Binary FRAZIL_NOT_HERE
#define FRAZIL_RUN_Scalar FRAZIL_NOT_HERE
#define FRAZIL_RUN_Clip FRAZIL_NOT_HERE
#define FRAZIL_RUN_Fill FRAZIL_NOT_HERE
#define FRAZIL_OP(shape, module, name, types, kernel) \
  FRAZIL_TYPES_##types(FRAZIL_RUN_##shape, module##_##name, kernel)
#include "runtime/ops.def"
#undef FRAZIL_OP

}  // namespace internal

namespace ops {

using internal::IsPlain, internal::LaunchStandard, internal::Operand, internal::Part;
using internal::Narrow;

namespace loss {
Result<float> mse(In prediction, In target) {
  return internal::Mean("squared_error", FRAZIL_KERNEL(squared_error), prediction, target,
                        prediction.size());
}

Result<float> cross_entropy(In prediction, In target, size_t classes) {
  if (classes == 0) classes = prediction.size();
  if (classes != 0 && prediction.size() % classes != 0)
    return Fail(Diag::BadLaunch,
                fmt::format("{} probabilities are no rows of {}", prediction.size(), classes));
  return internal::Mean("cross_entropy", FRAZIL_KERNEL(cross_entropy), prediction, target,
                        classes == 0 ? 0 : prediction.size() / classes);
}

Result<float> binary_cross_entropy(In prediction, In target) {
  return internal::Mean("binary_cross_entropy", FRAZIL_KERNEL(binary_cross_entropy), prediction,
                        target, prediction.size());
}
}  // namespace loss

namespace linalg {
Result<void> gemm(In a, In b, Out c, size_t m, size_t n, size_t k, const GemmOptions& options) {
  TRY_VOID(internal::Holds("a", a.size(), m, k));
  TRY_VOID(internal::Holds("b", b.size(), k, n));
  TRY_VOID(internal::Holds("c", c.size(), m, n));
  const bool is_plain =
      options.alpha == 1 && options.beta == 0 && !options.transpose_a && !options.transpose_b;
  const Part pa = internal::PartOf(a), pb = internal::PartOf(b), pc = internal::PartOf(c);
  const auto em = Operand::Extent(m), en = Operand::Extent(n), ek = Operand::Extent(k);
  const bool is_here = IsPlain({pa, pb, pc}, {m, n, k});
  if (is_plain)
    return LaunchStandard(
        "matmul", is_here,
        [&] {
          return frazil_stdlib::matmul(a.span(), b.span(), c.span(), Narrow(m), Narrow(n),
                                       Narrow(k));
        },
        [&] { return std::array<Operand, 6>{pa, pb, pc, em, en, ek}; });
  const uint32_t turned = options.transpose_a ? 1 : 0;
  return LaunchStandard(
      options.transpose_b ? "gemm_bt" : "gemm_b", is_here,
      [&] {
        return options.transpose_b ? frazil_stdlib::gemm_bt(a.span(), b.span(), c.span(), c.span(),
                                                            Narrow(m), Narrow(n), Narrow(k),
                                                            options.alpha, options.beta, turned)
                                   : frazil_stdlib::gemm_b(a.span(), b.span(), c.span(), c.span(),
                                                           Narrow(m), Narrow(n), Narrow(k),
                                                           options.alpha, options.beta, turned);
      },
      [&] {
        return std::array<Operand, 10>{pa,
                                       pb,
                                       pc,
                                       pc,
                                       em,
                                       en,
                                       ek,
                                       Operand::Word(WordOf(options.alpha)),
                                       Operand::Word(WordOf(options.beta)),
                                       Operand::Word(turned)};
      });
}

Result<void> matvec(In a, In x, Out y, size_t m, size_t n) {
  TRY_VOID(internal::Holds("a", a.size(), m, n));
  TRY_VOID(internal::Holds("x", x.size(), n, 1));
  TRY_VOID(internal::Holds("y", y.size(), m, 1));
  const Part pa = internal::PartOf(a), px = internal::PartOf(x), py = internal::PartOf(y);
  return LaunchStandard(
      "gemv_f32", IsPlain({pa, px, py}, {m, n}),
      [&] {
        return frazil_stdlib::gemv_f32(a.span(), x.span(), y.span(), Narrow(m), Narrow(n),
                                       Narrow(n));
      },
      [&] {
        return std::array<Operand, 6>{
            pa, px, py, Operand::Extent(m), Operand::Extent(n), Operand::Extent(n)};
      });
}
}  // namespace linalg

}  // namespace ops
}  // namespace frazil::runtime
