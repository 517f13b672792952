// Names of types in C. Index is i64 everywhere: one helper serves both.
#include "targets/c/ctype.h"

#include <fmt/format.h>

namespace frazil::targets::c {

using ir::Scalar;

std::string TypeTag(ir::Type scalar) {
  if (scalar.scalar == Scalar::Index) return "i64";
  if (scalar.scalar == Scalar::Int) return fmt::format("int{}", scalar.limbs);
  return std::string(ir::ScalarName(scalar.scalar));
}

std::string CTypeName(ir::Type scalar) {
  switch (scalar.scalar) {
    case Scalar::I8: return "int8_t";
    case Scalar::I16: return "int16_t";
    case Scalar::I32: return "int32_t";
    case Scalar::I64: return "int64_t";
    case Scalar::U8: return "uint8_t";
    case Scalar::U16: return "uint16_t";
    case Scalar::U32: return "uint32_t";
    case Scalar::U64: return "uint64_t";
    case Scalar::F16: return "uint16_t";
    case Scalar::BF16: return "uint16_t";
    case Scalar::F32: return "float";
    case Scalar::F64: return "double";
    case Scalar::Bool: return "bool";
    case Scalar::Index: return "int64_t";
    case Scalar::Int: return fmt::format("frz_int{}", scalar.limbs);
    case Scalar::Field: return "uint64_t";
    case Scalar::XField: return "frz_xfield";
    case Scalar::Digest: return "frz_digest";
  }
  return "";
}

std::string ElementTypeName(ir::Type scalar) {
  return scalar.scalar == Scalar::Bool ? "uint8_t" : CTypeName(scalar);
}

bool IsStruct(ir::Type scalar) {
  return scalar.scalar == Scalar::Int || scalar.scalar == Scalar::XField ||
         scalar.scalar == Scalar::Digest;
}

std::string_view WordsMember(ir::Type scalar) { return scalar.scalar == Scalar::Int ? "w" : "c"; }

bool IsHalf(Scalar scalar) { return ir::Contains(ir::sets::Half, scalar); }
bool IsWide(Scalar scalar) { return ir::Contains(ir::sets::Wide, scalar); }

std::string_view ArithmeticType(ir::Type integer) {
  return ir::BitsOf(integer) == 64 ? "uint64_t" : "uint32_t";
}

std::string StreamTypeName(ir::Type scalar) {
  if (scalar.scalar == Scalar::Int) return fmt::format("FRZ_INT + 256 * {}", scalar.limbs);
  std::string name = "FRZ_";
  for (char c : ir::ScalarName(scalar.scalar))
    name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

}  // namespace frazil::targets::c
