// Every case file: understood or refused as it says, answered by the interpreter and by the WASM
// target, and every canonical form reads back as the same program.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/meaning/interpreter.h"
#include "frontends/words/words.h"
#include "ir/check/check.h"
#include "ir/digest.h"
#include "support/engine.h"
#include "words/cases.h"

namespace frazil::tests {
namespace {

using frontends::words::Parse;
using frontends::words::PrintAnswer;
using frontends::words::Reading;

const std::vector<WordsCase>& Cases() {
  static const std::vector<WordsCase> cases = [] {
    auto loaded = LoadWordsCases(FRAZIL_WORDS_CASES);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().ToString());
    return loaded ? std::move(*loaded) : std::vector<WordsCase>{};
  }();
  return cases;
}

TEST(WordsCases, AreMany) {
  auto count = [](std::string_view file, bool answers) {
    return std::ranges::count_if(Cases(), [&](const WordsCase& c) {
      return c.file == file && (c.kind == Expectation::Answer) == answers;
    });
  };
  EXPECT_GE(count("paraphrases.txt", true), 60);
  EXPECT_GE(count("stories.txt", true), 40);
  EXPECT_GE(count("refusals.txt", false), 60);
}

TEST(WordsCases, ReadAndAnswer) {
  for (const WordsCase& wanted : Cases()) {
    const Result<Reading> reading = Parse(wanted.text);
    const std::string difference = CompareReading(wanted, reading);
    EXPECT_EQ(difference, "") << wanted.Place();
    if (!reading || !difference.empty()) continue;
    EXPECT_TRUE(ir::Check(reading->program).has_value()) << wanted.Place();
    const Result<exec::Outcome> outcome = exec::Interpret(reading->program, {});
    ASSERT_TRUE(outcome.has_value()) << wanted.Place();
    EXPECT_EQ(CompareAnswer(wanted, PrintAnswer(*reading, *outcome)), "") << wanted.Place();
  }
}

TEST(WordsCases, AnswerOnWasm) {
  auto engine = MakeEngine("wasm");
  if (!engine) GTEST_SKIP() << engine.error().ToString();
  std::vector<std::pair<const WordsCase*, Reading>> readings;
  for (const WordsCase& wanted : Cases())
    if (auto reading = Parse(wanted.text)) readings.emplace_back(&wanted, std::move(*reading));
  std::vector<const ir::Program*> programs;
  for (const auto& [wanted, reading] : readings) programs.push_back(&reading.program);
  std::vector<Prepared> prepared = (*engine)->Prepare(programs, false);
  for (size_t i = 0; i < readings.size(); ++i) {
    const auto& [wanted, reading] = readings[i];
    ASSERT_TRUE(prepared[i].has_value())
        << wanted->Place() << ": " << prepared[i].error().ToString();
    const Result<exec::Outcome> outcome = (*prepared[i])->Run({}, {});
    ASSERT_TRUE(outcome.has_value()) << wanted->Place() << ": " << outcome.error().ToString();
    EXPECT_EQ(CompareAnswer(*wanted, PrintAnswer(reading, *outcome)), "") << wanted->Place();
  }
}

// The canonical form is itself a text: it must mean the same program.
TEST(WordsCases, CanonicalFormsReadBack) {
  for (const WordsCase& wanted : Cases()) {
    const Result<Reading> reading = Parse(wanted.text);
    if (!reading) continue;
    const Result<Reading> again = Parse(reading->canonical);
    ASSERT_TRUE(again.has_value())
        << wanted.Place() << ": \"" << reading->canonical << "\": " << again.error().ToString();
    EXPECT_EQ(again->canonical, reading->canonical) << wanted.Place();
    EXPECT_EQ(ir::ExactDigest(again->program), ir::ExactDigest(reading->program)) << wanted.Place();
  }
}

// Other numbers, same sentence: the grammar knows no particular number.
TEST(WordsCases, NumbersAreFree) {
  for (int64_t a : {0, 1, 9, 10, 250, 99999}) {
    for (int64_t b : {1, 8, 10, 77}) {
      const std::string x = std::to_string(a), y = std::to_string(b);
      auto ask = [](const std::string& text) {
        const Result<Reading> reading = Parse(text);
        if (!reading) return reading.error().ToString();
        const Result<exec::Outcome> outcome = exec::Interpret(reading->program, {});
        return PrintAnswer(*reading, *outcome).value_or("no answer");
      };
      EXPECT_EQ(ask("Add " + x + " and " + y), std::to_string(a + b));
      EXPECT_EQ(ask("Subtract " + x + " from " + y), std::to_string(b - a));
      EXPECT_EQ(ask("What is " + x + " times " + y + "?"), std::to_string(a * b));
      EXPECT_EQ(ask("Each box holds " + x + " items. How many in " + y + " boxes?"),
                std::to_string(a * b));
      EXPECT_EQ(ask("Tickets cost " + x + " dollars each. Cost for " + y + "?"),
                std::to_string(a * b));
      EXPECT_EQ(ask("Janet has " + std::to_string(a + b) + " apples. She gives away " + y + "."),
                x);
      EXPECT_EQ(ask("Is " + x + " greater than " + y + "?"), a > b ? "1" : "0");
      EXPECT_EQ(ask("Divide " + std::to_string(a * b) + " by " + y), x);
    }
  }
}

}  // namespace
}  // namespace frazil::tests
