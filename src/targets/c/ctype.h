// How the IR's types are spelled in C.
#pragma once

#include <string>
#include <string_view>

#include "ir/type.h"

namespace frazil::targets::c {

// Short name in the names of support functions: "i32" (index is "i64"), "int4", "xfield".
std::string TypeTag(ir::Type scalar);

// The C type of a scalar: int32_t, float, uint16_t for f16, frz_int4 ...
std::string CTypeName(ir::Type scalar);

// The C type of an element in memory. A bool is a uint8_t there, so that no byte is undefined to read.
std::string ElementTypeName(ir::Type scalar);

// A struct of words: int<k>, xfield, digest.
bool IsStruct(ir::Type scalar);
// The struct's array of words: "w" or "c".
std::string_view WordsMember(ir::Type scalar);

bool IsHalf(ir::Scalar scalar);  // f16 or bf16
bool IsWide(ir::Scalar scalar);  // f32 or f64

// The unsigned type in which arithmetic of a machine integer is done: at least 32 bits, so that no
// promotion to int can make it signed.
std::string_view ArithmeticType(ir::Type integer);

// The type of a stream value as C text ("FRZ_I32", "FRZ_INT + 256 * 4"): the numbers of exec::StreamCode.
std::string StreamTypeName(ir::Type scalar);

}  // namespace frazil::targets::c
