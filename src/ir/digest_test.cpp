#include "ir/digest.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Program Parse(std::string_view body, std::string_view signature = "(%a: i32, %b: i32) -> (i32)") {
  std::string text =
      "frz 1\nfunc @main" + std::string(signature) + " {\n" + std::string(body) + "}\n";
  Result<Program> program = ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString()) << "\n" << text;
  return program ? *program : Program{};
}
std::string Exact(std::string_view body) { return ExactDigest(Parse(body)); }

TEST(Digest, NamesOrderOfIndependentWorkAndDeadCodeDoNotCount) {
  std::string one =
      Exact("%x = add %a, %b : i32\n%y = mul %a, %b : i32\n%r = sub %x, %y : i32\nreturn %r\n");
  EXPECT_EQ(
      one,
      Exact("%q = mul %a, %b : i32\n%p = add %a, %b : i32\n%r = sub %p, %q : i32\nreturn %r\n"));
  EXPECT_EQ(
      one,
      Exact("%q = mul %b, %a : i32\n%p = add %b, %a : i32\n%r = sub %p, %q : i32\nreturn %r\n"));
  EXPECT_EQ(one, Exact("%d = const 9 : i64\n%x = add %a, %b : i32\n%y = mul %a, %b : i32\n"
                       "%r = sub %x, %y : i32\nreturn %r\n"));
}

TEST(Digest, MeaningCounts) {
  std::string base = Exact("%c = const 3 : i32\n%r = sub %a, %c : i32\nreturn %r\n");
  EXPECT_NE(base, Exact("%c = const 4 : i32\n%r = sub %a, %c : i32\nreturn %r\n"));
  EXPECT_NE(base, Exact("%c = const 3 : i32\n%r = sub %c, %a : i32\nreturn %r\n"));
  EXPECT_NE(base, Exact("%c = const 3 : i32\n%r = sub.checked %a, %c : i32\nreturn %r\n"));
  EXPECT_NE(base, Exact("%c = const 3 : i32\n%r = sub %b, %c : i32\nreturn %r\n"));
  EXPECT_NE(base, ExactDigest(Parse("%c = const 3 : i64\n%r = sub %a, %c : i64\nreturn %r\n",
                                    "(%a: i64, %b: i64) -> (i64)")));
}

TEST(Digest, TrapsKeepTheirOrderAndStay) {
  std::string one =
      Exact("%x = div.trunc %a, %b : i32\n%y = mul.checked %a, %b : i32\nreturn %a\n");
  EXPECT_NE(one, Exact("%y = mul.checked %a, %b : i32\n%x = div.trunc %a, %b : i32\nreturn %a\n"));
  EXPECT_NE(one, Exact("return %a\n"));
}

TEST(Digest, AxisAndShapeCount) {
  auto reduce = [](const char* axis) {
    return ExactDigest(Parse("%r = reduce %t {kind = sum, axis = " + std::string(axis) +
                                 ", chains = 64, block = 4096} : tensor<f32, [4]>\nreturn %r\n",
                             "(%t: tensor<f32, [4, 4]>) -> (tensor<f32, [4]>)"));
  };
  EXPECT_NE(reduce("0"), reduce("1"));
}

TEST(Digest, ShapeLeavesConstantsOut) {
  Program three = Parse("%c = const 3 : i32\n%r = sub %a, %c : i32\nreturn %r\n");
  Program four = Parse("%c = const 4 : i32\n%r = sub %a, %c : i32\nreturn %r\n");
  EXPECT_NE(ExactDigest(three), ExactDigest(four));
  EXPECT_EQ(ShapeDigest(three), ShapeDigest(four));
  EXPECT_NE(ShapeDigest(three), ExactDigest(three));
}

TEST(Digest, TextAndBuilderMeet) {
  Program built;
  FunctionBuilder b(built, "main", {}, {types::I32});
  ValueId fifty = b.ConstInt(types::I32, 50);
  ValueId fifteen = b.ConstInt(types::I32, 15);
  b.Return({b.Binary(Op::Sub, fifty, fifteen)});
  b.Finish();
  Program read =
      Parse("%0 = const 50 : i32\n%1 = const 15 : i32\n%2 = sub %0, %1 : i32\nreturn %2\n",
            "() -> (i32)");
  EXPECT_EQ(ExactDigest(built), ExactDigest(read));
}

TEST(Digest, CanonicalFormIsAFixpointAndReadable) {
  Program program = Parse(
      "%z = const 0 : i32\n%k = add %b, %a : i32\n"
      "%r = for %i = %z to %a step 1 carry (%s = %z) {\n%t = add %s, %k : i32\nyield %t\n}\nreturn "
      "%r\n");
  Program once = Canonicalize(program);
  EXPECT_EQ(PrintText(once), PrintText(Canonicalize(once)));
  EXPECT_TRUE(ParseText(PrintText(once)));
}

TEST(Digest, AWhileBodyMayUseWhatItsTestComputes) {
  Program program = Parse(
      "%r = while (%p = %a) {\n%u = add %p, %b : i32\n%v = mul %p, %p : i32\n%t = lt %p, %b : i32\n"
      "condition %t\n} do {\n%w = add %u, %v : i32\nyield %w\n}\nreturn %r\n");
  Program once = Canonicalize(program);
  EXPECT_TRUE(ParseText(PrintText(once)));
  EXPECT_EQ(PrintText(once), PrintText(Canonicalize(once)));
}

TEST(Digest, UnusedFunctionsAndDataDoNotCount) {
  Result<Program> with = ParseText(
      "frz 1\ndata @t : i32 [1]\nfunc @unused() {\n return\n}\nfunc @main() {\n return\n}\n");
  Result<Program> without = ParseText("frz 1\nfunc @main() {\n return\n}\n");
  ASSERT_TRUE(with && without);
  EXPECT_EQ(ExactDigest(*with), ExactDigest(*without));
}

}  // namespace
}  // namespace frazil::ir
