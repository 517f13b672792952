// Inputs that the verifier makes up may ask for more memory or time than is sensible; small limits find that out at once,
// and programs that need more for every input get more.
#include "aot/judge.h"

#include <fmt/format.h>

namespace frazil::aot {
namespace {

struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
  uint64_t ms;
};
constexpr Effort Efforts[] = {
    {1 << 12, 1 << 20, 2'000}, {1 << 16, 16 << 20, 4'000}, {1 << 22, 64 << 20, 20'000}};
constexpr uint64_t QuickExhaustiveCases = 1 << 16;
constexpr uint64_t SmtMs = 1'000;

verify::VerifyOptions OptionsOf(const Limits& limits) {
  verify::VerifyOptions options;
  options.limits = limits;
  options.limits.smt_ms = std::min(limits.smt_ms, SmtMs);
  options.exhaustive_cases = QuickExhaustiveCases;
  return options;
}

Judged Judge(const Result<verify::Verdict>& verdict, verify::Grade least) {
  Judged judged;
  if (!verdict) {
    judged.reason = verdict.error().message;
  } else if (const auto* refuted = std::get_if<verify::Refuted>(&*verdict)) {
    judged.reason = "refuted: " + refuted->difference;
  } else if (const auto* unknown = std::get_if<verify::Unknown>(&*verdict)) {
    judged.reason = "no verdict: " + unknown->reason;
  } else {
    const auto* proved = std::get_if<verify::Proved>(&*verdict);
    judged.evidence =
        proved != nullptr ? proved->evidence : std::get<verify::Tested>(*verdict).evidence;
    judged.accepted = verify::Worth(judged.evidence.grade) >= verify::Worth(least);
    if (!judged.accepted)
      judged.reason =
          fmt::format("it is only {}, and {} is asked for",
                      verify::GradeName(judged.evidence.grade), verify::GradeName(least));
  }
  return judged;
}

}  // namespace

Judged JudgeMeaning(const ir::Program& source, const ir::Candidate& candidate,
                    const Limits& limits) {
  return Judge(verify::Verify(source, candidate, OptionsOf(limits)),
               verify::Policy::Default(source).meaning);
}

Judged JudgeCode(const ir::Program& program, exec::Callable& code, const Limits& limits) {
  const verify::Grade least = verify::Policy::Default(program).lowering;
  Judged judged;
  for (const Effort& effort : Efforts) {
    verify::VerifyOptions options = OptionsOf(limits);
    options.limits.fuel = effort.fuel;
    options.limits.memory_bytes = effort.memory_bytes;
    options.limits.verify_ms = effort.ms;
    const Result<verify::Verdict> verdict = verify::VerifyLowering(program, code, {}, options);
    judged = Judge(verdict, least);
    if (!verdict || !std::holds_alternative<verify::Unknown>(*verdict)) break;
  }
  return judged;
}

}  // namespace frazil::aot
