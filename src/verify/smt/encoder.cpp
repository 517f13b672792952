// Integers, bits, bool and conversions as bit-vectors.
#include "verify/smt/encoder.h"

#include <vector>

#include "verify/internal/big_int.h"

namespace frazil::verify::smt {

using ir::Op;
using ir::Scalar;

namespace {
// Errors leave a null behind; the caller sees an op that is not encoded.
void Ignore(Z3_context, Z3_error_code) {}
}  // namespace

Context::Context(const Z3Api& api) : api_(api) {
  Z3_config config = api.mk_config();
  context_ = api.mk_context(config);
  api.del_config(config);
  api.set_error_handler(context_, Ignore);
}
Context::~Context() { api_.del_context(context_); }

bool Encoder::Knows(ir::Type type) {
  if (!type.is_scalar()) return false;
  return ir::IsFixedInt(type.scalar) || ir::IsFloat(type.scalar) || type.scalar == Scalar::Bool ||
         type.scalar == Scalar::Int;
}

unsigned Encoder::WidthOf(ir::Type type) {
  return type.scalar == Scalar::Int ? 64u * type.limbs : static_cast<unsigned>(ir::BitsOf(type));
}

Z3_sort Encoder::Sort(ir::Type type) {
  return type.scalar == Scalar::Bool ? z_.mk_bool_sort(c_) : z_.mk_bv_sort(c_, WidthOf(type));
}

Z3_ast Encoder::Variable(ir::Type type, const std::string& name) {
  return z_.mk_const(c_, z_.mk_string_symbol(c_, name.c_str()), Sort(type));
}

Z3_ast Encoder::Constant(ir::Type type, std::span<const uint64_t> words) {
  if (type.scalar == Scalar::Bool) return words[0] != 0 ? True() : False();
  const BigInt value = BigInt::FromWords(words, false).Mod(BigInt::PowerOfTwo(WidthOf(type)));
  return z_.mk_numeral(c_, value.ToString().c_str(), Sort(type));
}

Z3_ast Encoder::Number(unsigned width, uint64_t value) {
  return z_.mk_numeral(c_, std::to_string(value).c_str(), z_.mk_bv_sort(c_, width));
}

Z3_ast Encoder::And(Z3_ast a, Z3_ast b) {
  const Z3_ast both[] = {a, b};
  return z_.mk_and(c_, 2, both);
}
Z3_ast Encoder::Or(Z3_ast a, Z3_ast b) {
  const Z3_ast both[] = {a, b};
  return z_.mk_or(c_, 2, both);
}

Z3_ast Encoder::Less(ir::Type type, Z3_ast a, Z3_ast b) {
  return ir::IsSigned(type.scalar) ? z_.mk_bvslt(c_, a, b) : z_.mk_bvult(c_, a, b);
}
Z3_ast Encoder::LessEqual(ir::Type type, Z3_ast a, Z3_ast b) {
  return ir::IsSigned(type.scalar) ? z_.mk_bvsle(c_, a, b) : z_.mk_bvule(c_, a, b);
}

Z3_ast Encoder::Resize(Z3_ast a, unsigned from, unsigned to, bool is_signed) {
  if (to == from) return a;
  if (to < from) return z_.mk_extract(c_, to - 1, 0, a);
  return is_signed ? z_.mk_sign_ext(c_, to - from, a) : z_.mk_zero_ext(c_, to - from, a);
}

Z3_ast Encoder::Apply(Op op, ir::Type type, ir::Type source, std::span<const Z3_ast> v,
                      Trapping& trap) {
  trap = {};
  if (!Knows(type) || !Knows(source)) return nullptr;
  if (op == Op::Select) return Ite(v[0], v[1], v[2]);
  if (op == Op::Cast) return Cast(type, source, v[0]);
  if (op == Op::CastChecked) return CastChecked(type, source, v[0], trap);
  if (op == Op::Bitcast) return v[0];
  if (type.scalar == Scalar::Bool) return Logic(op, v);
  if (ir::IsFloat(type.scalar)) return Float(op, type, v);
  return Integer(op, type, v, trap);
}

Z3_ast Encoder::Logic(Op op, std::span<const Z3_ast> v) {
  switch (op) {
    case Op::And: return And(v[0], v[1]);
    case Op::Or: return Or(v[0], v[1]);
    case Op::Xor:
    case Op::Ne: return z_.mk_xor(c_, v[0], v[1]);
    case Op::Eq: return Equal(v[0], v[1]);
    case Op::Not: return Not(v[0]);
    default: return nullptr;
  }
}

Z3_ast Encoder::Integer(Op op, ir::Type type, std::span<const Z3_ast> v, Trapping& trap) {
  const unsigned width = WidthOf(type);
  const bool is_signed = ir::IsSigned(type.scalar);
  switch (op) {
    case Op::Add: return z_.mk_bvadd(c_, v[0], v[1]);
    case Op::Sub: return z_.mk_bvsub(c_, v[0], v[1]);
    case Op::Mul: return z_.mk_bvmul(c_, v[0], v[1]);
    case Op::Neg: return z_.mk_bvneg(c_, v[0]);
    case Op::Abs: return Ite(z_.mk_bvslt(c_, v[0], Number(width, 0)), z_.mk_bvneg(c_, v[0]), v[0]);
    case Op::MulHi: {
      const Z3_ast a = Resize(v[0], width, 2 * width, is_signed),
                   b = Resize(v[1], width, 2 * width, is_signed);
      return z_.mk_extract(c_, 2 * width - 1, width, z_.mk_bvmul(c_, a, b));
    }
    case Op::Min: return Ite(Less(type, v[1], v[0]), v[1], v[0]);
    case Op::Max: return Ite(Less(type, v[0], v[1]), v[1], v[0]);
    case Op::Eq: return Equal(v[0], v[1]);
    case Op::Ne: return Not(Equal(v[0], v[1]));
    case Op::Lt: return Less(type, v[0], v[1]);
    case Op::Le: return LessEqual(type, v[0], v[1]);
    case Op::Gt: return Less(type, v[1], v[0]);
    case Op::Ge: return LessEqual(type, v[1], v[0]);
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::DivChecked:
    case Op::RemChecked: return Division(op, type, v[0], v[1], trap);
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::AbsChecked: return Checked(op, type, v, trap);
    default: return Bits(op, type, v);
  }
}

// SMT-LIB's bvsdiv and bvsrem truncate and wrap MIN / -1, as ours do.
Z3_ast Encoder::Division(Op op, ir::Type type, Z3_ast a, Z3_ast b, Trapping& trap) {
  const unsigned width = WidthOf(type);
  const Z3_ast zero = Number(width, 0);
  trap.division = Equal(b, zero);
  const bool is_signed = ir::IsSigned(type.scalar);
  const Z3_ast quotient = is_signed ? z_.mk_bvsdiv(c_, a, b) : z_.mk_bvudiv(c_, a, b);
  const Z3_ast remainder = is_signed ? z_.mk_bvsrem(c_, a, b) : z_.mk_bvurem(c_, a, b);
  const bool floors = is_signed && (op == Op::DivFloor || op == Op::RemFloor);
  const Z3_ast signs_differ =
      floors ? z_.mk_xor(c_, z_.mk_bvslt(c_, a, zero), z_.mk_bvslt(c_, b, zero)) : nullptr;
  const Z3_ast adjust = floors ? And(Not(Equal(remainder, zero)), signs_differ) : nullptr;
  switch (op) {
    case Op::DivTrunc: return quotient;
    case Op::RemTrunc:
    case Op::RemChecked: return remainder;
    case Op::DivFloor:
      return floors ? Ite(adjust, z_.mk_bvsub(c_, quotient, Number(width, 1)), quotient) : quotient;
    case Op::RemFloor:
      return floors ? Ite(adjust, z_.mk_bvadd(c_, remainder, b), remainder) : remainder;
    case Op::DivChecked: {
      if (!is_signed) return quotient;
      const Z3_ast least = z_.mk_bvshl(c_, Number(width, 1), Number(width, width - 1));
      trap.overflow = And(Equal(a, least), Equal(b, z_.mk_bvnot(c_, zero)));
      return quotient;
    }
    default: return nullptr;
  }
}

// Exact in twice the width (one bit more for sums): overflow is what the narrow result does not keep.
Z3_ast Encoder::Checked(Op op, ir::Type type, std::span<const Z3_ast> v, Trapping& trap) {
  const unsigned width = WidthOf(type);
  const bool is_signed = ir::IsSigned(type.scalar);
  const unsigned wide = op == Op::MulChecked ? 2 * width : width + 2;
  const Z3_ast a = Resize(v[0], width, wide, is_signed);
  const Z3_ast b = v.size() > 1 ? Resize(v[1], width, wide, is_signed) : nullptr;
  const Z3_ast zero = Number(wide, 0);
  Z3_ast exact = nullptr;
  switch (op) {
    case Op::AddChecked: exact = z_.mk_bvadd(c_, a, b); break;
    case Op::SubChecked: exact = z_.mk_bvsub(c_, a, b); break;
    case Op::MulChecked: exact = z_.mk_bvmul(c_, a, b); break;
    case Op::NegChecked: exact = z_.mk_bvneg(c_, a); break;
    default: exact = Ite(z_.mk_bvslt(c_, a, zero), z_.mk_bvneg(c_, a), a); break;
  }
  const Z3_ast result = z_.mk_extract(c_, width - 1, 0, exact);
  trap.overflow = Not(Equal(Resize(result, width, wide, is_signed), exact));
  return result;
}

Z3_ast Encoder::Bits(Op op, ir::Type type, std::span<const Z3_ast> v) {
  const unsigned width = WidthOf(type);
  const bool is_signed = ir::IsSigned(type.scalar);
  const Z3_ast a = v[0];
  // Widths are powers of two: the amount modulo the width is its low bits.
  const Z3_ast amount = v.size() > 1 ? z_.mk_bvand(c_, v[1], Number(width, width - 1)) : nullptr;
  auto back = [&] { return z_.mk_bvand(c_, z_.mk_bvneg(c_, amount), Number(width, width - 1)); };
  switch (op) {
    case Op::And: return z_.mk_bvand(c_, a, v[1]);
    case Op::Or: return z_.mk_bvor(c_, a, v[1]);
    case Op::Xor: return z_.mk_bvxor(c_, a, v[1]);
    case Op::Not: return z_.mk_bvnot(c_, a);
    case Op::Shl: return z_.mk_bvshl(c_, a, amount);
    case Op::Shr: return is_signed ? z_.mk_bvashr(c_, a, amount) : z_.mk_bvlshr(c_, a, amount);
    case Op::Rotl: return z_.mk_bvor(c_, z_.mk_bvshl(c_, a, amount), z_.mk_bvlshr(c_, a, back()));
    case Op::Rotr: return z_.mk_bvor(c_, z_.mk_bvlshr(c_, a, amount), z_.mk_bvshl(c_, a, back()));
    case Op::Popcnt: {
      Z3_ast sum = Number(width, 0);
      for (unsigned i = 0; i < width; ++i) {
        sum = z_.mk_bvadd(c_, sum, z_.mk_zero_ext(c_, width - 1, z_.mk_extract(c_, i, i, a)));
      }
      return sum;
    }
    case Op::Clz:
    case Op::Ctz: {
      // The last test that is written is the first that counts.
      Z3_ast count = Number(width, width);
      for (unsigned i = 0; i < width; ++i) {
        const unsigned bit = op == Op::Clz ? i : width - 1 - i;
        const Z3_ast is_set = Equal(z_.mk_extract(c_, bit, bit, a), Number(1, 1));
        count = Ite(is_set, Number(width, width - 1 - i), count);
      }
      return count;
    }
    default: return nullptr;
  }
}

Z3_ast Encoder::Cast(ir::Type to, ir::Type from, Z3_ast a) {
  if (to.scalar == Scalar::Bool || to.scalar == Scalar::Int || from.scalar == Scalar::Int)
    return nullptr;
  if (from.scalar == Scalar::Bool) {
    a = Ite(a, Number(8, 1), Number(8, 0));
    from = ir::types::U8;
  }
  if (ir::IsFixedInt(from.scalar)) {
    const bool is_signed = ir::IsSigned(from.scalar);
    if (ir::IsFixedInt(to.scalar)) return Resize(a, WidthOf(from), WidthOf(to), is_signed);
    const Z3_ast mode = z_.mk_fpa_rne(c_);
    const Z3_sort sort = FloatSort(to);
    return FromFloat(to, is_signed ? z_.mk_fpa_to_fp_signed(c_, mode, a, sort)
                                   : z_.mk_fpa_to_fp_unsigned(c_, mode, a, sort));
  }
  if (ir::IsFixedInt(to.scalar)) return FloatToInteger(to, from, a);
  if (FloatSort(to) == FloatSort(from)) return FromFloat(to, ToFloat(from, a));
  return FromFloat(to,
                   z_.mk_fpa_to_fp_float(c_, z_.mk_fpa_rne(c_), ToFloat(from, a), FloatSort(to)));
}

Z3_ast Encoder::CastChecked(ir::Type to, ir::Type from, Z3_ast a, Trapping& trap) {
  if (from.scalar == Scalar::Bool) {
    a = Ite(a, Number(8, 1), Number(8, 0));
    from = ir::types::U8;
  }
  if (ir::IsFloat(from.scalar) || ir::IsFloat(to.scalar) || to.scalar == Scalar::Bool)
    return nullptr;
  const unsigned source = WidthOf(from), target = WidthOf(to);
  const unsigned wide = std::max(source, target) + 1;
  const Z3_ast exact = Resize(a, source, wide, ir::IsSigned(from.scalar));
  const Z3_ast result = z_.mk_extract(c_, target - 1, 0, exact);
  trap.overflow = Not(Equal(Resize(result, target, wide, ir::IsSigned(to.scalar)), exact));
  return result;
}

}  // namespace frazil::verify::smt
