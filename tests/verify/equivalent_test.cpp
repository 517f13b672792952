// Pairs that mean the same: every one is proved, by whichever judge can.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "verify/sections.h"
#include "verify/smt/smt.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

// A section once for each of its types.
std::vector<Section> Expanded(const Section& section) {
  std::string types;
  std::string text;
  std::istringstream lines(section.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("types: ")) {
      types = line.substr(7);
    } else {
      text += line + "\n";
    }
  }
  if (types.empty()) return {section};
  std::vector<Section> sections;
  std::istringstream words(types);
  static const std::regex placeholder("\\bT\\b");
  for (std::string type; words >> type;)
    sections.push_back(
        {fmt::format("{} ({})", section.name, type), std::regex_replace(text, placeholder, type)});
  return sections;
}

TEST(Equivalent, EveryPairIsProved) {
  verify::smt::RegisterZ3();
  std::map<std::string, int> judges;
  int pairs = 0;
  for (const Section& section : ReadSections(FRAZIL_VERIFY_DATA "/equivalences.txt")) {
    for (const Section& one : Expanded(section)) {
      const GuardedPair pair = ReadGuardedPair(one);
      ir::Candidate candidate;
      candidate.program = pair.candidate;
      if (!pair.sound_guards.empty())
        candidate.guard = *ir::ParseGuard(pair.sound_guards[0], pair.source);
      verify::VerifyOptions options;
      options.limits.verify_ms = 60'000;
      options.limits.smt_ms = 20'000;
      const auto verdict = verify::Verify(pair.source, candidate, options);
      ASSERT_TRUE(verdict.has_value()) << one.name << ": " << verdict.error().ToString();
      pairs += 1;
      const auto* proved = std::get_if<verify::Proved>(&*verdict);
      EXPECT_NE(proved, nullptr) << one.name << " is " << verify::Describe(*verdict);
      if (proved != nullptr) judges[proved->evidence.judge] += 1;
    }
  }
  EXPECT_GE(pairs, 100);
  fmt::print("{} pairs\n", pairs);
  for (const auto& [judge, count] : judges) fmt::print("  {:<18} {}\n", judge, count);
}

}  // namespace
}  // namespace frazil::tests
