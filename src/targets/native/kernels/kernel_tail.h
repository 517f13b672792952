// What stands behind the chains of a product, on the sums of a tile. Internal to this folder.
#pragma once

#include <span>

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_tail_plan.h"
#include "targets/native/kernels/kernel_tile.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {

// What it takes from before the nest, as the function that has the nest knows it: a buffer as address and length.
LlvmValues TailArguments(FunctionEmitter& emitter, const MatmulTail& tail);

class TailEmitter {
 public:
  // In a function that `emitter` fills, whose arguments from `first` on are those.
  TailEmitter(FunctionEmitter& emitter, const MatmulTail& tail, const LlvmValues& arguments,
              unsigned first);

  // Row by row, as vectors of the tile's shape lie; `sums` of the tile whose first element is at this row and column.
  void EmitInRegisters(llvm::Value* row, llvm::Value* column, const TileShape& shape,
                       std::span<llvm::Value* const> sums, std::span<llvm::Value* const> masks);
  // Much code: there is one function for all tiles. Of sums (their rows are `width` apart), row, column, rows and columns,
  // then the arguments.
  static llvm::Function* EmitFunction(ModuleEmitter& shared, ir::FuncId id, const MatmulTail& tail,
                                      const LlvmValues& arguments, unsigned width, unsigned lanes);
  static bool WantsFunction(const MatmulTail& tail);

 private:
  void BeginTile(llvm::Value* row);
  void BeginRow(llvm::Value* row, llvm::Value* row_in_tile);
  std::vector<LaneStore> EmitVector(llvm::Value* column, unsigned lanes, llvm::Value* sums,
                                    llvm::Value* mask);
  void EmitRow(llvm::Value* sums, llvm::Value* column, llvm::Value* columns, unsigned lanes);

  FunctionEmitter& emitter_;
  Builder& builder_;
  const MatmulTail& tail_;
  const ir::Function& function_;
  LlvmValues firsts_;  // by access: its place in the tile's first row
  std::vector<HoistedAccess> hoisted_;
};

}  // namespace frazil::targets::native
