// How much of what the optimizer proposes the checker of certificates believes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include "generator/generator.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "optimize/loops/test_loops.h"
#include "optimize/optimize.h"
#include "verify/verify.h"

namespace frazil {
namespace {

uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

struct Tally {
  int changed = 0;  // candidates that are another program
  int proved = 0;
  std::map<std::string, std::pair<int, uint64_t>> reasons;  // how often, and a seed

  double rate() const { return changed == 0 ? 0 : static_cast<double>(proved) / changed; }
  void Print(std::string_view what) const {
    fmt::print("{}: {} of {} certificates accepted ({:.1f} %)\n", what, proved, changed,
               100 * rate());
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [reason, count] : reasons)
      sorted.emplace_back(count.first, fmt::format("{} (seed {})", reason, count.second));
    std::ranges::sort(sorted, std::greater());
    for (size_t i = 0; i < sorted.size() && i < 12; ++i)
      fmt::print("  {:5} {}\n", sorted[i].first, sorted[i].second);
  }
};

// Numbers differ from case to case; the kind of reason does not.
std::string Kind(std::string reason) {
  std::string kind;
  for (char c : reason) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      kind += c;
    else if (kind.empty() || kind.back() != '#')
      kind += '#';
  }
  return kind;
}

Tally Judge(uint64_t programs, generator::GeneratorOptions options) {
  Tally tally;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    options.seed = seed;
    options.size = 8 + static_cast<uint32_t>(seed % 32);
    const ir::Program source = generator::Generate(options);
    const Result<ir::Candidate> candidate = optimize::Optimize(source);
    EXPECT_TRUE(candidate);
    if (!candidate || ir::ExactDigest(candidate->program) == ir::ExactDigest(source)) continue;
    ++tally.changed;
    const verify::Verdict verdict = verify::CheckCertificate(source, *candidate);
    if (std::holds_alternative<verify::Proved>(verdict)) {
      ++tally.proved;
    } else if (const auto* unknown = std::get_if<verify::Unknown>(&verdict)) {
      auto& reason = tally.reasons[Kind(unknown->reason)];
      reason = {reason.first + 1, seed};
    }
  }
  return tally;
}

TEST(Acceptance, IntegerPrograms) {
  generator::GeneratorOptions options;
  options.types = ir::sets::Fixed;
  options.allow_tensors = false;
  options.allow_math = false;
  const Tally tally = Judge(Programs(1500), options);
  tally.Print("integer programs");
  EXPECT_GE(tally.rate(), 0.90);
  EXPECT_GT(tally.changed, 500);
}

TEST(Acceptance, AllPrograms) {
  const Tally tally = Judge(Programs(600), {});
  tally.Print("all programs");
  EXPECT_GE(tally.rate(), 0.90);
}

template <typename Make>
Tally JudgeLoops(uint64_t programs, const Make& make) {
  Tally tally;
  for (uint64_t seed = 0; seed < programs; ++seed) {
    const ir::Program source = make(seed);
    const Result<ir::Candidate> candidate = optimize::Optimize(source);
    EXPECT_TRUE(candidate);
    if (!candidate || candidate->certificate.closed_forms.empty()) continue;
    ++tally.changed;
    const verify::Verdict verdict = verify::CheckCertificate(source, *candidate);
    if (std::holds_alternative<verify::Proved>(verdict)) {
      ++tally.proved;
    } else if (const auto* unknown = std::get_if<verify::Unknown>(&verdict)) {
      auto& reason = tally.reasons[Kind(unknown->reason)];
      reason = {reason.first + 1, seed};
    }
  }
  return tally;
}

TEST(Acceptance, ClosedFormsWithConstantBounds) {
  const Tally tally = JudgeLoops(Programs(600), optimize::RandomLoop);
  tally.Print("loops with constant bounds");
  EXPECT_GE(tally.rate(), 0.90);
  EXPECT_GT(tally.changed, 300);
}

TEST(Acceptance, ClosedFormsWithBoundsThatAreValues) {
  const Tally tally = JudgeLoops(Programs(200), optimize::RandomSum);
  tally.Print("sums with bounds that are values");
  EXPECT_GE(tally.rate(), 0.90);
  EXPECT_GT(tally.changed, 80);
}

}  // namespace
}  // namespace frazil
