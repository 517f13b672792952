// The search for an input that tells a source from what a judge has called equal. First the naive checker's points;
// then small changes of points whose outcome was like no other so far: rare arms and traps are found by steps.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/deadline.h"
#include "generator/generator.h"
#include "ir/text/text.h"
#include "judges/attacks.h"
#include "verify/runs/naive.h"

namespace frazil::tests {
namespace {

constexpr uint64_t SearchMs = 40;
constexpr uint64_t NaivePoints = 160, Steps = 160;

// What is seen of an outcome from afar: its trap, and the signs and magnitudes of its results.
std::string Likeness(const exec::Outcome& outcome) {
  std::string text = outcome.trap ? outcome.trap->ToString() : "";
  for (const auto* values : {&outcome.results, &outcome.output}) {
    for (const exec::Value& value : *values) {
      if (!value.type.is_scalar()) continue;
      const uint64_t word = value.scalar_words()[0];
      text += fmt::format("/{}", word == 0 ? 0 : 1 + (63 - __builtin_clzll(word)) / 4);
    }
  }
  return text;
}

// One parameter one step away, or as another one is, or telling.
void Step(const verify::NaiveChecker& checker, verify::NaivePoint& point, Choices& choices) {
  if (point.arguments.empty()) return;
  point.arguments = exec::CopyValues(point.arguments);
  exec::Value& value = point.arguments[choices.Below(point.arguments.size())];
  if (value.type.is_buffer() && value.memory->length() > 0) {
    const auto at =
        static_cast<int64_t>(choices.Below(static_cast<uint64_t>(value.memory->length())));
    value.memory->Set(at, checker.Word(value.memory->element(), choices.Next()));
    return;
  }
  if (!value.type.is_scalar() || value.type.scalar == ir::Scalar::Index) return;
  const exec::Value& other = point.arguments[choices.Below(point.arguments.size())];
  if (choices.Chance(20) && other.type == value.type) {
    value = exec::Value(other);
    return;
  }
  const bool whole = ir::IsFixedInt(value.type.scalar);
  if (whole && choices.Chance(60)) {
    const uint64_t step =
        choices.Chance(50) ? 1
                           : 1ull << choices.Below(static_cast<uint64_t>(ir::BitsOf(value.type)));
    value = exec::Value::Int(
        value.type,
        static_cast<int64_t>(choices.Chance(50) ? value.word + step : value.word - step));
    return;
  }
  value = exec::Value::Scalar(value.type, checker.Word(value.type, choices.Next()));
}

std::string Tell(const ir::Program& source, const ir::Program& candidate, const ir::Guard& guard,
                 const verify::NaivePoint& point, const std::string& difference) {
  std::string text = difference + " at (";
  for (const exec::Value& value : point.arguments) text += exec::PrintValue(value) + ", ";
  return text + ") under " + ir::PrintGuard(guard) + "\n" + ir::PrintText(source) + "against\n" +
         ir::PrintText(candidate);
}

}  // namespace

std::string SearchDifference(const ir::Program& source, const ir::Program& candidate,
                             const ir::Guard& guard, Choices& choices) {
  const Result<verify::NaiveChecker> checker =
      verify::NaiveChecker::Create(source, candidate, guard);
  if (!checker) return {};
  const Deadline deadline = Deadline::After(SearchMs);
  std::vector<verify::NaivePoint> unlike;
  std::set<std::string> seen;
  auto look = [&](verify::NaivePoint point) -> std::string {
    bool told = false;
    const std::string difference = checker->DifferenceAt(point, &told);
    if (!difference.empty()) return Tell(source, candidate, guard, point, difference);
    if (told && seen.insert(Likeness(checker->last())).second) unlike.push_back(std::move(point));
    return {};
  };
  for (uint64_t i = 0; i < NaivePoints && !deadline.Passed(); ++i) {
    if (std::string found = look(checker->Point(i)); !found.empty()) return found;
  }
  for (uint64_t i = 0; i < Steps && !unlike.empty() && !deadline.Passed(); ++i) {
    verify::NaivePoint point = unlike[choices.Below(unlike.size())];
    Step(*checker, point, choices);
    if (std::string found = look(std::move(point)); !found.empty()) return found;
  }
  return {};
}

void CountVerdict(const ir::Program& source, const ir::Candidate& candidate,
                  const verify::Verdict& verdict, Choices& choices, Tally& tally) {
  // Of its own, however long it goes on and whatever the judge had time for: the next mutant is the same.
  Choices searching(choices.Next());
  if (!tally.blind && std::holds_alternative<verify::Refuted>(verdict))
    return tally.Judged(&Tally::refuted);
  const bool equal = verify::CallsEqual(verdict);
  if (!tally.blind && !equal) return tally.Judged(&Tally::unknown);
  const verify::Evidence evidence = equal ? *verify::EvidenceOf(verdict) : verify::Evidence{};
  const std::string difference =
      SearchDifference(source, candidate.program, candidate.guard, searching);
  if (difference.empty()) return tally.Judged(&Tally::equal);
  tally.Wrong(fmt::format("called {} by {} ({}): {}\nwith\n{}", verify::GradeName(evidence.grade),
                          evidence.judge, evidence.detail, difference,
                          ir::PrintCertificate(candidate.certificate)));
}

}  // namespace frazil::tests
