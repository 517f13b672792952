// Recognizes the product of matrices inside of two loops, whatever is made of each element behind it. Pure analysis of the IR.
#pragma once

#include <optional>

#include "targets/llvm/facts.h"
#include "targets/llvm/index_forms.h"

namespace frazil::targets {

// Rows and columns from 0 on, and in the body of the second the chain acc = fma(a[i, k], b[k, j], acc) from +0, k ascending
// from 0. Nothing is stored before it. Strides and offsets are in elements and known before the loops.
struct MatmulChain {
  ir::Type type;
  ir::InstId chain;
  ir::ValueId a, b;
  IndexForm depth;
  IndexForm a_offset, a_row, a_depth;
  IndexForm b_offset, b_depth, b_column;
  // Where the element itself is stored, and nothing else happens: c has neighbors along j.
  struct Store {
    ir::ValueId c;
    IndexForm offset, row;
  };
  std::optional<Store> store;
};

// `columns` is the one loop in the body of `rows`; both may be `parallel`.
std::optional<MatmulChain> MatchMatmulChain(const ir::Function& function,
                                            const FunctionFacts& facts, const ir::Inst& rows,
                                            const ir::Inst& columns);

}  // namespace frazil::targets
