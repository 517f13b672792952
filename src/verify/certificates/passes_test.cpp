// Programs of passes that are equal under a guard, guards that say too little, and candidates that are wrong.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ir/text/text.h"
#include "verify/internal/passes.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

ir::Program Read(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString() + "\n" + text);
  return program ? std::move(*program) : ir::Program();
}

// A program over a, b (read) and c, d, with passes and what stands between them.
ir::Program Passes(const std::string& body) {
  return Read(
      "frz 1\nfunc @main(%a: in buffer<i32>, %b: in buffer<i32>, %c: buffer<i32>, %d: buffer<i32>, "
      "%n: index, %m: index) {\n  %zero = const 0 : index\n" +
      body + "  return\n}\n");
}
std::string Pass(const std::string& body, const std::string& extent = "n") {
  return fmt::format("  parallel %i = %zero to %{} {{\n{}    yield\n  }}\n", extent, body);
}
std::string Copy(const std::string& from, const std::string& to) {
  return Pass(fmt::format("    %x = load %{}, %i : i32\n    store %{}, %i, %x : i32\n", from, to));
}

const std::string Apart = "apart(arg2, arg3; arg0, arg1)";
const std::string Cover = "cover(arg4; arg0, arg1, arg2, arg3)";
const std::string Both = Apart + " && " + Cover;

// c = a; d = c; c = b  and  c = b, d = a in one pass.
const std::string Three = Copy("a", "c") + Copy("c", "d") + Copy("b", "c");
const std::string One = Pass(
    "    %x = load %b, %i : i32\n    %y = load %a, %i : i32\n    store %c, %i, %x : i32\n"
    "    store %d, %i, %y : i32\n");

std::string JudgeText(const ir::Program& source, const ir::Program& candidate,
                      const std::string& guard) {
  const Result<ir::Guard> read = ir::ParseGuard(guard, source);
  EXPECT_TRUE(read) << guard;
  const Verdict verdict = PassesJudge(source, candidate, *read);
  if (const auto* unknown = std::get_if<Unknown>(&verdict)) return unknown->reason;
  EXPECT_TRUE(std::holds_alternative<Proved>(verdict));
  return "proved";
}

TEST(Passes, SeveralAreOne) {
  EXPECT_EQ(JudgeText(Passes(Three), Passes(One), Both), "proved");
  const Result<Verdict> verdict =
      Verify(Passes(Three), {Passes(One), *ir::ParseGuard(Both, Passes(Three)), {}, "test"});
  ASSERT_TRUE(verdict);
  ASSERT_TRUE(std::holds_alternative<Proved>(*verdict)) << Describe(*verdict);
  EXPECT_EQ(EvidenceOf(*verdict)->judge, "passes");
  EXPECT_EQ(EvidenceOf(*verdict)->grade, Grade::Proved);
  EXPECT_EQ(EvidenceOf(*verdict)->detail, "3 passes and 1, equal terms of 4 buffers");
  // Pairs say the same as the list.
  EXPECT_EQ(JudgeText(Passes(Three), Passes(One),
                      "disjoint(arg2, arg3) && disjoint(arg2, arg0) && disjoint(arg2, arg1) && "
                      "disjoint(arg3, arg0) && disjoint(arg3, arg1) && " +
                          Cover),
            "proved");
}

// A normal form needs all of its guard: without any part of it there is no proof, and there are arguments where the two differ.
TEST(Passes, AGuardThatSaysTooLittle) {
  const ir::Program source = Passes(Three), candidate = Passes(One);
  struct Weak {
    std::string guard, reason;
  };
  for (const Weak& weak :
       {Weak{"true", "may be shorter"}, Weak{Apart, "may be shorter"}, Weak{Cover, "may overlap"},
        Weak{"apart(arg2; arg0, arg1, arg3) && " + Cover, "arg3 and arg0 may overlap"},
        Weak{"apart(arg2, arg3; arg0) && " + Cover, "arg2 and arg1 may overlap"},
        Weak{Apart + " && cover(arg4; arg0, arg1, arg2)", "arg3 may be shorter"},
        Weak{Apart + " && cover(arg5; arg0, arg1, arg2, arg3)", "may be shorter"},
        Weak{Apart + " && len(arg0) >= 9 && len(arg1) >= 9 && len(arg2) >= 9 && len(arg3) >= 9",
             "may be shorter"}}) {
    const std::string said = JudgeText(source, candidate, weak.guard);
    EXPECT_NE(said.find(weak.reason), std::string::npos) << weak.guard << ": " << said;
    const Result<Verdict> verdict =
        Verify(source, {candidate, *ir::ParseGuard(weak.guard, source), {}, "planted"});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(std::holds_alternative<Refuted>(*verdict)) << weak.guard << Describe(*verdict);
  }
}

