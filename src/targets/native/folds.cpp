#include "targets/native/folds.h"

#include <set>

#include "ir/clone.h"
#include "ir/lower/fold.h"
#include "ir/lower/lower.h"
#include "targets/llvm/op_emitter.h"
#include "targets/native/hoist.h"
#include "targets/native/vectors/loop_plan.h"
#include "targets/native/vectors/vector_tree.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

// A function and an instruction of it, by their numbers.
using Place = std::pair<uint32_t, uint32_t>;

Place PlaceOf(const ir::Program& program, const Function& function, const Inst& inst) {
  return {static_cast<uint32_t>(&function - program.functions.data()),
          static_cast<uint32_t>(&inst - function.insts.data())};
}

bool IsPlain(ir::Type type) {
  return ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Bool;
}

bool MayBeTree(const Function& function, const Inst& fold, const NativeOptions& options) {
  return ir::IsFloat(fold.type.scalar) && function.word(fold, 1) == TreeChains &&
         function.word(fold, 2) == TreeBlock && options.vectorize && !options.metered &&
         options.level != exec::CpuLevel::Baseline;
}

// What is left of the folds as loops that carry one value.
class FoldsToLoops : public ir::Cloner {
 public:
  using Made = std::pair<Place, InstId>;  // of the source, of the copy

  FoldsToLoops(const ir::Program& program, const Function& source, ir::FunctionBuilder& builder,
               std::vector<Made>& trees)
      : Cloner(source, builder), program_(program), trees_(trees) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::Fold) return CopyInst(inst);
    const bool is_half = Contains(ir::sets::Half, inst.type.scalar);
    const ir::Type wide = is_half ? ir::types::F32 : inst.type;
    const auto kind = static_cast<ir::ReduceKind>(source_.word(inst, 0));
    const ValueId operands[] = {builder_.ConstInt(ir::types::Index, 0),
                                Get(source_.operand(inst, 0)),
                                ir::FoldIdentity(builder_, kind, wide)};
    const uint64_t step = 1;
    const InstId loop =
        builder_.Begin(Op::For, ir::Type{}, operands, std::span(&wide, 1), std::span(&step, 1), 1);
    if (!IsPlain(inst.type)) {
      builder_.StandFor(Op::Fold);
      trees_.emplace_back(PlaceOf(program_, source_, inst), loop);
    }
    const ir::Type params[] = {ir::types::Index, wide};
    const ir::Values inside = builder_.BeginRegion(loop, 0, params);
    const ir::Region& region = source_.region(Function::region_of(inst, 0));
    Bind(Function::param_of(region, 0), inside[0]);
    TRY_VOID(CopyInsts(std::span(region.insts).first(region.insts.size() - 1)));
    ValueId element = Get(source_.operand(source_.inst(region.insts.back()), 0));
    if (is_half) element = builder_.Cast(Op::Cast, element, wide);
    const ValueId next = builder_.Binary(ir::CombinerOf(kind), inside[1], element);
    builder_.Terminate(Op::Yield, std::span(&next, 1));
    builder_.EndRegion();
    ValueId result = Function::result_of(builder_.function().inst(loop));
    if (is_half) result = builder_.Cast(Op::Cast, result, inst.type);
    BindNamed(Function::result_of(inst), result);
    return {};
  }

 private:
  const ir::Program& program_;
  std::vector<Made>& trees_;
};

// Those whose elements turn out not to fit lanes.
std::set<Place> FindRefused(ir::Program program, const std::vector<FoldsToLoops::Made>& trees,
                            const std::vector<uint32_t>& functions, const NativeOptions& options) {
  HoistInvariants(program);
  const ProgramFacts facts = FindFacts(program, options.metered);
  std::set<Place> refused;
  for (size_t i = 0; i < trees.size(); ++i) {
    const ir::FuncId id(functions[i]);
    // Of a function that nobody calls nothing is known, and nothing is emitted.
    if (facts.functions[id.index].live.empty()) continue;
    const PlanQuestion question{program,
                                facts,
                                id,
                                options.metered,
                                [](Op op, ir::Type type, ir::Type from) {
                                  return ComputesVector(op, type, from, /*modern=*/true);
                                },
                                /*has_rows=*/false};
    const LoopPlan plan = PlanLoop(question, program.functions[id.index].inst(trees[i].second));
    if (!plan.refusal.empty() || !HasTreeMasks(plan, options.level)) refused.insert(trees[i].first);
  }
  return refused;
}

}  // namespace

Result<void> PlaceFolds(ir::Program& lowered, const NativeOptions& options) {
  if (!ir::HasFolds(lowered)) return {};
  lowered = TRY(ir::ExpandFolds(lowered, [&](const Function& function, const Inst& fold) {
    return !IsPlain(fold.type) && !MayBeTree(function, fold, options);
  }));
  // Each time there is at least one fold less.
  while (true) {
    std::vector<FoldsToLoops::Made> trees;
    std::vector<uint32_t> functions;
    ir::Program loops =
        TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
          FoldsToLoops cloner(lowered, function, builder, trees);
          cloner.DeclareParams();
          const Result<void> copied = cloner.CopyBody();
          functions.resize(trees.size(),
                           static_cast<uint32_t>(&function - lowered.functions.data()));
          return copied;
        }));
    const std::set<Place> refused = FindRefused(loops, trees, functions, options);
    if (refused.empty()) {
      lowered = std::move(loops);
      return {};
    }
    const ir::Program before = std::move(lowered);
    lowered = TRY(ir::ExpandFolds(before, [&](const Function& function, const Inst& fold) {
      return refused.contains(PlaceOf(before, function, fold));
    }));
  }
}

}  // namespace frazil::targets::native
