// An IR program as a side: what the ops compute, in words. An op or type that is not here is said to be not followed.
#include "verify/tasm/sides/ir_side.h"

#include <algorithm>

namespace frazil::verify::tasm {

namespace gl = goldilocks;
using ir::Op;
using ir::Scalar;

namespace {

constexpr uint64_t TwoTo32 = uint64_t{1} << 32;

}  // namespace

bool IrSide::Simple(Exec& exec, const ir::Inst& inst, bool& known) {
  const ir::Function& function = *Now().function;
  switch (inst.op) {
    case Op::Const: {
      Words words;
      const auto raw = function.words_of(inst);
      const ir::Type type = inst.type;
      const uint32_t count = MachineWords(type);
      if (!type.is_scalar() || count == 0) return known = false;
      for (uint64_t word : raw) {
        if (count == 2) {
          words.push_back(exec.terms().Constant(word & 0xffff'ffffu));
          words.push_back(exec.terms().Constant(word >> 32));
        } else {
          const bool narrow = ir::IsFixedInt(type.scalar);
          const uint64_t mask = narrow ? (uint64_t{1} << ir::BitsOf(type)) - 1 : ~uint64_t{0};
          words.push_back(exec.terms().Constant(word & mask));
        }
      }
      Give(inst, std::move(words));
      return true;
    }
    case Op::Assert:
      return exec.Require(Zero(exec.terms().Sub(One(inst, 0), exec.terms().Constant(1))));
    case Op::Input:
    case Op::Hint:
    case Op::Output: return Stream(exec, inst, known);
    case Op::Load:
    case Op::Store:
    case Op::Alloc:
    case Op::Length:
    case Op::Lookup: return Memory(exec, inst, known);
    case Op::Hash:
    case Op::SpongeInit:
    case Op::SpongeAbsorb:
    case Op::SpongeSqueeze:
    case Op::MerkleStep:
    case Op::MakeDigest:
    case Op::PartDigest:
    case Op::MakeXField:
    case Op::PartXField: return Hashing(exec, inst, known);
    case Op::Cast:
    case Op::CastChecked: return Cast(exec, inst, known);
    case Op::Select: {
      Words words;
      Terms& t = exec.terms();
      for (size_t i = 0; i < Operand(inst, 1).size(); ++i) {
        const Term a = Operand(inst, 1)[i], b = Operand(inst, 2)[i];
        words.push_back(t.Add(b, t.Mul(One(inst, 0), t.Sub(a, b))));
      }
      Give(inst, std::move(words));
      return true;
    }
    case Op::Eq:
    case Op::Ne: {
      Terms& t = exec.terms();
      Term all = t.Constant(1);
      for (size_t i = 0; i < Operand(inst, 0).size(); ++i) {
        all = t.Mul(all, t.IsZero(t.Sub(Operand(inst, 0)[i], Operand(inst, 1)[i])));
      }
      Give(inst, {inst.op == Op::Eq ? all : t.Sub(t.Constant(1), all)});
      return true;
    }
    default: break;
  }
  if (inst.operands.count == 0) return known = false;
  const ir::Type type = function.type(function.operand(inst, 0));
  if (!type.is_scalar()) return known = false;
  switch (type.scalar) {
    case Scalar::Field:
    case Scalar::XField: return Field(exec, inst, known);
    case Scalar::Bool: return Boolean(exec, inst, known);
    case Scalar::U32: return Word32(exec, inst, known);
    case Scalar::U64:
    case Scalar::Index: return Word64(exec, inst, known);
    default: return known = false;
  }
}

bool IrSide::Field(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const Words a = Operand(inst, 0);
  const Words b = inst.operands.count > 1 ? Operand(inst, 1) : Words{};
  Words result(a.size());
  if (inst.op == Op::FieldPow) {
    Give(inst, {t.Power(a[0], b[0])});
    return true;
  }
  if (inst.op == Op::Add || inst.op == Op::Sub || inst.op == Op::Neg) {
    for (size_t i = 0; i < a.size(); ++i) {
      result[i] = inst.op == Op::Neg   ? t.Neg(a[i])
                  : inst.op == Op::Add ? t.Add(a[i], b[i])
                                       : t.Sub(a[i], b[i]);
    }
  } else if (inst.op == Op::Mul || inst.op == Op::FieldDiv || inst.op == Op::Invert) {
    const Words& divisor = inst.op == Op::Invert ? a : b;
    Exec::X inverse{};
    if (inst.op != Op::Mul && a.size() == 1) {
      if (!exec.Require(NonZero(divisor[0]))) return false;
      inverse[0] = t.Inverse(divisor[0]);
    } else if (inst.op != Op::Mul &&
               !exec.InverseX({divisor[0], divisor[1], divisor[2]}, inverse)) {
      return false;
    }
    if (inst.op == Op::Invert) {
      result.assign(inverse.begin(), inverse.begin() + static_cast<long>(a.size()));
    } else if (a.size() == 1) {
      result[0] = t.Mul(a[0], inst.op == Op::Mul ? b[0] : inverse[0]);
    } else {
      const Exec::X right = inst.op == Op::Mul ? Exec::X{b[0], b[1], b[2]} : inverse;
      const Exec::X product = exec.MulX({a[0], a[1], a[2]}, right);
      result.assign(product.begin(), product.end());
    }
  } else {
    return known = false;
  }
  Give(inst, std::move(result));
  return true;
}

bool IrSide::Boolean(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const Term a = One(inst, 0), b = inst.operands.count > 1 ? One(inst, 1) : a;
  Term result;
  switch (inst.op) {
    case Op::And: result = t.Mul(a, b); break;
    case Op::Or: result = t.Sub(t.Add(a, b), t.Mul(a, b)); break;
    case Op::Xor: result = t.Sub(t.Add(a, b), t.Scale(t.Mul(a, b), 2)); break;
    case Op::Not: result = t.Sub(t.Constant(1), a); break;
    default: return known = false;
  }
  Give(inst, {result});
  return true;
}

// u32. A sum, difference or product as a field element is below 2^32 exactly where it does not overflow.
bool IrSide::Word32(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const Term a = One(inst, 0), b = inst.operands.count > 1 ? One(inst, 1) : a;
  const Term one = t.Constant(1);
  auto checked = [&](Term value, Term& result) {
    result = value;
    return exec.Require(Below32(value));
  };
  auto power = [&] { return t.Power(t.Constant(2), t.And(b, t.Constant(31))); };
  Term result = a;
  switch (inst.op) {
    case Op::Add: result = t.Low(t.Add(a, b)); break;
    case Op::Sub: result = t.Low(t.Add(t.Sub(a, b), t.Constant(TwoTo32))); break;
    case Op::Mul: result = t.Low(t.Mul(a, b)); break;
    case Op::AddChecked:
      if (!checked(t.Add(a, b), result)) return false;
      break;
    case Op::SubChecked:
      if (!checked(t.Sub(a, b), result)) return false;
      break;
    case Op::MulChecked:
      if (!checked(t.Mul(a, b), result)) return false;
      break;
    case Op::MulHi: result = t.High(t.Mul(a, b)); break;
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::DivChecked:
    case Op::RemChecked:
      if (!exec.Require(NonZero(b))) return false;
      result = inst.op == Op::DivTrunc || inst.op == Op::DivFloor || inst.op == Op::DivChecked
                   ? t.Quotient(a, b)
                   : t.Remainder(a, b);
      break;
    case Op::Lt: result = t.Less(a, b); break;
    case Op::Gt: result = t.Less(b, a); break;
    case Op::Le: result = t.Sub(one, t.Less(b, a)); break;
    case Op::Ge: result = t.Sub(one, t.Less(a, b)); break;
    case Op::And: result = t.And(a, b); break;
    case Op::Or: result = t.Or(a, b); break;
    case Op::Xor: result = t.Xor(a, b); break;
    case Op::Not: result = t.Sub(t.Constant(0xffff'ffffu), a); break;
    case Op::Shl: result = t.Low(t.Mul(a, power())); break;
    case Op::Shr: result = t.Quotient(a, power()); break;
    case Op::Rotl:
    case Op::Rotr: {
      // The product's halves do not overlap.
      const Term left = inst.op == Op::Rotl ? b : t.Sub(t.Constant(TwoTo32), b);
      const Term product = t.Mul(a, t.Power(t.Constant(2), t.And(left, t.Constant(31))));
      if (inst.op == Op::Rotr && !t.IsConstant(b)) return known = false;
      result = t.Add(t.Low(product), t.High(product));
      break;
    }
    case Op::Popcnt: result = t.PopCount(a); break;
    case Op::Clz: {
      bool zero;
      if (!exec.Know(Zero(a), zero)) return false;
      result = zero ? t.Constant(32) : t.Sub(t.Constant(31), t.Log2(a));
      break;
    }
    case Op::Min: result = t.Add(b, t.Mul(t.Less(a, b), t.Sub(a, b))); break;
    case Op::Max: result = t.Add(a, t.Mul(t.Less(a, b), t.Sub(b, a))); break;
    default: return known = false;
  }
  Give(inst, {result});
  return true;
}

// By constants; amounts are taken modulo 64.
bool IrSide::Shift64(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const Words a = Operand(inst, 0), b = Operand(inst, 1);
  const ir::Type type = Now().function->type(Now().function->operand(inst, 0));
  if (type.scalar != Scalar::U64 || a.size() != 2 || !t.IsConstant(b[0])) return known = false;
  const uint64_t amount = t.ConstantOf(b[0]) & 63;
  const bool right = inst.op == Op::Shr;
  const Term zero = t.Constant(0), power = t.Constant(uint64_t{1} << (amount & 31));
  const Term rest = t.Constant(TwoTo32 >> (amount & 31));
  Words result = a;
  if (amount >= 32) result = right ? Words{a[1], zero} : Words{zero, a[0]};
  if ((amount & 31) != 0 && right) {
    result = {t.Add(t.Quotient(result[0], power), t.Mul(t.Remainder(result[1], power), rest)),
              t.Quotient(result[1], power)};
  } else if ((amount & 31) != 0) {
    result = {t.Low(t.Mul(result[0], power)),
              t.Add(t.Low(t.Mul(result[1], power)), t.High(t.Mul(result[0], power)))};
  }
  Give(inst, std::move(result));
  return true;
}

// 64 bits, low word first. Only what loops and conversions need.
bool IrSide::Word64(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const Words a = Operand(inst, 0), b = inst.operands.count > 1 ? Operand(inst, 1) : a;
  if (inst.op == Op::Shl || inst.op == Op::Shr) return Shift64(exec, inst, known);
  if (a.size() != 2 || b.size() != 2) return known = false;
  const ir::Function& function = *Now().function;
  const bool is_index = function.type(function.operand(inst, 0)).scalar == Scalar::Index;
  const Term one = t.Constant(1);
  // Order by words; an index is signed: half the range is added to high words that are not known to be small.
  auto small = [&](Term word) { return exec.facts().RangeOf(word).high >> 31 == 0; };
  const bool sign = is_index && !(small(a[1]) && small(b[1]));
  auto high = [&](Term word) { return sign ? t.Low(t.Add(word, t.Constant(TwoTo32 / 2))) : word; };
  auto less = [&](const Words& x, const Words& y) {
    return t.Add(t.Less(high(x[1]), high(y[1])),
                 t.Mul(t.IsZero(t.Sub(x[1], y[1])), t.Less(x[0], y[0])));
  };
  switch (inst.op) {
    case Op::Add: {
      const Term low = t.Add(a[0], b[0]);
      Give(inst, {t.Low(low), t.Low(t.Add(t.Add(a[1], b[1]), t.High(low)))});
      return true;
    }
    case Op::Sub: {
      const Term low =
          t.Add(t.Sub(a[0], b[0]), t.Constant(TwoTo32));  // high half: 1 if nothing is borrowed
      const Term high =
          t.Add(t.Sub(a[1], b[1]), t.Sub(t.Constant(TwoTo32 - 1), t.Neg(t.High(low))));
      Give(inst, {t.Low(low), t.Low(high)});
      return true;
    }
    case Op::And:
    case Op::Or:
    case Op::Xor: {
      Words result(2);
      for (size_t i = 0; i < 2; ++i) {
        result[i] = inst.op == Op::And  ? t.And(a[i], b[i])
                    : inst.op == Op::Or ? t.Or(a[i], b[i])
                                        : t.Xor(a[i], b[i]);
      }
      Give(inst, std::move(result));
      return true;
    }
    case Op::Not:
      Give(inst, {t.Sub(t.Constant(TwoTo32 - 1), a[0]), t.Sub(t.Constant(TwoTo32 - 1), a[1])});
      return true;
    case Op::Mul: {
      // a0 b0 and, modulo 2^32, what comes to the high word; each product is split before they are added.
      const Term low = t.Mul(a[0], b[0]);
      const Term cross = t.Add(t.Low(t.Mul(a[0], b[1])), t.Low(t.Mul(a[1], b[0])));
      Give(inst, {t.Low(low), t.Low(t.Add(t.High(low), cross))});
      return true;
    }
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      const bool swap = inst.op == Op::Gt || inst.op == Op::Le;
      const Term result = swap ? less(b, a) : less(a, b);
      Give(inst, {inst.op == Op::Lt || inst.op == Op::Gt ? result : t.Sub(one, result)});
      return true;
    }
    default: return known = false;
  }
}

// lo + 2^32 hi modulo p.
Term IrSide::Element(Exec& exec, const Words& index) const {
  Terms& t = exec.terms();
  return index.size() == 1 ? index[0] : t.Add(index[0], t.Scale(index[1], TwoTo32));
}

// Whether that sum is the index itself: else another index has the same element.
bool IrSide::Canonical(Exec& exec, const Words& index) const {
  if (index.size() == 1 || exec.facts().RangeOf(index[1]).high < TwoTo32 - 1) return true;
  return exec.terms().High(Element(exec, index)) == index[1];
}

// `ram` has no length that the IR knows, and a target may keep words of its own beyond 2^32: there an access may trap or
// not. Targets may look at an address less the constant that is added to it. Constant addresses are what they say.
bool IrSide::Specified(Exec& exec, Term address) const {
  Terms& t = exec.terms();
  if (t.IsConstant(address)) return true;
  const Polynomial& poly = t.PolynomialOf(address);
  const uint64_t added = poly[0].first == 0 ? poly[0].second : 0;
  Term base = address;
  if (std::min(added, gl::Neg(added)) < TwoTo32) base = t.Sub(address, t.Constant(added));
  for (const Term term : {base, address}) {
    if (exec.facts().Assume(Below32(term))) continue;
    exec.Put({Step::Kind::Unspecified, Zero(0), ""});
    return false;
  }
  return true;
}

bool IrSide::Cast(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const ir::Function& function = *Now().function;
  const ir::Type from = function.type(function.operand(inst, 0));
  const ir::Type to = function.type(ir::Function::result_of(inst));
  const Words a = Operand(inst, 0);
  const Term zero = t.Constant(0);
  const bool checked = inst.op == Op::CastChecked;
  auto is = [](ir::Type type, std::initializer_list<Scalar> scalars) {
    for (Scalar scalar : scalars) {
      if (type.is_scalar() && type.scalar == scalar) return true;
    }
    return false;
  };
  const bool small = is(from, {Scalar::U32, Scalar::Bool, Scalar::U8, Scalar::U16});
  const bool wide = is(from, {Scalar::U64, Scalar::Index});
  if (is(from, {Scalar::Field})) {
    if (is(to, {Scalar::U64})) return Give(inst, {t.Low(a[0]), t.High(a[0])}), true;
    if (is(to, {Scalar::XField})) return Give(inst, {a[0], zero, zero}), true;
    return known = false;
  }
  if (small && is(to, {Scalar::U32, Scalar::Field})) return Give(inst, {a[0]}), true;
  if (small && is(to, {Scalar::U64, Scalar::Index})) return Give(inst, {a[0], zero}), true;
  if (small && is(to, {Scalar::XField})) return Give(inst, {a[0], zero, zero}), true;
  if (!wide) return known = false;
  const bool nonnegative = is(from, {Scalar::U64}) || exec.facts().RangeOf(a[1]).high >> 31 == 0;
  if (is(to, {Scalar::Field}))
    return nonnegative ? (Give(inst, {Element(exec, a)}), true) : (known = false);
  if (is(to, {Scalar::U32})) {
    if (checked && !exec.Require(Zero(a[1]))) return false;
    // With a high word of 0 the low word is all of it.
    return Give(inst, {checked ? Element(exec, a) : a[0]}), true;
  }
  if (is(to, {Scalar::U64, Scalar::Index})) {
    // Only a sign can be lost between the two.
    if (checked && exec.facts().RangeOf(a[1]).high >> 31 != 0) return known = false;
    return Give(inst, a), true;
  }
  return known = false;
}

bool IrSide::Stream(Exec& exec, const ir::Inst& inst, bool& known) {
  const ir::Function& function = *Now().function;
  const bool output = inst.op == Op::Output;
  const ir::Type type = output ? function.type(function.operand(inst, 0))
                               : function.type(ir::Function::result_of(inst));
  const uint32_t count = MachineWords(type);
  if (!type.is_scalar() || count == 0 || (!output && type.scalar == Scalar::Bool))
    return known = false;
  if (output) {
    for (Term word : Operand(inst, 0)) state.output.push_back(word);
    return true;
  }
  Words words;
  if (inst.op == Op::Hint && type.scalar == Scalar::Digest) {
    for (uint64_t i = 0; i < 5; ++i) {
      words.push_back(
          exec.terms().Atom(Base::Digest, state.digests.token, state.digests.count * 5 + i));
    }
    ++state.digests.count;
    Give(inst, std::move(words));
    return true;
  }
  tasm::Stream& stream = inst.op == Op::Hint ? state.secret : state.input;
  const tasm::Stream before = stream;
  for (uint32_t i = 0; i < count; ++i)
    words.push_back(exec.Next(stream, inst.op == Op::Hint ? Base::Secret : Base::Input));
  if (ir::IsFixedInt(type.scalar)) {
    if (ir::BitsOf(type) < 32) return known = false;
    for (Term word : words) {
      if (!exec.Require(Below32(word))) return stream = before, false;
    }
  }
  Give(inst, std::move(words));
  return true;
}

// A place in a buffer of known length, decided case by case; `length`: outside of it, which traps.
bool IrSide::Position(Exec& exec, const Words& index, uint64_t length, uint64_t& at) {
  const Term element = Element(exec, index);
  if (!Canonical(exec, index)) {
    exec.Put({Step::Kind::Stuck, Zero(0), "an index may be above the field's elements"});
    return false;
  }
  for (at = 0; at < length; ++at) {
    bool same;
    if (!exec.Know(Zero(exec.terms().Sub(element, exec.terms().Constant(at))), same)) return false;
    if (same) return true;
  }
  exec.Put({Step::Kind::Crash, Zero(0), ""});
  return false;
}

bool IrSide::InWindow(Exec& exec, const Words& index, uint64_t length, uint64_t& low,
                      uint64_t& high) {
  Terms& t = exec.terms();
  const Term element = exec.facts().Simplify(Element(exec, index));
  if (length == 0 || t.IsConstant(element) || !Canonical(exec, index)) return false;
  // Outside of the buffer it traps.
  const Literal small = Below32(element);
  if (!exec.facts().Decide(small).value_or(!exec.follows())) return false;
  if (!exec.facts().Assume(small)) return false;
  const Literal inside = NonZero(t.Less(element, t.Constant(length)));
  if (!exec.facts().Decide(inside).value_or(!exec.follows())) return false;
  if (!exec.facts().Assume(inside) || !exec.Window(element, low, high)) return false;
  high = std::min(high, length - 1);
  return low <= high;
}

bool IrSide::Memory(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  const ir::Function& function = *Now().function;
  if (inst.op == Op::Alloc) {
    const ir::Type type = function.type(ir::Function::result_of(inst));
    const Words length = Operand(inst, 0);
    const Term element = Element(exec, length);
    constexpr uint64_t MaxLength = 4096;
    if (!t.IsConstant(element) || t.ConstantOf(element) > MaxLength) return known = false;
    const uint32_t words = MachineWords(type.element());
    if (words == 0) return known = false;
    Give(inst, {t.Constant(buffers_.size())});
    buffers_.push_back(
        {false, words, std::vector<Term>(t.ConstantOf(element) * words, t.Constant(0))});
    return true;
  }
  if (inst.op == Op::Lookup) {
    const ir::Data& data = program_.data[static_cast<size_t>(function.word(inst, 0))];
    if (MachineWords(data.element) != 1) return known = false;
    uint64_t at, low, high;
    if (InWindow(exec, Operand(inst, 0), data.length(), low, high)) {
      Words cells;
      for (at = low; at <= high; ++at) cells.push_back(t.Constant(data.words[at]));
      const Term element = exec.facts().Simplify(Element(exec, Operand(inst, 0)));
      Give(inst, {exec.PickCell(element, low, cells)});
      return true;
    }
    if (!Position(exec, Operand(inst, 0), data.length(), at)) return false;
    Give(inst, {t.Constant(data.words[at])});
    return true;
  }
  if (!t.IsConstant(One(inst, 0))) return known = false;
  Buffer& buffer = buffers_[t.ConstantOf(One(inst, 0))];
  if (inst.op == Op::Length) {
    if (buffer.is_ram) return known = false;
    const uint64_t length = buffer.contents.size() / buffer.words;
    Give(inst, {t.Constant(length & 0xffff'ffffu), t.Constant(length >> 32)});
    return true;
  }
  if (buffer.is_ram) {
    const Term address = Element(exec, Operand(inst, 1));
    if (!Canonical(exec, Operand(inst, 1))) return known = false;
    if (!Specified(exec, address)) return false;
    if (inst.op == Op::Store) return exec.Write(state, address, One(inst, 2)), true;
    Term value;
    if (!exec.Read(state, address, value)) return false;
    Give(inst, {value});
    return true;
  }
  uint64_t at, low, high;
  if (buffer.words == 1 && InWindow(exec, Operand(inst, 1), buffer.contents.size(), low, high)) {
    const Term element = exec.facts().Simplify(Element(exec, Operand(inst, 1)));
    const auto cells = std::span(buffer.contents).subspan(low, high - low + 1);
    if (inst.op == Op::Load) return Give(inst, {exec.PickCell(element, low, cells)}), true;
    std::vector<Term*> places;
    for (Term& cell : cells) places.push_back(&cell);
    exec.PutCell(element, low, places, One(inst, 2));
    return true;
  }
  if (!Position(exec, Operand(inst, 1), buffer.contents.size() / buffer.words, at)) return false;
  const auto begin = buffer.contents.begin() + static_cast<long>(at * buffer.words);
  if (inst.op == Op::Store) {
    const Words value = Operand(inst, 2);
    std::copy(value.begin(), value.end(), begin);
  } else {
    Give(inst, Words(begin, begin + buffer.words));
  }
  return true;
}

bool IrSide::Hashing(Exec& exec, const ir::Inst& inst, bool& known) {
  Terms& t = exec.terms();
  std::array<Term, 10> ten{};
  if (inst.op == Op::Hash || inst.op == Op::SpongeAbsorb) {
    for (uint32_t i = 0; i < 10; ++i) ten[i] = One(inst, i);
  }
  switch (inst.op) {
    case Op::Hash: {
      const auto digest = exec.Hash(ten);
      Give(inst, Words(digest.begin(), digest.end()));
      return true;
    }
    case Op::SpongeInit:
      state.sponge.fill(t.Constant(0));
      state.sponge_ready = true;
      return true;
    case Op::SpongeAbsorb:
      if (!exec.SpongeReady(state)) return false;
      std::copy(ten.begin(), ten.end(), state.sponge.begin());
      exec.Permute(state.sponge);
      return true;
    case Op::SpongeSqueeze:
      if (!exec.SpongeReady(state)) return false;
      for (uint32_t i = 0; i < 10; ++i) Give(inst, {state.sponge[i]}, i);
      exec.Permute(state.sponge);
      return true;
    case Op::MerkleStep: {
      const Words node = Operand(inst, 1);
      std::array<Term, 5> own, sibling;
      for (uint64_t i = 0; i < 5; ++i) {
        own[i] = node[i];
        sibling[i] = t.Atom(Base::Digest, state.digests.token, state.digests.count * 5 + i);
      }
      ++state.digests.count;
      const Term index = One(inst, 0);
      const auto parent = exec.Parent(index, own, sibling);
      Give(inst, {t.Quotient(index, t.Constant(2))}, 0);
      Give(inst, Words(parent.begin(), parent.end()), 1);
      return true;
    }
    case Op::MakeDigest:
    case Op::MakeXField: {
      Words words;
      for (uint32_t i = 0; i < inst.operands.count; ++i) words.push_back(One(inst, i));
      Give(inst, std::move(words));
      return true;
    }
    case Op::PartDigest:
    case Op::PartXField:
      Give(inst, {Operand(inst, 0)[static_cast<size_t>(Now().function->word(inst, 0))]});
      return true;
    default: return known = false;
  }
}

}  // namespace frazil::verify::tasm