TEST(Passes, WrongCandidates) {
  const std::string load_a = "    %y = load %a, %i : i32\n",
                    load_b = "    %x = load %b, %i : i32\n";
  for (const std::string& wrong : {
           // exchanged; one store missing; the old value; a constant; one element too few
           Pass(load_a + load_b + "    store %c, %i, %y : i32\n    store %d, %i, %x : i32\n"),
           Pass(load_b + "    store %c, %i, %x : i32\n"),
           Pass(load_b + "    %y = load %d, %i : i32\n    store %c, %i, %x : i32\n"
                         "    store %d, %i, %y : i32\n"),
           Pass(load_b + "    %y = const 0 : i32\n    store %c, %i, %x : i32\n"
                         "    store %d, %i, %y : i32\n"),
           Pass(load_b + load_a + "    store %c, %i, %x : i32\n    store %d, %i, %y : i32\n", "m"),
           Pass(load_b + "    store %c, %i, %x : i32\n    %y = load %c, %i : i32\n"
                         "    store %d, %i, %y : i32\n"),
       }) {
    EXPECT_NE(JudgeText(Passes(Three), Passes(wrong), Both), "proved") << wrong;
    const Result<Verdict> verdict =
        Verify(Passes(Three), {Passes(wrong), *ir::ParseGuard(Both, Passes(Three)), {}, "planted"});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(std::holds_alternative<Refuted>(*verdict)) << wrong << Describe(*verdict);
  }
}

// What is not of this kind is not read as if it were.
TEST(Passes, OtherPrograms) {
  const std::string next = Pass(
      "    %one = const 1 : index\n    %j = add %i, %one : index\n    %x = load %a, %j : i32\n"
      "    store %c, %i, %x : i32\n");
  EXPECT_EQ(JudgeText(Passes(next), Passes(next), Both), "an element of another iteration");
  const std::string divided = Pass(
      "    %x = load %a, %i : i32\n    %y = load %b, %i : i32\n    %q = div.trunc %x, %y : i32\n"
      "    store %c, %i, %q : i32\n");
  EXPECT_EQ(JudgeText(Passes(divided), Passes(divided), Both), "'div.trunc' is not of passes");
  EXPECT_EQ(JudgeText(Passes(Copy("a", "c") + Pass("", "m")), Passes(Copy("a", "c")), Both),
            "passes of different lengths");
  EXPECT_EQ(JudgeText(Passes(Copy("a", "c")), Passes(Copy("a", "c") + Copy("a", "c")), Both),
            "the second program makes more passes or rows than the first");
  const std::string at_one =
      "  %one = const 1 : index\n  %x = load %a, %one : i32\n  store %c, %zero, %x : i32\n";
  EXPECT_EQ(JudgeText(Passes(at_one), Passes(at_one), Both), "'load' is not of passes");
}

// Rules of the table, by the checker's own matcher: marks that cancel, and what is added and taken away again.
TEST(Passes, TermsModuloRules) {
  const std::string mark =
      "    %x = load %c, %i : i32\n    %k = const -2147483648 : i32\n    %y = xor %x, %k : i32\n"
      "    store %c, %i, %y : i32\n";
  const std::string add =
      "    %x = load %c, %i : i32\n    %k = load %a, %i : i32\n    %y = add %k, %x : i32\n"
      "    store %c, %i, %y : i32\n";
  const std::string sub =
      "    %x = load %c, %i : i32\n    %k = load %a, %i : i32\n    %y = sub %x, %k : i32\n"
      "    store %c, %i, %y : i32\n";
  EXPECT_EQ(JudgeText(Passes(Pass(mark) + Pass(mark)), Passes(""), Both), "proved");
  EXPECT_EQ(JudgeText(Passes(Pass(add) + Pass(mark) + Pass(mark) + Pass(sub)), Passes(""), Both),
            "proved");
  EXPECT_EQ(JudgeText(Passes(Pass(mark)), Passes(""), Both), "the passes leave different terms");
  EXPECT_EQ(JudgeText(Passes(Pass(add) + Pass(add)), Passes(""), Both),
            "the passes leave different terms");
  // Of floats a + b - b is not a.
  const auto floats = [](std::string text) {
    for (size_t at; (at = text.find("i32")) != std::string::npos;) text.replace(at, 3, "f32");
    return text;
  };
  const std::string head =
      "frz 1\nfunc @main(%a: in buffer<f32>, %c: buffer<f32>, %n: index) {\n"
      "  %zero = const 0 : index\n";
  EXPECT_EQ(JudgeText(Read(head + floats(Pass(add) + Pass(sub)) + "  return\n}\n"),
                      Read(head + "  return\n}\n"), "apart(arg1; arg0) && cover(arg2; arg0, arg1)"),
            "the passes leave different terms");
}

