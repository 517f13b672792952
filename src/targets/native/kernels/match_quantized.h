// Recognizes products of a vector and a matrix of quantized weights. Pure analysis of the IR.
#pragma once

#include <optional>

#include "ir/program.h"
#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets::native {

// c[t] = the chain acc = fma(a_scales[g] * w_scales[t, g], the dot of group g as f32, acc) from +0, g ascending to groups; t
// from 0 to count. A group's dot is the sum in i32 of 32 products of a (i8) and w[t], which is i8, or u8 with two numbers of
// four bits each, the lower half first. Offsets and strides between rows are in elements and known before the loop.
struct QuantizedNest {
  bool has_nibbles = false;
  ir::ValueId a, a_scales, w, w_scales, c;
  IndexForm count, groups;
  IndexForm a_offset, a_scales_offset, w_offset, w_row, w_scales_offset, w_scales_row, c_offset;
};

std::optional<QuantizedNest> MatchQuantized(const ir::Function& function,
                                            const FunctionFacts& facts, const ir::Inst& loop);

}  // namespace frazil::targets::native
