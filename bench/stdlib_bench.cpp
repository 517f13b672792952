// The embedded standard kernels through the ops, on one thread and in the second-level cache: bytes moved in a second,
// beside a copy of as many bytes in the same run; and what all of them take of a binary.
#include <fmt/format.h>

#include <cstring>

#include "native_call.h"
#include "runtime/ops.h"

namespace frazil::bench {
namespace {

using runtime::ops::In;
using runtime::ops::Out;

constexpr size_t Count =
    40'000;  // f32: three buffers fit a second-level cache, and no launch is worth a second thread
constexpr size_t Columns = 400;

struct Op {
  const char* name;
  double buffers;  // read or written
  std::function<Result<void>(In a, In b, Out c)> run;
};

const Op Ops[] = {
    {"vector_add", 3, [](In a, In b, Out c) { return runtime::ops::math::vector_add(a, b, c); }},
    {"relu", 2, [](In a, In, Out c) { return runtime::ops::math::relu(a, c); }},
    {"scalar_mul", 2, [](In a, In, Out c) { return runtime::ops::math::scalar_mul(a, c, 2); }},
    {"sigmoid", 2, [](In a, In, Out c) { return runtime::ops::activation::sigmoid(a, c); }},
    {"tanh", 2, [](In a, In, Out c) { return runtime::ops::activation::tanh(a, c); }},
    {"gelu", 2, [](In a, In, Out c) { return runtime::ops::activation::gelu(a, c); }},
    {"softmax, rows of 400", 2,
     [](In a, In, Out c) { return runtime::ops::activation::softmax(a, c, Columns); }},
    {"sum", 1, [](In a, In, Out c) { return runtime::ops::reduce::sum(a, c); }},
    {"matvec, 100 x 400", 1,
     [](In a, In b, Out c) {
       return runtime::ops::linalg::matvec(a, b, c, Count / Columns, Columns);
     }},
};

}  // namespace

FRAZIL_FIGURE(stdlib_ops) {
  Floats a(Count), b(Count), c(Count);
  const std::span<const float> x(a.data(), Count), y(b.data(), Count);
  const std::span<float> z(c.data(), Count);
  for (const Op& op : Ops) {
    CHECK(op.run(x, y, z).has_value());
    const auto times =
        InterleaveCpu({[&] { CHECK(op.run(x, y, z).has_value()); },
                       [&] { std::memcpy(c.data(), a.data(), Count * 4), Keep(c.data()); }},
                      9, 0.003);
    Report({"stdlib", op.name, op.buffers * 4 * Count / times[0].min_s / 1e9, "GB/s", "memcpy",
            2.0 * 4 * Count / times[1].min_s / 1e9, "told, not judged", std::nullopt,
            "each has its own figure elsewhere"});
  }
}

FRAZIL_FIGURE(stdlib_small_op) {
  Floats a(64), b(64), c(64);
  const std::span<const float> x(a.data(), 64), y(b.data(), 64);
  const std::span<float> z(c.data(), 64);
  const auto times =
      InterleaveCpu({[&] { CHECK(runtime::ops::math::vector_add(x, y, z).has_value()); },
                     [&] {
                       for (size_t i = 0; i < 64; ++i) c.data()[i] = a.data()[i] + b.data()[i];
                       Keep(c.data());
                     }},
                    15, 0.002);
  Report({"stdlib", "ops::math::vector_add of 64 elements, checked", times[0].min_s * 1e9, "ns",
          "the plain loop", times[1].min_s * 1e9, "<= 70 ns, the least that the seed claims",
          times[0].min_s <= 70e-9});
}

}  // namespace frazil::bench
