// The algebraic reading: its completion, its equations, and every way in which a looser matching was wrong.
#include "frontends/circuits/gates.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace frazil::frontends::circuits {
namespace {

std::string Gates(std::string_view text) {
  const Result<GateWord> word = GatesOf(CallsOf(*ParsePhrase(text)));
  return word ? *word : "none";
}

// Applies rules anywhere, in the given order of preference from the right or the left.
std::string Slowly(std::string word, bool from_right) {
  for (;;) {
    std::set<std::pair<size_t, size_t>> places;
    for (size_t r = 0; r < GateRules().size(); ++r)
      for (size_t at = word.find(GateRules()[r].left); at != std::string::npos;
           at = word.find(GateRules()[r].left, at + 1))
        places.emplace(at, r);
    if (places.empty()) return word;
    const auto [at, rule] = from_right ? *places.rbegin() : *places.begin();
    word.replace(at, GateRules()[rule].left.size(), GateRules()[rule].right);
  }
}

TEST(Gates, RulesEndAndAllCriticalPairsJoin) {
  const auto rank = [](std::string_view word) {
    std::string key(1, static_cast<char>(word.size()));
    for (char c : word) key += static_cast<char>('0' + std::string_view("XZSH").find(c));
    return key;
  };
  int pairs = 0;
  for (const GateRule& a : GateRules()) {
    EXPECT_LT(rank(a.right), rank(a.left))
        << a.left;  // shortlex: a well-founded order that contexts keep
    for (const GateRule& b : GateRules()) {
      for (size_t overlap = 1; overlap <= std::min(a.left.size(), b.left.size()); ++overlap) {
        if (a.left.substr(a.left.size() - overlap) != b.left.substr(0, overlap)) continue;
        ++pairs;
        const std::string left = std::string(a.right) + std::string(b.left.substr(overlap));
        const std::string right =
            std::string(a.left.substr(0, a.left.size() - overlap)) + std::string(b.right);
        EXPECT_EQ(NormalGates(left), NormalGates(right)) << a.left << " and " << b.left;
      }
    }
  }
  EXPECT_GE(pairs, 12);
}

TEST(Gates, TheSixEquations) {
  for (const auto& [a, b] : std::map<std::string, std::string>{
           {"HH", ""}, {"XX", ""}, {"ZZ", ""}, {"SS", "Z"}, {"HXH", "Z"}, {"", ""}})
    EXPECT_TRUE(SameGates(a, b)) << a;
  EXPECT_EQ(*ReadGates("IXIIX"), "XX");
  EXPECT_FALSE(ReadGates("XY"));
  EXPECT_FALSE(SameGates("X", "Z"));
  EXPECT_FALSE(SameGates("XZ", "ZX"));  // follows from none of the six
  EXPECT_FALSE(SameGates("HSH", "S"));
}

TEST(Gates, NormalFormsAreUniqueAndComplete) {
  // All words up to length 7, joined whenever one equation makes one of the other: the classes must be those of
  // NormalGates.
  std::vector<std::string> words = {""};
  for (size_t begin = 0, length = 0; length < 7; ++length) {
    const size_t end = words.size();
    for (; begin < end; ++begin)
      for (char c : std::string("XZSH")) words.push_back(words[begin] + c);
  }
  for (const std::string& word : words) {
    const std::string normal = NormalGates(word);
    ASSERT_EQ(normal, Slowly(word, false));
    ASSERT_EQ(normal, Slowly(word, true));
    for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
             {"HH", ""}, {"XX", ""}, {"ZZ", ""}, {"SS", "Z"}, {"HXH", "Z"}})
      for (size_t at = word.find(a); at != std::string::npos; at = word.find(a, at + 1)) {
        std::string other = word;
        other.replace(at, a.size(), b);
        ASSERT_EQ(NormalGates(other), normal) << word;
      }
  }
}

TEST(Gates, WhatWasStuckReduces) {
  EXPECT_EQ(NormalGates(Gates("mark@c00 . mark@c21")), "X");            // I X
  EXPECT_EQ(NormalGates(Gates("mark@c21 . mark@c00 . mark@c21")), "");  // X I X
  EXPECT_EQ(NormalGates(Gates("mark@c07 . mark@c42 . mark@c07")), "");  // S Z S = S S Z = Z Z
  EXPECT_EQ(NormalGates(Gates("mark@c07 . mark@c07 . mark@c07 . mark@c07")), "");  // S S S S
  const std::string h = "copy@c05->c06 . mark@c21";
  EXPECT_EQ(NormalGates(Gates(h + " . " + h + " . " + h)), "H");  // H H H is H, not I H
  EXPECT_EQ(NormalGates(Gates(h + " . mark@c21 . " + h)), "Z");
  EXPECT_EQ(PrintGates(NormalGates(Gates(h + " . " + h))), "mark@c00");
  EXPECT_EQ(PrintGates("HZ"), h + " . mark@c42");
}

TEST(Gates, MatchingIsExact) {
  EXPECT_EQ(Gates("mark@c21^+1 . mark@c21"), "none");  // the first is a mark of c22
  EXPECT_EQ(Gates("mark@c20^+1"), "X");                // and this one of c21
  EXPECT_EQ(Gates("R+1@ mark@c21"), "none");
  EXPECT_EQ(Gates("mark@c13~"), "X");
  EXPECT_EQ(Gates("mark@c21@3"), "none");                // a page is another slot
  EXPECT_EQ(Gates("copy@c05->c90 . mark@c21"), "none");  // another destination
  EXPECT_EQ(Gates("copy@c05->c06"), "none");
  EXPECT_EQ(Gates("copy@c05->c06 . mark@c42"), "none");
  EXPECT_EQ(Gates("mark@c[20..21]"), "none");
  EXPECT_EQ(Gates("swap@c05<->c06"), "none");
}

TEST(Gates, ATextIsDescribedByItsWordAndItsNormalForm) {
  const auto described = DescribeGates(PrintGates("HXH"));
  ASSERT_TRUE(described) << described.error().ToString();
  EXPECT_EQ(*described, "H X H = Z\n" + PrintGates("Z") + "\n");
  EXPECT_EQ(*DescribeGates(PrintGates("HH")), "H H = I\n" + PrintGates("") + "\n");
  EXPECT_FALSE(DescribeGates("copy@c01->c02"));
  EXPECT_FALSE(DescribeGates("no circuit"));
}

}  // namespace
}  // namespace frazil::frontends::circuits
