// What reading a program as a circuit knows of its values, and which ops are generators.
#pragma once

#include "frontends/circuits/circuits.h"

namespace frazil::frontends::circuits {

struct Binary {
  ir::Op op;
  Generator generator;
  uint8_t variant;
};
constexpr uint8_t V(MergeVariant v) { return static_cast<uint8_t>(v); }
constexpr uint8_t V(SplitVariant v) { return static_cast<uint8_t>(v); }
constexpr Binary Binaries[] = {{ir::Op::Add, Generator::Merge, V(MergeVariant::Add)},
                               {ir::Op::Mul, Generator::Merge, V(MergeVariant::Mul)},
                               {ir::Op::Min, Generator::Merge, V(MergeVariant::Min)},
                               {ir::Op::Max, Generator::Merge, V(MergeVariant::Max)},
                               {ir::Op::Sub, Generator::Split, V(SplitVariant::Sub)},
                               {ir::Op::Div, Generator::Split, V(SplitVariant::Div)}};
struct Unary {
  ir::Op op;
  MergeVariant variant;
};
constexpr Unary Unaries[] = {
    {ir::Op::Abs, MergeVariant::Abs},         {ir::Op::Exp, MergeVariant::Exp},
    {ir::Op::Log, MergeVariant::Log},         {ir::Op::Sqrt, MergeVariant::Sqrt},
    {ir::Op::Sigmoid, MergeVariant::Sigmoid}, {ir::Op::Tanh, MergeVariant::Tanh},
    {ir::Op::Gelu, MergeVariant::Gelu}};

// What a value is. Whole: all elements of a slot, as a tensor. Folded: a reduction of a slot. Shifted, Power and
// PowerSum are the parts of a softmax; Bits and MarkedBits those of a mark.
enum class Kind : uint8_t {
  Constant,
  Number,
  IsFirst,
  Element,
  Whole,
  Folded,
  Shifted,
  Power,
  Powers,
  PowerSum,
  Bits,
  MarkedBits
};
struct Known {
  Kind kind;
  SlotId slot = 0;
  uint64_t version = 0;      // of the slot, when the value was made
  ir::ReduceKind fold = {};  // Folded
  uint64_t word = 0;         // Constant
  uint32_t value = 0;        // Bits, MarkedBits: the element below
  SlotId origin = 0;         // Folded: the slot that was reduced, if `slot` is a copy of it
  uint64_t origin_version = 0;
};

}  // namespace frazil::frontends::circuits
