// The normal form of choices: what must be one term, what must not, and that two terms with one number never have two values.
#include <gtest/gtest.h>

#include <algorithm>

#include "verify/tasm/terms/facts.h"

namespace frazil::verify::tasm {
namespace {

namespace gl = goldilocks;

struct Fixture {
  Terms t{Seed({"test"})};
  Term a = t.Atom(Base::Input, 0, 0), b = t.Atom(Base::Input, 0, 1), x = t.Atom(Base::Input, 0, 2);
  Term c = t.Less(a, b);
  Term N(uint64_t number) { return t.Constant(number); }
};

TEST(TasmGuarded, ChoicesAndArithmeticThatChoosesAreOne) {
  Fixture f;
  Terms& t = f.t;
  const Term small = t.Choice(f.c, f.a, f.b);
  EXPECT_EQ(small, t.Add(f.b, t.Mul(f.c, t.Sub(f.a, f.b))));
  EXPECT_EQ(small, t.Choice(t.Sub(f.N(1), f.c), f.b, f.a));
  EXPECT_EQ(t.Sub(t.Add(f.a, f.b), small), t.Choice(f.c, f.b, f.a));
  EXPECT_NE(small, t.Choice(f.c, f.b, f.a));
  EXPECT_NE(small, t.Choice(t.Less(f.b, f.a), f.a, f.b));
  // Chosen between again by the same, and by another.
  EXPECT_EQ(t.Choice(f.c, small, f.x), t.Choice(f.c, f.a, f.x));
  const Term d = t.IsZero(f.x);
  EXPECT_EQ(t.Choice(d, t.Choice(f.c, f.a, f.b), f.x),
            t.Choice(f.c, t.Choice(d, f.a, f.x), t.Choice(d, f.b, f.x)));
  EXPECT_EQ(t.Mul(d, d), d);
  EXPECT_NE(t.Mul(f.x, f.x), f.x);
}

TEST(TasmGuarded, ZeroTestsThatExcludeEachOther) {
  Fixture f;
  Terms& t = f.t;
  auto at = [&](Term term, uint64_t number) { return t.IsZero(t.Sub(term, f.N(number))); };
  EXPECT_EQ(t.Mul(at(f.a, 1), at(f.a, 2)), f.N(0));
  EXPECT_EQ(t.Mul(at(f.a, 1), t.Add(at(f.a, 2), f.x)), t.Mul(at(f.a, 1), f.x));
  EXPECT_NE(t.Mul(at(f.a, 1), at(f.b, 2)), f.N(0));
  EXPECT_NE(t.Mul(at(f.a, 1), at(t.Add(f.a, f.x), 2)), f.N(0));
  EXPECT_NE(t.Mul(f.c, at(f.a, 2)), f.N(0));
  EXPECT_EQ(at(t.Scale(f.a, 2), 2), at(f.a, 1));
}

TEST(TasmGuarded, TestsOfWhatIsOneOrNothing) {
  Fixture f;
  Terms& t = f.t;
  const Term odd = t.Remainder(f.a, f.N(2)), third = t.Remainder(f.a, f.N(3));
  auto is_one = [&](Term term) { return t.IsZero(t.Sub(term, f.N(1))); };
  EXPECT_EQ(is_one(odd), t.Sub(f.N(1), t.IsZero(odd)));
  EXPECT_EQ(t.IsZero(t.Sub(f.N(1), odd)), is_one(odd));
  EXPECT_NE(is_one(third), t.Sub(f.N(1), t.IsZero(third)));
}

// 2 s + 1 is below 2^32, so 2 s is; x + 1 may be 0, and then x is the largest element.
TEST(TasmGuarded, RangesOfWhatDiffersByANumber) {
  Fixture f;
  Terms& t = f.t;
  const Term twice = t.Add(f.a, f.a), more = t.Add(twice, f.N(1)), next = t.Add(f.x, f.N(1));
  Facts below(t);
  ASSERT_TRUE(below.Assume(Below32(f.a)) && below.Assume(Below32(more)) &&
              below.Assume(Below32(next)));
  EXPECT_EQ(below.Decide(Below32(twice)), true);
  EXPECT_EQ(below.Decide(Below32(t.Add(twice, f.N(2)))), std::nullopt);
  EXPECT_EQ(below.Decide(Below32(f.x)), std::nullopt);
  Facts above(t);
  ASSERT_TRUE(above.Assume(Below32(f.a)) && above.Assume(Not(Below32(twice))) &&
              above.Assume(Not(Below32(f.x))));
  EXPECT_EQ(above.Decide(Below32(more)), false);
  EXPECT_EQ(above.Decide(Below32(t.Sub(twice, f.N(1)))), std::nullopt);
  EXPECT_EQ(above.Decide(Below32(next)), std::nullopt);
}

// n mod (c k) was computed only where c is 1; elsewhere the same polynomial is n, of which nothing is known.
TEST(TasmGuarded, NoRangeWhereNothingWasDivided) {
  Fixture f;
  Terms& t = f.t;
  EXPECT_LT(t.Range(t.Remainder(f.x, f.N(7))).high, 7u);
  const Term chosen = t.Choice(f.c, t.Remainder(f.x, t.Mul(f.c, f.N(7))), f.x);
  EXPECT_EQ(t.Range(chosen).high, gl::P - 1);
  Facts facts(t);
  EXPECT_FALSE(facts.Decide(Below32(chosen)).has_value());
}

TEST(TasmGuarded, CasesOfFacts) {
  Fixture f;
  Terms& t = f.t;
  Facts facts(t);
  ASSERT_TRUE(facts.Assume(Below32(f.a)));
  const Term chosen = t.Choice(f.c, f.a, f.b);
  EXPECT_FALSE(facts.Decide(Below32(chosen)).has_value());
  ASSERT_TRUE(facts.Assume(Below32(f.b)));
  EXPECT_TRUE(facts.Decide(Below32(chosen)).value_or(false));
  // 5 + c x = 0 is impossible without c.
  EXPECT_FALSE(facts.Decide(NonZero(f.c)).has_value());
  ASSERT_TRUE(facts.Assume(Zero(t.Add(f.N(5), t.Mul(f.c, f.x)))));
  EXPECT_TRUE(facts.Decide(NonZero(f.c)).value_or(false));
  EXPECT_TRUE(facts.Decide(Zero(t.Add(f.x, f.N(5)))).value_or(false));
  // By ranges: below 10 is below 32, and not known to be below 9.
  Facts ranges(t);
  ASSERT_TRUE(ranges.Assume(NonZero(t.Less(f.a, f.N(10)))));
  EXPECT_TRUE(ranges.Decide(NonZero(t.Less(f.a, f.N(32)))).value_or(false));
  EXPECT_FALSE(ranges.Decide(NonZero(t.Less(f.a, f.N(9)))).has_value());
}

class Evaluator {
 public:
  static constexpr size_t Points = 16;
  using Values = std::array<uint64_t, Points>;

