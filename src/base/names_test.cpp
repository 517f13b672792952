#include "base/names.h"

#include <gtest/gtest.h>

namespace frazil {
namespace {

enum class Color : uint8_t { Red, Green, Blue };

constexpr Named<Color> Colors[] = {
    {"red", Color::Red}, {"scarlet", Color::Red}, {"green", Color::Green}};

TEST(Names, BothWays) {
  EXPECT_EQ(FindNamed(Colors, "scarlet"), Color::Red);
  EXPECT_EQ(FindNamed(Colors, "green"), Color::Green);
  EXPECT_EQ(FindNamed(Colors, "gree"), std::nullopt);
  EXPECT_EQ(NameOf(Colors, Color::Red), "red") << "the first of two";
  EXPECT_EQ(NameOf(Colors, Color::Blue), "");
}

TEST(Names, RowsByTheirColumn) {
  struct Row {
    int width;
    std::string_view mnemonic;
  };
  constexpr Row rows[] = {{1, "narrow"}, {8, "wide"}, {9, "narrow"}};
  const NameIndex<Color> index(rows, &Row::mnemonic);
  EXPECT_EQ(index.Find("wide"), Color::Green);
  EXPECT_EQ(index.Find("narrow"), Color::Red);
  EXPECT_EQ(index.Find(""), std::nullopt);
}

}  // namespace
}  // namespace frazil
