// Floats: Z3 computes, bits decide. f16 and bf16 compute in f32 and round once, literally.
#include "verify/smt/encoder.h"

namespace frazil::verify::smt {

using ir::Op;
using ir::Scalar;

namespace {
struct Format {
  unsigned exponent;
  unsigned significand;  // with the hidden bit
};
Format FormatOf(Scalar scalar) {
  switch (scalar) {
    case Scalar::F16: return {5, 11};
    case Scalar::BF16: return {8, 8};
    case Scalar::F32: return {8, 24};
    default: return {11, 53};
  }
}
bool IsHalf(ir::Type type) { return ir::Contains(ir::sets::Half, type.scalar); }
}  // namespace

Z3_sort Encoder::FloatSort(ir::Type type) {
  const Format format = FormatOf(type.scalar);
  return z_.mk_fpa_sort(c_, format.exponent, format.significand);
}

// Bits of the quiet NaN and of every other float give back the float they came from. The same bits may be
// asked for as another format (a bitcast between f16 and bf16), hence the look at the sort.
Z3_ast Encoder::ToFloat(ir::Type type, Z3_ast bits) {
  const auto known = float_of_.find(bits);
  if (known != float_of_.end() && z_.get_sort(c_, known->second) == FloatSort(type))
    return known->second;
  return z_.mk_fpa_to_fp_bv(c_, bits, FloatSort(type));
}

Z3_ast Encoder::Widened(ir::Type type, Z3_ast bits) {
  const Z3_ast value = ToFloat(type, bits);
  if (!IsHalf(type)) return value;
  return z_.mk_fpa_to_fp_float(c_, z_.mk_fpa_rne(c_), value, FloatSort(ir::types::F32));
}

Z3_ast Encoder::QuietNan(ir::Type type) {
  const Format format = FormatOf(type.scalar);
  const uint64_t exponent = ((uint64_t{1} << format.exponent) - 1) << (format.significand - 1);
  return Number(WidthOf(type), exponent | uint64_t{1} << (format.significand - 2));
}

Z3_ast Encoder::FromFloat(ir::Type type, Z3_ast value) {
  const Z3_ast bits =
      Ite(z_.mk_fpa_is_nan(c_, value), QuietNan(type), z_.mk_fpa_to_ieee_bv(c_, value));
  float_of_[bits] = value;
  return bits;
}

Z3_ast Encoder::Narrowed(ir::Type type, Z3_ast value) {
  if (!IsHalf(type)) return FromFloat(type, value);
  return FromFloat(type, z_.mk_fpa_to_fp_float(c_, z_.mk_fpa_rne(c_), value, FloatSort(type)));
}

// By bits: cheaper than through floats, and true to every NaN.
Z3_ast Encoder::IsNan(ir::Type type, Z3_ast bits) {
  const Format format = FormatOf(type.scalar);
  const unsigned width = WidthOf(type);
  const Z3_ast magnitude =
      z_.mk_bvand(c_, bits, Number(width, (~uint64_t{0} >> (64 - width)) >> 1));
  const uint64_t infinity = ((uint64_t{1} << format.exponent) - 1) << (format.significand - 1);
  return z_.mk_bvult(c_, Number(width, infinity), magnitude);
}

Z3_ast Encoder::SignBit(ir::Type type, Z3_ast bits) {
  const unsigned top = WidthOf(type) - 1;
  return Equal(z_.mk_extract(c_, top, top, bits), Number(1, 1));
}

Z3_ast Encoder::NotPayload(ir::Type type, Z3_ast bits) {
  return Or(Not(IsNan(type, bits)), Equal(bits, QuietNan(type)));
}

Z3_ast Encoder::Float(Op op, ir::Type type, std::span<const Z3_ast> v) {
  const Z3_ast mode = z_.mk_fpa_rne(c_);
  const unsigned width = WidthOf(type);
  const uint64_t sign = uint64_t{1} << (width - 1);
  auto wide = [&](size_t i) { return Widened(type, v[i]); };
  auto rounded = [&](Z3_ast (*to_mode)(Z3_context)) {
    return Narrowed(type, z_.mk_fpa_round_to_integral(c_, to_mode(c_), wide(0)));
  };
  auto unless_nan = [&](Z3_ast bits) { return Ite(IsNan(type, v[0]), QuietNan(type), bits); };
  switch (op) {
    case Op::Add: return Narrowed(type, z_.mk_fpa_add(c_, mode, wide(0), wide(1)));
    case Op::Sub: return Narrowed(type, z_.mk_fpa_sub(c_, mode, wide(0), wide(1)));
    case Op::Mul: return Narrowed(type, z_.mk_fpa_mul(c_, mode, wide(0), wide(1)));
    case Op::Div: return Narrowed(type, z_.mk_fpa_div(c_, mode, wide(0), wide(1)));
    case Op::Fma: return Narrowed(type, z_.mk_fpa_fma(c_, mode, wide(0), wide(1), wide(2)));
    case Op::Sqrt: return Narrowed(type, z_.mk_fpa_sqrt(c_, mode, wide(0)));
    case Op::Floor: return rounded(z_.mk_fpa_rtn);
    case Op::Ceil: return rounded(z_.mk_fpa_rtp);
    case Op::Trunc: return rounded(z_.mk_fpa_rtz);
    case Op::Nearest: return rounded(z_.mk_fpa_rne);
    case Op::Neg: return FromFloat(type, z_.mk_fpa_neg(c_, ToFloat(type, v[0])));
    case Op::Abs: return FromFloat(type, z_.mk_fpa_abs(c_, ToFloat(type, v[0])));
    case Op::CopySign:
      return unless_nan(z_.mk_bvor(c_, z_.mk_bvand(c_, v[0], Number(width, sign - 1)),
                                   z_.mk_bvand(c_, v[1], Number(width, sign))));
    case Op::Eq: return z_.mk_fpa_eq(c_, ToFloat(type, v[0]), ToFloat(type, v[1]));
    case Op::Ne: return Not(z_.mk_fpa_eq(c_, ToFloat(type, v[0]), ToFloat(type, v[1])));
    case Op::Lt: return z_.mk_fpa_lt(c_, ToFloat(type, v[0]), ToFloat(type, v[1]));
    case Op::Le: return z_.mk_fpa_leq(c_, ToFloat(type, v[0]), ToFloat(type, v[1]));
    case Op::Gt: return z_.mk_fpa_lt(c_, ToFloat(type, v[1]), ToFloat(type, v[0]));
    case Op::Ge: return z_.mk_fpa_leq(c_, ToFloat(type, v[1]), ToFloat(type, v[0]));
    case Op::Min:
    case Op::Max:
    case Op::Minimum:
    case Op::Maximum: return FloatOrder(op, type, v[0], v[1]);
    default: return nullptr;
  }
}

Z3_ast Encoder::FloatOrder(Op op, ir::Type type, Z3_ast a, Z3_ast b) {
  auto less = [&](Z3_ast x, Z3_ast y) {
    const Z3_ast fx = ToFloat(type, x), fy = ToFloat(type, y);
    const Z3_ast zeros =
        And(z_.mk_fpa_eq(c_, fx, fy), And(SignBit(type, x), Not(SignBit(type, y))));
    return Or(z_.mk_fpa_lt(c_, fx, fy), zeros);
  };
  const bool least = op == Op::Min || op == Op::Minimum;
  const Z3_ast ordered = least ? Ite(less(b, a), b, a) : Ite(less(a, b), b, a);
  const Z3_ast a_nan = IsNan(type, a), b_nan = IsNan(type, b), nan = QuietNan(type);
  if (op == Op::Minimum || op == Op::Maximum) return Ite(Or(a_nan, b_nan), nan, ordered);
  return Ite(And(a_nan, b_nan), nan, Ite(a_nan, b, Ite(b_nan, a, ordered)));
}

// Truncates, then saturates; NaN gives 0. Bounds are powers of two, exact in every format that reaches them.
Z3_ast Encoder::FloatToInteger(ir::Type to, ir::Type from, Z3_ast a) {
  const unsigned width = WidthOf(to);
  const bool is_signed = ir::IsSigned(to.scalar);
  const Z3_ast mode = z_.mk_fpa_rtz(c_);
  // f64 holds every narrower float and all bounds.
  const Z3_sort sort = FloatSort(ir::types::F64);
  Z3_ast value = ToFloat(from, a);
  if (from.scalar != Scalar::F64) value = z_.mk_fpa_to_fp_float(c_, z_.mk_fpa_rne(c_), value, sort);
  const unsigned power = is_signed ? width - 1 : width;
  const Z3_ast above = ToFloat(ir::types::F64, Number(64, uint64_t{1023 + power} << 52));
  const Z3_ast least =
      is_signed
          ? ToFloat(ir::types::F64, Number(64, (uint64_t{1} << 63) | uint64_t{1023 + power} << 52))
          : ToFloat(ir::types::F64, Number(64, 0));
  const uint64_t ones = ~uint64_t{0} >> (64 - width);
  const Z3_ast greatest = Number(width, is_signed ? ones >> 1 : ones);
  const Z3_ast smallest = Number(width, is_signed ? uint64_t{1} << (width - 1) : 0);
  const Z3_ast inside = is_signed ? z_.mk_fpa_to_sbv(c_, mode, value, width)
                                  : z_.mk_fpa_to_ubv(c_, mode, value, width);
  const Z3_ast clamped = Ite(z_.mk_fpa_lt(c_, value, least), smallest,
                             Ite(z_.mk_fpa_leq(c_, above, value), greatest, inside));
  return Ite(z_.mk_fpa_is_nan(c_, value), Number(width, 0), clamped);
}

}  // namespace frazil::verify::smt
