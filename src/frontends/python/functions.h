// What kernels may call, as rows (functions.def), and the rules by which types meet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontends/python/ast.h"
#include "ir/op.h"

namespace frazil::frontends::python {

enum class FunctionKind : uint8_t {
  Float,   // operands of one float type
  Wide,    // the same, f32 or f64
  Fast,    // f32
  MinMax,  // two or more numbers of one type
  Abs,
  Select,  // condition, then two of one type; both are evaluated
  Bitcast,
  Int,  // operands of one integer type
  Id,
  Barrier,
  Length,
  Atomic,
  Random,
};
enum class IdKind : uint8_t { GlobalId, GlobalSize, LocalId, BlockId, BlockDim, GridDim };

struct FunctionRow {
  std::string_view name;
  FunctionKind kind;
  ir::Op op;
  uint8_t arity;
  uint8_t detail;
};

const FunctionRow* FindFunction(std::string_view name);
// The known function or type whose name is nearest, for hints; empty if none is near.
std::string_view NearestFunction(std::string_view name);
// "f32", "int", "usize": a type as source and JSON name it.
std::optional<ir::Scalar> ScalarNamed(std::string_view name);

// The type in which two values meet in arithmetic and in one variable; Nothing if they do not meet.
ValueType Join(ValueType a, ValueType b);
// A value of one type may be assigned to a variable or element of another without a cast.
bool MayAssign(ValueType from, ir::Scalar to);
// What a float function or a true division makes of an integer: f32, or f64 for 64 bits.
ValueType AsFloat(ValueType type);
// The type of a weak value that nothing else decides.
ir::Scalar Settle(ValueType type);
bool Fits(const Literal& literal, ir::Scalar to);

std::string TypeName(ValueType type);

}  // namespace frazil::frontends::python
