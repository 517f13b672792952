// The naive checker disagrees where it should, also under guards and in memory, and sees what judges say.
#include "verify/runs/naive.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

ir::Program Read(const std::string& text) {
  Result<ir::Program> program = ir::ParseText("frz 1\n" + text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString()) << "\n" << text;
  return program ? std::move(*program) : ir::Program{};
}

std::string Ask(const std::string& a, const std::string& b, const std::string& guard = "true") {
  const ir::Program source = Read(a);
  const Result<ir::Guard> parsed = ir::ParseGuard(guard, source);
  EXPECT_TRUE(parsed);
  const NaiveAnswer answer = AskNaively(source, Read(b), *parsed, {.points = 400});
  EXPECT_GT(answer.told, 0u) << a;
  return answer.difference;
}

std::string Unary(const std::string& type, const std::string& body) {
  return "func @main(%a: " + type + ") -> (" + type + ") {\n" + body + "return %r\n}";
}

TEST(Naive, DisagreesWhereTheyDiffer) {
  const std::string same = Unary("i32", "%z = const 0 : i32\n%r = add %a, %z : i32\n");
  EXPECT_EQ(Ask(same, Unary("i32", "%z = const 0 : i32\n%r = or %a, %z : i32\n")), "");
  EXPECT_NE(Ask(same, Unary("i32", "%z = const 1 : i32\n%r = or %a, %z : i32\n")), "");
  // Only next to a constant of the program.
  const std::string above = "%k = const 123456 : i32\n%t = gt %a, %k : i32\n",
                    from = "%k = const 123456 : i32\n%t = ge %a, %k : i32\n",
                    rest = "%o = const 7 : i32\n%r = select %t, %a, %o : i32\n";
  EXPECT_NE(Ask(Unary("i32", above + rest), Unary("i32", from + rest)), "");
  // Signs of zero, payloads of NaNs, traps.
  EXPECT_NE(Ask(Unary("f32", "%z = const 0 : f32\n%r = add %a, %z : f32\n"),
                Unary("f32", "%z = const -0 : f32\n%r = add %a, %z : f32\n")),
            "");
  EXPECT_NE(Ask(Unary("f32", "%o = const 1 : f32\n%r = mul %a, %o : f32\n"),
                Unary("f32", "%t = const 1 : bool\n%r = select %t, %a, %a : f32\n")),
            "");
  EXPECT_NE(Ask(Unary("i8", "%r = div.trunc %a, %a : i8\n"), Unary("i8", "%r = const 1 : i8\n")),
            "");
}

TEST(Naive, LooksUnderTheGuard) {
  const std::string source = Unary("u64", "%k = const 3 : u64\n%r = mul %a, %k : u64\n");
  const std::string special = Unary("u64", "%r = const 21 : u64\n");
  EXPECT_EQ(Ask(source, special, "arg0 == 7"), "");
  EXPECT_NE(Ask(source, special, "arg0 == 8"), "");
  EXPECT_NE(Ask(source, special, "7 <= arg0 <= 8"), "");
}

TEST(Naive, ComparesMemory) {
  const auto kernel = [](const std::string& value, const std::string& at) {
    return "func @main(%x: in buffer<i32>, %y: buffer<i32>, %i: index) {\n%one = const 1 : "
           "index\n%j = add %i, %one : index\n%v = load %x, %i : i32\n%w = load %y, %i : "
           "i32\nstore %y, " +
           at + ", %" + value + " : i32\nreturn\n}";
  };
  EXPECT_EQ(Ask(kernel("v", "%i"), kernel("v", "%i"), "len(arg0) == 6 && len(arg1) == 6"), "");
  EXPECT_NE(Ask(kernel("v", "%i"), kernel("w", "%i")), "");
  EXPECT_NE(Ask(kernel("v", "%i"), kernel("v", "%j")), "");
  // One buffer: the values are the same.
  EXPECT_EQ(Ask(kernel("v", "%i"), kernel("w", "%i"), "same(arg0, arg1)"), "");
}

// A prover that believes everything.
class Believer : public Prover {
 public:
  std::string_view name() const override { return "believer"; }
  Verdict Prove(const ir::Program&, const ir::Program&, const ir::Guard&,
                const Limits&) const override {
    return Proved{{Grade::Proved, "believer", "because", 0}};
  }
};

TEST(Naive, SeesWhatIsCalledEqual) {
  // Different only at one of 2^64 inputs, which is a constant of neither: 2^32 times 5.
  const std::string split =
      "%s = const 32 : u64\n%h = shr %a, %s : u64\n%l = shl %h, %s : u64\n%same = eq %l, %a : u64\n"
      "%five = const 5 : u64\n%is = eq %h, %five : u64\n%both = and %same, %is : bool\n";
  const ir::Program source = Read(Unary("u64", "%z = const 0 : u64\n%r = xor %a, %z : u64\n"));
  ir::Candidate candidate;
  candidate.program = Read(Unary("u64", split + "%r = select %both, %five, %a : u64\n"));
  int proved = 0;
  Observer before = RegisterObserver([&](const Question& question, const Verdict& verdict) {
    EXPECT_EQ(&std::get<ProgramQuestion>(question).candidate, &candidate);
    proved += std::holds_alternative<Proved>(verdict) ? 1 : 0;
  });
  RegisterProver(std::make_shared<const Believer>());
  const Result<Verdict> verdict = Verify(source, candidate);
  RegisterProver(nullptr);
  RegisterObserver(std::move(before));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(std::holds_alternative<Proved>(*verdict));
  EXPECT_EQ(proved, 1);
}

}  // namespace
}  // namespace frazil::verify
