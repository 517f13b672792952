// The list is a vector in eight bytes: what it holds, through growth, moves and copies.
#include "frontends/trident/syntax/list.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace frazil::frontends::trident {
namespace {

std::string Name(int i) { return "a name that is longer than a short string " + std::to_string(i); }

TEST(List, HoldsWhatAVectorHolds) {
  static_assert(sizeof(List<std::string>) == sizeof(void*));
  List<std::string> list;
  std::vector<std::string> expected;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  for (int i = 0; i < 100; ++i) {
    if (i % 7 == 6) {
      list.pop_back();
      expected.pop_back();
    } else if (i % 5 == 4) {
      list.push_back(list[0]);  // of its own, while it grows
      expected.push_back(std::string(expected[0]));
    } else {
      EXPECT_EQ(list.emplace_back(Name(i)), Name(i));
      expected.push_back(Name(i));
    }
    ASSERT_EQ(list.size(), expected.size());
    EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin()));
    EXPECT_EQ(list.back(), expected.back());
  }
  while (!list.empty()) list.pop_back();
  EXPECT_EQ(list.size(), 0u);
  list.push_back("again");
  EXPECT_EQ(list[0], "again");
}

TEST(List, CopiesAndMoves) {
  const List<std::string> some = {Name(1), Name(2), Name(3)};
  List<std::string> copy = some;
  EXPECT_EQ(copy, some);
  copy[1] = "other";
  EXPECT_NE(copy, some);
  EXPECT_EQ(some[1], Name(2));
  List<std::string> moved = std::move(copy);
  EXPECT_EQ(moved[1], "other");
  List<std::string> target = {Name(9)};
  target = std::move(moved);
  EXPECT_EQ(target.size(), 3u);
  target = some;
  EXPECT_EQ(target, some);
  List<std::string>& same = target;
  target = same;
  EXPECT_EQ(target, some);
  target.clear();
  EXPECT_TRUE(target.empty());
  EXPECT_NE(target, some);
}

TEST(List, OwnsWhatCannotBeCopied) {
  List<std::unique_ptr<int>> list;
  for (int i = 0; i < 10; ++i) list.push_back(std::make_unique<int>(i));
  List<std::unique_ptr<int>> moved = std::move(list);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(*moved[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace frazil::frontends::trident
