// Elementwise ops: lengths are compared here, where they can be named; the rest is checked by the launch.
#include <fmt/format.h>

#include "kernel/ops.h"
#include "kernel/standard.h"

namespace frazil::kernel::ops {
namespace {

using internal::StandardCall;

Result<void> SameLength(size_t a, size_t b) {
  if (a == b) return {};
  return Fail(Diag::BadLaunch, fmt::format("{} elements are given beside {}", a, b));
}

Result<void> Binary(std::string_view kernel, In a, In b, Out c) {
  TRY_VOID(SameLength(a.size(), b.size()));
  TRY_VOID(SameLength(a.size(), c.size()));
  return StandardCall(kernel).Add(a).Add(b).Add(c).Add(c.size()).Run();
}

Result<void> Unary(std::string_view kernel, In x, Out y) {
  TRY_VOID(SameLength(x.size(), y.size()));
  return StandardCall(kernel).Add(x).Add(y).Add(y.size()).Run();
}

}  // namespace

namespace math {
Result<void> vector_add(In a, In b, Out c) { return Binary("vector_add", a, b, c); }
Result<void> vector_sub(In a, In b, Out c) { return Binary("vector_sub", a, b, c); }
Result<void> vector_mul(In a, In b, Out c) { return Binary("vector_mul", a, b, c); }
Result<void> vector_div(In a, In b, Out c) { return Binary("vector_div", a, b, c); }
Result<void> min(In a, In b, Out c) { return Binary("vector_min", a, b, c); }
Result<void> max(In a, In b, Out c) { return Binary("vector_max", a, b, c); }
Result<void> abs(In x, Out y) { return Unary("vector_abs", x, y); }
Result<void> neg(In x, Out y) { return Unary("vector_neg", x, y); }
Result<void> relu(In x, Out y) { return Unary("relu", x, y); }

Result<void> clip(In x, Out y, float lo, float hi) {
  TRY_VOID(SameLength(x.size(), y.size()));
  if (!(lo <= hi))
    return Fail(Diag::BadLaunch, fmt::format("there is nothing between {} and {}", lo, hi));
  return StandardCall("clip").Add(x).Add(y).Add(y.size()).Add(lo).Add(hi).Run();
}

Result<void> scalar_add(In x, Out y, float scalar) {
  TRY_VOID(SameLength(x.size(), y.size()));
  return StandardCall("scalar_add").Add(x).Add(y).Add(y.size()).Add(scalar).Run();
}

Result<void> scalar_mul(In x, Out y, float scalar) {
  TRY_VOID(SameLength(x.size(), y.size()));
  return StandardCall("scalar_mul").Add(x).Add(y).Add(y.size()).Add(scalar).Run();
}
}  // namespace math

namespace activation {
Result<void> sigmoid(In x, Out y) { return Unary("sigmoid", x, y); }
Result<void> tanh(In x, Out y) { return Unary("tanh_activation", x, y); }
Result<void> gelu(In x, Out y) { return Unary("gelu", x, y); }

Result<void> softmax(In x, Out y, size_t columns) {
  TRY_VOID(SameLength(x.size(), y.size()));
  if (x.size() == 0) return {};
  if (columns == 0) columns = x.size();
  if (x.size() % columns != 0)
    return Fail(Diag::BadLaunch, fmt::format("{} elements are no rows of {}", x.size(), columns));
  return StandardCall("softmax").Add(x).Add(y).Add(x.size() / columns).Add(columns).Run();
}
}  // namespace activation

namespace memory {
Result<void> copy(In x, Out y) { return Unary("vector_copy", x, y); }
Result<void> fill(Out y, float value) {
  return StandardCall("constant_fill").Add(y).Add(value).Add(y.size()).Run();
}
}  // namespace memory

}  // namespace frazil::kernel::ops
