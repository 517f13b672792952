// The driver: which judge answers, what it says, and that nothing takes longer than it may.
#include "verify/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

ir::Program Parse(const std::string& body) {
  auto program = ir::ParseText("frz 1\n" + body);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().ToString()) << "\n" << body;
  return std::move(*program);
}

Verdict Ask(const std::string& source, const std::string& candidate,
            const std::string& guard = "true", VerifyOptions options = {}) {
  const ir::Program a = Parse(source);
  ir::Candidate b;
  b.program = Parse(candidate);
  b.guard = *ir::ParseGuard(guard, a);
  auto verdict = Verify(a, b, options);
  EXPECT_TRUE(verdict.has_value()) << (verdict ? "" : verdict.error().ToString());
  return verdict ? std::move(*verdict) : Verdict(Unknown{"error"});
}

std::string Tell(const Verdict& verdict) {
  const Evidence* evidence = EvidenceOf(verdict);
  return evidence != nullptr ? Describe(*evidence) : Describe(verdict);
}

TEST(Verify, OnePrinterForAllVerdicts) {
  const Verdict proved = Proved{{Grade::Proved, "digest", "equal canonical form", 0}},
                exhausted = Proved{{Grade::Exhaustive, "batch interpreter", "all 2 inputs", 2}},
                sampled = Tested{{Grade::Sampled, "interpreter", "2 inputs", 2}},
                algebraic = Tested{{Grade::Algebraic, "symbolic execution", "3 points", 3}},
                refuted = Refuted{MachineStart{{{1}, {}, {}, {}}, {}, {}}, "output 1: 3 against 2"},
                unknown = Unknown{"out of time"};
  EXPECT_EQ(Describe(proved), "proved: equal canonical form");
  EXPECT_EQ(Describe(exhausted), "exhaustive: all 2 inputs");
  EXPECT_EQ(Describe(sampled), "sampled: 2 inputs");
  EXPECT_EQ(Describe(algebraic), "algebraic: 3 points");
  EXPECT_EQ(Describe(refuted), "refuted: output 1: 3 against 2");
  EXPECT_EQ(Describe(unknown), "unknown: out of time");
  EXPECT_EQ(WhyNot(sampled) + WhyNot(refuted), "output 1: 3 against 2");
  for (const Verdict* verdict : {&proved, &exhausted, &algebraic})
    EXPECT_TRUE(CallsEqual(*verdict)) << Describe(*verdict);
  for (const Verdict* verdict : {&sampled, &refuted, &unknown})
    EXPECT_FALSE(CallsEqual(*verdict)) << Describe(*verdict);
  EXPECT_EQ(EvidenceOf(unknown), nullptr);
  EXPECT_EQ(std::get<Refuted>(refuted).start().inputs.input[0], 1u);
}

TEST(Verify, EqualDigests) {
  const Verdict verdict =
      Ask("func @main(%a: i32, %b: i32) -> (i32) {\n %c = add %a, %b : i32\n return %c\n}",
          "func @f(%x: i32, %y: i32) -> (i32) {\n %z = add %y, %x : i32\n return %z\n}");
  EXPECT_EQ(Tell(verdict), "proved by digest (equal canonical form)");
}

TEST(Verify, ExhaustsSmallTypes) {
  const Verdict verdict =
      Ask("func @main(%a: u8, %b: u8) -> (u8) {\n %c = or %a, %b : u8\n return %c\n}",
          "func @main(%a: u8, %b: u8) -> (u8) {\n %c = and %a, %b : u8\n %d = xor %a, %b : u8\n"
          " %e = xor %c, %d : u8\n return %e\n}");
  EXPECT_EQ(Tell(verdict), "exhaustive by batch interpreter (all 65,536 inputs)");
}

TEST(Verify, FindsTheOneWrongInput) {
  const Verdict verdict =
      Ask("func @main(%a: i32) -> (bool) {\n %k = const 123456 : i32\n %c = lt %a, %k : i32\n "
          "return %c\n}",
          "func @main(%a: i32) -> (bool) {\n %k = const 123456 : i32\n %c = le %a, %k : i32\n "
          "return %c\n}");
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Tell(verdict);
  EXPECT_EQ(std::get<Refuted>(verdict).call().arguments[0].word, 123456u);
  EXPECT_EQ(std::get<Refuted>(verdict).difference, "result 1: false against true");
}

