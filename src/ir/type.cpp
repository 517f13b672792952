#include "ir/type.h"

#include <array>

#include "base/check.h"

namespace frazil::ir {
namespace {

constexpr std::array<std::string_view, ScalarCount> Names = {
    "i8",   "i16", "i32", "i64",  "u8",    "u16", "u32",   "u64",    "f16",
    "bf16", "f32", "f64", "bool", "index", "int", "field", "xfield", "digest",
};

}  // namespace

int BitsOf(Type scalar) {
  switch (scalar.scalar) {
    case Scalar::I8:
    case Scalar::U8: return 8;
    case Scalar::I16:
    case Scalar::U16:
    case Scalar::F16:
    case Scalar::BF16: return 16;
    case Scalar::I32:
    case Scalar::U32:
    case Scalar::F32: return 32;
    case Scalar::Bool: return 1;
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::F64:
    case Scalar::Index:
    case Scalar::Field: return 64;
    case Scalar::Int: return 64 * scalar.limbs;
    case Scalar::XField: return 192;
    case Scalar::Digest: return 320;
  }
  CHECK(false);
  return 0;
}

uint32_t BytesOf(Type scalar) {
  return scalar.scalar == Scalar::Bool ? 1 : static_cast<uint32_t>(BitsOf(scalar)) / 8;
}

uint32_t WordsOf(Type scalar) { return (static_cast<uint32_t>(BitsOf(scalar)) + 63) / 64; }

std::string_view ScalarName(Scalar s) { return Names[static_cast<size_t>(s)]; }

std::string ScalarOrBufferName(Type type) {
  std::string name(ScalarName(type.scalar));
  if (type.scalar == Scalar::Int) name += "<" + std::to_string(type.limbs) + ">";
  if (!type.is_buffer()) return name;
  const char* access = type.access == Access::In ? "in " : type.access == Access::Out ? "out " : "";
  return access + ("buffer<" + name + ">");
}

}  // namespace frazil::ir
