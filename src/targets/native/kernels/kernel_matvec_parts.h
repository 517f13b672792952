// The functions that compute a product of a matrix and a vector, and what they share. Internal to this folder.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/counted_loop.h"

namespace frazil::targets::native {

struct MatvecTypes {
  ir::Type chain, x, w, c;
};

// By values of the function that is being filled; one that is known is a constant in the kernel.
struct MatvecSizes {
  llvm::Value* count;   // outputs
  llvm::Value* depth;   // elements of a chain
  llvm::Value* x_step;  // from one to the next: of x,
  llvm::Value* stride;  // and of w, from a row of neighbors to the next
};

// Elements of the chain's type in a vector.
unsigned MatvecLanes(exec::CpuLevel level, ir::Type chain);
// Are there loads and stores of some elements of a vector? Not of 16-bit ones without AVX-512.
bool HasMasks(exec::CpuLevel level, const MatvecTypes& types);

// Are elements of w read two by two, as words? Both halves of a word are then one instruction away from an f32.
bool TakesPairs(const MatvecTypes& types);

// Outputs that neighbors of w belong to (w[e, t], rows of `stride` elements). A function of x, w, c and sums, of the chain's
// type: c itself where that is its type, else scratch for all outputs. Every size is at least 1, and without masks the count is
// at least that of a vector.
llvm::Function* EmitMatvecOfColumns(ModuleEmitter& shared, const MatvecTypes& types,
                                    const MatvecSizes& sizes);

// Outputs that rows of w belong to (w[t, e]). A function of x, w, c. Without masks there are as many outputs as rows in a
// block, and the depth is a multiple of a vector's elements.
llvm::Function* EmitMatvecOfRows(ModuleEmitter& shared, const MatvecTypes& types,
                                 const MatvecSizes& sizes);
unsigned MatvecRowsInBlock(exec::CpuLevel level, const MatvecTypes& types);

// What both kinds of kernels are made with.
class MatvecMaker {
 public:
  MatvecMaker(ModuleEmitter& shared, const MatvecTypes& types, const MatvecSizes& sizes,
              unsigned pointers, const char* name);

 protected:
  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* Min(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  }
  llvm::Value* At(ir::Type type, llvm::Value* base, llvm::Value* index) {
    return builder_.CreateGEP(ops_.TypeOf(type), base, index);
  }
  // As the chain's type.
  llvm::Value* Widened(ir::Type type, llvm::Value* value);
  llvm::Value* LoadLanes(ir::Type type, llvm::Value* address, llvm::Value* mask,
                         llvm::Constant* others);
  // Two bf16 of w in each lane, of which a word's lower half is the first; and both as f32, first ones and second ones.
  llvm::Value* LoadWords(llvm::Value* address);
  LlvmValues SplitPairs(llvm::Value* words);
  LlvmValues LoadPairs(llvm::Value* address) { return SplitPairs(LoadWords(address)); }
  LlvmValues Interleaved(llvm::Value* firsts, llvm::Value* seconds);
  // One element of x in all lanes.
  llvm::Value* Broadcast(llvm::Value* index);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* acc) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {vector_}, {a, b, acc});
  }
  // As c's type, the one NaN where it is a NaN.
  void StoreOutputs(llvm::Value* sums, llvm::Value* index, llvm::Value* mask);
  void Prefetch(llvm::Value* address);

  ModuleEmitter& shared_;
  const MatvecTypes types_;
  MatvecSizes sizes_;
  Builder builder_;
  OpEmitter ops_;
  const unsigned lanes_;
  llvm::FixedVectorType* vector_;
  llvm::Function* function_;
  CountedLoops loops_;
  llvm::Value* x_;
  llvm::Value* w_;
  llvm::Value* c_;
};

}  // namespace frazil::targets::native
