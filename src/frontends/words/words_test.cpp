// The stages of a reading: tokens, canonical form, width, program, steps, places of refusals. Whole
// texts and their answers are data, in tests/words.
#include "frontends/words/words.h"

#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "frontends/words/token.h"
#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/text/test_ops.h"
#include "ir/text/text.h"

namespace frazil::frontends::words {
namespace {

Reading Read(std::string_view text) {
  Result<Reading> reading = Parse(text);
  EXPECT_TRUE(reading.has_value()) << text << ": " << (reading ? "" : reading.error().ToString());
  return reading ? std::move(*reading) : Reading{};
}

std::string Ask(std::string_view text) {
  const Reading reading = Read(text);
  const Result<exec::Outcome> outcome = exec::Interpret(reading.program, {});
  EXPECT_TRUE(outcome.has_value()) << text;
  const Result<std::string> answer = PrintAnswer(reading, *outcome);
  return answer ? *answer : answer.error().message;
}

ir::Type TypeOf(std::string_view text) { return Read(text).program.entry_function().results[0]; }

Error Refusal(std::string_view text, const Limits& limits = {}) {
  const Result<Reading> reading = Parse(text, limits);
  EXPECT_FALSE(reading.has_value()) << text;
  return reading ? Error{Diag::Internal, "understood"} : reading.error();
}

TEST(Words, SubtractionIsThreeInstructions) {
  const Reading reading = Read("Janet has 50 apples. She gives away 15. How many remain?");
  EXPECT_EQ(reading.canonical, "50 - 15 = ");
  EXPECT_EQ(reading.operation, "subtract");
  EXPECT_EQ(ir::PrintText(reading.program),
            "frz 1\n\nfunc @main() -> (i32) {\n  %0 = const 50 : i32\n  %1 = const 15 : i32\n"
            "  %2 = sub %0, %1 : i32\n  return %2\n}\n");
}

TEST(Words, SumIsALoop) {
  EXPECT_EQ(ir::PrintText(Read("Sum 1 to 10").program),
            "frz 1\n\nfunc @main() -> (i32) {\n  %0 = const 1 : i32\n  %1 = const 11 : i32\n"
            "  %2 = const 0 : i32\n  %3 = for %4 = %0 to %1 step 1 carry (%5 = %2) {\n"
            "    %6 = add %5, %4 : i32\n    yield %6\n  }\n  return %3\n}\n");
}

TEST(Words, SameSignatureAsTheTextForm) {
  const auto program = ir::ParseText("frz 1\nfunc @main() -> (i64) {\n" +
                                     ir::SumLines("i64", "1", "1000001") + "  return %sum\n}\n");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(ir::ExactDigest(*program),
            ir::ExactDigest(Read("Add the numbers from 1 to 1,000,000").program));
  EXPECT_NE(ir::ExactDigest(*program), ir::ExactDigest(Read("Sum 1 to 1000001").program));
  EXPECT_EQ(ir::ExactDigest(Read("Subtract 49 from 69").program),
            ir::ExactDigest(Read("69 - 49").program));
  EXPECT_NE(ir::ExactDigest(Read("49 - 69").program), ir::ExactDigest(Read("69 - 49").program));
}

// The narrowest type for everything that is computed, at each border.
TEST(Words, WidthFollowsTheRanges) {
  const std::pair<std::string_view, ir::Type> cases[] = {
      {"2147483647", ir::types::I32},
      {"2147483646 + 1", ir::types::I32},
      {"2147483647 + 1", ir::types::I64},
      {"-2147483647 - 1", ir::types::I32},
      {"0 - 2147483648", ir::types::I64},
      {"2147483647 + 1 - 1", ir::types::I64},
      {"9223372036854775807", ir::types::I64},
      {"9223372036854775807 + 1", ir::Type::Int(2)},
      {"12!", ir::types::I32},
      {"13!", ir::types::I64},
      {"20!", ir::types::I64},
      {"21!", ir::Type::Int(2)},
      {"Sum 1 to 65535", ir::types::I32},
      {"Sum 1 to 65536", ir::types::I64},
      {"2^4094", ir::Type::Int(64)},
      {"15 > 10", ir::types::Bool},
  };
  for (const auto& [text, type] : cases) EXPECT_EQ(TypeOf(text), type) << text;
}

// Partial results can be wider than the answer.
TEST(Words, NothingWrapsOnTheWay) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"100000 * 100000 - 9999999999", "1"},
      {"Sum -100000 to 100000", "0"},
      {"10^30 / 10^29", "10"},
      {"-2147483648 / -1", "2147483648"},
      {"|-2147483648|", "2147483648"},
      {"-9223372036854775808 / -1", "9223372036854775808"},
      {"gcd(-9223372036854775808, 6)", "2"},
      {"1/3 - 1/3 + 1/1000000007", "1/1000000007"},
  };
  for (const auto& [question, answer] : cases) EXPECT_EQ(Ask(question), answer) << question;
}

