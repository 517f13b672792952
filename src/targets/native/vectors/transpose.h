// Square blocks turned around in registers. Internal to this folder.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

// As many vectors as each has elements. Blocks of half the size are exchanged, then of a quarter, and so on: element c
// of vector r becomes element r of vector c.
inline LlvmValues Transposed(Builder& builder, LlvmValues rows) {
  const unsigned lanes = static_cast<unsigned>(rows.size());
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned c = 0; c < lanes; ++c) {
      const bool is_first = (c & distance) == 0;
      low.push_back(static_cast<int>(is_first ? c : lanes + c - distance));
      high.push_back(static_cast<int>(is_first ? c + distance : lanes + c));
    }
    for (unsigned r = 0; r < lanes; ++r) {
      if ((r & distance) != 0) continue;
      llvm::Value* a = rows[r];
      llvm::Value* b = rows[r + distance];
      rows[r] = builder.CreateShuffleVector(a, b, low);
      rows[r + distance] = builder.CreateShuffleVector(a, b, high);
    }
  }
  return rows;
}

}  // namespace frazil::targets::native
