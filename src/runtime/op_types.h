// The types of elements of the ops, each list once: X(op, kind, type of the code, kernel). The code of a kind may be that
// of another one of its width.
#pragma once

#define FRAZIL_TYPES_Single(X, op, kernel) X(op, F32, float, kernel)
#define FRAZIL_TYPES_Floats(X, op, kernel) \
  FRAZIL_TYPES_Single(X, op, kernel)       \
  X(op, F64, double, kernel##_f64)
#define FRAZIL_TYPES_Signed(X, op, kernel) \
  FRAZIL_TYPES_Floats(X, op, kernel)       \
  X(op, I32, int32_t, kernel##_i32)        \
  X(op, I64, int64_t, kernel##_i64)
#define FRAZIL_TYPES_Numbers(X, op, kernel) \
  FRAZIL_TYPES_Signed(X, op, kernel)        \
  X(op, U32, uint32_t, kernel##_u32)        \
  X(op, U64, uint64_t, kernel##_u64)
#define FRAZIL_TYPES_Wrapping(X, op, kernel) \
  FRAZIL_TYPES_Signed(X, op, kernel)         \
  X(op, U32, int32_t, kernel##_i32)          \
  X(op, U64, int64_t, kernel##_i64)
#define FRAZIL_TYPES_Bits(X, op, kernel) \
  X(op, F32, float, kernel)              \
  X(op, I8, uint8_t, kernel##_u8)        \
  X(op, U8, uint8_t, kernel##_u8)        \
  X(op, Bool, uint8_t, kernel##_u8)      \
  X(op, I16, uint16_t, kernel##_u16)     \
  X(op, U16, uint16_t, kernel##_u16)     \
  X(op, F16, uint16_t, kernel##_u16)     \
  X(op, BF16, uint16_t, kernel##_u16)    \
  X(op, I32, uint32_t, kernel##_u32)     \
  X(op, U32, uint32_t, kernel##_u32)     \
  X(op, I64, uint64_t, kernel##_u64)     \
  X(op, U64, uint64_t, kernel##_u64)     \
  X(op, F64, uint64_t, kernel##_u64)