TEST(Words, QuotientsAreExact) {
  EXPECT_EQ(Read("48 / 6").answer_kind, AnswerKind::Integer);
  EXPECT_EQ(Read("7 / 2").answer_kind, AnswerKind::Fraction);
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"7 / -2", "-3.5"},        {"-6 / 4", "-1.5"},
      {"22 / 7", "22/7"},        {"1/8", "0.125"},
      {"Is 2/3 > 0.6666?", "1"}, {"1 / 0", "there is no answer: it divides by zero"},
  };
  for (const auto& [question, answer] : cases) EXPECT_EQ(Ask(question), answer) << question;
}

TEST(Words, StepsOfAChain) {
  const Reading reading = Read("16 - 3, then multiply by 5");
  EXPECT_EQ(reading.canonical, "(16 - 3) * 5 = ");
  EXPECT_EQ(reading.operation, "subtract, multiply");
  const Result<std::vector<Step>> steps = Trace(reading);
  ASSERT_TRUE(steps.has_value());
  ASSERT_EQ(steps->size(), 2u);
  std::vector<std::string> answers, lines;
  for (size_t i = 0; i < steps->size(); ++i) {
    const Result<exec::Outcome> outcome = exec::Interpret((*steps)[i].program, {});
    ASSERT_TRUE(outcome.has_value());
    answers.push_back(*PrintAnswer((*steps)[i].answer_kind, *outcome));
    lines.push_back(PrintStep(reading, *steps, i, answers) + " = " + answers.back());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"16 - 3 = 13", "13 * 5 = 65"}));
  EXPECT_FALSE(Trace(reading, 1).has_value());
}

TEST(Words, RefusalsHaveAPlace) {
  const Error error = Refusal("What is 12 tims 9?");
  EXPECT_EQ(error.diag, Diag::NotUnderstood);
  EXPECT_EQ(error.location.line, 1u);
  EXPECT_EQ(error.location.column, 12u);
  EXPECT_NE(error.message.find("\"tims\""), std::string::npos);
  EXPECT_EQ(Refusal("6 × 7 foo").location.column, 7u) << "columns count characters, not bytes";
  EXPECT_EQ(Refusal("6 +\n7 foo").location.line, 2u);
  EXPECT_EQ(Refusal("").diag, Diag::NotUnderstood);
  EXPECT_EQ(Refusal("   ").diag, Diag::NotUnderstood);
}

TEST(Words, AmbiguityNamesBothMeanings) {
  const Error error = Refusal("the sum of 4 and 5 times 2");
  EXPECT_EQ(error.diag, Diag::Ambiguous);
  EXPECT_EQ(error.location.column, 20u);
  EXPECT_NE(error.message.find("(4 + 5) * 2"), std::string::npos);
  EXPECT_NE(error.message.find("4 + 5 * 2"), std::string::npos);
}

