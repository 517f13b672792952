// The function that computes a product of matrices, for whoever calls it. Internal to this folder.
#pragma once

#include <llvm/IR/Constants.h>

#include <cstdint>
#include <vector>

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_match.h"

namespace frazil::targets::native {

constexpr uint64_t PanelBytes =
    768;  // of columns: 192 of f32, so that a panel takes three quarters of that cache
constexpr uint64_t SecondLevelBytes = 1 << 20;  // of b, that it may stay in place

// The shape of the product and of its operands; by values of the function that is being filled.
struct MatmulSizes {
  llvm::Value* rows;
  llvm::Value* columns;
  llvm::Value* depth;
  llvm::Value* a_row;
  llvm::Value* a_depth;
  llvm::Value* b_depth;
  llvm::Value* b_column;  // 1, unless b_depth is and b is packed: then b is read turned around
  llvm::Value* c_row;
  llvm::Value* panels;  // into how many the depth is cut

  std::vector<llvm::Value**> All() {
    return {&rows, &columns, &depth, &a_row, &a_depth, &b_depth, &b_column, &c_row, &panels};
  }
};

enum class Packing : uint8_t { Never, Always, Either };  // Either: the scratch says

// Nothing, if the value is no constant.
inline const llvm::ConstantInt* Known(llvm::Value* value) {
  return llvm::dyn_cast<llvm::ConstantInt>(value);
}

// Into how many panels the depth is cut.
llvm::Value* PanelCount(ModuleEmitter& shared, Builder& builder, llvm::Value* depth);

// Fills a function of a, b, c, scratch (null: b stays in place), sizes and what the tail takes; every size that is known is a
// constant in it. `is_turned`: b is read by columns, whatever its sizes are.
llvm::Function* EmitMatmulDriver(FunctionEmitter& caller, const MatmulNest& nest,
                                 const MatmulSizes& sizes, Packing packing, bool is_turned,
                                 const LlvmValues& tail_arguments);

}  // namespace frazil::targets::native
