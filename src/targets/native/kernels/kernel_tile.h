// A tile of a matrix product: some rows by some vectors of columns, all in registers. Internal to this folder.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "targets/llvm/op_emitter.h"

namespace frazil::targets::native {

struct TileVector {
  unsigned lanes = 0;
  unsigned used = 0;  // columns among them; fewer than lanes: masked
};

struct TileShape {
  unsigned rows = 0;
  std::vector<TileVector> vectors;
};

// What is done with the sums of a tile, row by row, instead of storing them; and the masks of its vectors (null: whole).
using TileTail =
    std::function<void(std::span<llvm::Value* const> sums, std::span<llvm::Value* const> masks)>;

// Addresses and strides (in elements) as values; what is known is a constant and becomes part of the instructions.
struct TileOperands {
  llvm::Value* a;
  llvm::Value* a_row;
  llvm::Value* a_depth;
  llvm::Value* b;
  llvm::Value* b_depth;
  llvm::Value* c;
  llvm::Value* c_row;
  llvm::Value* depth;
  llvm::Value* is_first;    // i1: the chains start at +0, not at what stands in c
  unsigned unroll = 4;      // of k
  bool prefetches = false;  // the next tile's c, to the second-level cache
  llvm::Value* columns =
      nullptr;  // not null: how many columns there are, at most those of the vectors
  llvm::Value* is_last =
      nullptr;  // i1: the chains end here, and `tail` follows; before that their sums are stored
  TileTail tail = {};
  ir::Type from = {};  // of the elements of a and b
};

// Emits the tile at the builder's place and goes on behind it: every output is one ascending chain of fma. What is
// stored is the one NaN where it is a NaN.
void EmitTile(Builder& builder, OpEmitter& ops, llvm::Type* element, const TileShape& shape,
              const TileOperands& in);

// The one NaN where there is any: one test for all of them.
void MakeOneNan(Builder& builder, OpEmitter& ops, std::vector<llvm::Value*>& values);

// A mask of the first `count` lanes; null if it is known that all are.
llvm::Value* FirstLanes(Builder& builder, unsigned lanes, llvm::Value* count);

}  // namespace frazil::targets::native
