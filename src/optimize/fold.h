// Constant folding by the scalar meaning of exec/: what an op on constants gives, unless it traps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/op.h"
#include "ir/program.h"
#include "ir/type.h"

namespace frazil::optimize {

// Ops whose value is a function of their scalar operands' words alone, with a meaning in exec/meaning/scalar_ops.h.
bool IsScalarOp(ir::Op op);

struct FoldOperand {
  ir::Type type;
  std::span<const uint64_t> words;
};

// The words of the result (of type `result`), or nothing where the op traps on these operands.
std::optional<std::vector<uint64_t>> Fold(ir::Op op, ir::Type type, ir::Type result,
                                          std::span<const uint64_t> attributes,
                                          std::span<const FoldOperand> operands);

}  // namespace frazil::optimize
