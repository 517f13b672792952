// What is known of a term where the op that it is has not run, and of classes that are made of each other.
#include <gtest/gtest.h>

#include "verify/internal/induction.h"

namespace frazil::verify {
namespace {

using ir::Op;
namespace types = ir::types;

struct Fixture {
  Terms terms;
  TermId Make(Op op, ir::Type type, std::vector<TermId> children) {
    const ir::Type result = op == Op::Lt ? types::Bool : type;
    return terms.Apply(op, type, result, {}, children);
  }
  TermId Number(ir::Type type, uint64_t word) { return terms.Constant(type, std::span(&word, 1)); }
};

// As if a rule said that add.checked is add: the class of the sum would have a range that only holds where it was checked.
TEST(Ranges, ACheckedOpThatHasNotRunSaysNothing) {
  Fixture f;
  Ranges ranges(f.terms);
  const TermId a = f.terms.Leaf(types::I32), b = f.terms.Leaf(types::I32);
  for (const TermId leaf : {a, b}) ranges.Know(leaf, {0, BigInt::PowerOfTwo(31) - 1});
  const TermId sum = f.Make(Op::Add, types::I32, {a, b}),
               checked = f.Make(Op::AddChecked, types::I32, {a, b});
  const TermId three = f.Number(types::I32, 3),
               doubled = f.Make(Op::AddChecked, types::I32, {three, a});
  f.terms.Merge(sum, checked);
  const Interval all = *IntervalOf(types::I32);
  EXPECT_EQ(ranges.Of(sum)->low, all.low);
  EXPECT_EQ(ranges.Of(checked)->low, all.low);
  EXPECT_TRUE(ranges.MayTrap(Op::CastChecked, types::U32, std::span(&checked, 1)));
  EXPECT_EQ(ranges.Of(doubled)->low, all.low);
  bool has_run = false;
  ranges.TellRuns([&](const Terms::Node& node) { return has_run && node.op == Op::AddChecked; });
  EXPECT_EQ(ranges.Of(checked)->low, all.low);
  has_run = true;
  EXPECT_EQ(ranges.Of(checked)->low, BigInt(0));
  EXPECT_EQ(ranges.Of(doubled)->low, BigInt(3));
  EXPECT_FALSE(ranges.MayTrap(Op::CastChecked, types::U32, std::span(&checked, 1)));
}

// acc + ~(i ^ k) is not init + n ~(i ^ k), though x = ~~x makes two classes of each other, so that looking for the index
// comes back to where it began.
TEST(Ranges, WhatVariesIsSeenThroughACycle) {
  for (const bool cycle : {false, true}) {
    Fixture f;
    Ranges ranges(f.terms);
    const ir::Type type = types::I64;
    const TermId low = f.terms.Leaf(type), high = f.terms.Leaf(type), index = f.terms.Leaf(type),
                 init = f.terms.Leaf(type), carried = f.terms.Leaf(type), k = f.terms.Leaf(type);
    const TermId mixed = f.Make(Op::Xor, type, {index, k}), turned = f.Make(Op::Not, type, {mixed});
    if (cycle) f.terms.Merge(f.Make(Op::Not, type, {turned}), mixed);
    const TermId count = f.Make(Op::Sub, type, {high, low});
    const TermId less = f.Make(Op::Lt, type, {low, high});
    auto claim = [&](TermId added) {
      return f.Make(
          Op::Select, type,
          {less, f.Make(Op::Add, type, {init, f.Make(Op::Mul, type, {count, added})}), init});
    };
    SymbolicLoop loop{&f.terms, &ranges, type, low, high, index, init, carried, 0, 0};
    loop.yield = f.Make(Op::Add, type, {carried, turned});
    loop.closed = claim(turned);
    std::string why;
    EXPECT_FALSE(ClosedFormHolds(loop, why)) << cycle;
    // The same with what no turn changes.
    const TermId fixed = f.Make(Op::Xor, type, {init, k});
    loop.yield = f.Make(Op::Add, type, {carried, fixed});
    loop.closed = claim(fixed);
    why.clear();
    EXPECT_TRUE(ClosedFormHolds(loop, why)) << why;
  }
}

}  // namespace
}  // namespace frazil::verify
