// Each artifact is judged where something here can run it: WebAssembly by its engine, C by a compiler. The portable ISA is
// proved by lifting it back. PTX is judged where there is a GPU; elsewhere it is embedded as a proposal, and the report says
// that nobody has judged it.
#include "aot/other_targets.h"

#include <fmt/format.h>

#include "aot/judge.h"
#include "targets/c/c.h"
#include "targets/cuda/cuda.h"
#include "targets/isa/isa.h"
#include "targets/wasm/wasm.h"

namespace frazil::aot {
namespace {

Result<std::string> EmitAndJudge(const exec::Target& target, const ir::Program& program,
                                 const std::string& symbol, const Limits& limits, bool is_ours,
                                 verify::Evidence& evidence) {
  if (const std::string why = target.Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, why);
  exec::EmitOptions options;
  options.symbol = symbol;
  exec::Artifact artifact = TRY(target.Emit(program, options));
  const std::unique_ptr<exec::Callable> callable = TRY(target.Load(artifact));
  verify::SampleNotes notes;
  // Our own bytes are admitted only where samples ran all of them; of C, the compiler's are not ours.
  const Judged judged = is_ours ? JudgeModule(program, target, artifact, limits, notes)
                                : JudgeCode(program, *callable, limits, notes);
  if (!judged.accepted) return Fail(Diag::NotAdmitted, judged.reason);
  evidence = judged.evidence;
  return std::move(artifact.bytes);
}

Result<std::string> EmitIsa(const ir::Program& program, KernelReport& report,
                            verify::Evidence& evidence) {
  if (const std::string why = targets::isa::WhyNot(program); !why.empty())
    return Fail(Diag::Unsupported, why);
  const targets::isa::ProvedModule proved = TRY(targets::isa::ProvedModule::OfProgram(program));
  const machines::simt::Module& module = proved.module();
  evidence = {verify::Grade::Proved, "digest", "lifted back, the same exact digest", 0};
  report.instructions = module.code.size();
  report.isa_bytes = module.bytes.size();
  return std::string(module.bytes);
}

Result<std::string> EmitPtx(const ir::Program& program, const Limits& limits, BuiltKernel& built,
                            verify::Evidence& evidence) {
  const std::unique_ptr<exec::Target> target = targets::cuda::MakeCudaTarget();
  if (const std::string why = target->Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, why);
  const targets::cuda::PtxModule module = TRY(targets::cuda::EmitPtx(program));
  const exec::Artifact artifact = TRY(target->Emit(program));
  const auto callable = target->Load(artifact);
  if (callable) {
    verify::SampleNotes notes;
    const Judged judged = JudgeCode(program, **callable, limits, notes);
    if (!judged.accepted) return Fail(Diag::NotAdmitted, judged.reason);
    evidence = judged.evidence;
  } else {
    built.report.refusals.push_back({"judged on a GPU", callable.error().message});
  }
  built.ptx_text = module.text;
  return targets::cuda::SerializeModule(module);
}

Result<std::string> Emit(Target target, const std::string& name, const ir::Program& program,
                         const BuildOptions& options, BuiltKernel& built,
                         verify::Evidence& evidence) {
  switch (target) {
    case Target::Wasm:
      return EmitAndJudge(*targets::wasm::MakeWasmTarget(), program, name, options.limits,
                          /*is_ours=*/true, evidence);
    case Target::C:
      return EmitAndJudge(*targets::c::MakeCTarget(), program, name, options.limits,
                          /*is_ours=*/false, evidence);
    case Target::Isa: return EmitIsa(program, built.report, evidence);
    case Target::Ptx: return EmitPtx(program, options.limits, built, evidence);
    case Target::Native: break;
  }
  return Fail(Diag::Internal, "native code is made elsewhere");
}

std::string& PlaceOf(Target target, BuiltKernel& built) {
  switch (target) {
    case Target::Ptx: return built.ptx;
    case Target::Wasm: return built.wasm;
    case Target::C: return built.c;
    default: return built.isa;
  }
}

}  // namespace

void EmitOther(Target target, const std::string& name, const ir::Program& program,
               const BuildOptions& options, BuiltKernel& built) {
  verify::Evidence evidence;  // none: a proposal
  Result<std::string> bytes = Emit(target, name, program, options, built, evidence);
  const std::string target_name(TargetName(target));
  if (!bytes) {
    built.report.refusals.push_back({target_name, bytes.error().message});
    return;
  }
  built.report.targets.push_back(target_name);
  built.report.forms.push_back({target_name, "", bytes->size(), std::move(evidence)});
  PlaceOf(target, built) = std::move(*bytes);
}

}  // namespace frazil::aot
