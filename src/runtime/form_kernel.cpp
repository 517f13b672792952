#include "runtime/form_kernel.h"

#include <fmt/format.h>

#include <mutex>

#include "base/sha256.h"
#include "exec/native/native_toolchain.h"
#include "ir/check/check.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "registry/targets.h"
#include "runtime/events.h"

namespace frazil::runtime {
namespace {

// Of one verdict by runs: made-up inputs may ask for more memory or time than is sensible, and a caller waits.
constexpr uint64_t JudgeFuel = 1 << 22;
constexpr uint64_t JudgeMemoryBytes = 64 << 20;
constexpr uint64_t JudgeMs = 6'000;

verify::VerifyOptions JudgeOptions() {
  verify::VerifyOptions options;
  options.limits.fuel = JudgeFuel;
  options.limits.memory_bytes = JudgeMemoryBytes;
  options.limits.verify_ms = JudgeMs;
  options.exhaustive = false;  // a launch for each input
  return options;
}

Result<exec::Artifact> MakeArtifact(const exec::Target& target, const Source& source,
                                    const EmitElsewhere& emit_elsewhere) {
  if (const exec::Artifact* proposal = source.ProposalFor(target.name())) return *proposal;
  TRY_VOID(registry::CheckAccepts(target, source.program()));
  Result<exec::Artifact> artifact = target.Emit(source.program());
  if (!artifact && artifact.error().diag == Diag::MissingTool && emit_elsewhere)
    return emit_elsewhere(source.program());
  return artifact;
}

exec::CompiledForm FormOf(const Source& source, exec::Artifact artifact,
                          const std::string& machine) {
  exec::CompiledForm form;
  form.source_exact = form.candidate_exact = source.exact();
  form.guard = "true";
  form.candidate = ir::PrintText(source.program());
  form.target = std::move(artifact.target);
  form.profile = std::move(artifact.profile);
  form.symbol = std::move(artifact.entry_symbol);
  form.payload = std::move(artifact.bytes);
  // Whoever emitted it, these bytes as that machine compiles them are what a verdict is about.
  form.toolchain = machine.empty() ? exec::NativeToolchain()
                                   : fmt::format("{} on {}", Sha256Hex(form.payload), machine);
  // It takes no other form's place: whoever asks for this target by its name gets it.
  form.cost = exec::Bytes{form.payload.size()};
  return form;
}

void TellOf(const exec::CompiledForm& form, engine::Verb verb, std::string detail) {
  Tell({MillisecondsNow(), ir::ShortDigest(form.source_exact), verb, form.target,
        std::move(detail)});
}

// Launches that a target leaves to the CPU, before it has begun with them.
bool IsLeft(const Error& error) {
  return error.diag == Diag::NotIndependent || error.diag == Diag::Unsupported ||
         error.diag == Diag::BadLaunch || error.diag == Diag::LimitReached;
}

}  // namespace

Result<engine::Admitted> AdmitForm(const exec::Target& target, const Source& source,
                                   store::Store* store, const EmitElsewhere& emit_elsewhere) {
  const ir::Program& program = source.program();
  TRY_VOID(ir::Check(program));
  const std::string machine = TRY(target.Machine());
  exec::CompiledForm form =
      FormOf(source, TRY(MakeArtifact(target, source, emit_elsewhere)), machine);
  const verify::Policy policy = verify::Policy::Default(program);
  const store::StoreKey key{.source_exact = form.source_exact,
                            .guard = form.guard,
                            .target = form.target,
                            .toolchain = form.toolchain,
                            .profile = form.profile};
  const bool is_kept = store != nullptr && !machine.empty();
  std::optional<verify::Verified<exec::CompiledForm>> verified;
  if (is_kept) verified = store->FindVerified(key, policy);
  const bool was_kept = verified && (*verified)->payload == form.payload;
  if (!was_kept) {
    verify::Examined examined =
        TRY(verify::Examine(program, {program, {}, {}, "source"}, form, policy, JudgeOptions()));
    if (!examined.form)
      return Fail(Diag::NotAdmitted, fmt::format("its form for {} is not admitted: {}", form.target,
                                                 examined.refusal));
    verified = std::move(examined.form);
  }
  auto admitted = engine::Admit(*verified, nullptr, policy);
  if (!admitted) return Fail(Diag::NotAdmitted, std::move(admitted.error()));
  TellOf(form, engine::Verb::Admit,
         fmt::format("{}{}", was_kept ? "from the store, " : "",
                     verify::Describe(verified->evidence().lowering)));
  if (is_kept && !was_kept && store->Put(key, verify::Seal(*verified, store->key())))
    TellOf(form, engine::Verb::Keep, "");
  return std::move(*admitted);
}

Result<std::shared_ptr<const FormKernel>> FormKernel::Load(const Source& source,
                                                           const engine::Admitted& admitted,
                                                           const exec::Target& target,
                                                           Instead instead) {
  std::unique_ptr<exec::Callable> callable =
      TRY(target.Load(TRY(exec::ArtifactOf(*admitted.form()))));
  return std::shared_ptr<const FormKernel>(
      new FormKernel(source, admitted, std::move(callable), std::move(instead)));
}

FormKernel::FormKernel(const Source& source, const engine::Admitted& admitted,
                       std::unique_ptr<exec::Callable> callable, Instead instead)
    : LoadedKernel(source),
      admitted_(admitted),
      callable_(std::move(callable)),
      instead_(std::move(instead)),
      is_concurrent_(callable_->is_concurrent()) {
  takes_words_ = is_concurrent_ && callable_->takes_words();
}

Result<void> FormKernel::Run(std::span<const exec::Value> arguments) const {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!is_concurrent_) lock.lock();
  Result<exec::Outcome> outcome = callable_->Run(arguments, {});
  if (outcome) return Told(outcome->trap);
  if (instead_ && IsLeft(outcome.error())) return instead_(arguments);
  return std::unexpected(std::move(outcome.error()));
}

Result<void> FormKernel::RunWords(const uint64_t* words) const {
  uint64_t results[internal::MostLaunchResults];
  return Told(callable_->RunWords(words, results));
}

Result<void> FormKernel::Told(const std::optional<exec::TrapInfo>& trap) const {
  if (!trap) [[likely]]
    return {};
  return Fail(Diag::Trapped, fmt::format("{}: {}", signature().name, trap->ToString()));
}

}  // namespace frazil::runtime
