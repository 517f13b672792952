// What is asked of the verifier, and what its answer means for a kernel.
#include "aot/judge.h"

#include <fmt/format.h>

#include "verify/x86/x86.h"

namespace frazil::aot {
namespace {

// Of one verdict: made-up inputs may ask for more memory or time than is sensible.
constexpr uint64_t CodeFuel = 1 << 22;
constexpr uint64_t CodeMemoryBytes = 64 << 20;
constexpr uint64_t SearchMs = 2'000;
constexpr uint64_t CodeMs = 20'000;
constexpr uint64_t QuickExhaustiveCases = 1 << 16;
constexpr uint64_t SmtMs = 1'000;

verify::VerifyOptions CodeOptions(const Limits& limits, verify::SampleNotes& notes) {
  verify::VerifyOptions options = MeaningOptions(limits);
  options.limits.fuel = CodeFuel;
  options.limits.memory_bytes = CodeMemoryBytes;
  options.limits.verify_ms = CodeMs;
  options.notes = &notes;
  options.search_ms = SearchMs;
  return options;
}

Judged Judge(Result<verify::Verdict> verdict, verify::Grade least) {
  Judged judged;
  if (!verdict) {
    judged.reason = verdict.error().message;
  } else if (const auto* refuted = std::get_if<verify::Refuted>(&*verdict)) {
    judged.reason = "refuted: " + refuted->difference;
  } else if (const auto* unknown = std::get_if<verify::Unknown>(&*verdict)) {
    judged.reason = "no verdict: " + unknown->reason;
    judged.has_unrun = unknown->has_unrun;
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
  judged.verdict = verdict ? std::move(*verdict) : verify::Unknown{judged.reason};
  return judged;
}

}  // namespace

verify::VerifyOptions MeaningOptions(const Limits& limits) {
  verify::VerifyOptions options;
  options.limits = limits;
  options.limits.smt_ms = std::min(limits.smt_ms, SmtMs);
  options.exhaustive_cases = QuickExhaustiveCases;
  return options;
}

Judged JudgeMeaning(const ir::Program& source, const ir::Candidate& candidate,
                    const Limits& limits) {
  return Judge(verify::Verify(source, candidate, MeaningOptions(limits)),
               verify::Policy::Default(source).meaning);
}

Judged JudgeCode(const ir::Program& program, exec::Callable& code, const Limits& limits,
                 verify::SampleNotes& notes) {
  return Judge(verify::VerifyLowering(program, code, {}, CodeOptions(limits, notes)),
               verify::Policy::Default(program).lowering);
}

Judged JudgeModule(const ir::Program& program, const exec::Target& target,
                   const exec::Artifact& artifact, const Limits& limits,
                   verify::SampleNotes& notes) {
  return Judge(verify::VerifyModule(program, target, artifact, {}, CodeOptions(limits, notes)),
               verify::Policy::Default(program).lowering);
}

Judged JudgeImage(const ir::Program& program, const exec::NativeImage& image, const Limits& limits,
                  verify::SampleNotes& notes, const verify::CallableMaker& make_callable) {
  static const bool is_ready = (verify::x86::RegisterReader(), true);
  static_cast<void>(is_ready);
  return Judge(verify::VerifyCode(program, image, {}, CodeOptions(limits, notes), make_callable),
               verify::Policy::Default(program).lowering);
}

}  // namespace frazil::aot
