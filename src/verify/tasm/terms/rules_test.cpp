// Every row of the table of rewrites is proved, and rows that are nearly right are not.
#include "verify/tasm/terms/rules.h"

#include <gtest/gtest.h>

namespace frazil::verify::tasm {
namespace {

struct Row {
  const char *name, *pattern, *replacement, *conditions;
};
constexpr Row Rows[] = {
#define FRAZIL_TASM_RULE(name, pattern, replacement, conditions) {name, pattern, replacement, conditions},
#include "ir/rules/rules_tasm.def"
#undef FRAZIL_TASM_RULE
};

TEST(TasmRules, EveryRowIsProved) {
  for (const Row& row : Rows) {
    auto answer = ProveRule(row.pattern, row.replacement, row.conditions);
    ASSERT_TRUE(answer.has_value()) << row.name << ": " << answer.error().message;
    EXPECT_EQ(VerdictName(*answer), "proved") << row.name << ": " << Describe(*answer);
  }
}

TEST(TasmRules, WrongRowsAreNot) {
  const Row wrong[] = {
      {"", "push a; push b; swap 1", "push a; push b", ""},
      {"", "push a; add", "addi a+1", ""},
      {"", "pop n; pop m", "pop n+m-1", "n+m <= 5"},
      {"", "swap i; pop n", "pop n", "i <= n"},
      {"", "push a; push b; eq", "push 0", ""},
      {"", "dup i; dup j; swap 1", "dup j; dup i+1", "i < 15"},
      {"", "pick i; place j", "", ""},
      {"", "read_mem n; pop m", "pop m-n+1", "m >= n"},
      {"", "push 0; eq; push 0; eq", "", ""},
      {"", "invert; invert", "", ""},
      {"", "lt; pop 1", "pop 2", ""},
      {"", "split; pop 1", "", ""},
      {"", "divine n; pop m", "divine n-1", "m = 1, n > 1"},
      {"", "write_mem 1; addi 0-1; read_mem 1; pop 1", "pop 1", ""},
  };
  for (const Row& row : wrong) {
    auto answer = ProveRule(row.pattern, row.replacement, row.conditions);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_FALSE(CallsEqual(*answer)) << row.pattern << " -> " << row.replacement;
  }
}

TEST(TasmRules, WhatAppliesNowhereIsNotProved) {
  const auto answer = ProveRule("pop n", "pop n", "n > 5");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(Describe(*answer), "unknown: it applies nowhere");
}

TEST(TasmRules, BadTextIsSaid) {
  EXPECT_FALSE(ProveRule("push", "", "").has_value());
  EXPECT_FALSE(ProveRule("jump 3", "", "").has_value());
  EXPECT_FALSE(ProveRule("push a", "push q", "").has_value());
  EXPECT_FALSE(ProveRule("push a", "", "a").has_value());
  EXPECT_FALSE(ProveRule("push a", "", "a < 3").has_value());
}

}  // namespace
}  // namespace frazil::verify::tasm
