// TIR ops as IR ops. A word that must be a 32-bit integer goes through u64 and cast.checked, so that the machine's crash is
// a trap of the IR at the same place in the order of effects.
#include "base/number/goldilocks.h"
#include "frontends/tir/tir_to_ir.h"

namespace frazil::frontends::tir {

using ir::Op;
using ir::ValueId;
using ir::Values;
using machines::tir::Group;
using machines::tir::Kind;
namespace types = ir::types;

ValueId TirOps::Constant(uint64_t element) {
  return b_.Const(types::Field, std::span(&element, 1));
}
ValueId TirOps::U32Constant(uint64_t value) { return b_.Const(types::U32, std::span(&value, 1)); }
ValueId TirOps::IsNotZero(ValueId value) { return b_.Binary(Op::Ne, value, Constant(0)); }

ValueId TirOps::Pop(Stack& stack) const {
  const ValueId value = stack.back();
  stack.pop_back();
  return value;
}

Values TirOps::PopMany(Stack& stack, uint64_t count) const {
  Values values;
  for (uint64_t i = 0; i < count; ++i) values.push_back(Pop(stack));
  return values;
}

void TirOps::PushMany(Stack& stack, std::span<const ValueId> values) const {
  for (size_t i = values.size(); i > 0; --i) stack.push_back(values[i - 1]);
}

ValueId TirOps::PopX(Stack& stack) {
  const Values c = PopMany(stack, 3);
  return b_.Emit1(Op::MakeXField, types::XField, {c[0], c[1], c[2]}, types::XField);
}

void TirOps::PushX(Stack& stack, ValueId x) {
  for (uint64_t i = 3; i > 0; --i)
    stack.push_back(b_.Emit1(Op::PartXField, types::XField, {x}, types::Field, {i - 1}));
}

ValueId TirOps::U32(ValueId word) {
  return b_.Cast(Op::CastChecked, b_.Cast(Op::Cast, word, types::U64), types::U32);
}
ValueId TirOps::Word(ValueId value) { return b_.Cast(Op::Cast, value, types::Field); }
ValueId TirOps::Plus(ValueId a, uint64_t element) {
  return b_.Binary(Op::Add, a, Constant(element));
}

ValueId TirOps::Index(ValueId address) {
  return b_.Cast(Op::Cast, b_.Cast(Op::Cast, address, types::U64), types::Index);
}
ValueId TirOps::Load(ValueId address) { return b_.Load(ram_, Index(address)); }
void TirOps::Store(ValueId address, ValueId value) { b_.Store(ram_, Index(address), value); }

ValueId TirOps::LoadX(ValueId address) {
  const ValueId c0 = Load(address), c1 = Load(Plus(address, 1)), c2 = Load(Plus(address, 2));
  return b_.Emit1(Op::MakeXField, types::XField, {c0, c1, c2}, types::XField);
}

Values TirOps::Hash(std::span<const ValueId> ten) {
  const ir::Type digest = types::Digest;
  const ValueId hashed = b_.Emit(Op::Hash, digest, ten, std::span(&digest, 1))[0];
  Values parts;
  for (uint64_t i = 0; i < 5; ++i)
    parts.push_back(b_.Emit1(Op::PartDigest, types::Digest, {hashed}, types::Field, {i}));
  return parts;
}

void TirOps::Simple(const machines::tir::Op& op, Stack& stack) {
  switch (machines::tir::Info(op.kind).group) {
    case Group::Structure: return;  // the caller's, or gone
    case Group::Stack: return Moves(op, stack);
    case Group::Field: return Field(op, stack);
    case Group::Words:
    case Group::Word: return Integers(op, stack);
    case Group::Shift: return Shift(op, stack);
    case Group::Streams: return Streams(op, stack);
    case Group::Memory: return Memory(op, stack);
    case Group::Hash: return Hashing(op, stack);
    case Group::Merkle: return Merkle(op, stack);
    case Group::Extension: return Extension(op, stack);
    case Group::Horner: return Horner(op, stack);
  }
}

void TirOps::Moves(const machines::tir::Op& op, Stack& stack) {
  auto at = [&](uint64_t depth) -> ValueId& { return stack[stack.size() - 1 - depth]; };
  switch (op.kind) {
    case Kind::Push: return stack.push_back(Constant(op.number));
    case Kind::Pop: return stack.resize(stack.size() - op.number);
    case Kind::Dup: return stack.push_back(at(op.number));
    case Kind::Swap: return std::swap(at(0), at(op.number));
    case Kind::Pick: {
      const auto from = stack.end() - 1 - static_cast<ptrdiff_t>(op.number);
      const ValueId value = *from;
      stack.erase(from);
      return stack.push_back(value);
    }
    default: {  // place
      const ValueId value = Pop(stack);
      stack.insert(stack.end() - static_cast<ptrdiff_t>(op.number), value);
    }
  }
}

void TirOps::Field(const machines::tir::Op& op, Stack& stack) {
  const ValueId b = Pop(stack);
  switch (op.kind) {
    case Kind::Neg: return stack.push_back(b_.Unary(Op::Neg, b));
    case Kind::Invert: return stack.push_back(b_.Unary(Op::Invert, b));
    case Kind::AddI: return stack.push_back(Plus(b, op.number));
    default: break;
  }
  const ValueId a = Pop(stack);
  if (op.kind == Kind::Eq) return stack.push_back(Word(b_.Binary(Op::Eq, a, b)));
  stack.push_back(b_.Binary(op.kind == Kind::Add   ? Op::Add
                            : op.kind == Kind::Sub ? Op::Sub
                                                   : Op::Mul,
                            a, b));
}

void TirOps::Integers(const machines::tir::Op& op, Stack& stack) {
  const ValueId top = Pop(stack);
  switch (op.kind) {
    case Kind::Split: {
      const ValueId wide = b_.Cast(Op::Cast, top, types::U64);
      const uint64_t words[] = {32, 0xffff'ffffu};
      stack.push_back(Word(b_.Binary(Op::Shr, wide, b_.Const(types::U64, std::span(words, 1)))));
      return stack.push_back(
          Word(b_.Binary(Op::And, wide, b_.Const(types::U64, std::span(words + 1, 1)))));
    }
    case Kind::PopCount: return stack.push_back(Word(b_.Unary(Op::Popcnt, U32(top))));
    case Kind::Log2: {
      const ValueId a = U32(top);
      b_.Emit(Op::Assert, {}, Values{b_.Binary(Op::Ne, a, U32Constant(0))}, {});
      return stack.push_back(Word(b_.Binary(Op::Sub, U32Constant(31), b_.Unary(Op::Clz, a))));
    }
    case Kind::Pow: {
      const ValueId exponent = U32(top);
      const ValueId base = Pop(stack);
      return stack.push_back(b_.Emit1(Op::FieldPow, types::Field, {base, exponent}, types::Field));
    }
    default: break;
  }
  const ValueId a = U32(Pop(stack)), b = U32(top);
  switch (op.kind) {
    case Kind::Lt: return stack.push_back(Word(b_.Binary(Op::Lt, a, b)));
    case Kind::And: return stack.push_back(Word(b_.Binary(Op::And, a, b)));
    case Kind::Or: return stack.push_back(Word(b_.Binary(Op::Or, a, b)));
    case Kind::Xor: return stack.push_back(Word(b_.Binary(Op::Xor, a, b)));
    default:
      stack.push_back(Word(b_.Binary(Op::DivTrunc, a, b)));
      stack.push_back(Word(b_.Binary(Op::RemTrunc, a, b)));
  }
}

void TirOps::Shift(const machines::tir::Op& op, Stack& stack) {
  const ValueId amount = U32(Pop(stack)), x = U32(Pop(stack));
  b_.Binary(Op::SubChecked, U32Constant(31), amount);  // amounts of 32 and more trap
  stack.push_back(Word(b_.Binary(op.kind == Kind::Shl ? Op::Shl : Op::Shr, x, amount)));
}

void TirOps::Streams(const machines::tir::Op& op, Stack& stack) {
  auto output = [&](ValueId value) { b_.Emit(Op::Output, types::Field, Values{value}, {}); };
  switch (op.kind) {
    case Kind::ReadIo:
    case Kind::Hint:
      for (uint64_t i = 0; i < op.number; ++i) {
        stack.push_back(
            b_.Emit1(op.kind == Kind::Hint ? Op::Hint : Op::Input, types::Field, {}, types::Field));
      }
      return;
    case Kind::Reveal: output(Constant(op.tag)); [[fallthrough]];
    case Kind::WriteIo:
      for (uint64_t i = 0; i < op.number; ++i) output(Pop(stack));
      return;
    default: break;
  }
  auto check = [&](ValueId condition) { b_.Emit(Op::Assert, {}, Values{condition}, {}); };
  if (op.number == 1) return check(b_.Binary(Op::Eq, Pop(stack), Constant(1)));
  for (int i = 0; i < 5; ++i) {
    const ValueId other = stack[stack.size() - 6];
    check(b_.Binary(Op::Eq, Pop(stack), other));
  }
}

void TirOps::Memory(const machines::tir::Op& op, Stack& stack) {
  const uint64_t n = op.number;
  switch (op.kind) {
    case Kind::ReadMem: {
      const ValueId p = Pop(stack);
      for (uint64_t i = 0; i < n; ++i) stack.push_back(Load(Plus(p, goldilocks::Neg(i))));
      return stack.push_back(Plus(p, goldilocks::Neg(n)));
    }
    case Kind::WriteMem: {
      const ValueId p = Pop(stack);
      for (uint64_t i = 0; i < n; ++i) Store(Plus(p, i), Pop(stack));
      return stack.push_back(Plus(p, n));
    }
    case Kind::RamRead: {
      const ValueId key = Pop(stack);
      for (uint64_t i = n; i > 0; --i) stack.push_back(Load(Plus(key, i - 1)));
      return;
    }
    default: {
      const Values values = PopMany(stack, n);
      const ValueId key = Pop(stack);
      for (uint64_t i = 0; i < n; ++i) Store(Plus(key, i), values[i]);
    }
  }
}

void TirOps::Hashing(const machines::tir::Op& op, Stack& stack) {
  switch (op.kind) {
    case Kind::Hash: return PushMany(stack, Hash(PopMany(stack, 10)));
    case Kind::Seal: {
      Values ten = {Constant(op.tag)};
      for (ValueId value : PopMany(stack, op.number)) ten.push_back(value);
      while (ten.size() < 10) ten.push_back(Constant(0));
      for (ValueId part : Hash(ten)) b_.Emit(Op::Output, types::Field, Values{part}, {});
      return;
    }
    case Kind::SpongeInit: b_.Emit(Op::SpongeInit, {}, {}, {}); return;
    case Kind::SpongeAbsorb: b_.Emit(Op::SpongeAbsorb, {}, PopMany(stack, 10), {}); return;
    case Kind::SpongeSqueeze:
      return PushMany(stack,
                      b_.Emit(Op::SpongeSqueeze, {}, {}, std::vector<ir::Type>(10, types::Field)));
    default: break;
  }
  const ValueId p = Pop(stack);
  Values ten;
  for (uint64_t i = 0; i < 10; ++i) ten.push_back(Load(Plus(p, i)));
  b_.Emit(Op::SpongeAbsorb, {}, ten, {});
  stack.resize(stack.size() - 4);
  PushMany(stack, std::span(ten).first(4));
  stack.push_back(Plus(p, 10));
}

void TirOps::Merkle(const machines::tir::Op& op, Stack& stack) {
  const Values node = PopMany(stack, 5);
  const ValueId index = U32(Pop(stack));
  if (op.kind == Kind::MerkleStep) {
    const ValueId digest = b_.Emit1(Op::MakeDigest, types::Digest,
                                    {node[0], node[1], node[2], node[3], node[4]}, types::Digest);
    const ir::Type results[] = {types::U32, types::Digest};
    const Values up = b_.Emit(Op::MerkleStep, {}, Values{index, digest}, results);
    stack.push_back(Word(up[0]));
    for (uint64_t i = 5; i > 0; --i)
      stack.push_back(b_.Emit1(Op::PartDigest, types::Digest, {up[1]}, types::Field, {i - 1}));
    return;
  }
  ValueId& pointer = stack[stack.size() - 2];
  const ValueId right =
      b_.Binary(Op::Eq, b_.Binary(Op::And, index, U32Constant(1)), U32Constant(1));
  Values sibling, ten(10);
  for (uint64_t i = 0; i < 5; ++i) sibling.push_back(Load(Plus(pointer, i)));
  for (uint64_t i = 0; i < 5; ++i) {
    ten[i] = b_.Select(right, sibling[i], node[i]);
    ten[i + 5] = b_.Select(right, node[i], sibling[i]);
  }
  pointer = Plus(pointer, 5);
  stack.push_back(Word(b_.Binary(Op::Shr, index, U32Constant(1))));
  PushMany(stack, Hash(ten));
}

void TirOps::Extension(const machines::tir::Op& op, Stack& stack) {
  auto lift = [&](ValueId base) { return b_.Cast(Op::Cast, base, types::XField); };
  switch (op.kind) {
    case Kind::ExtMul: {
      const ValueId scalar = Pop(stack);
      return PushX(stack, b_.Binary(Op::Mul, PopX(stack), lift(scalar)));
    }
    case Kind::ExtInvert: return PushX(stack, b_.Unary(Op::Invert, PopX(stack)));
    case Kind::ExtAdd:
    case Kind::ExtProduct: {
      const ValueId b = PopX(stack), a = PopX(stack);
      return PushX(stack, b_.Binary(op.kind == Kind::ExtAdd ? Op::Add : Op::Mul, a, b));
    }
    default: break;
  }
  const ValueId p = Pop(stack), q = Pop(stack);
  const bool base = op.kind == Kind::FoldBase;
  const ValueId left = base ? lift(Load(p)) : LoadX(p);
  const ValueId product = b_.Binary(Op::Mul, left, LoadX(q));
  PushX(stack, b_.Binary(Op::Add, PopX(stack), product));
  stack.push_back(Plus(q, 3));
  stack.push_back(Plus(p, base ? 1 : 3));
}

void TirOps::Horner(const machines::tir::Op& op, Stack& stack) {
  const Values words = PopMany(stack, 10);
  const bool base = op.kind == Kind::HornerBase;
  auto extension = [&](size_t i) {
    return b_.Emit1(Op::MakeXField, types::XField, {words[i], words[i + 1], words[i + 2]},
                    types::XField);
  };
  const ValueId p = words[5];
  const ValueId coefficient =
      base ? b_.Cast(Op::Cast, Load(p), types::XField) : LoadX(Plus(p, goldilocks::Neg(2)));
  PushX(stack, b_.Binary(Op::Add, b_.Binary(Op::Mul, extension(7), extension(0)), coefficient));
  stack.push_back(words[6]);
  stack.push_back(Plus(p, goldilocks::Neg(base ? 1 : 3)));
  for (size_t i = 5; i > 0; --i) stack.push_back(words[i - 1]);
}

}  // namespace frazil::frontends::tir
