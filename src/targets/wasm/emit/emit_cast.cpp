// Conversions. Every rounding happens once: integers and f64 reach f16 and bf16 through formats
// that were rounded to odd, which a second rounding cannot notice.
#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using ir::Scalar;

void FunctionEmitter::EmitCast(const ir::Inst& inst) {
  ir::Type from = type(operand(inst, 0));
  ir::Type to = inst.type;
  if (to.scalar == Scalar::XField) {
    Push(operand(inst, 0));
    if (from.scalar == Scalar::XField) return;
    code_.I64(0);
    return code_.I64(0);
  }
  Push(operand(inst, 0));
  if (from.scalar == Scalar::Field) return;
  if (to.scalar == Scalar::Field) return CastIntToField(from);
  bool from_float = ir::IsFloat(from.scalar), to_float = ir::IsFloat(to.scalar);
  if (from_float && to_float) return CastFloatToFloat(from, to);
  if (from_float) return CastFloatToInt(from, to);
  if (to_float) return CastIntToFloat(from, to);
  // A value that is in both types needs no cutting, only another width.
  IntKind target = IntKindOf(to);
  if (plan_.ranges().fits(inst) && target.is_narrow()) target = {32, target.is_signed};
  CastIntToInt(IntKindOf(from), target);
}

void FunctionEmitter::CastIntToInt(IntKind from, IntKind to) {
  if (to.is64()) {
    if (!from.is64()) Op(from.is_signed ? Opcode::I64ExtendI32S : Opcode::I64ExtendI32U);
    return;
  }
  if (from.is64()) Op(Opcode::I32WrapI64);
  Normalize(to);
}

void FunctionEmitter::CastIntToField(ir::Type from) {
  IntKind kind = IntKindOf(from);
  CastIntToInt(kind, {64, kind.is_signed});
  if (!kind.is_signed && !kind.is64()) return;
  constexpr int64_t P = static_cast<int64_t>(0xffffffff00000001);
  uint32_t x = HoldTop(ValType::I64);
  // A negative number -n is p - n; an unsigned one is less than 2p.
  code_.Get(x);
  code_.I64(P);
  Op(kind.is_signed ? Opcode::I64Add : Opcode::I64Sub);
  code_.Get(x);
  code_.Get(x);
  code_.I64(kind.is_signed ? 0 : P);
  Op(kind.is_signed ? Opcode::I64LtS : Opcode::I64GeU);
  Op(Opcode::Select);
}

void FunctionEmitter::CastIntToFloat(ir::Type from, ir::Type to) {
  IntKind kind = IntKindOf(from);
  bool is_signed = kind.is_signed;
  if (IsHalf(to)) {
    if (kind.is64())
      Call(is_signed ? Helper::StickySigned : Helper::StickyUnsigned);
    else
      Op(is_signed ? Opcode::F64ConvertI32S : Opcode::F64ConvertI32U);
    Call(Helper::DemoteOdd);
    return ToHalf(to);
  }
  if (to.scalar == Scalar::F32) {
    if (kind.is64()) return Op(is_signed ? Opcode::F32ConvertI64S : Opcode::F32ConvertI64U);
    return Op(is_signed ? Opcode::F32ConvertI32S : Opcode::F32ConvertI32U);
  }
  if (kind.is64()) return Op(is_signed ? Opcode::F64ConvertI64S : Opcode::F64ConvertI64U);
  Op(is_signed ? Opcode::F64ConvertI32S : Opcode::F64ConvertI32U);
}

