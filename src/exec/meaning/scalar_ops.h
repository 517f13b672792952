// Scalar ops on words (the representation of value.h): what the interpreter calls for each
// instruction.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "ir/op.h"
#include "ir/type.h"

namespace frazil::exec {

// int<k>, xfield and digest: types whose values may take more than one word.
constexpr bool IsWide(ir::Scalar s) {
  return s == ir::Scalar::Int || s == ir::Scalar::XField || s == ir::Scalar::Digest;
}

// The op on one-word scalars, none of them wide. `type` is the row's T, `source` the type of the
// first operand (only conversions look at it). Ops that are no scalar arithmetic (const, memory,
// structure, tensors, and math functions, which are expanded before) break an invariant.
std::expected<uint64_t, ir::Trap> EvalWord(ir::Op op, ir::Scalar type, ir::Scalar source,
                                           uint64_t a, uint64_t b = 0, uint64_t c = 0);

using Words = std::span<const uint64_t>;

struct ScalarCall {
  ir::Op op;
  ir::Type type;    // the row's T
  ir::Type source;  // the type of the first operand
  Words attributes = {};
};

// The same for any scalars.
std::optional<ir::Trap> EvalScalar(const ScalarCall& call, std::span<const Words> operands,
                                   std::span<uint64_t> result);

}  // namespace frazil::exec
