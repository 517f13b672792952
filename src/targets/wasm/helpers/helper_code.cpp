// Expressions concatenate the code of their operands; a type that does not fit is a broken
// invariant.
#include "targets/wasm/helpers/helper_code.h"

#include "base/check.h"
#include "targets/wasm/module/bytes.h"

namespace frazil::targets::wasm {
namespace {

void AppendOp(std::string& out, Opcode op) {
  CHECK(static_cast<uint16_t>(op) < 0xfc);
  out.push_back(static_cast<char>(op));
}

// The forms of one operation by operand type, in the order i32, i64, f32, f64. Nop: there is none.
Expr ByType(const Opcode (&forms)[4], const Expr& a, const Expr& b, bool compares) {
  CHECK(a.type == b.type);
  Opcode op = forms[static_cast<size_t>(ValType::I32) - static_cast<size_t>(a.type)];
  CHECK(op != Opcode::Nop);
  return Apply(op, compares ? ValType::I32 : a.type, {a, b});
}

}  // namespace

Expr ConstantLike(const Expr& a, int64_t value) {
  CHECK(a.type == ValType::I32 || a.type == ValType::I64);
  return a.type == ValType::I32 ? Lit32(static_cast<int32_t>(value))
                                : Lit64(static_cast<uint64_t>(value));
}

Expr Apply(Opcode op, ValType result, std::initializer_list<Expr> operands) {
  Expr expr{result, {}};
  for (const Expr& operand : operands) expr.code += operand.code;
  AppendOp(expr.code, op);
  return expr;
}

Expr Lit32(int32_t value) {
  Expr expr = Apply(Opcode::I32Const, ValType::I32, {});
  AppendSigned(expr.code, value);
  return expr;
}
Expr Lit64(uint64_t value) {
  Expr expr = Apply(Opcode::I64Const, ValType::I64, {});
  AppendSigned(expr.code, static_cast<int64_t>(value));
  return expr;
}
Expr LitF32(uint32_t bits) {
  Expr expr = Apply(Opcode::F32Const, ValType::F32, {});
  AppendFixed(expr.code, bits, 4);
  return expr;
}
Expr LitF64(uint64_t bits) {
  Expr expr = Apply(Opcode::F64Const, ValType::F64, {});
  AppendFixed(expr.code, bits, 8);
  return expr;
}

#define FRAZIL_BINARY(name, i32, i64, f32, f64, compares)                                \
  Expr name(const Expr& a, const Expr& b) {                                              \
    return ByType({Opcode::i32, Opcode::i64, Opcode::f32, Opcode::f64}, a, b, compares); \
  }
FRAZIL_BINARY(operator+, I32Add, I64Add, F32Add, F64Add, false)
FRAZIL_BINARY(operator-, I32Sub, I64Sub, F32Sub, F64Sub, false)
FRAZIL_BINARY(operator*, I32Mul, I64Mul, F32Mul, F64Mul, false)
FRAZIL_BINARY(operator&, I32And, I64And, Nop, Nop, false)
FRAZIL_BINARY(operator|, I32Or, I64Or, Nop, Nop, false)
FRAZIL_BINARY(operator^, I32Xor, I64Xor, Nop, Nop, false)
FRAZIL_BINARY(Shl, I32Shl, I64Shl, Nop, Nop, false)
FRAZIL_BINARY(ShrU, I32ShrU, I64ShrU, Nop, Nop, false)
FRAZIL_BINARY(ShrS, I32ShrS, I64ShrS, Nop, Nop, false)
FRAZIL_BINARY(DivU, I32DivU, I64DivU, Nop, Nop, false)
FRAZIL_BINARY(RemU, I32RemU, I64RemU, Nop, Nop, false)
FRAZIL_BINARY(DivS, I32DivS, I64DivS, Nop, Nop, false)
FRAZIL_BINARY(RemS, I32RemS, I64RemS, Nop, Nop, false)
FRAZIL_BINARY(Eq, I32Eq, I64Eq, F32Eq, F64Eq, true)
FRAZIL_BINARY(Ne, I32Ne, I64Ne, F32Ne, F64Ne, true)
FRAZIL_BINARY(LtU, I32LtU, I64LtU, Nop, Nop, true)
FRAZIL_BINARY(LtS, I32LtS, I64LtS, Nop, Nop, true)
FRAZIL_BINARY(GtU, I32GtU, I64GtU, Nop, Nop, true)
FRAZIL_BINARY(GtS, I32GtS, I64GtS, Nop, Nop, true)
FRAZIL_BINARY(GeU, I32GeU, I64GeU, Nop, Nop, true)
FRAZIL_BINARY(GeS, I32GeS, I64GeS, Nop, Nop, true)
FRAZIL_BINARY(Lt, Nop, Nop, F32Lt, F64Lt, true)
FRAZIL_BINARY(Gt, Nop, Nop, F32Gt, F64Gt, true)
#undef FRAZIL_BINARY

Expr Clz(const Expr& a) {
  return Apply(a.type == ValType::I32 ? Opcode::I32Clz : Opcode::I64Clz, a.type, {a});
}
Expr IsZero(const Expr& a) {
  return Apply(a.type == ValType::I32 ? Opcode::I32Eqz : Opcode::I64Eqz, ValType::I32, {a});
}
Expr Wrap(const Expr& a) { return Apply(Opcode::I32WrapI64, ValType::I32, {a}); }
Expr ExtendU(const Expr& a) { return Apply(Opcode::I64ExtendI32U, ValType::I64, {a}); }
Expr ExtendS(const Expr& a) { return Apply(Opcode::I64ExtendI32S, ValType::I64, {a}); }
Expr BitsOf(const Expr& a) {
  return a.type == ValType::F32 ? Apply(Opcode::I32ReinterpretF32, ValType::I32, {a})
                                : Apply(Opcode::I64ReinterpretF64, ValType::I64, {a});
}
Expr FloatOf(const Expr& bits) {
  return bits.type == ValType::I32 ? Apply(Opcode::F32ReinterpretI32, ValType::F32, {bits})
                                   : Apply(Opcode::F64ReinterpretI64, ValType::F64, {bits});
}
Expr Choose(const Expr& condition, const Expr& yes, const Expr& no) {
  CHECK(condition.type == ValType::I32 && yes.type == no.type);
  return Apply(Opcode::Select, yes.type, {yes, no, condition});
}
Expr Load64(const Expr& address, uint32_t offset) {
  Expr expr = Apply(Opcode::I64Load, ValType::I64, {address});
  AppendUnsigned(expr.code, 3);
  AppendUnsigned(expr.code, offset);
  return expr;
}

Var HelperCode::Param(uint32_t i) const {
  Var var{{code_.local_type(i), {}}, i};
  AppendOp(var.code, Opcode::LocalGet);
  AppendUnsigned(var.code, i);
  return var;
}
Var HelperCode::Local(ValType type) { return Param(code_.AddLocal(type)); }
Var HelperCode::Let(const Expr& value) {
  Var var = Local(value.type);
  Set(var, value);
  return var;
}
void HelperCode::Set(const Var& var, const Expr& value) {
  CHECK(var.type == value.type);
  code_.Append(value.code);
  code_.Set(var.local);
}
void HelperCode::SetAll(std::span<const Var> vars, Helper helper,
                        std::initializer_list<Expr> arguments) {
  for (const Expr& argument : arguments) code_.Append(argument.code);
  code_.Call(module_.Use(helper));
  for (size_t i = vars.size(); i-- > 0;) code_.Set(vars[i].local);
}
Expr HelperCode::Call(Helper helper, std::initializer_list<Expr> arguments) {
  constexpr std::string_view results[] = {
#define FRAZIL_WASM_HELPER(name, text, params, results) results,
#include "targets/wasm/helpers/helpers.def"
#undef FRAZIL_WASM_HELPER
  };
  std::string_view result = results[static_cast<size_t>(helper)];
  CHECK(result.size() == 1);
  ValType type = result == "i"   ? ValType::I32
                 : result == "l" ? ValType::I64
                 : result == "f" ? ValType::F32
                                 : ValType::F64;
  Expr expr = Apply(Opcode::Call, type, arguments);
  AppendUnsigned(expr.code, module_.Use(helper));
  return expr;
}
Expr HelperCode::Get(GlobalVar global) {
  bool narrow = global >= GlobalVar::Heap;
  Expr expr = Apply(Opcode::GlobalGet, narrow ? ValType::I32 : ValType::I64, {});
  AppendUnsigned(expr.code, module_.Use(global));
  return expr;
}
void HelperCode::Put(GlobalVar global, const Expr& value) {
  code_.Append(value.code);
  code_.GlobalSet(module_.Use(global));
}
void HelperCode::Store64(const Expr& address, const Expr& value, uint32_t offset) {
  CHECK(address.type == ValType::I32 && value.type == ValType::I64);
  code_.Append(address.code);
  code_.Append(value.code);
  code_.Memory(Opcode::I64Store, 3, offset);
}
void HelperCode::Copy(const Expr& to, const Expr& from, const Expr& bytes) {
  for (const Expr* operand : {&to, &from, &bytes}) code_.Append(operand->code);
  code_.MemoryCopy();
}
void HelperCode::Fill(const Expr& to, const Expr& bytes) {
  code_.Append(to.code);
  code_.I32(0);
  code_.Append(bytes.code);
  code_.MemoryFill();
}
Expr HelperCode::MemoryBytes() {
  Expr pages = Apply(Opcode::MemorySize, ValType::I32, {});
  pages.code.push_back(0);
  return Shl(ExtendU(pages), 16);
}
Expr HelperCode::MemoryGrow(const Expr& pages) {
  Expr grown = Apply(Opcode::MemoryGrow, ValType::I32, {pages});
  grown.code.push_back(0);
  return grown;
}

void HelperCode::If(const Expr& condition, const Block& then_block, const Block& else_block) {
  CHECK(condition.type == ValType::I32);
  code_.Append(condition.code);
  code_.Begin(Opcode::If);
  then_block();
  if (else_block) {
    code_.Else();
    else_block();
  }
  code_.End();
}
void HelperCode::While(const Expr& condition, const Block& body) {
  Code::Label exit = code_.Begin(Opcode::Block);
  Code::Label again = code_.Begin(Opcode::Loop);
  code_.Append(condition.code);
  code_.Op(Opcode::I32Eqz);
  code_.BrIf(exit);
  body();
  code_.Br(again);
  code_.End();
  code_.End();
}
void HelperCode::Count(const Var& i, const Expr& from, const Expr& to, const Block& body) {
  Set(i, from);
  While(LtU(i, to), [&] {
    body();
    Set(i, i + 1);
  });
}
void HelperCode::Return(std::initializer_list<Expr> values) {
  for (const Expr& value : values) code_.Append(value.code);
  code_.Op(Opcode::Return);
}

}  // namespace frazil::targets::wasm
