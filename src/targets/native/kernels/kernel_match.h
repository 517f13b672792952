// Recognizes loop nests by what they compute. Pure analysis of the IR.
#pragma once

#include <optional>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"
#include "targets/native/kernels/kernel_tail_plan.h"

namespace frazil::targets::native {

// c[i, j] = the chain acc = fma(a[i, k], b[k, j], acc) from +0, k ascending; i from 0 to rows and so on. Strides and
// offsets are in elements and known before the nest; c has neighbors along j. With a tail, what that makes of the chain
// is stored instead, and c is where sums wait, if there is such a place.
struct MatmulNest {
  ir::Type type;  // of the chain
  ir::Type from;  // of the elements of a and b, which may be halves of that
  std::optional<MatmulTail> tail;
  ir::ValueId a, b, c;
  IndexForm rows, columns, depth;
  IndexForm a_offset, a_row, a_depth;
  IndexForm b_offset, b_depth, b_column;
  IndexForm c_offset, c_row;
};

std::optional<MatmulNest> MatchMatmul(const PlanQuestion& question, const ir::Inst& loop);

// A `for` over rows of `width` elements, all but perhaps the last of them whole:
//   for r = lo to hi step width { parallel c = 0 to min(hi - r, width) { t[c] = op(t[c], x[offset + r + c]) } }
// The row t is in nobody else's way, so it can stay in registers.
struct RowsNest {
  ir::Type type;
  ir::Op op;
  ir::ValueId row, from;
  int64_t width = 0;
  IndexForm row_offset, from_offset;  // of t[0], of x where r and c are 0
  bool row_is_first_operand = true;
  bool is_whole = false;  // the last row too: c runs to `width` in every one
};

std::optional<RowsNest> MatchRows(const ir::Function& function, const FunctionFacts& facts,
                                  const ir::Inst& loop);

}  // namespace frazil::targets::native