// A candidate traps in the same op and iteration, and memory then holds the same.
TEST(Verify, TrapsKeepTheirOp) {
  for (const std::string type : {"i64", "u8", "int<2>"}) {
    const std::string head =
        "func @main(%a: " + type + ", %b: " + type + ") -> (" + type + ") {\n ";
    const bool wide = type == "int<2>";
    const std::string q = "%q = div.checked %a, %b : " + type + "\n ";
    const std::string r =
        std::string("%r = ") + (wide ? "rem.checked" : "rem.floor") + " %a, %b : " + type + "\n ";
    const std::string tail = "%s = add.checked %q, %r : " + type + "\n return %s\n}";
    const Verdict verdict = Ask(head + q + r + tail, head + r + q + tail);
    ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Tell(verdict);
    EXPECT_TRUE(std::get<Refuted>(verdict).difference.starts_with(
        "trap: division by zero in div.checked against division by zero in rem."))
        << Tell(verdict);
  }
}

std::string Parallel(const std::string& lo, const std::string& hi, const std::string& body) {
  return " parallel %i = %" + lo + " to %" + hi + " {\n" + body + " yield\n }\n";
}

constexpr char Lanes[] =
    "func @main(%x: in buffer<bool>, %y: buffer<i32>) {\n %zero = const 0 : index\n %one = const 1 "
    ": "
    "index\n %v = const 5 : i32\n %n = length %x : bool\n %m = add %n, %one : index\n";
constexpr char AssertLane[] = " %t = load %x, %i : bool\n assert %t\n";
constexpr char StoreLane[] = " store %y, %i, %v : i32\n";

TEST(Verify, TrapsKeepTheirIteration) {
  const std::string source = std::string(Lanes) + Parallel("zero", "n", AssertLane) + " return\n}";
  const std::string shifted = std::string(Lanes) +
                              Parallel("one", "m",
                                       " %k = sub %i, %one : index\n %t = load %x, %k : bool\n "
                                       "assert %t\n") +
                              " return\n}";
  const Verdict verdict = Ask(source, shifted);
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Tell(verdict);
  EXPECT_EQ(std::get<Refuted>(verdict).difference,
            "trap: assert in assert (parallel iteration 0) against assert in assert (parallel "
            "iteration 1)");
}

TEST(Verify, MemoryAfterATrapIsPartOfTheAnswer) {
  const std::string lanes(Lanes), ret = " return\n}";
  const std::string store_first =
      lanes + Parallel("zero", "n", std::string(StoreLane) + AssertLane) + ret;
  const std::string test_first =
      lanes + Parallel("zero", "n", std::string(AssertLane) + StoreLane) + ret;
  // All stores before all tests: what later iterations store may be there.
  const std::string stores_then_tests =
      lanes + Parallel("zero", "n", StoreLane) + Parallel("zero", "n", AssertLane) + ret;
  // All tests before all stores: lower iterations have not stored.
  const std::string tests_then_stores =
      lanes + Parallel("zero", "n", AssertLane) + Parallel("zero", "n", StoreLane) + ret;
  const auto kind = [&](const std::string& source, const std::string& candidate) {
    const Verdict verdict = Ask(source, candidate, "len(arg0) == 16 && len(arg1) == 16");
    if (const Refuted* refuted = std::get_if<Refuted>(&verdict))
      return refuted->difference.substr(0, refuted->difference.find(','));
    return std::string(VerdictName(verdict));
  };
  EXPECT_EQ(kind(store_first, test_first), "argument 1");
  EXPECT_EQ(kind(test_first, store_first), "argument 1");
  EXPECT_EQ(kind(test_first, tests_then_stores), "argument 1");
  EXPECT_EQ(kind(store_first, stores_then_tests), "tested");
}

TEST(Verify, NormalFormsOfPolynomials) {
  const Verdict verdict =
      Ask("func @main(%a: u64, %b: u64) -> (u64) {\n %s = add %a, %b : u64\n %d = sub %a, %b : "
          "u64\n %p = mul %s, %d : u64\n return %p\n}",
          "func @main(%a: u64, %b: u64) -> (u64) {\n %s = mul %a, %a : u64\n %d = mul %b, %b : "
          "u64\n %p = sub %s, %d : u64\n return %p\n}");
  EXPECT_EQ(Tell(verdict), "proved by normal form (equal polynomials of at most 2 terms)");
}

