// Elements of tensors as words, and an op on two of them: what the tensor ops that compute share.
#pragma once

#include <array>
#include <cstdint>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/value.h"

namespace frazil::exec {

// xfield is the widest that is computed with.
using Element = std::array<uint64_t, 3>;

inline bool IsHalf(ir::Type type) { return ir::Contains(ir::sets::Half, type.scalar); }
inline ir::Type FoldType(ir::Type element) { return IsHalf(element) ? ir::types::F32 : element; }

// Elements as they are computed with: f16 and bf16 in f32.
inline Element Read(const Memory& memory, int64_t index) {
  Element element = {};
  memory.Get(index, element);
  if (!IsHalf(memory.element())) return element;
  return {*EvalWord(ir::Op::Cast, ir::Scalar::F32, memory.element().scalar, element[0])};
}

inline void Write(Memory& memory, int64_t index, Element element) {
  if (IsHalf(memory.element()))
    element[0] = *EvalWord(ir::Op::Cast, memory.element().scalar, ir::Scalar::F32, element[0]);
  memory.Set(index, element);
}

// An op of two elements that cannot trap.
inline Element Apply(ir::Op op, ir::Type type, const Element& a, const Element& b) {
  if (!IsWide(type.scalar)) return {*EvalWord(op, type.scalar, type.scalar, a[0], b[0])};
  Element result = {};
  const auto trap = EvalScalar({op, type, type}, std::array{Words(a), Words(b)}, result);
  CHECK(!trap);
  return result;
}

}  // namespace frazil::exec