void FunctionEmitter::CastFloatToInt(ir::Type from, ir::Type to) {
  if (IsHalf(from)) ToWide(from);
  bool is_double = from.scalar == Scalar::F64;
  IntKind kind = IntKindOf(to);
  if (kind.is64()) {
    if (kind.is_signed) return Op(is_double ? Opcode::I64TruncSatF64S : Opcode::I64TruncSatF32S);
    return Op(is_double ? Opcode::I64TruncSatF64U : Opcode::I64TruncSatF32U);
  }
  if (kind.bits == 32 && !kind.is_signed)
    return Op(is_double ? Opcode::I32TruncSatF64U : Opcode::I32TruncSatF32U);
  Op(is_double ? Opcode::I32TruncSatF64S : Opcode::I32TruncSatF32S);
  if (!kind.is_narrow()) return;
  // Saturated to 32 bits; now to fewer.
  auto clamp = [&](Int128 bound, Opcode beyond) {
    uint32_t x = HoldTop(ValType::I32);
    code_.I32(static_cast<int32_t>(bound));
    code_.Get(x);
    code_.Get(x);
    code_.I32(static_cast<int32_t>(bound));
    Op(beyond);
    Op(Opcode::Select);
  };
  clamp(TypeInterval(to).lo, Opcode::I32LtS);
  clamp(TypeInterval(to).hi, Opcode::I32GtS);
}

void FunctionEmitter::CastFloatToFloat(ir::Type from, ir::Type to) {
  if (IsHalf(to)) {
    if (from.scalar == Scalar::F64)
      Call(Helper::DemoteOdd);
    else if (IsHalf(from))
      ToWide(from);
    return ToHalf(to);
  }
  if (IsHalf(from)) ToWide(from);
  if (to.scalar == Scalar::F64 && from.scalar != Scalar::F64) Op(Opcode::F64PromoteF32);
  if (to.scalar == Scalar::F32 && from.scalar == Scalar::F64) Op(Opcode::F32DemoteF64);
}

void FunctionEmitter::EmitCastChecked(const ir::Inst& inst) {
  ir::Type from = type(operand(inst, 0));
  if (IsBig(from) || IsBig(inst.type)) return EmitBigCast(inst);
  IntKind source = IntKindOf(from), target = IntKindOf(inst.type);
  Interval value = plan_.ranges().of(operand(inst, 0));
  Interval allowed = TypeInterval(inst.type);
  // In range: only the width changes.
  IntKind plain = target.is_narrow() ? IntKind{32, target.is_signed} : target;
  Push(operand(inst, 0));
  if (value.Within(allowed)) return CastIntToInt(source, plain);
  uint32_t x = HoldTop(WordType(from));
  bool low = value.lo<allowed.lo, high = value.hi> allowed.hi;
  if (low) {
    code_.Get(x);
    PushInt(source, static_cast<int64_t>(allowed.lo));
    IntOp(source, Opcode::I32LtS, Opcode::I64LtS);
  }
  if (high) {
    code_.Get(x);
    PushInt(source, static_cast<int64_t>(allowed.hi));
    if (source.is_signed)
      IntOp(source, Opcode::I32GtS, Opcode::I64GtS);
    else
      IntOp(source, Opcode::I32GtU, Opcode::I64GtU);
  }
  if (low && high) Op(Opcode::I32Or);
  TrapIf(ir::Trap::Overflow, inst.op);
  code_.Get(x);
  CastIntToInt(source, plain);
}

void FunctionEmitter::EmitBitcast(const ir::Inst& inst) {
  ir::Type from = type(operand(inst, 0));
  Push(operand(inst, 0));
  ValType source = WordType(from), target = WordType(inst.type);
  if (source == target) {
    // Halves are zero-extended like unsigned integers.
    if (IsInteger(inst.type))
      Normalize(IntKindOf(inst.type));
    else if (IsHalf(inst.type))
      Normalize({16, false});
    return;
  }
  switch (source) {
    case ValType::I32: return Op(Opcode::F32ReinterpretI32);
    case ValType::I64: return Op(Opcode::F64ReinterpretI64);
    case ValType::F32: return Op(Opcode::I32ReinterpretF32);
    case ValType::F64: return Op(Opcode::I64ReinterpretF64);
  }
}

}  // namespace frazil::targets::wasm
