#include "aot/native_judge.h"

#include "aot/measure.h"
#include "aot/pieces.h"
#include "aot/targets.h"

namespace frazil::aot {
namespace {

bool HasSharedAtomics(const ir::Program& program) {
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts) {
      if (inst.op != ir::Op::AtomicRmw && inst.op != ir::Op::AtomicCas) continue;
      const ir::InstId def = function.values[function.operand(inst, 0).index].def;
      if (!def.valid() || function.inst(def).op != ir::Op::Alloc) return true;
    }
  return false;
}

}  // namespace

exec::CompiledForm NativeJudge::Form(const exec::NativeImage& image,
                                     std::string_view calling) const {
  exec::CompiledForm form = forms_.Form("native");
  exec::PutImage(form, image);
  form.calling = calling;
  form.cost = exec::Bytes{form.payload.size()};
  return form;
}

verify::CallableMaker NativeJudge::CallableFor(std::string_view calling) const {
  using Made = Result<std::unique_ptr<exec::Callable>>;
  if (calling == Calling::InPieces)
    return [this](auto code) {
      return Made(MakePiecesCallable({std::move(code), trips_, trips_word_, ranged_.conditions},
                                     forms_.shared_program()));
    };
  if (calling == Calling::Whole)
    return [this](auto code) {
      return Made(MakeWholeCallable(std::move(code), forms_.shared_program()));
    };
  return {};
}

engine::Judged NativeJudge::Plain(const exec::NativeImage& image) {
  return forms_.Admit(Form(image, Calling::Plain));
}

Result<void> NativeJudge::PreparePieces() {
  const ir::Program& candidate = forms_.program();
  if (!candidate.entry_function().results.empty())
    return Fail(Diag::Unsupported, "it gives results");
  ranged_ = TRY(ir::MakeRanged(candidate));
  if (HasSharedAtomics(candidate))
    return Fail(Diag::Unsupported, "native atomics are not atomic between threads");
  trips_word_ = TripsWord(candidate);
  return {};
}

// A program of its own, which answers for nothing but itself.
engine::Judged NativeJudge::Trips(const exec::NativeImage& image) {
  engine::Gate trips(ranged_.trips, {ranged_.trips, {}, {}, "trips"}, {.limits = limits_});
  exec::CompiledForm form = trips.Form("native");
  exec::PutImage(form, image);
  form.cost = exec::Bytes{form.payload.size()};
  engine::Judged judged = trips.Admit(std::move(form));
  if (!judged.admitted) return judged;
  Result<std::shared_ptr<const exec::NativeCode>> code = exec::NativeCode::Map(image);
  if (code) {
    trips_ = std::move(*code);
  } else {
    judged.admitted.reset();
    judged.reason = code.error().message;
  }
  return judged;
}

engine::Judged NativeJudge::Pieces(const exec::NativeImage& image) {
  return forms_.Admit(Form(image, Calling::InPieces), CallableFor(Calling::InPieces));
}

engine::Judged NativeJudge::Whole(const exec::NativeImage& image) {
  return forms_.Admit(Form(image, Calling::Whole), CallableFor(Calling::Whole));
}

}  // namespace frazil::aot
