// Closed forms that hold and closed forms that do not.
#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"
#include "verify/internal/big_int.h"
#include "verify/verify.h"

namespace frazil::verify {
namespace {

Verdict Check(const std::string& source, const std::string& candidate, const std::string& lines) {
  const Result<ir::Program> a = ir::ParseText("frz 1\n" + source),
                            b = ir::ParseText("frz 1\n" + candidate);
  const Result<ir::Certificate> certificate = ir::ParseCertificate("certificate 1\n" + lines);
  EXPECT_TRUE(a) << (a ? "" : a.error().ToString()) << source;
  EXPECT_TRUE(b) << (b ? "" : b.error().ToString()) << candidate;
  EXPECT_TRUE(certificate) << (certificate ? "" : certificate.error().ToString()) << lines;
  if (!a || !b || !certificate) return Unknown{"malformed test"};
  return CheckCertificate(
      *a, {.program = *b, .guard = {}, .certificate = *certificate, .origin = "test"});
}

std::string Why(const Verdict& verdict) {
  const Unknown* unknown = std::get_if<Unknown>(&verdict);
  return unknown == nullptr ? std::string(VerdictName(verdict)) : unknown->reason;
}

struct Sum {
  std::string type, lo, hi, step, body, init;
};
// A loop with constant bounds; `body` makes %n from %i and %a.
std::string Loop(const Sum& sum) {
  return "func @main() -> (" + sum.type + ") {\n%lo = const " + sum.lo + " : i64\n%hi = const " +
         sum.hi + " : i64\n%z = const " + sum.init + " : " + sum.type +
         "\n%c = const 3 : " + sum.type + "\n%r = for %i = %lo to %hi step " + sum.step +
         " carry (%a = %z) {\n" + sum.body + "\nyield %n\n}\nreturn %r\n}";
}
std::string Constant(const std::string& type, const std::string& value) {
  return "func @main() -> (" + type + ") {\n%r = const " + value + " : " + type + "\nreturn %r\n}";
}
std::string Claim(const std::string& type, const std::string& value, uint32_t inst) {
  return "term constant " + type + " " + value + "\nclosed 0 " + std::to_string(inst) + " 0 0\n";
}
// The number of the loop instruction: constants come first.
constexpr uint32_t LoopInst = 4;

TEST(Induction, ConstantBounds) {
  const std::string wide = "%w = cast.checked %i : int<2>\n%n = add.checked %a, %w : int<2>";
  const std::pair<Sum, std::string> holds[] = {
      {{"i64", "1", "1000001", "1", "%n = add %a, %i : i64", "0"}, "500000500000"},
      {{"i64", "-5", "1000", "7", "%n = add %a, %i : i64", "9"}, "71361"},
      {{"i64", "0", "0", "1", "%n = add %a, %i : i64", "9"}, "9"},
      {{"i64", "7", "-7", "1", "%n = add %a, %i : i64", "9"}, "9"},
      {{"int<2>", "1", "1000000000000000001", "1", wide, "0"},
       "500000000000000000500000000000000000"},
      {{"i64", "1", "101", "1", "%s = mul %i, %i : i64\n%n = add %a, %s : i64", "0"}, "338350"},
      {{"i64", "0", "40", "1", "%n = mul %a, %c : i64", "1"},
       "-6289078614652622815"},  // 3^40 wraps
      {{"i64", "0", "5", "1", "%t = mul %a, %c : i64\n%n = add %t, %i : i64", "1"}, "301"},
      {{"field", "1", "1000001", "1", "%w = cast %i : field\n%n = add %a, %w : field", "0"},
       "500000500000"},
      {{"i8", "0", "1000", "1", "%w = cast %i : i8\n%n = add %a, %w : i8", "0"}, "44"},
  };
  for (const auto& [sum, value] : holds) {
    const std::string source = Loop(sum);
    // The table itself is judged by the interpreter where it can be.
    if (sum.hi.size() < 8) {
      const Result<exec::Outcome> outcome = exec::Interpret(*ir::ParseText("frz 1\n" + source), {});
      ASSERT_TRUE(outcome);
      EXPECT_EQ(exec::PrintValue(outcome->results[0]), value) << source;
    }
    const Verdict verdict =
        Check(source, Constant(sum.type, value), Claim(sum.type, value, LoopInst));
    EXPECT_TRUE(std::holds_alternative<Proved>(verdict)) << Why(verdict) << "\n" << source;
    // Without the line the checker folds the loop itself.
    EXPECT_TRUE(std::holds_alternative<Proved>(Check(source, Constant(sum.type, value), "")))
        << source;
    const std::string wrong = value == "9" ? "8" : "9";
    EXPECT_TRUE(std::holds_alternative<Unknown>(
        Check(source, Constant(sum.type, wrong), Claim(sum.type, wrong, LoopInst))));
    EXPECT_TRUE(std::holds_alternative<Unknown>(Check(source, Constant(sum.type, wrong), "")));
  }
}

TEST(Induction, ALoopThatMayTrapStays) {
  const std::string value = "4999950000";
  const Sum fits{"i64", "0", "100000", "1", "%n = add.checked %a, %i : i64", "0"};
  EXPECT_TRUE(std::holds_alternative<Proved>(Check(Loop(fits), Constant("i64", value), "")));
  // 32 bits overflow on the way, although the claim is what wrapping would give.
  const Sum traps{"i32", "0", "100000", "1", "%w = cast %i : i32\n%n = add.checked %a, %w : i32",
                  "0"};
  EXPECT_TRUE(
      std::holds_alternative<Unknown>(Check(Loop(traps), Constant("i32", "704982704"), "")));
  EXPECT_TRUE(std::holds_alternative<Unknown>(
      Check(Loop(traps), Constant("i32", "704982704"), Claim("i32", "704982704", LoopInst))));
  const Sum divides{"i64", "0", "10", "1", "%q = div.trunc %a, %i : i64\n%n = add %a, %i : i64",
                    "0"};
  EXPECT_TRUE(std::holds_alternative<Unknown>(Check(Loop(divides), Constant("i64", "45"), "")));
  const Sum prints{"i64", "0", "10", "1", "output %i : i64\n%n = add %a, %i : i64", "0"};
  EXPECT_TRUE(std::holds_alternative<Unknown>(Check(Loop(prints), Constant("i64", "45"), "")));
  const Sum squares{"i64", "0", "3", "1", "%n = mul %a, %a : i64", "2"};  // not linear
  EXPECT_TRUE(std::holds_alternative<Unknown>(Check(Loop(squares), Constant("i64", "256"), "")));
}

// "Sum 1 to 10^18" as words make it: a loop for the power, dead but able to trap as far as types say, then the sum.
TEST(Induction, TheSumOfWords) {
  const std::string source = R"(
func @main() -> (int<2>) {
  %0 = const 10 : int<2>
  %1 = const 0 : i64
  %2 = const 18 : i64
  %3 = const 1 : int<2>
  %4 = for %5 = %1 to %2 step 1 carry (%6 = %3) {
    %7 = mul.checked %6, %0 : int<2>
    yield %7
  }
)" + ir::SumLines("int<2>", "1", "1000000000000000001", "i64") +
                             "  return %sum\n}";
  const Verdict verdict =
      Check(source, Constant("int<2>", "500000000000000000500000000000000000"), "");
  EXPECT_TRUE(std::holds_alternative<Proved>(verdict)) << Why(verdict);
}

TEST(Induction, SeveralCarriedValues) {
  const std::string source = "func @main() -> (i64, i64) {\n  %turns = const 90 : i64\n" +
                             ir::FibonacciLines("i64", "i64", "%turns") + "  return %a, %b\n}";
  const std::string right =
      "func @main() -> (i64, i64) {\n%r = const 2880067194370816120 : i64\n"
      "%s = const 4660046610375530309 : i64\nreturn %r, %s\n}";
  const std::string wrong =
      "func @main() -> (i64, i64) {\n%s = const 2880067194370816120 : i64\n"
      "%r = const 4660046610375530309 : i64\nreturn %r, %s\n}";
  EXPECT_TRUE(std::holds_alternative<Proved>(Check(source, right, "")));
  EXPECT_TRUE(std::holds_alternative<Unknown>(Check(source, wrong, "")));
}

// Values: lo 0, hi 1, init 2; the loop is instruction 0.
std::string Symbolic(const std::string& type, const std::string& body) {
  return "func @main(%lo: i64, %hi: i64, %init: " + type + ", %k: " + type + ") -> (" + type +
         ") {\n%r = for %i = %lo to %hi step 1 carry (%a = %init) {\n" + body +
         "\nyield %n\n}\nreturn %r\n}";
}
constexpr const char* Count =
    "%t = lt %lo, %hi : i64\n%d = sub %hi, %lo : i64\n%n = cast %d : u64\n%one = const 1 : u64\n"
    "%h = shr %n, %one : u64\n%m = sub %n, %one : u64\n%o = or %m, %one : u64\n%b2 = mul %h, %o : "
    "u64\n";
std::string Formula(const std::string& rest) {
  return "func @main(%lo: i64, %hi: i64, %init: i64, %k: i64) -> (i64) {\n" + std::string(Count) +
         rest + "\nreturn %r\n}";
}

// The claimed term is a value of the candidate, whose parameters are the source's: the line names it by the
// source's values, so the test builds it as terms.
std::string SumTerms(const std::string& last) {
  return "term source 0 0\nterm source 0 1\nterm source 0 2\nterm source 0 3\n"  // 0 lo, 1 hi, 2 init, 3 k
         "term apply lt i64 bool 0 1\n"                                          // 4
         "term apply sub i64 i64 1 0\nterm apply cast u64 u64 5\n"               // 5, 6 n
         "term constant u64 1\nterm apply shr u64 u64 6 7\n"                     // 7, 8
         "term apply sub u64 u64 6 7\nterm apply or u64 u64 9 7\n"               // 9, 10
         "term apply mul u64 u64 8 10\nterm apply cast i64 i64 11\n"             // 11, 12: C(n,2)
         "term apply mul i64 i64 5 0\nterm apply add i64 i64 12 13\n"  // 13 n lo, 14: sum of i
         + last;
}

TEST(Induction, SymbolicBounds) {
  const std::string source = Symbolic("i64", "%n = add %a, %i : i64");
  const std::string candidate = Formula(
      "%c = cast %b2 : i64\n%e = mul %d, %lo : i64\n%s = add %c, %e : i64\n%x = add %init, %s : "
      "i64\n"
      "%r = select %t, %x, %init : i64");
  const std::string lines =
      SumTerms("term apply add i64 i64 2 14\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n");
  const Verdict verdict = Check(source, candidate, lines);
  EXPECT_TRUE(std::holds_alternative<Proved>(verdict)) << Why(verdict);
  // k i, k + i, -i
  const std::pair<const char*, std::string> others[] = {
      {"%m = mul %k, %i : i64\n%n = add %a, %m : i64",
       SumTerms("term apply mul i64 i64 3 14\nterm apply add i64 i64 2 15\nterm apply select i64 "
                "i64 4 16 2\nclosed 0 0 0 17\n")},
      {"%m = add %k, %i : i64\n%n = add %m, %a : i64",
       SumTerms(
           "term apply mul i64 i64 3 5\nterm apply add i64 i64 14 15\nterm apply add i64 i64 2 16\n"
           "term apply select i64 i64 4 17 2\nclosed 0 0 0 18\n")},
      {"%n = sub %a, %i : i64",
       SumTerms(
           "term apply sub i64 i64 2 14\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n")},
      {"%n = add %a, %k : i64",
       SumTerms("term apply mul i64 i64 3 5\nterm apply add i64 i64 2 15\nterm apply select i64 "
                "i64 4 16 2\nclosed 0 0 0 17\n")},
  };
  for (const auto& [body, claim] : others) {
    // The candidate keeps the loop: only the claim is looked at here.
    const std::string program = Symbolic("i64", body);
    const Verdict of_claim = Check(program, program, claim);
    EXPECT_TRUE(std::holds_alternative<Proved>(of_claim) ||
                Why(of_claim).find("no counterpart") != std::string::npos)
        << Why(of_claim) << "\n"
        << body;
  }
}

TEST(Induction, FalseSymbolicFormsAreRefused) {
  const std::string source = Symbolic("i64", "%n = add %a, %i : i64");
  const std::string wrong[] = {
      // No case for the empty range.
      SumTerms("term apply add i64 i64 2 14\nclosed 0 0 0 15\n"),
      // The arms swapped, the wrong initial value, n C(n,2) forgotten, k instead of init.
      SumTerms("term apply add i64 i64 2 14\nterm apply select i64 i64 4 2 15\nclosed 0 0 0 16\n"),
      SumTerms("term apply select i64 i64 4 14 2\nclosed 0 0 0 15\n"),
      SumTerms("term apply add i64 i64 2 13\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n"),
      SumTerms("term apply add i64 i64 2 12\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n"),
      SumTerms("term apply add i64 i64 3 14\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n"),
      SumTerms("term apply add i64 i64 2 14\nterm apply select i64 i64 4 15 3\nclosed 0 0 0 16\n"),
      // Half of n (n - 1) by a signed shift of the product: the product wraps.
      "term source 0 0\nterm source 0 1\nterm source 0 2\nterm apply lt i64 bool 0 1\nterm apply "
      "sub i64 i64 1 0\n"
      "term constant i64 1\nterm apply sub i64 i64 4 5\nterm apply mul i64 i64 4 6\nterm apply shr "
      "i64 i64 7 5\n"
      "term apply mul i64 i64 4 0\nterm apply add i64 i64 8 9\nterm apply add i64 i64 2 10\n"
      "term apply select i64 i64 3 11 2\nclosed 0 0 0 12\n",
      // The index itself is not visible outside.
      "term source 0 4\nclosed 0 0 0 0\n",
      // Nothing there.
      "term source 0 2\nclosed 0 7 0 0\n",
      "term source 0 2\nclosed 3 0 0 0\n",
      "term source 0 2\nclosed 0 0 1 0\n",
      "term source 0 2\nclosed 0 0 0 0\n",
  };
  for (const std::string& lines : wrong) {
    const Verdict verdict = Check(source, source, lines);
    EXPECT_TRUE(std::holds_alternative<Unknown>(verdict)) << lines;
    EXPECT_NE(Why(verdict).find("closed form"), std::string::npos) << Why(verdict) << "\n" << lines;
  }
  const std::string right =
      SumTerms("term apply add i64 i64 2 14\nterm apply select i64 i64 4 15 2\nclosed 0 0 0 16\n");
  for (const char* body :
       {"%n = add %i, %i : i64", "%m = mul %i, %i : i64\n%n = add %a, %m : i64",
        "%n = mul %a, %i : i64", "%n = add.checked %a, %i : i64", "%n = add %a, %lo : i64"}) {
    const std::string other = Symbolic("i64", body);
    EXPECT_NE(Why(Check(other, other, right)).find("closed form"), std::string::npos) << body;
  }
}

TEST(BigIntegers, AgreeWithMachineArithmetic) {
  __extension__ using Wide = __int128;
  const int64_t numbers[] = {0,
                             1,
                             -1,
                             2,
                             7,
                             -7,
                             10,
                             INT64_MAX,
                             INT64_MIN,
                             0x7fffffff,
                             0x100000000,
                             -0x100000001,
                             123456789012345};
  auto big = [](Wide w) {
    const uint64_t words[] = {static_cast<uint64_t>(w), static_cast<uint64_t>(w >> 64)};
    return BigInt::FromWords(words, true);
  };
  for (int64_t a : numbers) {
    for (int64_t b : numbers) {
      EXPECT_EQ(BigInt(a) + BigInt(b), big(Wide{a} + b));
      EXPECT_EQ(BigInt(a) - BigInt(b), big(Wide{a} - b));
      EXPECT_EQ(BigInt(a) * BigInt(b), big(Wide{a} * b));
      EXPECT_EQ(BigInt(a) < BigInt(b), a < b);
      for (int64_t c : numbers) {
        if (b == 0) continue;
        const Wide product = Wide{a} * c + 12345, divisor = Wide{b} * 65537;
        BigInt quotient, remainder;
        BigInt::DivRem(big(product), big(divisor), quotient, remainder);
        EXPECT_EQ(quotient, big(product / divisor));
        EXPECT_EQ(remainder, big(product % divisor));
      }
    }
  }
  // Long division against its inverse.
  BigInt x = 1;
  for (int i = 1; i < 60; ++i) {
    x = x * BigInt(0x7fffffffffffffff - i) + BigInt(i * 77);
    const BigInt y = BigInt::PowerOfTwo(static_cast<uint32_t>(17 * i)) - BigInt(3 * i);
    BigInt quotient, remainder;
    BigInt::DivRem(x, y, quotient, remainder);
    EXPECT_EQ(quotient * y + remainder, x);
    EXPECT_TRUE(remainder < (y.is_negative() ? -y : y));
    EXPECT_FALSE(remainder.is_negative());
  }
  EXPECT_EQ(BigInt::PowerOfTwo(100).ToString(), "1267650600228229401496703205376");
}

}  // namespace
}  // namespace frazil::verify
