// The classes: every byte, every transform; the vectors that the specification got wrong are here with their right
// values.
#include "frontends/circuits/class_system.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

namespace frazil::frontends::circuits {
namespace {

TEST(Classes, BytesAndClasses) {
  std::array<int, ClassCount> sizes = {};
  for (int byte = 0; byte < 256; ++byte) {
    const uint8_t class_index = ClassOfByte(static_cast<uint8_t>(byte));
    ASSERT_LT(class_index, ClassCount);
    EXPECT_EQ(ClassOfByte(static_cast<uint8_t>(byte ^ 1)), class_index);  // b0 is ignored
    ++sizes[class_index];
  }
  int of_four = 0, of_two = 0;
  for (int c = 0; c < ClassCount; ++c) {
    of_four += sizes[static_cast<size_t>(c)] == 4;
    of_two += sizes[static_cast<size_t>(c)] == 2;
    const auto class_index = static_cast<uint8_t>(c);
    EXPECT_EQ(ClassOfByte(CanonicalByte(class_index)), class_index);
    EXPECT_EQ(ClassOf(PartsOf(class_index)), class_index);
    EXPECT_EQ(CanonicalByte(class_index) & 1, 0);
  }
  EXPECT_EQ(of_four, 32);
  EXPECT_EQ(of_two, 64);
}

TEST(Classes, Vectors) {
  EXPECT_EQ(CanonicalByte(21), 0x2a);
  EXPECT_EQ(CanonicalByte(5), 0x0a);
  EXPECT_EQ(CanonicalByte(72), 0xc0);
  EXPECT_EQ(Apply(MakeTransform(2, 3, false), 7), 50);
  EXPECT_EQ(CanonicalByte(50), 0x84);
  EXPECT_EQ(CanonicalByte(Apply(MakeTransform(1, 0, false), 5)), 0x4a);   // not 0x1a
  EXPECT_EQ(CanonicalByte(Apply(MakeTransform(1, 0, false), 21)), 0x6a);  // not 0x2e
  EXPECT_EQ(CanonicalByte(Apply(MakeTransform(0, 4, false), 0)), 0x08);   // not 0x10
  const uint8_t moved = Apply(MakeTransform(0, 3, true), 42);             // c42^+3~
  EXPECT_EQ(moved, 37);                                                   // not 45
  EXPECT_EQ(CanonicalByte(moved), 0x5a);
  EXPECT_EQ(BeltAddress(17, CanonicalByte(moved)), 4442u);  // not 4398
  EXPECT_EQ(Apply(MakeTransform(0, 0, true), 21), 13);
  EXPECT_EQ(Apply(MakeTransform(0, 0, true), 13), 21);
}

TEST(Classes, TransformsArePermutationsAndCompose) {
  std::set<std::array<uint8_t, ClassCount>> distinct;
  for (int r = 0; r < 4; ++r)
    for (int t = 0; t < 8; ++t)
      for (int m = 0; m < 2; ++m) {
        const Transform a = MakeTransform(r - 8, t - 16, m != 0);
        std::set<uint8_t> images;
        std::array<uint8_t, ClassCount> table = {};
        for (int c = 0; c < ClassCount; ++c)
          images.insert(table[static_cast<size_t>(c)] = Apply(a, static_cast<uint8_t>(c)));
        EXPECT_EQ(images.size(), static_cast<size_t>(ClassCount));
        distinct.insert(table);
        for (int k = 0; k < 64; ++k) {
          const Transform b = MakeTransform(k, k / 4, k % 2 == 1);
          for (int c = 0; c < ClassCount; c += 5)
            EXPECT_EQ(Apply(Compose(a, b), static_cast<uint8_t>(c)),
                      Apply(b, Apply(a, static_cast<uint8_t>(c))));
        }
      }
  EXPECT_EQ(distinct.size(), 64u);  // 4 x 8 x 2
}

TEST(Classes, ScopesMakeOneHundredNinetyTwoPermutations) {
  // What was stated as a group of 2048 automorphisms is this many different permutations of the classes.
  std::set<std::array<uint8_t, ClassCount>> distinct;
  for (int s = 0; s < 16; ++s)
    for (int r = 0; r < 4; ++r)
      for (int t = 0; t < 8; ++t)
        for (int m = 0; m < 2; ++m) {
          std::array<uint8_t, ClassCount> table = {};
          for (int c = 0; c < ClassCount; ++c)
            table[static_cast<size_t>(c)] =
                Apply(MakeTransform(r, t, m != 0),
                      ApplyScope(static_cast<uint8_t>(s), static_cast<uint8_t>(c)));
          distinct.insert(table);
        }
  EXPECT_EQ(distinct.size(), 192u);
}

TEST(Classes, Addresses) {
  EXPECT_EQ(PhiAddress(95, 0, 0), 1167360u);
  EXPECT_EQ(PhiAddress(95, 47, 255) + 1, 1179648u);
  EXPECT_EQ(PhiAddress(5, 12, 200), 5u * 12288 + 12 * 256 + 200);
}

}  // namespace
}  // namespace frazil::frontends::circuits
