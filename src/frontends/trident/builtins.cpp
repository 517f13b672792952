// The built-in functions as IR. Where the IR has no op of the same meaning, the few ops that make it stand here, so that
// every target has every built-in.
#include "frontends/trident/builtins.h"

#include <algorithm>

#include "frontends/trident/body.h"

namespace frazil::frontends::trident {

namespace {

constexpr BuiltinInfo Table[] = {
#define FRAZIL_BUILTIN(id, name, params, result, effect, intrinsic_only, meaning) \
  {Builtin::id, name, params, result, effects::effect, intrinsic_only, meaning},
#include "frontends/trident/builtins.def"
#undef FRAZIL_BUILTIN
};

}  // namespace

std::span<const BuiltinInfo> AllBuiltins() { return Table; }

const BuiltinInfo* FindBuiltin(std::string_view name) {
  for (const BuiltinInfo& builtin : Table)
    if (builtin.name == name) return &builtin;
  return nullptr;
}

bool NeedsRam(Builtin id) {
  return Table[static_cast<size_t>(id)].effect == effects::Ram || id == Builtin::SpongeAbsorbMem;
}

TypeId Body::TypeOfLetters(std::string_view letters) {
  std::vector<TypeId> parts;
  for (char letter : letters) {
    switch (letter) {
      case 'F': parts.push_back(TypeTable::Field); break;
      case 'U': parts.push_back(TypeTable::U32); break;
      case 'B': parts.push_back(TypeTable::Bool); break;
      case 'D': parts.push_back(TypeTable::Digest); break;
      case 'X': parts.push_back(TypeTable::XField); break;
      case '5': parts.push_back(all_.types.Array(TypeTable::Field, 5)); break;
      default: parts.push_back(all_.types.Array(TypeTable::Field, 10)); break;
    }
  }
  return parts.size() == 1 ? parts[0] : all_.types.Tuple(std::move(parts));
}

ir::ValueId Body::Part(ir::ValueId wide, uint32_t part) {
  auto made = made_of_.find(wide.index);
  if (made != made_of_.end()) return made->second[part];
  const ir::Type type = builder_.TypeOf(wide);
  const ir::Op op = type == ir::types::Digest ? ir::Op::PartDigest : ir::Op::PartXField;
  return builder_.Emit1(op, type, {wide}, ir::types::Field, {part});
}

ir::ValueId Body::MakeDigest(std::span<const ir::ValueId> parts) {
  const ir::Type type = ir::types::Digest;
  ir::ValueId digest = builder_.Emit(ir::Op::MakeDigest, type, parts, std::span(&type, 1))[0];
  made_of_[digest.index] = ir::Values(parts.begin(), parts.end());
  return digest;
}

ir::Values Body::Words(const Value& value) {
  ir::Values words;
  for (ir::ValueId leaf : value.leaves) {
    const uint32_t width = ir::WordsOf(builder_.TypeOf(leaf));
    for (uint32_t i = 0; i < width; ++i) words.push_back(width == 1 ? leaf : Part(leaf, i));
  }
  return words;
}

Value Body::FromWords(TypeId type, std::span<const ir::ValueId> words) {
  Value value{type, {}};
  for (ir::Type leaf : all_.types[type].leaves) {
    const uint32_t width = ir::WordsOf(leaf);
    if (width == 5) {
      value.leaves.push_back(MakeDigest(words.first(5)));
    } else if (width == 3) {
      value.leaves.push_back(
          builder_.Emit1(ir::Op::MakeXField, leaf, {words[0], words[1], words[2]}, leaf));
      made_of_[value.leaves.back().index] = {words[0], words[1], words[2]};
    } else {
      value.leaves.push_back(words[0]);
    }
    words = words.subspan(width);
  }
  return value;
}

ir::Values Body::StackWords(const Value& value) {
  ir::Values words;
  for (ir::ValueId leaf : value.leaves) {
    const ir::Type type = builder_.TypeOf(leaf);
    for (uint32_t i = ir::WordsOf(type); ir::WordsOf(type) > 1 && i-- > 0;)
      words.push_back(Part(leaf, i));
    if (ir::WordsOf(type) == 1)
      words.push_back(
          type == ir::types::Field ? leaf : builder_.Cast(ir::Op::Cast, leaf, ir::types::Field));
  }
  return words;
}

// Assembly is trusted with what it does, not with what its results are: a U32 is checked to be one, and so is a Bool.
Value Body::FromStackWords(TypeId type, std::span<const ir::ValueId> words) {
  Value value{type, {}};
  for (ir::Type leaf : all_.types[type].leaves) {
    const uint32_t width = ir::WordsOf(leaf);
    if (width > 1) {
      ir::Values own(words.begin(), words.begin() + width);
      std::reverse(own.begin(), own.end());
      value.leaves.push_back(
          FromWords(width == 5 ? TypeTable::Digest : TypeTable::XField, own).leaves[0]);
    } else if (leaf == ir::types::U32) {
      value.leaves.push_back(AsU32(words[0]));
    } else if (leaf == ir::types::Bool) {
      ir::ValueId one = ConstWord(ir::types::Field, 1);
      Assert(
          builder_.Binary(ir::Op::Eq, builder_.Binary(ir::Op::Mul, words[0], words[0]), words[0]));
      value.leaves.push_back(builder_.Binary(ir::Op::Eq, words[0], one));
    } else {
      value.leaves.push_back(words[0]);
    }
    words = words.subspan(width);
  }
  return value;
}

ir::ValueId Body::AsU32(ir::ValueId field) {
  return builder_.Cast(ir::Op::CastChecked, builder_.Cast(ir::Op::Cast, field, ir::types::U64),
                       ir::types::U32);
}

ir::ValueId Body::Hash(std::span<const ir::ValueId> ten) {
  const ir::Type type = ir::types::Digest;
  return builder_.Emit(ir::Op::Hash, type, ten, std::span(&type, 1))[0];
}

ir::ValueId Body::RamAt(ir::ValueId address, uint64_t offset) {
  if (offset != 0)
    address = builder_.Binary(ir::Op::Add, address, ConstWord(ir::types::Field, offset));
  return builder_.Cast(ir::Op::Cast, builder_.Cast(ir::Op::Cast, address, ir::types::U64),
                       ir::types::Index);
}

ir::Values Body::Emit(Builtin builtin, const ir::Values& a) {
  const ir::Type field = ir::types::Field;
  auto stream = [&](ir::Op op, size_t count) {
    ir::Values values;
    for (size_t i = 0; i < count; ++i) values.push_back(builder_.Emit1(op, field, {}, field));
    return values;
  };
  auto digest = [&](ir::Op op) -> ir::Values {
    ir::Values parts = stream(op, 5);
    std::reverse(parts.begin(), parts.end());
    return {MakeDigest(parts)};
  };
  switch (builtin) {
    case Builtin::PubRead: return stream(ir::Op::Input, 1);
    case Builtin::PubRead2: return stream(ir::Op::Input, 2);
    case Builtin::PubRead3: return stream(ir::Op::Input, 3);
    case Builtin::PubRead4: return stream(ir::Op::Input, 4);
    case Builtin::PubRead5: return digest(ir::Op::Input);
    case Builtin::PubWrite:
    case Builtin::PubWrite2:
    case Builtin::PubWrite3:
    case Builtin::PubWrite4:
    case Builtin::PubWrite5:
      for (ir::ValueId value : a) builder_.Emit(ir::Op::Output, field, std::span(&value, 1), {});
      return {};
    case Builtin::Divine: return stream(ir::Op::Hint, 1);
    case Builtin::Divine3: return stream(ir::Op::Hint, 3);
    case Builtin::Divine5: return digest(ir::Op::Hint);
    case Builtin::FieldAdd: return {builder_.Binary(ir::Op::Add, a[0], a[1])};
    case Builtin::FieldMul: return {builder_.Binary(ir::Op::Mul, a[0], a[1])};
    case Builtin::FieldPow: return {builder_.Emit1(ir::Op::FieldPow, field, {a[0], a[1]}, field)};
    case Builtin::Sub: return {builder_.Binary(ir::Op::Sub, a[0], a[1])};
    case Builtin::Neg: return {builder_.Unary(ir::Op::Neg, a[0])};
    case Builtin::Inv: return {builder_.Unary(ir::Op::Invert, a[0])};
    case Builtin::Split: {
      ir::ValueId wide = builder_.Cast(ir::Op::Cast, a[0], ir::types::U64);
      ir::ValueId high = builder_.Binary(ir::Op::Shr, wide, ConstWord(ir::types::U64, 32));
      return {builder_.Cast(ir::Op::Cast, high, ir::types::U32),
              builder_.Cast(ir::Op::Cast, wide, ir::types::U32)};
    }
    case Builtin::AsU32: return {AsU32(a[0])};
    case Builtin::AsField: return {builder_.Cast(ir::Op::Cast, a[0], field)};
    // 31 - clz, which is 32 for 0 and makes the difference trap.
    case Builtin::Log2:
      return {builder_.Binary(ir::Op::SubChecked, ConstWord(ir::types::U32, 31),
                              builder_.Unary(ir::Op::Clz, a[0]))};
    case Builtin::Pow: return builder_.Call(all_.PowFunction(), a);
    case Builtin::Popcount: return {builder_.Unary(ir::Op::Popcnt, a[0])};
    case Builtin::Assert: Assert(a[0]); return {};
    case Builtin::AssertEq:
    case Builtin::AssertDigest: Assert(builder_.Binary(ir::Op::Eq, a[0], a[1])); return {};
    case Builtin::Hash:
    case Builtin::Tip5: return {Hash(a)};
    case Builtin::SpongeInit: builder_.Emit(ir::Op::SpongeInit, {}, {}, {}); return {};
    case Builtin::SpongeAbsorb: builder_.Emit(ir::Op::SpongeAbsorb, {}, a, {}); return {};
    case Builtin::SpongeSqueeze: {
      const std::vector<ir::Type> types(10, field);
      return builder_.Emit(ir::Op::SpongeSqueeze, {}, {}, types);
    }
    case Builtin::MerkleStep: {
      const ir::Type types[] = {ir::types::U32, ir::types::Digest};
      return builder_.Emit(ir::Op::MerkleStep, {}, a, types);
    }
    case Builtin::XFieldNew: return FromWords(TypeTable::XField, a).leaves;
    case Builtin::XInvert: return {builder_.Unary(ir::Op::Invert, a[0])};
    default: return EmitMemory(builtin, a);
  }
}

ir::Values Body::EmitMemory(Builtin builtin, const ir::Values& a) {
  auto load = [&](ir::ValueId address, size_t count) {
    ir::Values values;
    for (size_t i = 0; i < count; ++i) values.push_back(builder_.Load(ram_, RamAt(address, i)));
    return values;
  };
  auto on = [&](ir::ValueId address, uint64_t by) {
    return builder_.Binary(ir::Op::Add, address, ConstWord(ir::types::Field, by));
  };
  auto extension = [&](ir::ValueId address) {
    return FromWords(TypeTable::XField, load(address, 3)).leaves[0];
  };
  switch (builtin) {
    case Builtin::RamRead: return load(a[0], 1);
    case Builtin::RamWrite: builder_.Store(ram_, RamAt(a[0], 0), a[1]); return {};
    case Builtin::RamReadBlock: return load(a[0], 5);
    case Builtin::RamWriteBlock:
      for (uint32_t i = 0; i < 5; ++i) builder_.Store(ram_, RamAt(a[0], i), Part(a[1], i));
      return {};
    case Builtin::SpongeAbsorbMem: return Emit(Builtin::SpongeAbsorb, load(a[0], 10));
    case Builtin::MerkleStepMem: {
      ir::ValueId sibling = MakeDigest(load(a[0], 5));
      ir::ValueId odd = builder_.Binary(ir::Op::And, a[1], ConstWord(ir::types::U32, 1));
      ir::ValueId is_odd = builder_.Binary(ir::Op::Ne, odd, ConstWord(ir::types::U32, 0));
      ir::ValueId left = builder_.Select(is_odd, sibling, a[2]);
      ir::ValueId right = builder_.Select(is_odd, a[2], sibling);
      ir::Values ten;
      for (ir::ValueId half : {left, right})
        for (uint32_t i = 0; i < 5; ++i) ten.push_back(Part(half, i));
      return {on(a[0], 5), builder_.Binary(ir::Op::Shr, a[1], ConstWord(ir::types::U32, 1)),
              Hash(ten)};
    }
    case Builtin::XxDotStep: {
      ir::ValueId left = extension(a[1]);
      ir::ValueId right = extension(a[2]);
      return {builder_.Binary(ir::Op::Add, a[0], builder_.Binary(ir::Op::Mul, left, right)),
              on(a[1], 3), on(a[2], 3)};
    }
    case Builtin::XbDotStep: {
      ir::ValueId left = extension(a[1]);
      ir::ValueId right = builder_.Cast(ir::Op::Cast, load(a[2], 1)[0], ir::types::XField);
      return {builder_.Binary(ir::Op::Add, a[0], builder_.Binary(ir::Op::Mul, left, right)),
              on(a[1], 3), on(a[2], 1)};
    }
    default: return {};
  }
}

// 0 and 1 are their own powers; any other base overflows within 32 factors, so the loop is short.
ir::FuncId Elaborator::PowFunction() {
  if (pow_.valid()) return pow_;
  const ir::Type u32 = ir::types::U32;
  ir::FunctionBuilder b(program, "u32..pow", {u32, u32}, {u32});
  auto constant = [&](ir::Type type, uint64_t word) { return b.Const(type, std::span(&word, 1)); };
  ir::ValueId base = b.Param(0), exponent = b.Param(1);
  b.Name(base, "base");
  b.Name(exponent, "exponent");
  ir::ValueId one = constant(u32, 1);
  ir::ValueId small = b.Binary(ir::Op::Le, base, one);
  ir::ValueId times = b.Select(small, b.Binary(ir::Op::Min, exponent, one),
                               b.Binary(ir::Op::Min, exponent, constant(u32, 32)));
  ir::ValueId end = b.Cast(ir::Op::Cast, times, ir::types::Index);
  ir::Values result = b.For(constant(ir::types::Index, 0), end, 1, std::span(&one, 1),
                            [&](ir::ValueId, std::span<const ir::ValueId> carried) -> ir::Values {
                              return {b.Binary(ir::Op::MulChecked, carried[0], base)};
                            });
  b.Return(result);
  pow_ = b.Finish();
  return pow_;
}

}  // namespace frazil::frontends::trident
