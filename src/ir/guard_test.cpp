#include "ir/guard.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Program Example() {
  Result<Program> program = ParseText(R"(frz 1
func @main(%a: i32, %x: in buffer<f32>, %y: buffer<f32>, %f: f64, %z: buffer<u8>, %e: xfield, %n: index,
           %t: tensor<f32, [%n]>) {
  return
}
)");
  EXPECT_TRUE(program) << program.error().ToString();
  return *program;
}

TEST(Guard, TextRoundTrips) {
  Program program = Example();
  for (std::string_view text : {
           "true",
           "arg0 == 5 && len(arg1) % 8 == 0 && align(arg1) >= 32 && disjoint(arg1, arg2) && "
           "cpu(avx2)",
           "-3 <= arg0 <= 10",
           "arg3 == nan",
           "arg3 == -0",
           "-inf <= arg3 <= 1.5",
           "arg5 == (1, 2, 3)",
           "len(arg7) == 0 && len(arg4) >= 17 && stride(arg2) == 1 && same(arg2, arg1)",
           "cpu(sse4.2) && cpu(neon)",
           "apart(arg2, arg4; arg1)",
           "apart(arg1, arg2)",
           "0 <= arg6 <= 9 && apart(arg2; arg1, arg4) && cover(arg6; arg1, arg2, arg4)",
       }) {
    Result<Guard> guard = ParseGuard(text, program);
    ASSERT_TRUE(guard) << text << ": " << guard.error().ToString();
    EXPECT_EQ(PrintGuard(*guard), text);
  }
}

TEST(Guard, ReadsLooseSpacing) {
  Result<Guard> guard = ParseGuard("  arg0==5&&1<=arg0<=9 && len( arg1 )%4==0 ", Example());
  ASSERT_TRUE(guard) << guard.error().ToString();
  EXPECT_EQ(PrintGuard(*guard), "arg0 == 5 && 1 <= arg0 <= 9 && len(arg1) % 4 == 0");
}

struct Mistake {
  std::string_view text;
  uint32_t column;
};

TEST(Guard, MistakesAreLocated) {
  Program program = Example();
  for (Mistake mistake : {
           Mistake{"", 1},
           Mistake{"arg0 == 5 &&", 13},
           Mistake{"arg9 == 5", 1},
           Mistake{"arg99999999999999999999 == 5", 4},
           Mistake{"arg0 == 3000000000", 9},
           Mistake{"arg0 == 5 && arg1 == 5", 22},
           Mistake{"arg0 == 5 && len(arg0) == 5", 14},
           Mistake{"len(arg1) % 0 == 0", 1},
           Mistake{"len(arg1) == -1", 1},
           Mistake{"len(arg1) < 4", 11},
           Mistake{"align(arg1) >= 24", 1},
           Mistake{"align(arg1) >= 8192", 1},
           Mistake{"9 <= arg0 <= 1", 1},
           Mistake{"nan <= arg3 <= 1", 1},
           Mistake{"(1, 2, 3) <= arg5 <= (1, 2, 3)", 1},
           Mistake{"same(arg1, arg1)", 1},
           Mistake{"same(arg1, arg4)", 1},
           Mistake{"disjoint(arg1, arg0)", 1},
           Mistake{"apart()", 7},
           Mistake{"apart(arg1)", 1},
           Mistake{"apart(arg1, arg1)", 1},
           Mistake{"apart(arg1; arg2, arg1)", 1},
           Mistake{"apart(arg1, arg0)", 1},
           Mistake{"apart(arg1; arg2", 17},
           Mistake{"apart(; arg1, arg2)", 7},
           Mistake{"cover(arg6)", 11},
           Mistake{"cover(arg6; arg1, arg6)", 1},
           Mistake{"cover(arg0; arg1)", 1},
           Mistake{"cover(arg1; arg2)", 1},
           Mistake{"cover(arg6; arg1, arg1)", 1},
           Mistake{"cover(arg6; arg8)", 13},
           Mistake{"cpu(z80)", 5},
           Mistake{"cpu(avx2) x", 11},
           Mistake{"arg0 < 5", 6},
       }) {
    Result<Guard> guard = ParseGuard(mistake.text, program);
    ASSERT_FALSE(guard) << mistake.text;
    EXPECT_EQ(guard.error().diag, Diag::BadGuard) << mistake.text;
    EXPECT_EQ(guard.error().location.line, 1u) << mistake.text;
    EXPECT_EQ(guard.error().location.column, mistake.column)
        << mistake.text << ": " << guard.error().ToString();
  }
}

