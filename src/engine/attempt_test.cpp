#include "engine/attempt.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/admit.h"
#include "engine/event.h"
#include "verify/judge.h"

namespace frazil::engine {
namespace {

Attempt Won() {
  return {"optimize", "native", "aa", "bb", "arg0 == 5", Fate::Won, "", 10, 5, 80, 20};
}

TEST(Attempt, ALineAndBack) {
  Attempt attempt = Won();
  EXPECT_EQ(ParseAttempt(PrintAttempt(attempt)), attempt);
  attempt.reason = "two\nlines\tand a tab";
  const std::string line = PrintAttempt(attempt);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  ASSERT_TRUE(ParseAttempt(line));
  EXPECT_EQ(ParseAttempt(line)->reason, "two lines and a tab");
  for (const char* wrong :
       {"", "optimize", "a\tb\twon\tc\td\te\t1\t2\t3\tx\tr",
        "a\tb\tperhaps\tc\td\te\t1\t2\t3\t4\tr", "a\tb\twon\tc\td\te\t1\t2\t3\tnan\tr",
        "\tb\twon\tc\td\te\t1\t2\t3\t4\tr"})
    EXPECT_FALSE(ParseAttempt(wrong)) << wrong;
  EXPECT_FALSE(ParseAttempt(line + "\tmore"));
}

TEST(Attempt, AccountsAddUp) {
  Attempt refused = Won(), refuted = Won(), lost = Won(), other = Won();
  refused.fate = Fate::Refused;
  refused.reason = "lowering unknown: block at +0x10 never ran";
  refuted.fate = Fate::Refuted;
  refuted.reason = "its code is wrong: result 1: 7 against 8";
  lost.fate = Fate::Lost;
  other.proposer = "specialize";
  const auto accounts = AddUp({Won(), Won(), refused, refuted, lost, other});
  const Account& account = accounts.at({"optimize", "native"});
  EXPECT_EQ(account.asked, 5u);
  EXPECT_EQ(account.won, 2u);
  EXPECT_EQ(account.lost, 1u);
  EXPECT_EQ(account.refused, 1u);
  EXPECT_EQ(account.refuted, 1u);
  EXPECT_DOUBLE_EQ(account.gained, 4);
  EXPECT_EQ(account.reasons.at("its code is wrong: result 1"), 1u);
  EXPECT_EQ(accounts.at({"specialize", "native"}).won, 1u);
}

TEST(Event, Sentences) {
  EXPECT_EQ(Sentence({0,
                      "",
                      Verb::Lower,
                      "passes",
                      "tuned avx2",
                      {{Quantity::Bytes, 1416}, {Quantity::Ms, 13.46}}}),
            "passes: 1,416 bytes of tuned avx2 code in 13.5 ms");
  EXPECT_EQ(Sentence({0,
                      "",
                      Verb::Propose,
                      "egraph",
                      "arg0 == 5",
                      {{Quantity::SourceCost, 10}, {Quantity::StaticCost, 5}}}),
            "egraph: cost 10 -> 5 if arg0 == 5");
  EXPECT_EQ(Sentence({0, "", Verb::Refuse, "store", "no", {}}), "store: no");
  EXPECT_EQ(Sentence({0, "", Verb::Dispatch, "the worker", "2.9 times as fast", {}}),
            "solid from the worker: 2.9 times as fast");
  EXPECT_EQ(
      Sentence({0, "", Verb::Observe, "", "", {{Quantity::Calls, 649}, {Quantity::Ns, 1500}}}),
      "hot after 649 calls of 1.5 us");
}

using Form = verify::Verified<exec::CompiledForm>;

Form Verified(exec::Cost cost, std::string source = "aa",
              verify::Grade lowering = verify::Grade::Sampled) {
  exec::CompiledForm form;
  form.source_exact = std::move(source);
  form.target = "any";
  form.cost = cost;
  return verify::Judge::Vouch(std::move(form),
                              {{verify::Grade::Proved, "test", "", 0}, {lowering, "test", "", 1}});
}

// The one rule, for each kind of cost: no evidence or no gain, no admission.
TEST(Admit, LikeWithLike) {
  using exec::Bytes, exec::CallTime, exec::TableHeights;
  const verify::Policy policy;
  const auto admits = [&](const Form& candidate, const Form& in_use) {
    return Admit(candidate, &in_use, policy).has_value();
  };
  EXPECT_TRUE(Admit(Verified(CallTime{50, 100}), nullptr, policy));
  EXPECT_FALSE(Admit(Verified(CallTime{96, 100}), nullptr, policy)) << "within the margin";
  EXPECT_FALSE(Admit(Verified(CallTime{std::nan(""), 100}), nullptr, policy));
  EXPECT_FALSE(Admit(Verified(CallTime{50, 100}, "aa", verify::Grade::None), nullptr, policy));
  EXPECT_FALSE(admits(Verified(CallTime{50, 100}), Verified(CallTime{40, 100})));

  EXPECT_TRUE(Admit(Verified(TableHeights{512, 300, 9, 9}), nullptr, policy));
  const Form heights = Verified(TableHeights{512, 300, 90, 90});
  EXPECT_TRUE(admits(Verified(TableHeights{256, 256, 200, 200}), heights)) << "padded comes first";
  EXPECT_TRUE(admits(Verified(TableHeights{512, 299, 200, 200}), heights)) << "then the tallest";
  EXPECT_TRUE(admits(Verified(TableHeights{512, 300, 91, 88}), heights)) << "then words and cycles";
  EXPECT_FALSE(admits(Verified(TableHeights{512, 300, 91, 89}), heights)) << "the same is not less";
  EXPECT_FALSE(admits(Verified(TableHeights{512, 301, 1, 1}), heights));

  EXPECT_TRUE(admits(Verified(Bytes{9}), Verified(Bytes{10})));
  EXPECT_FALSE(admits(Verified(Bytes{10}), Verified(Bytes{10})));

  EXPECT_FALSE(admits(Verified(Bytes{1}), Verified(CallTime{50, 100}))) << "not the same kind";
  EXPECT_FALSE(admits(Verified(Bytes{1}, "bb"), Verified(Bytes{10}))) << "not the same program";
}

}  // namespace
}  // namespace frazil::engine
