#include "aot/native_judge.h"

#include "aot/measure.h"
#include "aot/pieces.h"

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

Judged NativeJudge::Plain(const exec::NativeImage& image) {
  return JudgeImage(*candidate_, image, limits_, notes_);
}

Result<void> NativeJudge::PreparePieces() {
  if (!candidate_->entry_function().results.empty())
    return Fail(Diag::Unsupported, "it gives results");
  ranged_ = TRY(ir::MakeRanged(*candidate_));
  if (HasSharedAtomics(*candidate_))
    return Fail(Diag::Unsupported, "native atomics are not atomic between threads");
  trips_word_ = TripsWord(*candidate_);
  return {};
}

Judged NativeJudge::Trips(const exec::NativeImage& image) {
  verify::SampleNotes notes;
  Judged judged = JudgeImage(ranged_.trips, image, limits_, notes);
  if (!judged.accepted) return judged;
  Result<std::shared_ptr<const exec::NativeCode>> code = exec::NativeCode::Map(image);
  if (code) {
    trips_ = std::move(*code);
  } else {
    judged.accepted = false;
    judged.reason = code.error().message;
  }
  return judged;
}

Judged NativeJudge::Pieces(const exec::NativeImage& image) {
  return JudgeImage(*candidate_, image, limits_, notes_, [&](auto code) {
    return Result<std::unique_ptr<exec::Callable>>(
        MakePiecesCallable({std::move(code), trips_, trips_word_, ranged_.conditions}, candidate_));
  });
}

Judged NativeJudge::Whole(const exec::NativeImage& image) {
  return JudgeImage(*candidate_, image, limits_, notes_, [&](auto code) {
    return Result<std::unique_ptr<exec::Callable>>(MakeWholeCallable(std::move(code), candidate_));
  });
}

}  // namespace frazil::aot