TEST(Guard, HasAtMostEightAtoms) {
  std::string text = "arg0 == 1";
  for (int i = 1; i < 8; ++i) text += " && arg0 == 1";
  EXPECT_TRUE(ParseGuard(text, Example()));
  Result<Guard> guard = ParseGuard(text + " && arg0 == 1", Example());
  ASSERT_FALSE(guard);
  EXPECT_EQ(guard.error().diag, Diag::LimitReached);
}

TEST(Guard, EqualGuardsHaveEqualBytes) {
  Program program = Example();
  auto bytes = [&](std::string_view text) {
    Result<Guard> guard = ParseGuard(text, program);
    EXPECT_TRUE(guard) << text;
    return GuardBytes(*guard);
  };
  EXPECT_EQ(bytes("arg0 == 5 && disjoint(arg2, arg1)"),
            bytes("disjoint(arg1, arg2) && arg0 == 5 && arg0 == 5"));
  EXPECT_EQ(bytes("apart(arg4, arg2; arg7, arg1) && cover(arg6; arg2, arg1)"),
            bytes("cover(arg6; arg1, arg2) && apart(arg2, arg4; arg1, arg7)"));
  EXPECT_EQ(bytes("true").size(), 4u);
  std::vector<std::string> different = {bytes("true"),
                                        bytes("arg0 == 5"),
                                        bytes("arg0 == 6"),
                                        bytes("5 <= arg0 <= 6"),
                                        bytes("5 <= arg0 <= 7"),
                                        bytes("len(arg1) == 8"),
                                        bytes("len(arg2) == 8"),
                                        bytes("len(arg1) >= 8"),
                                        bytes("len(arg1) % 8 == 0"),
                                        bytes("align(arg1) >= 8"),
                                        bytes("same(arg1, arg2)"),
                                        bytes("disjoint(arg1, arg2)"),
                                        bytes("apart(arg1, arg2)"),
                                        bytes("apart(arg1; arg2)"),
                                        bytes("apart(arg2; arg1)"),
                                        bytes("apart(arg1, arg2, arg4)"),
                                        bytes("apart(arg1, arg2; arg4)"),
                                        bytes("cover(arg6; arg1)"),
                                        bytes("cover(arg6; arg1, arg2)"),
                                        bytes("cpu(avx2)"),
                                        bytes("cpu(fma)"),
                                        bytes("arg3 == 0"),
                                        bytes("arg3 == -0")};
  for (size_t i = 0; i < different.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(different[i], different[j]) << i << " " << j;
}

// An atom's number is part of digests: what was added stands behind what was there.
TEST(Guard, KindsKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(GuardKind::Disjoint), 8);
  EXPECT_EQ(static_cast<int>(GuardKind::Cpu), 9);
  EXPECT_EQ(static_cast<int>(GuardKind::Apart), 10);
  EXPECT_EQ(static_cast<int>(GuardKind::Cover), 11);
}

TEST(Guard, PairsThatAreDisjoint) {
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  const auto pairs = [](std::string_view text) {
    Pairs all = DisjointPairs(ParseGuard(text, Example())->atoms[0]);
    std::ranges::sort(all);
    return all;
  };
  EXPECT_EQ(pairs("disjoint(arg4, arg2)"), (Pairs{{2, 4}}));
  EXPECT_EQ(pairs("apart(arg1, arg2, arg4)"), (Pairs{{1, 2}, {1, 4}, {2, 4}}));
  EXPECT_EQ(pairs("apart(arg2; arg4, arg1)"), (Pairs{{1, 2}, {2, 4}})) << "arg1 and arg4 may meet";
  EXPECT_EQ(pairs("same(arg1, arg2)"), Pairs());
}

TEST(Guard, CheckSeesWhatTheParserCannot) {
  Program program = Example();
  GuardAtom atom;
  atom.kind = GuardKind::Equals;
  atom.arg = 0;
  atom.type = types::I32;
  atom.low = {0x80000000};  // not sign-extended
  EXPECT_FALSE(CheckGuard({{atom}}, program));
  atom.low = {0xffffffff80000000};
  EXPECT_TRUE(CheckGuard({{atom}}, program));
  atom.type = types::I64;
  EXPECT_FALSE(CheckGuard({{atom}}, program));
  atom.arg = 1;
  EXPECT_FALSE(CheckGuard({{atom}}, program));
}

}  // namespace
}  // namespace frazil::ir
