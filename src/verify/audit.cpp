#include "verify/audit.h"

#include <fmt/format.h>

#include "ir/digest.h"
#include "ir/text/text.h"
#include "verify/internal/sealed.h"
#include "verify/plans/plans.h"
#include "verify/target_judges.h"

namespace frazil::verify {
namespace {

// The program that is answered for: carried, given, or the candidate itself.
Result<std::optional<ir::Program>> SourceOf(const Carried& carried,
                                            const std::optional<ir::Program>& given,
                                            const ir::Program& candidate) {
  if (!carried.source.empty()) {
    ir::Program source = TRY(ir::ParseText(carried.source));
    if (ir::ExactDigest(source) == carried.source_exact) return source;
    return Fail(Diag::NotAdmitted, "it carries another source than it names");
  }
  if (ir::ExactDigest(candidate) == carried.source_exact) return candidate;
  if (given && ir::ExactDigest(*given) == carried.source_exact) return given;
  return std::optional<ir::Program>();
}

}  // namespace

AuditedMeaning AuditMeaning(const Carried& carried, const std::optional<ir::Program>& given,
                            const VerifyOptions& options) {
  AuditedMeaning audited;
  const auto wrong = [&](std::string why) {
    audited.false_claim = std::move(why);
    return std::move(audited);
  };
  Result<ir::Program> candidate = ir::ParseText(carried.candidate);
  if (!candidate) return wrong("its candidate cannot be read: " + candidate.error().message);
  audited.candidate.program = std::move(*candidate);
  audited.candidate.origin = "audit";
  Result<ir::Guard> guard = ir::ParseGuard(carried.guard, audited.candidate.program);
  if (!guard) return wrong("its guard cannot be read: " + guard.error().message);
  audited.candidate.guard = std::move(*guard);
  if (!carried.certificate.empty()) {
    Result<ir::Certificate> certificate = ir::ParseCertificate(carried.certificate);
    if (!certificate)
      return wrong("its certificate cannot be read: " + certificate.error().message);
    audited.candidate.certificate = std::move(*certificate);
  }
  Result<std::optional<ir::Program>> source = SourceOf(carried, given, audited.candidate.program);
  if (!source) return wrong(source.error().message);
  if (!*source) {
    audited.meaning =
        Unknown{fmt::format("it carries no source program, and none with digest {} was given",
                            ir::ShortDigest(carried.source_exact))};
    return audited;
  }
  Result<Verdict> verdict = Verify(**source, audited.candidate, options);
  if (!verdict && verdict.error().diag == Diag::NotComparable)
    return wrong("its candidate takes or gives other things than its source");
  audited.meaning = verdict ? std::move(*verdict) : Verdict(Unknown{verdict.error().message});
  return audited;
}

Result<Audited> Audit(std::string_view sealed, const std::optional<ir::Program>& source,
                      const VerifyOptions& options) {
  Sealed read = TRY(ReadSealed(sealed));
  Audited audited;
  audited.claimed = std::move(read.evidence);
  const exec::CompiledForm form = std::move(read.form);
  audited.form = form;
  audited.form.payload.clear();
  AuditedMeaning meaning =
      AuditMeaning({form.source_exact, form.source, form.candidate, form.certificate, form.guard},
                   source, options);
  audited.false_claim = std::move(meaning.false_claim);
  if (audited.false_claim.empty() &&
      ir::ExactDigest(meaning.candidate.program) != form.candidate_exact)
    audited.false_claim = "it carries another candidate than it names";
  if (!audited.false_claim.empty()) return audited;
  audited.meaning = std::move(meaning.meaning);
  if (form.payload.empty()) {
    audited.lowering = Unknown{"it carries no code"};
  } else if (form.target == "native" && exec::CpuLevelNamed(form.profile) > exec::HostLevel()) {
    audited.lowering =
        Unknown{fmt::format("it is code for {}, which this machine does not have", form.profile)};
  } else if (form.target == CallsTarget) {
    // The forms that it calls are forms of their own, which are audited as such.
    const Result<exec::Plan> plan = exec::ParsePlan(form.payload);
    audited.lowering = plan ? VerifyPlan(meaning.candidate.program, *plan)
                            : Verdict(Unknown{"the plan cannot be read: " + plan.error().message});
  } else {
    audited.lowering =
        TRY(VerifyForm(meaning.candidate.program, form, meaning.candidate.guard, options));
  }
  return audited;
}

}  // namespace frazil::verify
