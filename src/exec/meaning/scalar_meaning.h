// The meaning of every scalar op on one-word types, on plain C++ values, written once. The
// interpreter (scalar_ops.cpp) runs these on single words, the batch form (batch_loops.h) in loops;
// both therefore mean the same. Casts are in cast_meaning.h, int<k>, xfield and digest in
// scalar_ops_wide.cpp.
//
// An op that can trap gives Checked<T>; its value after a trap is not used.
#pragma once

#include "base/number/goldilocks.h"
#include "exec/meaning/float_meaning.h"
#include "exec/meaning/integer_meaning.h"

namespace frazil::exec::meaning {

// bool
inline Bool And(Bool a, Bool b) { return {static_cast<uint8_t>(a.value & b.value)}; }
inline Bool Or(Bool a, Bool b) { return {static_cast<uint8_t>(a.value | b.value)}; }
inline Bool Xor(Bool a, Bool b) { return {static_cast<uint8_t>(a.value ^ b.value)}; }
inline Bool Not(Bool a) { return {static_cast<uint8_t>(a.value ^ 1)}; }
inline Bool Eq(Bool a, Bool b) { return {a.value == b.value}; }
inline Bool Ne(Bool a, Bool b) { return {a.value != b.value}; }

// field
inline Field Add(Field a, Field b) { return {goldilocks::Add(a.value, b.value)}; }
inline Field Sub(Field a, Field b) { return {goldilocks::Sub(a.value, b.value)}; }
inline Field Mul(Field a, Field b) { return {goldilocks::Mul(a.value, b.value)}; }
inline Field Neg(Field a) { return {goldilocks::Neg(a.value)}; }
inline Bool Eq(Field a, Field b) { return {a.value == b.value}; }
inline Bool Ne(Field a, Field b) { return {a.value != b.value}; }
inline Checked<Field> Invert(Field a) {
  return {Field{goldilocks::Invert(a.value)}, CodeIf(a.value == 0, ir::Trap::InvertOfZero)};
}
inline Checked<Field> FieldDiv(Field a, Field b) {
  return {Mul(a, Invert(b).value), CodeIf(b.value == 0, ir::Trap::InvertOfZero)};
}

}  // namespace frazil::exec::meaning
