// Where terms are evaluated: at points that nobody could know who wrote the programs, and enough of them.
#include "verify/tasm/terms/points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ir/text/test_ops.h"
#include "ir/text/text.h"
#include "verify/tasm/compare.h"
#include "verify/tasm/terms/rules.h"

namespace frazil::verify::tasm {
namespace {

namespace gl = goldilocks;

mt::Program Read(std::string_view text) {
  auto program = mt::Parse(text);
  EXPECT_TRUE(program.has_value()) << text;
  return program.has_value() ? *program : mt::Program{};
}

// They differ on the input 5, 2106096366537099361; the difference is a product that is 0 at three points, those that every
// comparison once had.
constexpr std::string_view Planted =
    "read_io 2 dup 0 mul push 15273310509110015432 eq swap 1 dup 0 addi 1 push 11 "
    "swap 1 pow dup 0 mul dup 1 addi 8141483336089211019 dup 2 addi "
    "15212448419080784341 mul dup 2 addi 8765333994882592009 mul dup 1 add dup 1 push "
    "-1 mul add dup 3 mul add write_io 1 halt";
constexpr std::string_view Plain =
    "read_io 2 pop 1 addi 1 push 11 swap 1 pow dup 0 mul write_io 1 halt";

TEST(TasmPoints, ADifferenceThatIsZeroAtThreePoints) {
  const mt::Program planted = Read(Planted), plain = Read(Plain);
  EXPECT_FALSE(CallsEqual(Compare(planted, plain)));
  EXPECT_FALSE(CallsEqual(Compare(plain, planted)));
  EXPECT_TRUE(CallsEqual(Compare(planted, planted)));  // nothing else stands in the way
  MachineStart inputs;
  inputs.inputs.input = {5, 2106096366537099361u};
  EXPECT_TRUE(Replays(planted, plain, inputs, false));
}

// What once were the points of every comparison, three coordinates to a symbol, in the order in which symbols come up.
std::array<uint64_t, 3> OncePoints(uint64_t symbol) {
  uint64_t state = 0x5eed;
  std::array<uint64_t, 3> values{};
  for (uint64_t i = 0; i <= symbol; ++i) {
    for (uint64_t& value : values) {
      do {
        uint64_t z = (state += 0x9e37'79b9'7f4a'7c15u);
        z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
        z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
        value = z ^ (z >> 31);
      } while (value >= gl::P);
    }
  }
  return values;
}

// x above e becomes q = (x + 1)^22 and, where e is not 0, q + (x - p)(x - q)(x - r).
std::string Planting(uint64_t symbol) {
  const auto [p, q, r] = OncePoints(symbol);
  return fmt::format(
      "dup 0; addi 1; push 11; swap 1; pow; dup 0; mul; dup 1; addi {}; dup 2; addi {}; mul; dup "
      "2; "
      "addi {}; mul; dup 1; add; dup 1; push {}; mul; add; dup 3; mul; add",
      gl::P - p, gl::P - q, gl::P - r, gl::P - 1);
}
constexpr std::string_view NothingPlanted = "dup 0; addi 1; push 11; swap 1; pow; dup 0; mul";

mt::Program WithRare(std::string lines) {
  std::ranges::replace(lines, ';', ' ');
  return Read("read_io 2 dup 0 mul push 15273310509110015432 eq swap 1 " + lines +
              " write_io 1 halt");
}

// The same against a program of the IR and in a rewrite: every place that makes terms has points of its own.
TEST(TasmPoints, NeitherIrNorRulesHaveKnownPoints) {
  const auto source = ir::ParseText(
      "frz 1\n" +
      ir::OpsFunction("field", "x y",
                      "one = const 1; b = add x one; b2 = mul b b; b4 = mul b2 b2; "
                      "b5 = mul b4 b; b10 = mul b5 b5; b11 = mul b10 b; b22 = mul b11 b11"));
  ASSERT_TRUE(source.has_value()) << source.error().ToString();
  const std::string plain(NothingPlanted);
  const Verdict right = Compare(*source, WithRare(plain));
  EXPECT_TRUE(CallsEqual(right)) << Describe(right);
  const auto rule =
      ProveRule("push b; push a; " + plain, "push b; push a; " + plain + "; addi 0", "");
  ASSERT_TRUE(rule.has_value()) << rule.error().message;
  EXPECT_TRUE(CallsEqual(*rule)) << Describe(*rule);
  for (uint64_t symbol = 0; symbol < 64; ++symbol) {
    const std::string planted = Planting(symbol);
    EXPECT_FALSE(CallsEqual(Compare(*source, WithRare(planted)))) << symbol;
    EXPECT_FALSE(CallsEqual(Compare(WithRare(plain), WithRare(planted)))) << symbol;
    const auto wrong = ProveRule("push b; push a; " + planted, "push b; push a; " + plain, "");
    ASSERT_TRUE(wrong.has_value()) << wrong.error().message;
    EXPECT_EQ(VerdictName(*wrong), "unknown") << symbol;
  }
}

// (x + 1)^22, which is not expanded, plus the product of x - r over the first coordinates that a seed gives.
Term Plant(Terms& terms, const Seed& known) {
  const Term x = terms.Atom(Base::Input, 0, 0);
  const Term power = terms.Power(terms.Add(x, terms.Constant(1)), terms.Constant(11));
  const Term opaque = terms.Mul(power, power);
  Term product = terms.Constant(1);
  for (const uint64_t root : Points(known).Next())
    product = terms.Mul(product, terms.Sub(x, terms.Constant(root)));
  return terms.Sub(terms.Add(opaque, product), opaque);
}

TEST(TasmPoints, APlantNeedsTheSeedOfThePairThatIsCompared) {
  const mt::Program a = Read("read_io 1 write_io 1 halt"),
                    b = Read("read_io 1 addi 0 write_io 1 halt");
  const Options options;
  Options others;
  others.fragments = true;
  Options longer;
  ++longer.steps;
  const Seed seed = SeedOf(a, b, options);
  Terms known(seed);
  EXPECT_EQ(Plant(known, seed), known.Constant(0));  // whoever knows the points can
  for (const Seed& other : {SeedOf(b, a, options), SeedOf(a, a, options), SeedOf(b, b, options),
                            SeedOf(a, b, others), SeedOf(a, b, longer)}) {
    Terms terms(other);
    EXPECT_NE(Plant(terms, seed), terms.Constant(0));
    EXPECT_EQ(Plant(terms, other), terms.Constant(0));
  }
}

TEST(TasmPoints, PartsOfASeedDoNotRunTogether) {
  std::set<std::string> seeds;
  for (const Seed& seed : {Seed({"ab", "c"}), Seed({"a", "bc"}), Seed({"abc"}), Seed({"abc", ""}),
                           Seed({"", "abc"}), Seed({"1:a", "bc"})})
    seeds.emplace(seed.bytes());
  EXPECT_EQ(seeds.size(), 6u);
  Points points(Seed({"abc"}));
  std::set<uint64_t> values;
  for (int i = 0; i < 1000; ++i) {
    for (const uint64_t value : points.Next()) {
      EXPECT_LT(value, gl::P);
      values.insert(value);
    }
  }
  EXPECT_EQ(values.size(), 3000u);
}

// Every search among n terms compares with all of them, whether something is found or not.
TEST(TasmPoints, TheErrorCountsEveryComparison) {
  Terms terms(Seed({"test"}));
  EXPECT_EQ(terms.ErrorBound(), 0);
  const Term x = terms.Atom(Base::Input, 0, 0);
  const Term power = terms.Power(terms.Add(x, terms.Constant(1)), terms.Constant(11));
  EXPECT_EQ(terms.ErrorBound(), 0);
  const Term opaque = terms.Mul(power, power);
  const double one = std::pow(22 / static_cast<double>(gl::P), 3);
  double least = terms.ErrorBound();
  EXPECT_GE(least, one);
  for (uint64_t i = 1; i < 100; ++i) {
    const size_t before = terms.size();
    terms.Add(opaque, terms.Constant(i));
    least += static_cast<double>(before) * one;
    EXPECT_GE(terms.ErrorBound(), least * 0.999) << i;
    least = terms.ErrorBound();
  }
}

// At a degree of 2^28 three points leave an error of 2^-94, and 2^94 programs have one pair among them that deceives.
TEST(TasmPoints, TooHighADegreeIsNotCalledEqual) {
  auto programs = [](int squares) {
    std::string text = "read_io 1 addi 1 push 11 swap 1 pow ";
    for (int i = 0; i < squares; ++i) text += "dup 0 mul ";
    return std::pair(Read(text + "addi 1 addi 2 write_io 1 halt"),
                     Read(text + "push 3 add write_io 1 halt"));
  };
  const auto [low, low_again] = programs(10);
  const Verdict equal = Compare(low, low_again);
  EXPECT_EQ(VerdictName(equal), "tested") << Describe(equal);
  EXPECT_NE(Describe(equal).find("degree at most 11264, at 3 points; error at most 2^-1"),
            std::string::npos)
      << Describe(equal);
  const auto [high, high_again] = programs(25);
  const Verdict unknown = Compare(high, high_again);
  EXPECT_EQ(VerdictName(unknown), "unknown");
  EXPECT_NE(Describe(unknown).find("degrees up to 369098752"), std::string::npos)
      << Describe(unknown);
}

}  // namespace
}  // namespace frazil::verify::tasm