  explicit Evaluator(uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15u + 1) {
    for (uint64_t i = 0; i < 4; ++i) {
      Values values;
      for (uint64_t& value : values) value = Below(4);
      Add(terms_.Atom(Base::Input, 0, i), values);
    }
    for (uint64_t number : {0, 1, 2, 3}) {
      Values values;
      values.fill(number);
      Add(terms_.Constant(number), values);
    }
  }

  void Step() {
    const size_t i = Below(pool_.size()), j = Below(pool_.size()), k = Below(pool_.size());
    const auto [a, va] = pool_[i];
    const auto [b, vb] = pool_[j];
    const auto [c, vc] = pool_[k];
    Values out;
    auto each = [&](auto f) {
      for (size_t p = 0; p < Points; ++p) out[p] = f(va[p], vb[p], vc[p]);
    };
    const bool small = std::ranges::all_of(va, [](uint64_t v) { return v >> 32 == 0; }) &&
                       std::ranges::all_of(vb, [](uint64_t v) { return v >> 32 == 0; });
    switch (Below(7)) {
      case 0:
        each([](auto x, auto y, auto) { return gl::Add(x, y); });
        return Add(terms_.Add(a, b), out);
      case 1:
        each([](auto x, auto y, auto) { return gl::Sub(x, y); });
        return Add(terms_.Sub(a, b), out);
      case 2:
        each([](auto x, auto y, auto) { return gl::Mul(x, y); });
        return Add(terms_.Mul(a, b), out);
      case 3:
        each([](auto x, auto, auto) { return uint64_t{x == 0}; });
        return Add(terms_.IsZero(a), out);
      case 4:
        if (!small) return;
        each([](auto x, auto y, auto) { return uint64_t{x < y}; });
        return Add(terms_.Less(a, b), out);
      case 5: each([](auto x, auto, auto) { return x >> 32; }); return Add(terms_.High(a), out);
      default:
        each([](auto x, auto y, auto z) { return z == 0 ? x : y; });
        return Add(terms_.Choice(terms_.IsZero(c), a, b), out);
    }
  }

 private:
  uint64_t Below(uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % bound;
  }

  void Add(Term term, const Values& values) {
    const Interval range = terms_.Range(term);
    for (uint64_t value : values) {
      EXPECT_GE(value, range.low);
      EXPECT_LE(value, range.high);
    }
    for (const auto& [other, known] : pool_) {
      if (other == term) {
        EXPECT_EQ(known, values);
        return;
      }
    }
    if (terms_.Lead(term) != NoTerm) {
      Term at0, at1;
      terms_.Cofactors(term, at0, at1);
      EXPECT_EQ(terms_.Choice(terms_.Lead(term), at1, at0), term);
    }
    pool_.emplace_back(term, values);
    if (pool_.size() > 60) pool_.erase(pool_.begin() + 8 + static_cast<long>(Below(40)));
  }

  Terms terms_{Seed({"test"})};
  uint64_t state_;
  std::vector<std::pair<Term, Values>> pool_;
};

TEST(TasmGuarded, OneTermHasOneValue) {
  for (uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    Evaluator evaluator(seed);
    for (int i = 0; i < 300 && !HasFailure(); ++i) evaluator.Step();
  }
}

}  // namespace
}  // namespace frazil::verify::tasm
