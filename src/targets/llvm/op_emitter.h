// Ops without traps and effects as LLVM instructions. Everything is written for "the type of the operands", so that
// scalars and vectors of them go through the same lines: constants are splat by LLVM itself.
//
// Representation of a value:   fixed integers, index   iN            bool     i1
//                              f32, f64                float, double f16, bf16  i16, their bits
//                              field                   i64           int<k>   i(64 k)
//                              xfield, digest          [3 x i64], [5 x i64]
// or, but for int<k>, xfield and digest, a vector of that.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>
#include <utility>

#include "exec/native/native_run.h"
#include "ir/program.h"
#include "targets/llvm/ranges.h"

namespace frazil::targets {

using Builder = llvm::IRBuilder<>;

// Calls helpers of the run: only scalar code can.
class HelperCaller {
 public:
  virtual ~HelperCaller() = default;
  virtual llvm::Value* CallHelper(exec::NativeHelper helper, llvm::Type* result,
                                  std::span<llvm::Value* const> arguments) = 0;
  // Room for some words on the stack, the same for every call with the same number.
  virtual llvm::Value* StackWords(uint32_t number, uint32_t words) = 0;
  // A number that only decides between two forms of one computation; a judge may lower it to see both.
  virtual llvm::Value* Threshold(uint64_t usual, uint64_t least) = 0;
};

// Has the op a form on vectors of a type (from: of its first operand)? `modern`: as OpEmitter says.
bool ComputesVector(ir::Op op, ir::Type type, ir::Type from, bool modern);

class OpEmitter {
 public:
  // `modern`: the machine has instructions for fma, for rounding to integral values and for f16 conversions.
  // `helpers` is null where none may be called: then ComputesVector says which ops are left.
  OpEmitter(Builder& builder, bool modern, HelperCaller* helpers)
      : builder_(builder), modern_(modern), helpers_(helpers) {}

  llvm::Type* TypeOf(ir::Type scalar) const;
  llvm::Constant* Constant(ir::Type type, std::span<const uint64_t> words) const;

  // Can this op be emitted on vectors of this type (from: of its first operand)? Needs no helper there.
  bool ComputesVector(ir::Op op, ir::Type type, ir::Type from) const {
    return targets::ComputesVector(op, type, from, modern_);
  }

  // The value of a pure op. It is not made the one NaN: see Canonical. Divisors are not 0, results of checked ops
  // fit: whoever may trap has tested that. `part` is the attribute of xfield.part and digest.part.
  llvm::Value* Compute(ir::Op op, ir::Type type, ir::Type from,
                       std::span<llvm::Value* const> operands, int64_t part = 0);
  // A float as an integer where its range says that it fits without its fraction, and is no NaN: nothing is tested then.
  static bool FitsInteger(ir::Type type, FloatRange range);
  llvm::Value* CastInside(ir::Type type, llvm::Value* value) { return ToInteger(type, value); }
  // The one quiet NaN if it is any NaN; f32, f64 or vectors of them.
  llvm::Value* Canonical(llvm::Value* value);

  // i1: does the exact result of a checked op (cast.checked included) not fit? And its wrapped value.
  struct Checked {
    llvm::Value* value;
    llvm::Value* overflow;  // null: never
  };
  Checked ComputeChecked(ir::Op op, ir::Type type, ir::Type from,
                         std::span<llvm::Value* const> operands);
  llvm::Value* IsZero(ir::Type type, llvm::Value* value);

  // The two 16-bit floats and their f32 (widening a NaN gives any NaN; rounding one gives the one).
  llvm::Value* WidenHalf(ir::Scalar half, llvm::Value* bits);
  llvm::Value* RoundToHalf(ir::Scalar half, llvm::Value* value);  // of f32 or f64
  // The value that an atomic writes.
  llvm::Value* Combine(ir::AtomicKind kind, ir::Type type, llvm::Value* old, llvm::Value* operand);

 private:
  using V = llvm::Value*;
  V Integer(ir::Op op, ir::Type type, std::span<const V> in);
  V Division(ir::Op op, ir::Type type, V a, V b);
  bool DividesByItself(V b) const;
  V Quotient(V a, V b, bool is_signed);
  V Remainder(V a, V b, bool is_signed);
  V QuotientByDouble(V a, V b, bool is_signed);
  V QuotientOfWords(V a, V b, bool is_signed);
  V Bits(ir::Op op, ir::Type type, std::span<const V> in);
  V Float(ir::Op op, std::span<const V> in);
  V Half(ir::Op op, ir::Scalar half, std::span<const V> in);
  V CopySign(V magnitude, V sign);
  V DropNan(V a, V b, V chosen);  // min and max from minimum and maximum
  V LanesMinMax(bool is_max, V a, V b);
  V Fma(V a, V b, V c);
  V FmaByDouble(V a, V b, V c);
  V RoundToIntegral(ir::Op op, V x);
  V Compare(ir::Op op, ir::Type type, V a, V b);
  V Cast(ir::Type type, ir::Type from, V a);
  V LanesToInteger(ir::Type type, V a);
  V ToInteger(ir::Type type, V a);  // of what fits
  V CastToFloat(ir::Type type, ir::Type from, V a);
  V Bitcast(ir::Type type, ir::Type from, V a);
  V RoundToOdd(V f64);                  // to f32
  V IntegerToOdd(V a, bool is_signed);  // 64 bits to f64
  V FieldAdd(V a, V b);
  V FieldSub(V a, V b);
  V FieldNeg(V a);
  std::pair<V, V> WideProduct(V a, V b);
  V FieldMul(V a, V b);
  V FieldReduce(V a);  // of a u64
  V Field(ir::Op op, std::span<const V> in);
  V XField(ir::Op op, std::span<const V> in, int64_t part);
  V XFieldMul(V a, V b);
  Checked WideByHelper(ir::Op op, ir::Type type, V a, V b);

  // The type with the same number of lanes as `like`.
  llvm::Type* Lanes(llvm::Type* scalar, V like) const;
  llvm::Constant* Int(V like, uint64_t value) const;  // of the type of `like`
  llvm::Constant* Real(V like, double value) const;

  Builder& builder_;
  bool modern_;
  HelperCaller* helpers_;
};

}  // namespace frazil::targets
