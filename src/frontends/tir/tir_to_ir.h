// One function of TIR while it becomes IR: a stack of values instead of words.
#pragma once

#include <unordered_map>

#include "ir/builder.h"
#include "machines/tir/tail_form.h"

namespace frazil::frontends::tir {

// Deepest first.
using Stack = std::vector<ir::ValueId>;

// Everything but structure, as IR ops on the values of the stack.
class TirOps {
 public:
  TirOps(ir::FunctionBuilder& builder, ir::ValueId ram) : b_(builder), ram_(ram) {}

  void Simple(const machines::tir::Op& op, Stack& stack);

  ir::ValueId Constant(uint64_t element);
  ir::ValueId IsNotZero(ir::ValueId value);

 private:
  ir::ValueId Pop(Stack& stack) const;
  ir::Values PopMany(Stack& stack, uint64_t count) const;                  // the top first
  void PushMany(Stack& stack, std::span<const ir::ValueId> values) const;  // the first on top
  ir::ValueId PopX(Stack& stack);
  void PushX(Stack& stack, ir::ValueId x);
  ir::ValueId U32(ir::ValueId word);    // traps unless below 2^32
  ir::ValueId Word(ir::ValueId value);  // an integer or bool as a field element
  ir::ValueId U32Constant(uint64_t value);
  ir::ValueId Plus(ir::ValueId a, uint64_t element);
  ir::ValueId Load(ir::ValueId address);
  void Store(ir::ValueId address, ir::ValueId value);
  ir::ValueId LoadX(ir::ValueId address);
  ir::ValueId Index(ir::ValueId address);
  ir::Values Hash(std::span<const ir::ValueId> ten);  // five elements

  void Moves(const machines::tir::Op& op, Stack& stack);
  void Field(const machines::tir::Op& op, Stack& stack);
  void Integers(const machines::tir::Op& op, Stack& stack);
  void Shift(const machines::tir::Op& op, Stack& stack);
  void Streams(const machines::tir::Op& op, Stack& stack);
  void Memory(const machines::tir::Op& op, Stack& stack);
  void Hashing(const machines::tir::Op& op, Stack& stack);
  void Merkle(const machines::tir::Op& op, Stack& stack);
  void Extension(const machines::tir::Op& op, Stack& stack);
  void Horner(const machines::tir::Op& op, Stack& stack);

  ir::FunctionBuilder& b_;
  ir::ValueId ram_;
};

}  // namespace frazil::frontends::tir
