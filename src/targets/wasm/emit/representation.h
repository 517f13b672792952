// How values of the IR stand in WebAssembly: small integers, bool and halves in an i32, kept
// extended to their type; 64-bit integers and field elements in an i64; xfield and digest in
// several i64; int<k> with k > 1 as limbs in linear memory, named by an address.
#pragma once

#include <cstdint>

#include "ir/type.h"
#include "targets/wasm/module/opcode.h"

namespace frazil::targets::wasm {

// int<1> is a checked i64 in all but name.
constexpr bool IsBig(ir::Type type) {
  return type.is_scalar() && type.scalar == ir::Scalar::Int && type.limbs > 1;
}

constexpr ValType WordType(ir::Type type) {
  using ir::Scalar;
  switch (type.scalar) {
    case Scalar::I8:
    case Scalar::I16:
    case Scalar::I32:
    case Scalar::U8:
    case Scalar::U16:
    case Scalar::U32:
    case Scalar::F16:
    case Scalar::BF16:
    case Scalar::Bool: return ValType::I32;
    case Scalar::F32: return ValType::F32;
    case Scalar::F64: return ValType::F64;
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::Index:
    case Scalar::Int:
    case Scalar::Field:
    case Scalar::XField:
    case Scalar::Digest: break;
  }
  return ValType::I64;
}

// WebAssembly values that hold one scalar outside of memory.
constexpr uint32_t WordCount(ir::Type type) {
  return type.scalar == ir::Scalar::XField ? 3 : type.scalar == ir::Scalar::Digest ? 5 : 1;
}

// Integers, bool (one unsigned bit) and int<1>.
struct IntKind {
  int bits;
  bool is_signed;
  bool is64() const { return bits == 64; }
  bool is_narrow() const { return bits < 32; }
};

constexpr IntKind IntKindOf(ir::Type type) {
  using ir::Scalar;
  switch (type.scalar) {
    case Scalar::I8: return {8, true};
    case Scalar::I16: return {16, true};
    case Scalar::I32: return {32, true};
    case Scalar::U8: return {8, false};
    case Scalar::U16: return {16, false};
    case Scalar::U32: return {32, false};
    case Scalar::U64: return {64, false};
    case Scalar::Bool: return {1, false};
    default: return {64, true};
  }
}

constexpr bool IsInteger(ir::Type type) {
  return ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Bool ||
         (type.scalar == ir::Scalar::Int && type.limbs == 1);
}
constexpr bool IsHalf(ir::Type type) { return ir::Contains(ir::sets::Half, type.scalar); }
constexpr bool IsWideFloat(ir::Type type) { return ir::Contains(ir::sets::Wide, type.scalar); }

}  // namespace frazil::targets::wasm