// An exponent of a word wraps after 64 squarings: x^(2^64 + 1) is not x, and x^(2^64) is not x^(2^65).
TEST(Verify, PowersBeyondAWordHaveNoNormalForm) {
  auto power = [](int squarings, bool times_x) {
    std::string body = "func @main(%x: field) -> (field) {\n %v0 = mul %x, %x : field\n";
    for (int i = 1; i < squarings; ++i)
      body += fmt::format(" %v{0} = mul %v{1}, %v{1} : field\n", i, i - 1);
    body += fmt::format(" %r = {} %v{}, %x : field\n return %r\n}}", times_x ? "mul" : "add",
                        squarings - 1);
    return body;
  };
  const std::string x =
      "func @main(%x: field) -> (field) {\n %z = const 0 : field\n %r = add %x, %z : field\n "
      "return %r\n}";
  EXPECT_EQ(VerdictName(Ask(power(64, true), x)), "refuted");
  EXPECT_EQ(VerdictName(Ask(power(64, false), power(65, false))), "refuted");
  EXPECT_EQ(VerdictName(Ask(power(20, true), power(20, true))), "proved");
}

// What goes into the sponge and up a tree, in which order, decides what comes out.
TEST(Verify, SpongesAndMerkleSteps) {
  auto program = [](const std::string& product, const std::string& order) {
    const std::string ten = " %p, %p, %p, %p, %p, %p, %p, %p, %p, %a\n";
    const std::string squeeze =
        " %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9 = sponge.squeeze\n";
    return "func @main(%a: field, %b: field, %i: u32, %d: digest) -> (field, u32, digest) {\n" +
           product + " sponge.init\n" + (order == "late" ? squeeze : "") + " sponge.absorb" + ten +
           (order == "late" ? "" : squeeze) +
           " %up, %node = merkle.step %i, %d\n %top, %root = merkle.step " +
           (order == "flat" ? "%i, %node" : "%up, %node") + "\n return %q3, %top, %root\n}";
  };
  const std::string product =
      " %s = add %a, %b : field\n %t = sub %a, %b : field\n %p = mul %s, %t : field\n";
  const std::string squares =
      " %s = mul %a, %a : field\n %t = mul %b, %b : field\n %p = sub %s, %t : field\n";
  EXPECT_TRUE(
      Tell(Ask(program(product, ""), program(squares, ""))).starts_with("proved by normal form"));
  EXPECT_TRUE(std::holds_alternative<Refuted>(Ask(program(product, ""), program(squares, "late"))));
  EXPECT_TRUE(std::holds_alternative<Refuted>(Ask(program(product, ""), program(squares, "flat"))));
}

TEST(Verify, GuardsNarrowTheInputs) {
  const std::string source =
      "func @main(%a: i32, %b: i32) -> (i32) {\n %c = mul %a, %b : i32\n return %c\n}";
  const std::string candidate =
      "func @main(%a: i32, %b: i32) -> (i32) {\n %k = const 5 : i32\n %c = mul %k, %b : i32\n "
      "return %c\n}";
  EXPECT_EQ(VerdictName(Ask(source, candidate)), "refuted");
  EXPECT_EQ(VerdictName(Ask(source, candidate, "arg0 == 5 && -100 <= arg1 <= 100")), "proved");
  EXPECT_EQ(Tell(Ask(source, candidate, "arg0 == 5 && arg0 == 6")),
            "unknown: the guard never holds");
  EXPECT_EQ(VerdictName(Ask(source, candidate, "5 <= arg0 <= 6 && 0 <= arg1 <= 3")), "refuted");
}

TEST(Verify, RangesAreCounted) {
  const std::string source = "func @main(%a: i32) -> (i32) {\n %c = abs %a : i32\n return %c\n}";
  const std::string candidate = "func @main(%a: i32) -> (i32) {\n return %a\n}";
  EXPECT_EQ(Tell(Ask(source, candidate, "0 <= arg0 <= 200")),
            "exhaustive by batch interpreter (all 201 inputs)");
  const Verdict verdict = Ask(source, candidate, "-1 <= arg0 <= 200");
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict));
  EXPECT_EQ(std::get<Refuted>(verdict).call().arguments[0].word, ~0ull);
  // Both zeros are in a range that ends at one of them.
  const std::string identity = "func @main(%a: f32) -> (f32) {\n return %a\n}";
  const std::string plus_zero =
      "func @main(%a: f32) -> (f32) {\n %z = const 0 : f32\n %c = add %a, %z : f32\n return %c\n}";
  const Verdict zero = Ask(identity, plus_zero, "0.0 <= arg0 <= 0x1p-149");
  ASSERT_TRUE(std::holds_alternative<Refuted>(zero)) << Tell(zero);
  EXPECT_EQ(std::get<Refuted>(zero).call().arguments[0].word, 0x80000000u);
  EXPECT_EQ(Tell(Ask(identity, plus_zero, "0x1p-149 <= arg0 <= 0x1p-140")),
            "exhaustive by batch interpreter (all 512 inputs)");
}

