// Exact dots of groups of 32 numbers of eight bits, for several rows at once. Internal to this folder.
#pragma once

#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

// Vectors of the level's width. A turn takes one vector of weights of each row: as many rows as it has words.
class QuantizedDots {
 public:
  QuantizedDots(Builder& builder, exec::CpuLevel level, bool has_nibbles);

  unsigned rows() const { return words_; }               // and words of a vector
  unsigned groups() const { return groups_; }            // of a turn
  unsigned a_words() const { return groups_ * 8; }       // of a in a turn
  unsigned partial() const { return words_ / groups_; }  // words of w of a group, and of its sums

  // From words of a and words of each row: sums of each group, one vector with a lane for each row.
  LlvmValues Make(llvm::Value* a, const LlvmValues& weights);

 private:
  // a as the signed factors of two products of bytes.
  struct Factors {
    llvm::Value* first;
    llvm::Value* second;
  };
  Factors Prepare(llvm::Value* a);
  llvm::Value* Partial(const Factors& a, llvm::Value* weights);
  LlvmValues Collect(LlvmValues rows);
  llvm::Value* Bytes(llvm::Value* value);
  llvm::Value* Splat(llvm::Type* like, uint64_t number) {
    return llvm::ConstantInt::get(like, number);
  }
  llvm::Value* MultiplyBytes(llvm::Value* unsigned_bytes, llvm::Value* signed_bytes);
  llvm::Value* MultiplyHalves(llvm::Value* halves, uint64_t factor);

  Builder& builder_;
  const bool has_nibbles_;
  const bool is_wide_;
  const unsigned words_;
  const unsigned groups_;
};

}  // namespace frazil::targets::native
