// Helpers for the field of p = 2^64 - 2^32 + 1 and its extension by x^3 - x + 1. Elements are
// canonical on both sides. 2^64 = 2^32 - 1 modulo p makes reduction a few shifts and adds.
#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {
namespace {

constexpr uint64_t P = 0xffffffff00000001;
constexpr int64_t Epsilon = 0xffffffff;  // 2^64 - p

Expr Add(HelperCode& f, const Expr& a, const Expr& b) { return f.Call(Helper::FieldAdd, {a, b}); }
Expr Sub(HelperCode& f, const Expr& a, const Expr& b) { return f.Call(Helper::FieldSub, {a, b}); }
Expr Mul(HelperCode& f, const Expr& a, const Expr& b) { return f.Call(Helper::FieldMul, {a, b}); }

}  // namespace

// a - (p - b), plus p where that borrows: the sum is reduced without a carry test.
void BuildFieldAdd(HelperCode& f) {
  Var a = f.Param(0);
  Var rest = f.Let(Lit64(P) - f.Param(1));
  f.Return({a - rest + Choose(LtU(a, rest), Lit64(P), Lit64(0))});
}

void BuildFieldSub(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  f.Return({a - b + Choose(LtU(a, b), Lit64(P), Lit64(0))});
}

// high * 2^64 + low = low - high_high + high_low * epsilon.
void BuildFieldMul(HelperCode& f) {
  Var a = f.Param(0), b = f.Param(1);
  Var high = f.Let(f.Call(Helper::MulHiU, {a, b}));
  Var low = f.Let(a * b);
  Var high_high = f.Let(ShrU(high, 32));
  // Both are rare: no branches, of which no sample might go one way.
  Expr borrow = Choose(LtU(low, high_high), Lit64(Epsilon), Lit64(0));
  Var difference = f.Let(low - high_high - borrow);
  Var product = f.Let((high & Epsilon) * Epsilon);
  Var sum = f.Let(difference + product);
  f.Set(sum, sum + Choose(LtU(sum, product), Lit64(Epsilon), Lit64(0)));
  f.Return({sum - Choose(GeU(sum, Lit64(P)), Lit64(P), Lit64(0))});
}

// Fermat: a^(p-2), square and multiply from the top bit.
void BuildFieldInvert(HelperCode& f) {
  Var a = f.Param(0);
  Var result = f.Let(Lit64(1));
  Var bit = f.Let(Lit64(uint64_t{1} << 63));
  f.While(Ne(bit, 0), [&] {
    f.Set(result, Mul(f, result, result));
    f.If(Ne(bit & Lit64(P - 2), 0), [&] { f.Set(result, Mul(f, result, a)); });
    f.Set(bit, ShrU(bit, 1));
  });
  f.Return({result});
}

void BuildXFieldAdd(HelperCode& f) {
  f.Return({Add(f, f.Param(0), f.Param(3)), Add(f, f.Param(1), f.Param(4)),
            Add(f, f.Param(2), f.Param(5))});
}

void BuildXFieldSub(HelperCode& f) {
  f.Return({Sub(f, f.Param(0), f.Param(3)), Sub(f, f.Param(1), f.Param(4)),
            Sub(f, f.Param(2), f.Param(5))});
}

// The five coefficients of the product, then x^3 = x - 1 and x^4 = x^2 - x.
void BuildXFieldMul(HelperCode& f) {
  Var a0 = f.Param(0), a1 = f.Param(1), a2 = f.Param(2), b0 = f.Param(3), b1 = f.Param(4),
      b2 = f.Param(5);
  Var c3 = f.Let(Add(f, Mul(f, a1, b2), Mul(f, a2, b1)));
  Var c4 = f.Let(Mul(f, a2, b2));
  Expr c0 = Mul(f, a0, b0);
  Expr c1 = Add(f, Mul(f, a0, b1), Mul(f, a1, b0));
  Expr c2 = Add(f, Add(f, Mul(f, a0, b2), Mul(f, a1, b1)), Mul(f, a2, b0));
  f.Return({Sub(f, c0, c3), Sub(f, Add(f, c1, c3), c4), Add(f, c2, c4)});
}

// Multiplication by a is a 3 x 3 matrix; the inverse is the first row of cofactors over the
// determinant.
void BuildXFieldInvert(HelperCode& f) {
  Var a0 = f.Param(0), a1 = f.Param(1), a2 = f.Param(2);
  Var s = f.Let(Add(f, a0, a2));
  Var d = f.Let(Sub(f, a1, a2));
  Var b0 = f.Let(Sub(f, Mul(f, s, s), Mul(f, d, a1)));
  Var b1 = f.Let(Sub(f, Mul(f, d, a2), Mul(f, a1, s)));
  Var b2 = f.Let(Sub(f, Mul(f, a1, a1), Mul(f, s, a2)));
  Expr determinant = Sub(f, Sub(f, Mul(f, a0, b0), Mul(f, a2, b1)), Mul(f, a1, b2));
  Var scale = f.Let(f.Call(Helper::FieldInvert, {determinant}));
  f.Return({Mul(f, b0, scale), Mul(f, b1, scale), Mul(f, b2, scale)});
}

}  // namespace frazil::targets::wasm