TEST(Verify, ProgramsThatNeverEndAreUnknownInTime) {
  const std::string endless =
      "func @main(%a: i64) -> (i64) {\n %t = const true : bool\n %r = while (%p = %a) {\n "
      "condition %t\n } do {\n"
      " %q = add %p, %a : i64\n yield %q\n }\n return %r\n}";
  const std::string other =
      "func @main(%a: i64) -> (i64) {\n %t = const true : bool\n %r = while (%p = %a) {\n "
      "condition %t\n } do {\n"
      " %q = sub %p, %a : i64\n yield %q\n }\n return %r\n}";
  VerifyOptions options;
  options.limits.verify_ms = 500;
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = Ask(endless, other, "true", options);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(std::holds_alternative<Unknown>(verdict)) << Tell(verdict);
  EXPECT_NE(Tell(verdict).find("--fuel"), std::string::npos) << Tell(verdict);
  EXPECT_LT(ms, 5000);
}

TEST(Verify, DifferentSignaturesAreNotComparable) {
  const ir::Program a = Parse("func @main(%a: i32) -> (i32) {\n return %a\n}");
  ir::Candidate b;
  b.program = Parse("func @main(%a: i64) -> (i64) {\n return %a\n}");
  const auto verdict = Verify(a, b);
  ASSERT_FALSE(verdict.has_value());
  EXPECT_EQ(verdict.error().diag, Diag::NotComparable);
  EXPECT_EQ(verdict.error().message,
            "the programs cannot be compared: parameter 1 is i32 in the first, i64 in the second");
}

TEST(Verify, AlgebraicWithAStatedBound) {
  // (a+b)^64 by squaring against the same with another factor order: too many terms for a normal form.
  auto power = [](bool swapped) {
    std::string text =
        "func @main(%a: field, %b: field, %c: field) -> (field) {\n %s0 = add %a, %b : field\n %t0 "
        "= add %s0, %c : field\n";
    for (int i = 0; i < 6; ++i)
      text += " %t" + std::to_string(i + 1) + " = mul %t" + std::to_string(i) + ", %t" +
              std::to_string(i) + " : field\n";
    text += swapped ? " %u = sub %t6, %t5 : field\n %v = add %u, %t5 : field\n return %v\n}"
                    : " return %t6\n}";
    return text;
  };
  const Verdict verdict = Ask(power(false), power(true));
  ASSERT_TRUE(std::holds_alternative<Tested>(verdict)) << Tell(verdict);
  EXPECT_EQ(std::get<Tested>(verdict).evidence.grade, Grade::Algebraic);
  EXPECT_NE(Tell(verdict).find("degree 64"), std::string::npos) << Tell(verdict);
}

TEST(Verify, ThreadsShareAnExhaustiveCheck) {
  const std::string source =
      "func @main(%a: u16, %b: bool) -> (u16) {\n %k = const 3 : u16\n %c = mul %a, %k : u16\n "
      "return %c\n}";
  auto candidate = [](const std::string& bound) {
    return "func @main(%a: u16, %b: bool) -> (u16) {\n %n = const " + bound +
           " : u16\n %one = const 1 : u16\n %s = shl %a, %one : u16\n"
           " %c = add %s, %a : u16\n %t = eq %a, %n : u16\n %w = and %t, %b : bool\n %r = select "
           "%w, %n, %c : u16\n return %r\n}";
  };
  VerifyOptions options;
  options.threads = 4;
  // 0 is its own triple; 32768 is too, modulo 2^16.
  EXPECT_EQ(Tell(Ask(source, candidate("32768"), "true", options)),
            "exhaustive by batch interpreter (all 131,072 inputs)");
  EXPECT_EQ(VerdictName(Ask(source, candidate("32769"), "true", options)), "refuted");
}

