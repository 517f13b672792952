// Each artifact passes the gate where something here can judge it: WebAssembly by its engine, C by a compiler, the portable
// ISA by lifting it back. PTX is judged where there is a GPU; elsewhere it is carried along as a proposal, and the report
// says that nobody has judged it.
#include "aot/other_targets.h"

#include <fmt/format.h>

#include "aot/places.h"
#include "aot/targets.h"
#include "machines/simt/module.h"
#include "targets/cuda/cuda.h"

namespace frazil::aot {
namespace {

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

Result<verify::Evidence> Build(Target which, const std::string& name, engine::Loop& loop,
                               const engine::Gate& gate, BuiltKernel& built, uint64_t& bytes) {
  const std::shared_ptr<const exec::Target> target = TargetOf(which);
  ArtifactPlace place(*target, name);
  exec::CompiledForm form = TRY(place.Lower(gate)).form;
  bytes = form.payload.size();
  TRY_VOID(Describe(which, form.payload, built));
  if (which == Target::Ptx) {
    const auto loaded = target->Load(TRY(exec::ArtifactOf(form)));
    if (!loaded) {
      built.report.refusals.push_back({"judged on a GPU", loaded.error().message});
      built.proposed_ptx = std::move(form.payload);
      return verify::Evidence();
    }
  }
  const std::optional<engine::Loop::Won> won = TRY(loop.Run(place));
  if (!won) return Fail(Diag::NotAdmitted, loop.proposals().front().reason);
  PlaceOf(which, built) = Code(won->admitted);
  return PlaceOf(which, built).evidence();
}

}  // namespace

void EmitOther(Target target, const std::string& name, engine::Loop& loop, const engine::Gate& gate,
               BuiltKernel& built) {
  const std::string target_name(TargetName(target));
  uint64_t bytes = 0;
  Result<verify::Evidence> evidence = Build(target, name, loop, gate, built, bytes);
  if (!evidence) {
    built.report.refusals.push_back({target_name, evidence.error().message});
    return;
  }
  built.report.targets.push_back(target_name);
  built.report.forms.push_back({target_name, "", bytes, std::move(*evidence)});
}

}  // namespace frazil::aot
