// Floats. f32 and f64 have their instructions; f16 and bf16 are widened to f32 and rounded back,
// which also makes their NaN canonical. An f32 or f64 NaN is made canonical only where the plan
// says that it is moved.
#include "base/check.h"
#include "targets/wasm/emit/function_emitter.h"

namespace frazil::targets::wasm {

using Ir = ir::Op;

namespace {

// The instruction of an op on f32 and f64, or Nop.
struct Forms {
  Opcode f32 = Opcode::Nop;
  Opcode f64 = Opcode::Nop;
};

Forms FormsOf(Ir op) {
  switch (op) {
    case Ir::Add: return {Opcode::F32Add, Opcode::F64Add};
    case Ir::Sub: return {Opcode::F32Sub, Opcode::F64Sub};
    case Ir::Mul: return {Opcode::F32Mul, Opcode::F64Mul};
    case Ir::Div: return {Opcode::F32Div, Opcode::F64Div};
    case Ir::Neg: return {Opcode::F32Neg, Opcode::F64Neg};
    case Ir::Abs: return {Opcode::F32Abs, Opcode::F64Abs};
    case Ir::Sqrt: return {Opcode::F32Sqrt, Opcode::F64Sqrt};
    case Ir::Floor: return {Opcode::F32Floor, Opcode::F64Floor};
    case Ir::Ceil: return {Opcode::F32Ceil, Opcode::F64Ceil};
    case Ir::Trunc: return {Opcode::F32Trunc, Opcode::F64Trunc};
    case Ir::Nearest: return {Opcode::F32Nearest, Opcode::F64Nearest};
    case Ir::CopySign: return {Opcode::F32CopySign, Opcode::F64CopySign};
    case Ir::Minimum: return {Opcode::F32Min, Opcode::F64Min};
    case Ir::Maximum: return {Opcode::F32Max, Opcode::F64Max};
    case Ir::Eq: return {Opcode::F32Eq, Opcode::F64Eq};
    case Ir::Ne: return {Opcode::F32Ne, Opcode::F64Ne};
    case Ir::Lt: return {Opcode::F32Lt, Opcode::F64Lt};
    case Ir::Le: return {Opcode::F32Le, Opcode::F64Le};
    case Ir::Gt: return {Opcode::F32Gt, Opcode::F64Gt};
    case Ir::Ge: return {Opcode::F32Ge, Opcode::F64Ge};
    default: return {};
  }
}

}  // namespace

void FunctionEmitter::ToWide(ir::Type half) {
  if (half.scalar == ir::Scalar::F16) return Call(Helper::HalfToFloat);
  code_.I32(16);
  Op(Opcode::I32Shl);
  Op(Opcode::F32ReinterpretI32);
}

void FunctionEmitter::ToHalf(ir::Type half) {
  Call(half.scalar == ir::Scalar::F16 ? Helper::FloatToHalf : Helper::FloatToBfloat);
}

void FunctionEmitter::PushAsFloat(ir::ValueId value) {
  Push(value);
  if (IsHalf(type(value))) ToWide(type(value));
}

void FunctionEmitter::EmitFloat(const ir::Inst& inst) {
  bool is_double = inst.type.scalar == ir::Scalar::F64;
  for (uint32_t i = 0; i < inst.operands.count; ++i) PushAsFloat(operand(inst, i));
  switch (inst.op) {
    case Ir::Fma: Call(is_double ? Helper::Fma64 : Helper::Fma32); break;
    case Ir::Min: Call(is_double ? Helper::Min64 : Helper::Min32); break;
    case Ir::Max: Call(is_double ? Helper::Max64 : Helper::Max32); break;
    default: {
      Forms forms = FormsOf(inst.op);
      Opcode op = is_double ? forms.f64 : forms.f32;
      CHECK(op != Opcode::Nop);
      Op(op);
    }
  }
  bool compares = inst.op == Ir::Eq || inst.op == Ir::Ne || inst.op == Ir::Lt ||
                  inst.op == Ir::Le || inst.op == Ir::Gt || inst.op == Ir::Ge;
  if (IsHalf(inst.type) && !compares) ToHalf(inst.type);
}

// x == x ? x : the one quiet NaN.
void FunctionEmitter::Canonicalize(ValType type) {
  uint32_t x = HoldTop(type);
  code_.Get(x);
  if (type == ValType::F32)
    code_.F32(0x7fc00000);
  else
    code_.F64(0x7ff8000000000000);
  code_.Get(x);
  code_.Get(x);
  Op(type == ValType::F32 ? Opcode::F32Eq : Opcode::F64Eq);
  Op(Opcode::Select);
}

}  // namespace frazil::targets::wasm
