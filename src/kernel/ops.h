// The standard ops on f32, over the standard kernels (kernels/). Arguments are buffers of an executor or plain memory
// (std::span, std::vector). On plain memory, and for executors of the CPU, an op is one call of embedded machine code;
// buffers of another backend run there. Functions are named after the kernels they call.
//
// Lengths must fit, outputs are inputs or do not overlap them, and memory of two backends does not mix: else an error
// that says so, before anything is written. Where `y` may be `x`, they may be the same memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "kernel/buffer.h"

namespace frazil::kernel {

// Elements that an op reads.
template <Element T>
class ReadView {
 public:
  ReadView(const Buffer<T>& buffer) : span_(buffer.span()) {
    if (buffer.storage_) backend_ = buffer.storage_->backend.get();
  }
  ReadView(std::span<const T> memory) : span_(memory) {}
  ReadView(std::span<T> memory) : span_(memory) {}
  ReadView(const std::vector<T>& memory) : span_(memory) {}
  std::span<const T> span() const { return span_; }
  size_t size() const { return span_.size(); }
  Backend* backend() const { return backend_; }  // null: plain memory

 private:
  std::span<const T> span_;
  Backend* backend_ = nullptr;
};

// Elements that an op writes.
template <Element T>
class WriteView {
 public:
  WriteView(Buffer<T>& buffer) : span_(buffer.span()) {
    if (buffer.storage_) backend_ = buffer.storage_->backend.get();
  }
  WriteView(std::span<T> memory) : span_(memory) {}
  WriteView(std::vector<T>& memory) : span_(memory) {}
  std::span<T> span() const { return span_; }
  size_t size() const { return span_.size(); }
  Backend* backend() const { return backend_; }

 private:
  std::span<T> span_;
  Backend* backend_ = nullptr;
};

namespace ops {

using In = ReadView<float>;
using Out = WriteView<float>;

namespace math {
Result<void> vector_add(In a, In b, Out c);
Result<void> vector_sub(In a, In b, Out c);
Result<void> vector_mul(In a, In b, Out c);
Result<void> vector_div(In a, In b, Out c);
Result<void> min(In a, In b, Out c);  // element by element; a NaN gives way to a number
Result<void> max(In a, In b, Out c);
Result<void> abs(In x, Out y);
Result<void> neg(In x, Out y);
Result<void> relu(In x, Out y);
Result<void> clip(In x, Out y, float lo, float hi);
Result<void> scalar_add(In x, Out y, float scalar);
Result<void> scalar_mul(In x, Out y, float scalar);
}  // namespace math

namespace activation {
Result<void> sigmoid(In x, Out y);
Result<void> tanh(In x, Out y);
Result<void> gelu(In x, Out y);
// Of each row of x, whose length is a multiple of `columns`; 0: x is one row.
Result<void> softmax(In x, Out y, size_t columns = 0);
}  // namespace activation

// Whole-vector reductions in the fixed tree of `reduce`: the same bits on every machine and number of threads. The second
// forms write one element.
namespace reduce {
Result<float> sum(In a);
Result<float> min(
    In a);  // of at least one element; NaNs are passed over: +inf (max: -inf) of nothing but them
Result<float> max(In a);
Result<void> sum(In a, Out result);
Result<void> min(In a, Out result);
Result<void> max(In a, Out result);
}  // namespace reduce

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

namespace memory {
Result<void> copy(In x, Out y);
Result<void> fill(Out y, float value);
}  // namespace memory

}  // namespace ops
}  // namespace frazil::kernel
