// The types of the IR. A Type is eight plain bytes; shapes live in the function that uses them,
// because a symbolic dimension names one of that function's `index` parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::ir {

enum class Scalar : uint8_t {
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  Bool,
  Index,
  Int,     // int<k>: k x 64 bits, two's complement, checked ops only
  Field,   // Goldilocks, p = 2^64 - 2^32 + 1, canonical
  XField,  // F_p[x] / (x^3 - x + 1)
  Digest,  // five field elements
};
constexpr int ScalarCount = 18;

enum class Form : uint8_t { Scalar, Buffer, Tensor };

// What a function may do with a buffer parameter. `alloc` gives InOut.
enum class Access : uint8_t { In = 1, Out = 2, InOut = 3 };

constexpr uint32_t MaxLimbs = 64;
constexpr uint32_t MaxRank = 8;

struct Type {
  Scalar scalar = Scalar::Bool;
  Form form = Form::Scalar;
  Access access = Access::InOut;  // buffers only; InOut otherwise
  uint8_t limbs = 1;              // int<k>: k; 1 otherwise
  uint32_t shape = 0;             // tensors only: index into Function::shapes; 0 otherwise

  static constexpr Type Of(Scalar s) { return Type{s}; }
  static constexpr Type Int(uint32_t k) {
    return Type{Scalar::Int, Form::Scalar, Access::InOut, static_cast<uint8_t>(k)};
  }
  static constexpr Type Buffer(Type element, Access access = Access::InOut) {
    return Type{element.scalar, Form::Buffer, access, element.limbs};
  }
  static constexpr Type Tensor(Type element, uint32_t shape) {
    return Type{element.scalar, Form::Tensor, Access::InOut, element.limbs, shape};
  }

  constexpr bool is_scalar() const { return form == Form::Scalar; }
  constexpr bool is_buffer() const { return form == Form::Buffer; }
  constexpr bool is_tensor() const { return form == Form::Tensor; }
  // The scalar type of a buffer's or tensor's elements; a scalar's own type.
  constexpr Type element() const { return Type{scalar, Form::Scalar, Access::InOut, limbs}; }
  friend constexpr bool operator==(const Type&, const Type&) = default;
};
static_assert(sizeof(Type) == 8);

namespace types {
inline constexpr Type I8 = Type::Of(Scalar::I8), I16 = Type::Of(Scalar::I16);
inline constexpr Type I32 = Type::Of(Scalar::I32), I64 = Type::Of(Scalar::I64);
inline constexpr Type U8 = Type::Of(Scalar::U8), U16 = Type::Of(Scalar::U16);
inline constexpr Type U32 = Type::Of(Scalar::U32), U64 = Type::Of(Scalar::U64);
inline constexpr Type F16 = Type::Of(Scalar::F16), BF16 = Type::Of(Scalar::BF16);
inline constexpr Type F32 = Type::Of(Scalar::F32), F64 = Type::Of(Scalar::F64);
inline constexpr Type Bool = Type::Of(Scalar::Bool), Index = Type::Of(Scalar::Index);
inline constexpr Type Field = Type::Of(Scalar::Field), XField = Type::Of(Scalar::XField);
inline constexpr Type Digest = Type::Of(Scalar::Digest);
}  // namespace types

// A set of scalar kinds, one bit each, as the rows of ops.def use it.
using ScalarSet = uint32_t;
constexpr ScalarSet Only(Scalar s) { return 1u << static_cast<uint32_t>(s); }
namespace sets {
inline constexpr ScalarSet SInt = Only(Scalar::I8) | Only(Scalar::I16) | Only(Scalar::I32) |
                                  Only(Scalar::I64) | Only(Scalar::Index);
inline constexpr ScalarSet UInt =
    Only(Scalar::U8) | Only(Scalar::U16) | Only(Scalar::U32) | Only(Scalar::U64);
inline constexpr ScalarSet Fixed = SInt | UInt;         // integers of a machine width
inline constexpr ScalarSet BigInt = Only(Scalar::Int);  // int<k>
inline constexpr ScalarSet Half = Only(Scalar::F16) | Only(Scalar::BF16);
inline constexpr ScalarSet Wide = Only(Scalar::F32) | Only(Scalar::F64);
inline constexpr ScalarSet Float = Half | Wide;
inline constexpr ScalarSet Bool = Only(Scalar::Bool);
inline constexpr ScalarSet Fields = Only(Scalar::Field) | Only(Scalar::XField);
inline constexpr ScalarSet Any = (1u << ScalarCount) - 1;
inline constexpr ScalarSet None = 0;
}  // namespace sets
constexpr bool Contains(ScalarSet set, Scalar s) { return (set & Only(s)) != 0; }

constexpr bool IsSigned(Scalar s) { return Contains(sets::SInt | sets::BigInt, s); }
constexpr bool IsFixedInt(Scalar s) { return Contains(sets::Fixed, s); }
constexpr bool IsFloat(Scalar s) { return Contains(sets::Float, s); }

// Width in bits of a machine integer, float, bool (1), index or field (64).
int BitsOf(Type scalar);
// Bytes of one element in memory: bool 1, index and field 8, int<k> 8k, xfield 24, digest 40.
uint32_t BytesOf(Type scalar);
// 64-bit words that hold one value: 1, but int<k> k, xfield 3, digest 5.
uint32_t WordsOf(Type scalar);

std::string_view ScalarName(Scalar s);  // "i32"; "int" for int<k>
// "i32", "int<4>", "in buffer<f32>". A tensor needs its shape: see PrintType in text.h.
std::string ScalarOrBufferName(Type type);

// A dimension: a constant >= 0, or the ordinal of an `index` parameter of the function.
struct Dim {
  int64_t value = 0;
  static constexpr Dim Constant(int64_t n) { return Dim{n}; }
  static constexpr Dim Symbol(uint32_t param) { return Dim{-static_cast<int64_t>(param) - 1}; }
  constexpr bool is_symbol() const { return value < 0; }
  constexpr uint32_t param() const { return static_cast<uint32_t>(-(value + 1)); }
  friend constexpr bool operator==(const Dim&, const Dim&) = default;
};
using Shape = std::vector<Dim>;

}  // namespace frazil::ir
