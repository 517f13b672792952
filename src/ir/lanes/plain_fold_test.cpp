// What a fold is made of is read off it, and nothing is that does more than load at its index and compute.
#include "ir/lanes/plain_fold.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/lower/lower.h"

namespace frazil::ir {
namespace {

using Element = std::function<ValueId(FunctionBuilder&, ValueId)>;

// fold(%a: buffer, %b: buffer, %n: index) -> element
Program MakeFold(ReduceKind kind, Type type, const Element& element, uint64_t chains = FoldChains) {
  Program program;
  FunctionBuilder b(program, "fold", {Type::Buffer(type), Type::Buffer(type), types::Index},
                    {type});
  b.Return({b.Fold(kind, type, b.Param(2), chains, FoldBlock,
                   [&](ValueId i) { return element(b, i); })});
  b.Finish();
  return program;
}

ValueId LoadA(FunctionBuilder& b, ValueId i) { return b.Load(b.Param(0), i); }

std::optional<PlainFold> Read(const Program& program) {
  const Function& function = program.entry_function();
  std::optional<PlainFold> found;
  for (InstId id : function.region(function.body).insts)
    if (auto fold = ReadPlainFold(program, id)) found = fold;
  return found;
}

TEST(PlainFold, EveryKindAndType) {
  for (Type type : {types::F32, types::F64, types::I32, types::U8, types::Index}) {
    for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Product, ReduceKind::Min}) {
      const Program program = MakeFold(kind, type, LoadA);
      const std::optional<PlainFold> fold = Read(program);
      ASSERT_TRUE(fold);
      EXPECT_EQ(fold->kind, kind);
      EXPECT_EQ(fold->type, type);
      EXPECT_EQ(fold->count, program.entry_function().param(2));
      EXPECT_EQ(fold->buffers, std::vector<ValueId>{program.entry_function().param(0)});
      EXPECT_EQ(fold->element.size(), 1u);
      EXPECT_TRUE(fold->outside.empty());
    }
  }
  EXPECT_FALSE(Read(MakeFold(ReduceKind::Sum, types::F32, LoadA, 32)));
}

TEST(PlainFold, ElementsMayBeComputedButNotTrap) {
  const auto product = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::Mul, LoadA(b, i), b.Load(b.Param(1), i));
  };
  const std::optional<PlainFold> fold = Read(MakeFold(ReduceKind::Max, types::F32, product));
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->buffers.size(), 2u);
  EXPECT_EQ(fold->element.size(), 3u);
  const auto divided = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::DivFloor, LoadA(b, i), b.ConstInt(types::I32, 3));
  };
  EXPECT_TRUE(Read(MakeFold(ReduceKind::Sum, types::I32, divided)));
  const auto traps = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::DivFloor, LoadA(b, i), b.Load(b.Param(1), i));
  };
  EXPECT_FALSE(Read(MakeFold(ReduceKind::Sum, types::I32, traps)));
  const auto elsewhere = [](FunctionBuilder& b, ValueId i) {
    return b.Load(b.Param(0), b.Binary(Op::Add, i, i));
  };
  EXPECT_FALSE(Read(MakeFold(ReduceKind::Sum, types::I32, elsewhere)));
  // Math, also where it has become calls.
  const auto math = [](FunctionBuilder& b, ValueId i) { return b.Unary(Op::Exp, LoadA(b, i)); };
  const Program exp = MakeFold(ReduceKind::Sum, types::F32, math);
  EXPECT_TRUE(Read(exp));
  EXPECT_TRUE(Read(*ExpandPrelude(exp)));
}

TEST(PlainFold, WhatComesFromOutsideIsTold) {
  Program program;
  FunctionBuilder b(program, "fold", {types::F32, types::Index}, {types::F32});
  b.Return({b.Fold(ReduceKind::Sum, types::F32, b.Param(1), FoldChains, FoldBlock,
                   [&](ValueId) { return b.Param(0); })});
  b.Finish();
  const std::optional<PlainFold> fold = Read(program);
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->outside, std::vector<ValueId>{program.entry_function().param(0)});
  EXPECT_TRUE(fold->element.empty());
}

}  // namespace
}  // namespace frazil::ir
