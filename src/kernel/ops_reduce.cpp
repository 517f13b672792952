// Reductions, losses and matrices. Kernels of reductions fold into what is there, so the result begins as the identity.
#include <fmt/format.h>

#include <limits>

#include "kernel/ops.h"
#include "kernel/standard.h"

namespace frazil::kernel::ops {
namespace {

using internal::StandardCall;

constexpr float Infinity = std::numeric_limits<float>::infinity();

Result<void> CheckResult(Out result) {
  if (result.size() >= 1) return {};
  return Fail(Diag::BadLaunch, "the result needs room for one element");
}

Result<void> Fold(std::string_view kernel, In a, Out result, float identity) {
  TRY_VOID(CheckResult(result));
  result.span()[0] = identity;
  return StandardCall(kernel).Add(a).Add(result).Add(a.size()).Run();
}

Result<void> NotEmpty(In a) {
  if (a.size() > 0) return {};
  return Fail(Diag::BadLaunch, "the least or greatest of no elements is not defined");
}

Result<float> Folded(std::string_view kernel, std::initializer_list<In> inputs, float identity) {
  float cell = identity;
  StandardCall call(kernel);
  size_t n = 0;
  for (const In& input : inputs) {
    call.Add(input);
    n = input.size();
  }
  TRY_VOID(call.AddCell(std::span(&cell, 1)).Add(n).Run());
  return cell;
}

Result<void> SameLength(In a, In b) {
  if (a.size() == b.size()) return {};
  return Fail(Diag::BadLaunch,
              fmt::format("{} predictions are given beside {} targets", a.size(), b.size()));
}

Result<float> Mean(std::string_view kernel, In prediction, In target, size_t count) {
  TRY_VOID(SameLength(prediction, target));
  if (count == 0) return Fail(Diag::BadLaunch, "a mean over no elements is not defined");
  return TRY(Folded(kernel, {prediction, target}, 0)) / static_cast<float>(count);
}

Result<void> Holds(std::string_view what, size_t length, size_t rows, size_t columns) {
  uint64_t needed = 0;
  if (!__builtin_mul_overflow(rows, columns, &needed) && needed <= length) return {};
  return Fail(Diag::BadLaunch, fmt::format("{} has {} elements, which is less than {} x {}", what,
                                           length, rows, columns));
}

}  // namespace

namespace reduce {
Result<float> sum(In a) { return Folded("vector_sum", {a}, 0); }
Result<float> min(In a) {
  TRY_VOID(NotEmpty(a));
  return Folded("vector_min_value", {a}, Infinity);
}
Result<float> max(In a) {
  TRY_VOID(NotEmpty(a));
  return Folded("vector_max_value", {a}, -Infinity);
}
Result<void> sum(In a, Out result) { return Fold("vector_sum", a, result, 0); }
Result<void> min(In a, Out result) {
  TRY_VOID(NotEmpty(a));
  return Fold("vector_min_value", a, result, Infinity);
}
Result<void> max(In a, Out result) {
  TRY_VOID(NotEmpty(a));
  return Fold("vector_max_value", a, result, -Infinity);
}
}  // namespace reduce

namespace loss {
Result<float> mse(In prediction, In target) {
  return Mean("squared_error", prediction, target, prediction.size());
}

Result<float> cross_entropy(In prediction, In target, size_t classes) {
  if (classes == 0) classes = prediction.size();
  if (classes != 0 && prediction.size() % classes != 0)
    return Fail(Diag::BadLaunch,
                fmt::format("{} probabilities are no rows of {}", prediction.size(), classes));
  return Mean("cross_entropy", prediction, target, classes == 0 ? 0 : prediction.size() / classes);
}

Result<float> binary_cross_entropy(In prediction, In target) {
  return Mean("binary_cross_entropy", prediction, target, prediction.size());
}
}  // namespace loss

namespace linalg {
Result<void> gemm(In a, In b, Out c, size_t m, size_t n, size_t k, const GemmOptions& options) {
  TRY_VOID(Holds("a", a.size(), m, k));
  TRY_VOID(Holds("b", b.size(), k, n));
  TRY_VOID(Holds("c", c.size(), m, n));
  const bool is_plain =
      options.alpha == 1 && options.beta == 0 && !options.transpose_a && !options.transpose_b;
  if (is_plain) return StandardCall("matmul").Add(a).Add(b).Add(c).Add(m).Add(n).Add(k).Run();
  return StandardCall(options.transpose_b ? "gemm_bt" : "gemm_b")
      .Add(a)
      .Add(b)
      .Add(c)
      .Add(c)
      .Add(m)
      .Add(n)
      .Add(k)
      .Add(options.alpha)
      .Add(options.beta)
      .Add(static_cast<size_t>(options.transpose_a))
      .Run();
}

Result<void> matvec(In a, In x, Out y, size_t m, size_t n) {
  TRY_VOID(Holds("a", a.size(), m, n));
  TRY_VOID(Holds("x", x.size(), n, 1));
  TRY_VOID(Holds("y", y.size(), m, 1));
  return StandardCall("gemv_f32").Add(a).Add(x).Add(y).Add(m).Add(n).Add(n).Run();
}
}  // namespace linalg

}  // namespace frazil::kernel::ops
