// Who judges the lowering to which target.
#include "verify/target_judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/deadline.h"
#include "ir/digest.h"

namespace frazil::verify {
namespace {

constexpr std::string_view Native = "native";

struct Judges {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TargetJudge>, std::less<>> by_target;
};

Judges& Registered() {
  static Judges judges;
  return judges;
}

std::shared_ptr<const TargetJudge> JudgeOf(std::string_view target) {
  Judges& judges = Registered();
  std::lock_guard lock(judges.mutex);
  const auto at = judges.by_target.find(target);
  return at == judges.by_target.end() ? nullptr : at->second;
}

Result<Verdict> JudgeNative(const ir::Program& program, const exec::CompiledForm& form,
                            const ir::Guard& guard, const VerifyOptions& options,
                            const CallableMaker& make_callable) {
  const Result<exec::NativeImage> image = exec::ParseImage(form.payload);
  if (!image) return Unknown{"the image cannot be read: " + image.error().message};
  if (form.profile != exec::CpuLevelName(image->level))
    return Unknown{fmt::format("the form says {} and its image {}", form.profile,
                               exec::CpuLevelName(image->level))};
  return VerifyCode(program, *image, guard, options, make_callable);
}

template <typename Keep>
ir::Guard Weaker(const ir::Guard& guard, const Keep& keep) {
  ir::Guard weaker;
  std::ranges::copy_if(guard.atoms, std::back_inserter(weaker.atoms), keep);
  return weaker;
}

bool HasUnrun(const Result<Verdict>& verdict) {
  const auto* unknown = verdict ? std::get_if<Unknown>(&*verdict) : nullptr;
  return unknown != nullptr && unknown->has_unrun;
}

// Emitters do not know the guard, so that code does what its program says for other arguments, too. What no call under the
// guard reaches (tests of bounds, ways for buffers that are one) is therefore reached by inputs beyond it. They add nothing to
// the evidence but that this code ran: its inputs are those under the guard.
Result<Verdict> JudgeNativeWidely(const ir::Program& program, const exec::CompiledForm& form,
                                  const ir::Guard& guard, const VerifyOptions& options,
                                  const CallableMaker& make_callable) {
  const ir::Guard wide = Weaker(guard, [](const ir::GuardAtom& atom) {
    return atom.kind != ir::GuardKind::Apart && atom.kind != ir::GuardKind::Cover;
  });
  const ir::Guard widest =
      Weaker(wide, [](const ir::GuardAtom& atom) { return atom.kind == ir::GuardKind::Cpu; });
  const Deadline deadline = Deadline::After(options.limits.verify_ms);
  VerifyOptions own = options;
  // Bounds are never passed under such a guard: there is no use in looking for an input that does.
  if (wide.atoms.size() < guard.atoms.size()) own.search_ms = 0;
  const Result<Verdict> under = JudgeNative(program, form, guard, own, make_callable);
  if (!HasUnrun(under)) return under;
  own.search_ms = options.search_ms;
  size_t atoms = guard.atoms.size();
  for (const ir::Guard* less : {&wide, &widest}) {
    if (std::exchange(atoms, less->atoms.size()) == less->atoms.size()) continue;
    own.limits.verify_ms = deadline.LeftMs();
    if (own.limits.verify_ms == 0) break;
    if (own.notes != nullptr) {
      if (own.notes->wider == nullptr) own.notes->wider = std::make_shared<SampleNotes>();
      own.notes = own.notes->wider.get();
    }
    Result<Verdict> beyond = JudgeNative(program, form, *less, own, make_callable);
    if (!beyond || std::holds_alternative<Refuted>(*beyond)) return beyond;
    if (const Evidence* reached = EvidenceOf(*beyond)) {
      Evidence evidence = std::get<Unknown>(*under).compared;
      evidence.detail +=
          "; code that none of them reaches ran beyond the guard: " + reached->detail;
      return Tested{std::move(evidence)};
    }
    if (less == &wide && !HasUnrun(beyond)) return beyond;
  }
  return under;
}

class OfTarget : public TargetJudge {
 public:
  explicit OfTarget(std::shared_ptr<const exec::Target> target) : target_(std::move(target)) {}

 protected:
  std::shared_ptr<const exec::Target> target_;
};

class Lifting final : public OfTarget {
 public:
  using OfTarget::OfTarget;
  Result<Verdict> Judge(const ir::Program&, const exec::CompiledForm& form, const ir::Guard&,
                        const VerifyOptions&) const override {
    const Result<exec::Target::Lifted> lifted = target_->Lift(TRY(exec::ArtifactOf(form)));
    if (!lifted) return Unknown{"the bytes cannot be lifted: " + lifted.error().message};
    if (ir::ExactDigest(lifted->found) != ir::ExactDigest(lifted->wanted))
      return Unknown{"the bytes, lifted, are not the program that they were made from"};
    return Proved{{Grade::Proved, "digest", "lifted back, the same exact digest", 0}};
  }
};

class Module final : public OfTarget {
 public:
  using OfTarget::OfTarget;
  Result<Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                        const ir::Guard& guard, const VerifyOptions& options) const override {
    return VerifyModule(program, *target_, TRY(exec::ArtifactOf(form)), guard, options);
  }
};

class Runs final : public OfTarget {
 public:
  using OfTarget::OfTarget;
  Result<Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                        const ir::Guard& guard, const VerifyOptions& options) const override {
    const Result<std::unique_ptr<exec::Callable>> callable =
        target_->Load(TRY(exec::ArtifactOf(form)));
    if (!callable) return Unknown{"it cannot be run here: " + callable.error().message};
    return VerifyLowering(program, **callable, guard, options);
  }
};

}  // namespace

void RegisterJudge(std::string_view target, std::shared_ptr<const TargetJudge> judge) {
  if (target == Native) return;
  Judges& judges = Registered();
  std::lock_guard lock(judges.mutex);
  judges.by_target.insert_or_assign(std::string(target), std::move(judge));
}

bool HasJudge(std::string_view target) { return target == Native || JudgeOf(target) != nullptr; }

std::shared_ptr<const TargetJudge> LiftingJudge(std::shared_ptr<const exec::Target> target) {
  return std::make_shared<const Lifting>(std::move(target));
}
std::shared_ptr<const TargetJudge> ModuleJudge(std::shared_ptr<const exec::Target> target) {
  return std::make_shared<const Module>(std::move(target));
}
std::shared_ptr<const TargetJudge> RunsJudge(std::shared_ptr<const exec::Target> target) {
  return std::make_shared<const Runs>(std::move(target));
}

Result<Verdict> VerifyForm(const ir::Program& program, const exec::CompiledForm& form,
                           const ir::Guard& guard, const VerifyOptions& options,
                           const CallableMaker& make_callable) {
  const std::shared_ptr<const TargetJudge> judge = JudgeOf(form.target);
  const bool is_known = judge != nullptr && judge->KnowsCalling(form.calling);
  if (!form.calling.empty() && !make_callable && !is_known)
    return Unknown{fmt::format("nobody here knows how to call it '{}'", form.calling)};
  if (form.target == Native) return JudgeNativeWidely(program, form, guard, options, make_callable);
  if (judge == nullptr)
    return Unknown{fmt::format("forms of target '{}' cannot be judged", form.target)};
  return judge->Judge(program, form, guard, options);
}

}  // namespace frazil::verify
