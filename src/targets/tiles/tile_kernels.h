// The loops of the tile interpreter. Two kinds: those of the batch interpreter (exec/batch/batch_kernels.h), one for each op
// and type over arrays, and fast ones of our own for the ops that kernels are made of, per CPU level, which also take
// operands that are the same in all lanes and do two ops at once. Both use the functors of exec/meaning/scalar_functors.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "embed/cpu_level.h"
#include "exec/batch/batch_kernels.h"
#include "ir/op.h"
#include "ir/type.h"

namespace frazil::targets::tiles {

using exec::Kernel;
using exec::KernelArguments;

// What fast loops take: up to four operands.
struct TileArguments : KernelArguments {
  const void* d = nullptr;
};

// Bit i of a set of modes: operand i is one element, the same in all lanes.
using ModeSet = uint32_t;

// Null where there is none: then the operands become tiles and exec::KernelFor serves.
Kernel FastBinary(ir::Op op, ir::Scalar type, ModeSet modes, embed::CpuLevel level);
// (a op1 b) op2 c, or c op2 (a op1 b) where `swapped`.
Kernel FastPair(ir::Op op1, ir::Op op2, bool swapped, ir::Scalar type, ModeSet modes,
                embed::CpuLevel level);
// a compare b ? c : d; all four of one type. Mode 0 here: c is a.
Kernel FastChoice(ir::Op compare, ir::Scalar type, ModeSet modes, embed::CpuLevel level);

// Loops that no op names, by bytes of an element (1, 2, 4, 8) and level.
struct MoveLoops {
  void (*fill)(void* out, const void* value, size_t lanes);
  void (*blend)(void* out, const void* values, const uint8_t* mask, size_t lanes);  // where mask
  void (*stream)(void* out, const void* values, size_t lanes);  // around the caches
  void (*copy)(void* out, const void* values, size_t bytes);
  // Elements at i-th index; an index outside reads element 0. Gives the first lane (mask null: any; else where set)
  // whose index is outside, or `lanes`. The buffer is not empty.
  size_t (*gather)(void* out, const void* data, uint64_t length, const int64_t* index,
                   const uint8_t* mask, size_t lanes);
  // The same for writing, in lane order; nothing is written outside.
  size_t (*scatter)(void* data, uint64_t length, const int64_t* index, const void* values,
                    const uint8_t* mask, size_t lanes);
  // Elements start, start + stride, ...: all inside.
  void (*strided)(void* out, const void* data, int64_t start, int64_t stride, size_t lanes);
};
const MoveLoops& MovesOf(uint32_t element_bytes, embed::CpuLevel level);

// Masks: a byte for each lane, 0 or 1.
struct MaskLoops {
  // out = base & value (or & !value); base null: all lanes. Gives the number of lanes set.
  size_t (*both)(uint8_t* out, const uint8_t* base, const uint8_t* value, size_t lanes);
  size_t (*without)(uint8_t* out, const uint8_t* base, const uint8_t* value, size_t lanes);
  void (*iota)(int64_t* out, int64_t start, int64_t stride, size_t lanes);
};
const MaskLoops& MasksOf(embed::CpuLevel level);

}  // namespace frazil::targets::tiles