// A store in some iterations only, as a branch and as a choice.
TEST(Passes, Branches) {
  const std::string test =
      "    %x = load %a, %i : i32\n    %none = const 0 : i32\n    %is = gt %x, %none : i32\n";
  const std::string branch = Pass(test +
                                  "    if %is {\n      store %c, %i, %x : i32\n      yield\n    } "
                                  "else {\n      yield\n    }\n");
  const std::string choice =
      Pass(test +
           "    %old = load %c, %i : i32\n    %y = select %is, %x, %old : i32\n"
           "    store %c, %i, %y : i32\n");
  const std::string other =
      Pass(test +
           "    %old = load %c, %i : i32\n    %y = select %is, %old, %x : i32\n"
           "    store %c, %i, %y : i32\n");
  EXPECT_EQ(JudgeText(Passes(branch), Passes(choice), Both), "proved");
  EXPECT_EQ(JudgeText(Passes(branch), Passes(other), Both), "the passes leave different terms");
  // Where c is short and nothing is stored behind its end, only one of them traps.
  const std::string weak = Apart + " && cover(arg4; arg0)";
  EXPECT_EQ(JudgeText(Passes(branch), Passes(choice), weak), "arg2 may be shorter than a pass");
  const Result<Verdict> verdict = Verify(
      Passes(branch), {Passes(choice), *ir::ParseGuard(weak, Passes(branch)), {}, "planted"});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(std::holds_alternative<Refuted>(*verdict)) << Describe(*verdict);
}

// Sums, and element 0 by itself.
TEST(Passes, ReductionsAndElementZero) {
  const std::string sum =
      "  %t = tensor.load %c : tensor<i32, [%n]>\n"
      "  %s = reduce %t {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<i32, []>\n"
      "  %v = extract %s : i32\n  store %d, %zero, %v : i32\n";
  const std::string early = Copy("a", "c") + sum + Copy("b", "c");
  // The sum of what c held in between is that of a.
  std::string of_a = sum;
  of_a.replace(of_a.find("%c"), 2, "%a");
  const std::string late = of_a + Copy("b", "c");
  const std::string wrong = Copy("b", "c") + sum;
  const std::string some = "1 <= arg4 <= 9223372036854775807 && ";
  EXPECT_EQ(JudgeText(Passes(early), Passes(late), some + Both), "proved");
  EXPECT_EQ(JudgeText(Passes(early), Passes(wrong), some + Both),
            "the passes leave different terms");
  // d needs no more than one element.
  EXPECT_EQ(JudgeText(Passes(early), Passes(late),
                      some + "len(arg3) >= 1 && " + Apart + " && cover(arg4; arg0, arg1, arg2)"),
            "proved");
  EXPECT_EQ(
      JudgeText(Passes(early), Passes(late), some + Apart + " && cover(arg4; arg0, arg1, arg2)"),
      "arg3 may be empty");
  EXPECT_EQ(JudgeText(Passes(early), Passes(late), Both), "arg3 may be empty");
  EXPECT_EQ(JudgeText(Passes(early), Passes(late), "len(arg3) >= 1 && " + Both),
            "there may be no elements, and element 0 is touched");
  // A pass over d after the store sees it at element 0 and nowhere else.
  const std::string seen = of_a + Copy("d", "c"), unseen = Copy("d", "c") + of_a;
  EXPECT_EQ(JudgeText(Passes(seen), Passes(seen), some + Both), "proved");
  EXPECT_EQ(JudgeText(Passes(seen), Passes(unseen), some + Both),
            "the passes leave different terms");
}

}  // namespace
}  // namespace frazil::verify
