// Square blocks turned around in registers. Internal to this folder.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <algorithm>

#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

// As many vectors as each has elements: element c of vector r becomes element r of vector c. Inside of 16 bytes neighbors are
// interleaved, then blocks of 16 bytes are exchanged: every step is one instruction without a table of indices. Halves,
// quarters and so on are as few steps, but half of them read tables.
inline LlvmValues Transposed(Builder& builder, LlvmValues rows) {
  const unsigned lanes = static_cast<unsigned>(rows.size());
  const unsigned bits = rows[0]->getType()->getScalarSizeInBits();
  const unsigned inner = std::min(lanes, std::max(1u, 128 / bits));  // elements of a block
  using Indices = llvm::SmallVector<int, 64>;
  Indices low, high;
  for (unsigned c = 0; c < lanes; ++c) {
    const unsigned in_block = c % inner / 2;
    const unsigned at = c - c % inner + in_block + (c % 2 == 0 ? 0 : lanes);
    low.push_back(static_cast<int>(at));
    high.push_back(static_cast<int>(at + inner / 2));
  }
  for (unsigned step = 1; step < inner; step *= 2) {
    LlvmValues next(lanes);
    for (unsigned g = 0; g < lanes; g += inner)
      for (unsigned r = 0; r < inner / 2; ++r) {
        llvm::Value* a = rows[g + r];
        llvm::Value* b = rows[g + r + inner / 2];
        next[g + 2 * r] = builder.CreateShuffleVector(a, b, low);
        next[g + 2 * r + 1] = builder.CreateShuffleVector(a, b, high);
      }
    rows = std::move(next);
  }
  const unsigned blocks = lanes / inner;
  Indices even, odd;
  for (unsigned c = 0; c < lanes; ++c) {
    const unsigned at = c / inner * 2 * inner + c % inner;
    even.push_back(static_cast<int>(at));
    odd.push_back(static_cast<int>(at + inner));
  }
  for (unsigned step = 1; step < blocks; step *= 2) {
    LlvmValues next(lanes);
    for (unsigned r = 0; r < inner; ++r)
      for (unsigned g = 0; g < blocks / 2; ++g) {
        llvm::Value* a = rows[2 * g * inner + r];
        llvm::Value* b = rows[(2 * g + 1) * inner + r];
        next[g * inner + r] = builder.CreateShuffleVector(a, b, even);
        next[(g + blocks / 2) * inner + r] = builder.CreateShuffleVector(a, b, odd);
      }
    rows = std::move(next);
  }
  return rows;
}

}  // namespace frazil::targets::native
