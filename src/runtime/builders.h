// Programs of the common shapes, built from C++: what a front end would give for the same kernel. Parameters are named and
// ordered as those of the standard kernels (buffers, then `n`), so that extents may be left out at a launch.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/builder.h"
#include "ir/program.h"

namespace frazil::runtime::builders {

// (a, b, n): b[i] = op(a[i]). The op must have one operand of the type and a result of the same.
Result<ir::Program> ElementwiseUnary(ir::Op op, ir::Type type);
// (a, b, c, n): c[i] = op(a[i], b[i]).
Result<ir::Program> ElementwiseBinary(ir::Op op, ir::Type type);
// (a, b, n, s): b[i] = op(a[i], s).
Result<ir::Program> ElementwiseScalar(ir::Op op, ir::Type type);
// (a, result, n): result[0] = the first n elements of a, folded in the defined tree of `reduce`.
Result<ir::Program> Reduction(ir::ReduceKind kind, ir::Type type);
// (a, b, y, m, n, k): y [m, n] = a [m, k] b [k, n], one chain of fma per element; f32 and f64.
Result<ir::Program> Matmul(ir::Type type);
// (a, x, y, m, n): y [m] = a [m, n] x [n].
Result<ir::Program> Matvec(ir::Type type);

// Any elementwise kernel: parameters are the inputs, the outputs, `n`, then the scalars; the body gets the elements of the
// inputs and the scalars, and gives one value for each output.
struct MapShape {
  std::string name;
  std::vector<ir::Type> inputs, outputs, scalars;
};
using MapBody =
    std::function<ir::Values(ir::FunctionBuilder& builder, std::span<const ir::ValueId> elements,
                             std::span<const ir::ValueId> scalars)>;
Result<ir::Program> Map(const MapShape& shape, const MapBody& body);

}  // namespace frazil::runtime::builders
