// Linked into test programs that ask judges (frazil_naive in cmake/FrazilTest.cmake): whatever is called proved, exhaustive
// or algebraic there is also seen by the naive checker, or run on Triton VM, and where that disagrees the test fails.
// Cheap: some hundred points for each, and few once the program has spent its time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "base/deadline.h"
#include "ir/certificate.h"
#include "ir/text/text.h"
#include "judges/machine_points.h"
#include "verify/runs/naive.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<uint64_t> seen = 0, points = 0, spent_us = 0;

constexpr uint64_t EnoughUs = 10'000'000;

void SeePrograms(const verify::ProgramQuestion& question, const verify::Evidence& evidence) {
  const auto& [source, candidate] = question;
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
  ADD_FAILURE() << "called " << verify::Describe(evidence) << ", but " << answer.difference
                << " at (" << arguments << ") under " << ir::PrintGuard(candidate.guard) << "\n"
                << ir::PrintText(source) << "against\n"
                << ir::PrintText(candidate.program) << ir::PrintCertificate(candidate.certificate);
}

// What runs on Triton VM is run at points of its own.
void SeeMachines(const verify::MachineQuestion& question, const verify::Evidence& evidence) {
  Choices choices(0x7a5a + ++seen);
  const Deadline deadline = Deadline::After(10);
  for (int i = 0; i < 100 && !deadline.Passed(); ++i) {
    const Start start = DrawStart({}, choices);
    verify::MachineStart inputs{start.inputs, start.fragment.stack, {}};
    if (start.fragment.sponge) inputs.sponge = start.fragment.sponge->elements;
    const std::optional<std::string> difference = question.difference(inputs);
    ++points;
    if (!difference) continue;
    ADD_FAILURE() << "called " << verify::Describe(evidence) << ", but " << *difference
                  << " from the stack " << fmt::format("{}", fmt::join(inputs.stack, " "))
                  << " and the input " << fmt::format("{}", fmt::join(inputs.inputs.input, " "));
    return;
  }
}

void See(const verify::Question& question, const verify::Verdict& verdict) {
  if (!verify::CallsEqual(verdict)) return;
  const verify::Evidence& evidence = *verify::EvidenceOf(verdict);
  if (const auto* programs = std::get_if<verify::ProgramQuestion>(&question))
    return SeePrograms(*programs, evidence);
  SeeMachines(std::get<verify::MachineQuestion>(question), evidence);
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
