// Recognizes products of a matrix and a vector. Pure analysis of the IR.
#pragma once

#include <optional>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::native {

// c[t] = the chain acc = fma(x[e], w[t, e], acc) from +0, e ascending to depth; t from 0 to count. Strides and offsets are in
// elements and known before the loop; c's elements are neighbors. Elements of x and w may be 16-bit floats that are widened
// as they are read, and those of c may be rounded to one as they are stored.
struct MatvecNest {
  ir::Type chain;  // f32 or f64
  ir::Type x_type, w_type, c_type;
  ir::ValueId x, w, c;
  IndexForm count, depth;
  IndexForm x_offset, x_step;
  IndexForm w_offset, w_row, w_step;  // w_row: from an output's elements to the next output's
  IndexForm c_offset;
};

std::optional<MatvecNest> MatchMatvec(const ir::Function& function, const FunctionFacts& facts,
                                      const ir::Inst& loop);

}  // namespace frazil::targets::native
