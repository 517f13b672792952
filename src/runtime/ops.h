// The standard ops, over the standard kernels (stdlib/kernels). Arguments are buffers of an executor or plain memory
// (std::span, std::vector) of any type of elements that the op has; ops.def lists them. On plain memory, and for
// executors of the CPU, an op is one call of embedded machine code, which is known when the program is linked; buffers of
// another backend run there. Functions are named after the kernels they call.
//
// Lengths must fit, outputs are inputs or do not overlap them, and memory of two backends does not mix: else an error
// that says so, before anything is written. Where `y` may be `x`, they may be the same memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/op_calls.h"
#include "runtime/view.h"

namespace frazil::runtime::ops {

using In = View<const float>;
using Out = View<float>;

#define FRAZIL_OP(shape, module, name, types, kernel)                           \
  namespace module {                                                            \
  inline constexpr internal::shape<internal::OpId::module##_##name> name = {}; \
  }
#include "runtime/ops.def"
#undef FRAZIL_OP

// What the rows say, and more:
//   math        integers wrap. min, max: element by element; a NaN gives way to a number. neg of the least integer is it,
//               and so is its abs. clip(x, y, lo, hi): a NaN stays one; lo <= hi.
//   reduce      sum(a), min(a), max(a) give the element; sum(a, result) .. write it to result[0]. Whole-vector reductions
//               in the fixed tree of `reduce`: the same bits on every machine and number of threads. min and max: of at
//               least one element; NaNs are passed over: +inf (max: -inf) of nothing but them.
//   memory      copy(x, y), fill(y, value): of any type.

namespace activation {
// Of each row of x, whose length is a multiple of `columns`; 0: x is one row.
Result<void> softmax(In x, Out y, size_t columns = 0);
}  // namespace activation

// Means over all elements; cross_entropy over rows of `classes` probabilities (0: one row).
namespace loss {
Result<float> mse(In prediction, In target);
Result<float> cross_entropy(In prediction, In target, size_t classes = 0);
Result<float> binary_cross_entropy(In prediction, In target);
}  // namespace loss

namespace linalg {
struct GemmOptions {
  float alpha = 1, beta = 0;
  bool transpose_a = false, transpose_b = false;
};
// c [m, n] = alpha a b + beta c, with a [m, k] and b [k, n], or turned around.
Result<void> gemm(In a, In b, Out c, size_t m, size_t n, size_t k, const GemmOptions& options = {});
// y [m] = a [m, n] x [n].
Result<void> matvec(In a, In x, Out y, size_t m, size_t n);
}  // namespace linalg

}  // namespace frazil::runtime::ops
