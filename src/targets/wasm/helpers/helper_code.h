// A small language inside C++ for the bodies of helpers: expressions are code with a type,
// statements go to the body. `f.Set(x, (a & Low) * b)` reads as what it does; types are checked as
// it is built.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "targets/wasm/emit/module_context.h"
#include "targets/wasm/module/code.h"

namespace frazil::targets::wasm {

struct Expr {
  ValType type;
  std::string code;
};

struct Var : Expr {
  uint32_t local;
};

Expr Lit32(int32_t value);
Expr Lit64(uint64_t value);
Expr LitF32(uint32_t bits);
Expr LitF64(uint64_t bits);
Expr Apply(Opcode op, ValType result, std::initializer_list<Expr> operands);

// i32, i64, f32 and f64 alike, by the type of the operands.
#define FRAZIL_BINARY(name) Expr name(const Expr& a, const Expr& b);
FRAZIL_BINARY(operator+)
FRAZIL_BINARY(operator-)
FRAZIL_BINARY(operator*)
// Integers.
FRAZIL_BINARY(operator&)
FRAZIL_BINARY(operator|)
FRAZIL_BINARY(operator^)
FRAZIL_BINARY(Shl)
FRAZIL_BINARY(ShrU)
FRAZIL_BINARY(ShrS)
FRAZIL_BINARY(DivU)
FRAZIL_BINARY(RemU)
FRAZIL_BINARY(DivS)
FRAZIL_BINARY(RemS)
// Comparisons give i32; Lt and Gt are for floats.
FRAZIL_BINARY(Eq)
FRAZIL_BINARY(Ne)
FRAZIL_BINARY(LtU)
FRAZIL_BINARY(LtS)
FRAZIL_BINARY(GtU)
FRAZIL_BINARY(GtS)
FRAZIL_BINARY(GeU)
FRAZIL_BINARY(GeS)
FRAZIL_BINARY(Lt)
FRAZIL_BINARY(Gt)
#undef FRAZIL_BINARY

Expr Clz(const Expr& a);
Expr IsZero(const Expr& a);
Expr Wrap(const Expr& a);     // i64 to i32
Expr ExtendU(const Expr& a);  // i32 to i64
Expr ExtendS(const Expr& a);
Expr BitsOf(const Expr& a);                                           // f32 to i32, f64 to i64
Expr FloatOf(const Expr& bits);                                       // back
Expr Choose(const Expr& condition, const Expr& yes, const Expr& no);  // evaluates both
Expr Load64(const Expr& address, uint32_t offset = 0);

// A constant of the type of `a`, and the same operations with one on the right.
Expr ConstantLike(const Expr& a, int64_t value);
#define FRAZIL_WITH_CONSTANT(name) \
  inline Expr name(const Expr& a, int64_t b) { return name(a, ConstantLike(a, b)); }
FRAZIL_WITH_CONSTANT(operator+)
FRAZIL_WITH_CONSTANT(operator-)
FRAZIL_WITH_CONSTANT(operator*)
FRAZIL_WITH_CONSTANT(operator&)
FRAZIL_WITH_CONSTANT(operator|)
FRAZIL_WITH_CONSTANT(operator^)
FRAZIL_WITH_CONSTANT(Shl)
FRAZIL_WITH_CONSTANT(ShrU)
FRAZIL_WITH_CONSTANT(ShrS)
FRAZIL_WITH_CONSTANT(Eq)
FRAZIL_WITH_CONSTANT(Ne)
FRAZIL_WITH_CONSTANT(LtU)
FRAZIL_WITH_CONSTANT(LtS)
FRAZIL_WITH_CONSTANT(GtU)
FRAZIL_WITH_CONSTANT(GtS)
FRAZIL_WITH_CONSTANT(GeU)
FRAZIL_WITH_CONSTANT(GeS)
#undef FRAZIL_WITH_CONSTANT

class HelperCode {
 public:
  HelperCode(ModuleContext& module, std::span<const ValType> params)
      : module_(module), code_(params) {}

  Var Param(uint32_t i) const;
  Var Local(ValType type);
  Var Let(const Expr& value);  // a new local with that value
  void Set(const Var& var, const Expr& value);
  // A call with several results, the last on top of the stack.
  void SetAll(std::span<const Var> vars, Helper helper, std::initializer_list<Expr> arguments);
  Expr Call(Helper helper, std::initializer_list<Expr> arguments);  // one result
  Expr Get(GlobalVar global);
  void Put(GlobalVar global, const Expr& value);
  void Store64(const Expr& address, const Expr& value, uint32_t offset = 0);
  void Copy(const Expr& to, const Expr& from, const Expr& bytes);
  void Fill(const Expr& to, const Expr& bytes);  // with zeros
  Expr MemoryBytes();                            // i64
  bool has_output() const { return module_.uses(GlobalVar::Output); }
  Expr MemoryGrow(const Expr& pages);  // i32, -1: failed

  using Block = std::function<void()>;
  void If(const Expr& condition, const Block& then_block, const Block& else_block = {});
  void While(const Expr& condition, const Block& body);
  // for (i = from; i < to; ++i), unsigned i32
  void Count(const Var& i, const Expr& from, const Expr& to, const Block& body);
  void Return(std::initializer_list<Expr> values);
  void Unreachable() { code_.Op(Opcode::Unreachable); }
  std::string Finish() const { return code_.Finish(); }

 private:
  ModuleContext& module_;
  Code code_;
};

#define FRAZIL_WASM_HELPER(name, text, params, results) void Build##name(HelperCode& f);
#include "targets/wasm/helpers/helpers.def"
#undef FRAZIL_WASM_HELPER

}  // namespace frazil::targets::wasm