TEST(Verify, MoreInputsThanAllowedAreTested) {
  VerifyOptions options;
  options.exhaustive_cases = 1000;
  const std::string a = "func @main(%a: u8, %b: u8) -> (u8) {\n %c = or %a, %b : u8\n return %c\n}";
  const std::string b =
      "func @main(%a: u8, %b: u8) -> (u8) {\n %c = and %a, %b : u8\n %d = xor %a, %b : u8\n %e = "
      "xor %c, %d : u8\n return %e\n}";
  const Verdict verdict = Ask(a, b, "true", options);
  ASSERT_TRUE(std::holds_alternative<Tested>(verdict)) << Tell(verdict);
  EXPECT_EQ(std::get<Tested>(verdict).evidence.grade, Grade::Sampled);
  EXPECT_GE(std::get<Tested>(verdict).evidence.cases, 4096u);
}

// Who proposes a guard after the points are known pins arguments to where the programs agree.
TEST(Verify, PointsDependOnBothProgramsAndTheGuard) {
  const ir::Program a = Parse("func @main(%x: field, %y: field) -> (field) {\n return %x\n}");
  const ir::Program b = Parse("func @main(%x: field, %y: field) -> (field) {\n return %y\n}");
  std::set<std::string> seeds;
  for (const char* guard : {"true", "arg1 == 5", "arg1 == 6"}) {
    seeds.insert(MakePair(a, b, *ir::ParseGuard(guard, a))->seed);
    seeds.insert(MakePair(b, a, *ir::ParseGuard(guard, a))->seed);
    seeds.insert(MakePair(a, a, *ir::ParseGuard(guard, a))->seed);
  }
  EXPECT_EQ(seeds.size(), 9u);
}

TEST(Verify, BuffersAndAliases) {
  const std::string source =
      "func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) {\n %z = const 0 : index\n for "
      "%i = %z to %n step 1 {\n"
      " %v = load %x, %i : i32\n %w = load %y, %i : i32\n %s = add %v, %w : i32\n store %y, %i, %s "
      ": i32\n yield\n }\n return\n}";
  // The same for buffers that are apart: loads one element ahead.
  const std::string reversed =
      "func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) {\n %z = const 0 : index\n for "
      "%i = %z to %n step 1 {\n"
      " %w = load %y, %i : i32\n %v = load %x, %i : i32\n %s = sub %v, %w : i32\n store %y, %i, %s "
      ": i32\n yield\n }\n return\n}";
  const Verdict verdict = Ask(source, reversed);
  ASSERT_TRUE(std::holds_alternative<Refuted>(verdict)) << Tell(verdict);
  const Refuted& refuted = std::get<Refuted>(verdict);
  EXPECT_LE(refuted.call().arguments[1].memory->length(), 2) << "it is made small";
}

// A trap names the op of the source that its instruction stands for, and that is part of what a caller sees.
TEST(Verify, ATrapOfAnotherOpIsAnother) {
  // By samples, and by every input.
  for (const std::string type : {"i64", "u8"}) {
    const auto asserts = [&](const std::string& as, const std::string& sum) {
      return fmt::format(
          "func @main(%a: {0}, %b: {0}) -> ({0}) {{\n %c = lt %a, %b : {0}\n assert %c{1}\n {2} : "
          "{0}\n return %r\n}}",
          type, as, sum);
    };
    const std::string plain = asserts("", "%r = or %a, %b"),
                      other = asserts(" as reshape", "%x = xor %a, %b : " + type +
                                                         "\n %y = and %a, %b : " + type +
                                                         "\n %r = xor %x, %y");
    EXPECT_EQ(Tell(Ask(plain, other)), "refuted: trap: assert in assert against assert in reshape");
  }
  const std::string sum =
      "func @main(%a: i64, %b: i64) -> (i64) {\n %c = lt %a, %b : i64\n assert %c";
  EXPECT_EQ(
      Tell(Ask(sum + "\n %r = add %a, %b : i64\n return %r\n}",
               sum + " as reshape\n %n = neg %b : i64\n %r = sub %a, %n : i64\n return %r\n}")),
      "refuted: trap: assert in assert against assert in reshape");
}

}  // namespace
}  // namespace frazil::verify
