// Each artifact passes the gate where something here can judge it: WebAssembly by its engine, C by a compiler, the portable
// ISA by lifting it back. PTX is judged where there is a GPU; elsewhere it is carried along as a proposal, and the report
// says that nobody has judged it.
#include "aot/other_targets.h"

#include <fmt/format.h>

#include "aot/targets.h"
#include "machines/simt/module.h"
#include "targets/cuda/cuda.h"

namespace frazil::aot {
namespace {

Result<exec::CompiledForm> Emit(Target which, const std::string& name, const FormJudge& forms) {
  const std::shared_ptr<const exec::Target> target = TargetOf(which);
  if (const std::string why = target->Refuses(forms.program()); !why.empty())
    return Fail(Diag::Unsupported, why);
  exec::EmitOptions options;
  options.symbol = name;
  exec::Artifact artifact = TRY(target->Emit(forms.program(), options));
  exec::CompiledForm form = forms.Form(std::string(target->name()));
  form.symbol = std::move(artifact.entry_symbol);
  form.payload = std::move(artifact.bytes);
  return form;
}

Code& PlaceOf(Target target, BuiltKernel& built) {
  switch (target) {
    case Target::Ptx: return built.ptx;
    case Target::Wasm: return built.wasm;
    case Target::C: return built.c;
    default: return built.isa;
  }
}

// What the report tells of an artifact beside its size.
Result<void> Describe(Target target, const std::string& bytes, BuiltKernel& built) {
  if (target == Target::Isa) {
    built.report.instructions = TRY(machines::simt::LoadModule(bytes)).code.size();
    built.report.isa_bytes = bytes.size();
  } else if (target == Target::Ptx) {
    built.ptx_text = TRY(targets::cuda::ParseModule(bytes)).text;
  }
  return {};
}

Result<verify::Evidence> Build(Target target, const std::string& name, FormJudge& forms,
                               BuiltKernel& built, uint64_t& bytes) {
  exec::CompiledForm form = TRY(Emit(target, name, forms));
  bytes = form.payload.size();
  TRY_VOID(Describe(target, form.payload, built));
  if (target == Target::Ptx) {
    const auto loaded = TargetOf(target)->Load(TRY(exec::ArtifactOf(form)));
    if (!loaded) {
      built.report.refusals.push_back({"judged on a GPU", loaded.error().message});
      built.proposed_ptx = std::move(form.payload);
      return verify::Evidence();
    }
  }
  const Judged judged = forms.Admit(std::move(form));
  if (!judged.admitted) return Fail(Diag::NotAdmitted, judged.reason);
  PlaceOf(target, built) = Code(*judged.admitted);
  return PlaceOf(target, built).evidence();
}

}  // namespace

void EmitOther(Target target, const std::string& name, FormJudge& forms, BuiltKernel& built) {
  const std::string target_name(TargetName(target));
  uint64_t bytes = 0;
  Result<verify::Evidence> evidence = Build(target, name, forms, built, bytes);
  if (!evidence) {
    built.report.refusals.push_back({target_name, evidence.error().message});
    return;
  }
  built.report.targets.push_back(target_name);
  built.report.forms.push_back({target_name, "", bytes, std::move(*evidence)});
}

}  // namespace frazil::aot
