// Helpers for integers and traps: what WebAssembly has no instruction for, or traps on where the IR
// wraps.
#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {

void BuildTrap(HelperCode& f) {
  f.Put(GlobalVar::Trap, ExtendU(f.Param(0)));
  f.Unreachable();
}

void BuildTrapAt(HelperCode& f) {
  f.Put(GlobalVar::Trap, ExtendU(f.Param(0)));
  const Var index = f.Param(1);
  f.Put(GlobalVar::TrapIndex, Choose(Eq(index, NoParallel), Lit64(~uint64_t{0}), index));
  f.Unreachable();
}

// Four 32 x 32 products; no intermediate sum can carry out of 64 bits.
void BuildMulHiU(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  constexpr int64_t Low = 0xffffffff;
  Var a_low = f.Let(a & Low), a_high = f.Let(ShrU(a, 32));
  Var b_low = f.Let(b & Low), b_high = f.Let(ShrU(b, 32));
  Var middle = f.Let(a_high * b_low + ShrU(a_low * b_low, 32));
  Var other = f.Let(a_low * b_high + (middle & Low));
  f.Return({a_high * b_high + ShrU(middle, 32) + ShrU(other, 32)});
}

void BuildMulHiS(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  Expr high = f.Call(Helper::MulHiU, {a, b});
  f.Return({high - (ShrS(a, 63) & b) - (ShrS(b, 63) & a)});
}

void BuildMulOverflowsS(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  // Most products are small: both operands in 32 bits cannot overflow.
  Expr both_narrow = Eq(a, ExtendS(Wrap(a))) & Eq(b, ExtendS(Wrap(b)));
  f.If(both_narrow, [&] { f.Return({Lit32(0)}); });
  f.Return({Ne(f.Call(Helper::MulHiS, {a, b}), ShrS(a * b, 63))});
}

namespace {

// MIN / -1 wraps, where the instruction traps: divided by 1 and negated. All without branches, also below: what a program
// divides by may leave some of them untaken, and code that no sample runs is not admitted.
Expr WrappingDiv(const Var& a, const Var& b, const Expr& one) {
  Expr is_negation = Eq(b, -1);
  return Choose(is_negation, (a ^ a) - a, DivS(a, Choose(is_negation, one, b)));
}

void BuildDivS(HelperCode& f, const Expr& one) {
  f.Return({WrappingDiv(f.Param(0), f.Param(1), one)});
}

Expr Like(const Var& a, const Expr& flag) { return a.type == ValType::I64 ? ExtendU(flag) : flag; }

void BuildDivFloor(HelperCode& f, const Expr& one) {
  Var a = f.Param(0), b = f.Param(1);
  Var quotient = f.Let(WrappingDiv(a, b, one));
  Expr inexact = Ne(quotient * b, a);
  f.Return({quotient - Like(a, inexact & LtS(a ^ b, 0))});
}

void BuildRemFloor(HelperCode& f) {
  Var b = f.Param(1);
  Var remainder = f.Let(RemS(f.Param(0), b));
  Expr is_off = Ne(remainder, 0) & LtS(remainder ^ b, 0);
  f.Return({remainder + Choose(is_off, b, b ^ b)});
}

}  // namespace

void BuildDivS32(HelperCode& f) { BuildDivS(f, Lit32(1)); }
void BuildDivS64(HelperCode& f) { BuildDivS(f, Lit64(1)); }
void BuildDivFloor32(HelperCode& f) { BuildDivFloor(f, Lit32(1)); }
void BuildDivFloor64(HelperCode& f) { BuildDivFloor(f, Lit64(1)); }
void BuildRemFloor32(HelperCode& f) { BuildRemFloor(f); }
void BuildRemFloor64(HelperCode& f) { BuildRemFloor(f); }

}  // namespace frazil::targets::wasm
