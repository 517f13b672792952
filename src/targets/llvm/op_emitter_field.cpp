// The field of p = 2^64 - 2^32 + 1 and its extension, without branches. Inverses are a helper's: a chain of 64
// squarings is better called than written out at every use.
#include "base/check.h"
#include "base/number/goldilocks.h"
#include "targets/llvm/op_emitter.h"

namespace frazil::targets {

using ir::Op;

// a - b, and p more where that is negative; p = -Epsilon modulo 2^64.
llvm::Value* OpEmitter::FieldSub(V a, V b) {
  const V borrow = builder_.CreateICmpULT(a, b);
  const V correction = builder_.CreateSelect(borrow, Int(a, goldilocks::Epsilon), Int(a, 0));
  return builder_.CreateSub(builder_.CreateSub(a, b), correction);
}

// p - b is at most p, so that the difference is as good as the sum.
llvm::Value* OpEmitter::FieldAdd(V a, V b) {
  return FieldSub(a, builder_.CreateSub(Int(a, goldilocks::P), b));
}

llvm::Value* OpEmitter::FieldNeg(V a) {
  const V zero = Int(a, 0);
  return builder_.CreateSelect(builder_.CreateICmpEQ(a, zero), zero,
                               builder_.CreateSub(Int(a, goldilocks::P), a));
}

llvm::Value* OpEmitter::FieldReduce(V a) {
  const V p = Int(a, goldilocks::P);
  return builder_.CreateSelect(builder_.CreateICmpUGE(a, p), builder_.CreateSub(a, p), a);
}

// The product of 128 bits, as low and high word. Lanes have no product wider than twice 32 bits: LLVM would take
// vectors of 128-bit integers apart.
std::pair<llvm::Value*, llvm::Value*> OpEmitter::WideProduct(V a, V b) {
  if (!a->getType()->isVectorTy()) {
    llvm::Type* const wide = builder_.getInt128Ty();
    const V product =
        builder_.CreateMul(builder_.CreateZExt(a, wide), builder_.CreateZExt(b, wide));
    return {builder_.CreateTrunc(product, a->getType()),
            builder_.CreateTrunc(builder_.CreateLShr(product, 64), a->getType())};
  }
  const V mask = Int(a, goldilocks::Epsilon);
  const V a0 = builder_.CreateAnd(a, mask), a1 = builder_.CreateLShr(a, 32);
  const V b0 = builder_.CreateAnd(b, mask), b1 = builder_.CreateLShr(b, 32);
  const V low_low = builder_.CreateMul(a0, b0);
  const V middle = builder_.CreateAdd(builder_.CreateMul(a0, b1), builder_.CreateLShr(low_low, 32));
  const V cross = builder_.CreateAdd(builder_.CreateMul(a1, b0), builder_.CreateAnd(middle, mask));
  const V high = builder_.CreateAdd(
      builder_.CreateAdd(builder_.CreateMul(a1, b1), builder_.CreateLShr(middle, 32)),
      builder_.CreateLShr(cross, 32));
  return {builder_.CreateOr(builder_.CreateShl(cross, 32), builder_.CreateAnd(low_low, mask)),
          high};
}

// goldilocks::Reduce, with a choice for the branch.
llvm::Value* OpEmitter::FieldMul(V a, V b) {
  const auto [low, high] = WideProduct(a, b);
  const V p = Int(a, goldilocks::P);
  const V t = builder_.CreateSub(builder_.CreateShl(high, 32),
                                 builder_.CreateAnd(high, Int(a, goldilocks::Epsilon)));
  const V q = builder_.CreateSub(builder_.CreateAdd(builder_.CreateLShr(high, 32), p), t);
  const V difference = FieldSub(low, q);
  return builder_.CreateSelect(builder_.CreateICmpUGE(difference, p),
                               builder_.CreateAdd(difference, p), difference);
}

llvm::Value* OpEmitter::Field(Op op, std::span<const V> in) {
  auto inverse = [&](V a) {
    return helpers_->CallHelper(exec::NativeHelper::FieldInvert, builder_.getInt64Ty(),
                                std::vector<V>{a});
  };
  switch (op) {
    case Op::Add: return FieldAdd(in[0], in[1]);
    case Op::Sub: return FieldSub(in[0], in[1]);
    case Op::Mul: return FieldMul(in[0], in[1]);
    case Op::Neg: return FieldNeg(in[0]);
    case Op::Invert: return inverse(in[0]);
    case Op::FieldDiv: return FieldMul(in[0], inverse(in[1]));
    default: break;
  }
  CHECK(!"a field op");
  return nullptr;
}

// x^3 = x - 1, x^4 = x^2 - x.
llvm::Value* OpEmitter::XFieldMul(V a, V b) {
  V x[3], y[3];
  for (uint32_t i = 0; i < 3; ++i) {
    x[i] = builder_.CreateExtractValue(a, i);
    y[i] = builder_.CreateExtractValue(b, i);
  }
  const V d0 = FieldMul(x[0], y[0]);
  const V d1 = FieldAdd(FieldMul(x[0], y[1]), FieldMul(x[1], y[0]));
  const V d2 = FieldAdd(FieldAdd(FieldMul(x[0], y[2]), FieldMul(x[2], y[0])), FieldMul(x[1], y[1]));
  const V d3 = FieldAdd(FieldMul(x[1], y[2]), FieldMul(x[2], y[1]));
  const V d4 = FieldMul(x[2], y[2]);
  V result = llvm::PoisonValue::get(a->getType());
  result = builder_.CreateInsertValue(result, FieldSub(d0, d3), 0);
  result = builder_.CreateInsertValue(result, FieldSub(FieldAdd(d1, d3), d4), 1);
  return builder_.CreateInsertValue(result, FieldAdd(d2, d4), 2);
}

llvm::Value* OpEmitter::XField(Op op, std::span<const V> in, int64_t part) {
  auto by_part = [&](auto&& combine) {
    V result = llvm::PoisonValue::get(in[0]->getType());
    for (uint32_t i = 0; i < 3; ++i) result = builder_.CreateInsertValue(result, combine(i), i);
    return result;
  };
  auto of = [&](uint32_t operand, uint32_t i) {
    return builder_.CreateExtractValue(in[operand], i);
  };
  auto inverse = [&](V a) {
    const V words = helpers_->StackWords(0, 3);
    builder_.CreateAlignedStore(a, words, llvm::Align(8));
    helpers_->CallHelper(exec::NativeHelper::XFieldInvert, builder_.getVoidTy(),
                         std::vector<V>{words});
    return builder_.CreateAlignedLoad(a->getType(), words, llvm::Align(8));
  };
  switch (op) {
    case Op::Add: return by_part([&](uint32_t i) { return FieldAdd(of(0, i), of(1, i)); });
    case Op::Sub: return by_part([&](uint32_t i) { return FieldSub(of(0, i), of(1, i)); });
    case Op::Neg: return by_part([&](uint32_t i) { return FieldNeg(of(0, i)); });
    case Op::Mul: return XFieldMul(in[0], in[1]);
    case Op::Invert: return inverse(in[0]);
    case Op::FieldDiv: return XFieldMul(in[0], inverse(in[1]));
    case Op::MakeXField:
    case Op::MakeDigest: {
      V result = llvm::PoisonValue::get(llvm::ArrayType::get(builder_.getInt64Ty(), in.size()));
      for (uint32_t i = 0; i < in.size(); ++i)
        result = builder_.CreateInsertValue(result, in[i], i);
      return result;
    }
    case Op::PartXField:
    case Op::PartDigest: return builder_.CreateExtractValue(in[0], static_cast<uint32_t>(part));
    default: break;
  }
  CHECK(!"an op on field vectors");
  return nullptr;
}

}  // namespace frazil::targets
