#include "base/nearest.h"

#include <gtest/gtest.h>

namespace frazil {
namespace {

TEST(Nearest, IsTheOneWithTheFewestWrongLetters) {
  const std::vector<std::string> names = {"store", "sign", "completion", "run", "ask"};
  EXPECT_EQ(Nearest("stroe", names), "store") << "swapped";
  EXPECT_EQ(Nearest("stor", names), "store") << "left out";
  EXPECT_EQ(Nearest("sttore", names), "store") << "added";
  EXPECT_EQ(Nearest("stare", names), "store") << "changed";
  EXPECT_EQ(Nearest("signs", names), "sign");
  EXPECT_EQ(Nearest("ran", names), "run");
}

TEST(Nearest, ABeginningIsEnough) {
  EXPECT_EQ(Nearest("comp", {"run", "completion"}), "completion");
  EXPECT_EQ(Nearest("c", {"run", "completion"}), "") << "one letter is not";
}

TEST(Nearest, WhatIsFarIsNot) {
  EXPECT_EQ(Nearest("banana", {"store", "sign"}), "");
  EXPECT_EQ(Nearest("ab", {"a"}), "") << "as many wrong letters as the name has";
  EXPECT_EQ(Nearest("", {"store"}), "");
  EXPECT_EQ(Nearest("store", {}), "");
}

}  // namespace
}  // namespace frazil