TEST(Words, LimitsHold) {
  Limits limits;
  EXPECT_EQ(Refusal("5 \xff 3").diag, Diag::BadUtf8);
  EXPECT_EQ(Refusal("\xed\xa0\x80").diag, Diag::BadUtf8);
  EXPECT_EQ(Refusal(std::string(20'000, '1')).diag, Diag::LimitReached);
  EXPECT_EQ(Refusal(std::string(5'000, '(') + "1").diag, Diag::LimitReached);
  EXPECT_EQ(Refusal(std::string(5'000, '|') + "1").diag, Diag::LimitReached);
  EXPECT_EQ(Refusal(std::string(2'000, '9')).diag, Diag::LimitReached);
  std::string nested;
  for (int i = 0; i < 400; ++i) nested += "the square of ";
  EXPECT_EQ(Refusal(nested + "2").diag, Diag::LimitReached);
  std::string multiplied;
  for (int i = 0; i < 60; ++i) multiplied += "the sum of 1 and ";
  EXPECT_EQ(Refusal(multiplied + "1 times 2").diag, Diag::LimitReached);
  std::string squares = "2";
  for (int i = 0; i < 50; ++i) squares += ", then square it";
  EXPECT_EQ(Refusal(squares).diag, Diag::LimitReached);
  limits.words_chars = 3;
  EXPECT_EQ(Refusal("1 + 1", limits).diag, Diag::LimitReached);
}

TEST(Words, LongChainsAreLinear) {
  std::string text = "1";
  for (int i = 0; i < 2'000; ++i) text += " + 1";
  EXPECT_EQ(Ask(text), "2001");
  const Reading reading = Read(text);
  EXPECT_EQ(reading.canonical, text + " = ");
  EXPECT_EQ(reading.operation,
            "add, add, add, add, add, add, add, add, add, add, add, add, and 1988 more");
  EXPECT_TRUE(ir::Check(reading.program).has_value());
}

// Formulas at random against exact arithmetic of their own: values, widths and both passes of the
// lowering.
class RandomFormula {
 public:
  explicit RandomFormula(uint64_t seed) : state_(seed) {}

  struct Formula {
    std::string text;
    Rational value;
  };

  Formula Make(int depth) {
    if (depth == 0 || Below(6) == 0) return Leaf();
    const Formula a = Make(depth - 1), b = Make(depth - 1);
    const Rational &x = a.value, &y = b.value;
    auto text = [&](const char* op) { return "(" + a.text + op + b.text + ")"; };
    switch (Below(7)) {
      case 0: return {text(" + "), Rational::Of(x.num * y.den + y.num * x.den, x.den * y.den)};
      case 1: return {text(" - "), Rational::Of(x.num * y.den - y.num * x.den, x.den * y.den)};
      case 2: return {text(" times "), Rational::Of(x.num * y.num, x.den * y.den)};
      case 3: return {"-" + a.text, Rational::Of(-x.num, x.den)};
      case 4: return {"abs(" + a.text + ")", Rational::Of(x.num.Abs(), x.den)};
      case 5: {
        const bool less = x.num * y.den < y.num * x.den;
        return {"max(" + a.text + ", " + b.text + ")", less ? y : x};
      }
      default:
        if (y.num.is_zero()) return a;
        return {text(" / "), Rational::Of(x.num * y.den, x.den * y.num)};
    }
  }

 private:
  uint64_t Below(uint64_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % n;
  }
  Formula Leaf() {
    const int64_t n = static_cast<int64_t>(Below(Below(2) == 0 ? 12 : 1'000'000'000));
    const Rational value = Rational::Of(n, Below(4) == 0 ? 100 : 1);
    return {PrintRational(value), value};
  }
  uint64_t state_;
};

TEST(Words, RandomFormulasAreExact) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    RandomFormula random(seed);
    const RandomFormula::Formula formula = random.Make(static_cast<int>(seed % 6));
    if (formula.value.num.huge() || formula.value.num.bits() > 500 ||
        formula.value.den.bits() > 500)
      continue;
    EXPECT_EQ(Ask(formula.text), PrintRational(formula.value))
        << "seed " << seed << ": " << formula.text;
  }
}

TEST(Lexer, NumbersWithGrouping) {
  auto value = [](std::string_view text) {
    const auto tokens = Tokenize(text, {});
    return tokens && tokens->size() == 2 ? PrintRational((*tokens)[0].value) : "not one token";
  };
  const std::pair<std::string_view, std::string_view> cases[] = {{"1,234,567", "1234567"},
                                                                 {"1 234 567", "1234567"},
                                                                 {"1\u00a0234\u00a0567", "1234567"},
                                                                 {"1_0_0", "100"},
                                                                 {".5", "0.5"},
                                                                 {"1e3", "1000"},
                                                                 {"25e-1", "2.5"},
                                                                 {"3½", "3.5"},
                                                                 {"1,23", "not one token"},
                                                                 {"1 23", "not one token"},
                                                                 {"0 123", "not one token"},
                                                                 {"1,234 567", "not one token"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(value(text), expected) << text;
}

TEST(Big, MatchesMachineArithmeticAndGoesOn) {
  const int64_t values[] = {0, 1, -1, 2, -7, 1000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  for (int64_t a : values) {
    for (int64_t b : values) {
      __extension__ using int128 = __int128;
      const int128 product = int128{a} * b;
      if (product >= INT64_MIN && product <= INT64_MAX) {
        EXPECT_EQ(Big(a) * Big(b), Big(static_cast<int64_t>(product)));
      }
      EXPECT_EQ((Big(a) + Big(b)) - Big(b), Big(a));
      EXPECT_EQ(Big(a) < Big(b), a < b);
      if (b != 0) {
        EXPECT_EQ((Big(a) / Big(b)) * Big(b) + Big(a) % Big(b), Big(a));
      }
    }
  }
  EXPECT_EQ(Big::Power(2, 200).bits(), 202u);
  EXPECT_EQ((-Big::Power(2, 200)).bits(), 201u);
  EXPECT_TRUE(Big::Power(2, 4096).huge());
  EXPECT_EQ(ExactSquareRoot(Big::Power(10, 40)), std::optional(Big::Power(10, 20)));
  EXPECT_EQ(ExactSquareRoot(Big::Power(10, 40) + 1), std::nullopt);
}

}  // namespace
}  // namespace frazil::frontends::words
