// Sums and products as the readers of loop bodies see them: they handle a difference and a negation as a sum with a sign, and an
// op that traps on overflow like the one that wraps.
#pragma once

#include <optional>

#include "ir/op.h"

namespace frazil::optimize {

// The sign that the last operand has in a sum, which begins with the first operand or, for a negation, with 0; nothing for
// other ops.
inline std::optional<int> SignInSum(ir::Op op) {
  switch (op) {
    case ir::Op::Add:
    case ir::Op::AddChecked: return 1;
    case ir::Op::Sub:
    case ir::Op::SubChecked:
    case ir::Op::Neg:
    case ir::Op::NegChecked: return -1;
    default: return std::nullopt;
  }
}

inline bool IsProduct(ir::Op op) { return op == ir::Op::Mul || op == ir::Op::MulChecked; }

}  // namespace frazil::optimize
