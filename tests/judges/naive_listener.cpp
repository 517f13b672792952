// Linked into test programs that ask judges (frazil_naive in cmake/FrazilTest.cmake): whatever is called proved, exhaustive
// or algebraic there is also seen by the naive checker, and where it disagrees the test fails. Cheap: some hundred points for
// each, and few once the program has spent its time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "ir/certificate.h"
#include "ir/text.h"
#include "verify/naive.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<uint64_t> seen = 0, points = 0, spent_us = 0;

constexpr uint64_t EnoughUs = 10'000'000;

// Of a verdict that calls two programs equal; null for any other.
const verify::Evidence* EvidenceOf(const verify::Verdict& verdict) {
  if (const auto* proved = std::get_if<verify::Proved>(&verdict)) return &proved->evidence;
  const auto* tested = std::get_if<verify::Tested>(&verdict);
  return tested != nullptr && tested->evidence.grade == verify::Grade::Algebraic ? &tested->evidence
                                                                                 : nullptr;
}

void See(const ir::Program& source, const ir::Candidate& candidate,
         const verify::Verdict& verdict) {
  const verify::Evidence* evidence = EvidenceOf(verdict);
  if (evidence == nullptr) return;
  const bool spent = spent_us > EnoughUs;
  const auto begin = Clock::now();
  const verify::NaiveAnswer answer = verify::AskNaively(
      source, candidate.program, candidate.guard,
      {.points = spent ? uint64_t{8} : uint64_t{200}, .milliseconds = spent ? 1u : 20u});
  spent_us += static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count());
  ++seen;
  points += answer.told;
  if (answer.difference.empty()) return;
  std::string arguments;
  for (const exec::Value& value : answer.point.arguments)
    arguments += exec::PrintValue(value) + ", ";
  ADD_FAILURE() << "called " << verify::GradeName(evidence->grade) << " by " << evidence->judge
                << ", but " << answer.difference << " at (" << arguments << ") under "
                << ir::PrintGuard(candidate.guard) << "\n"
                << ir::PrintText(source) << "against\n"
                << ir::PrintText(candidate.program) << ir::PrintCertificate(candidate.certificate);
}

class Listener : public testing::Environment {
 public:
  void TearDown() override {
    verify::RegisterObserver({});
    if (seen > 0)
      fmt::print("naive: saw {} verdicts, compared {} points in {:.1f} s\n", seen.load(),
                 points.load(), static_cast<double>(spent_us) / 1e6);
  }
};

// Before main(): gtest_main owns that.
[[maybe_unused]] const bool registered = [] {
  verify::RegisterObserver(See);
  testing::AddGlobalTestEnvironment(new Listener);
  return true;
}();

}  // namespace
}  // namespace frazil::tests
