#include "targets/native/folds.h"

#include <set>

#include "ir/lower/lower.h"
#include "targets/llvm/fold_trees.h"
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

bool MayBeTree(const Function& function, const Inst& fold, const NativeOptions& options) {
  return ir::IsFloat(fold.type.scalar) && function.word(fold, 1) == TreeChains &&
         function.word(fold, 2) == TreeBlock && options.vectorize && !options.metered &&
         options.level != exec::CpuLevel::Baseline;
}

// Those whose elements turn out not to fit lanes.
std::set<Place> FindRefused(ir::Program program, const std::vector<FoldTree>& trees,
                            const NativeOptions& options) {
  HoistInvariants(program);
  const ProgramFacts facts = FindFacts(program, options.metered);
  std::set<Place> refused;
  for (const FoldTree& tree : trees) {
    const ir::FuncId id(tree.function);
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
    const LoopPlan plan = PlanLoop(question, program.functions[id.index].inst(tree.loop));
    if (!plan.refusal.empty() || !HasTreeMasks(plan, options.level))
      refused.insert({tree.function, tree.fold});
  }
  return refused;
}

}  // namespace

Result<void> PlaceFolds(ir::Program& lowered, const NativeOptions& options) {
  if (!ir::HasFolds(lowered)) return {};
  lowered = TRY(ir::ExpandFolds(lowered, [&](const Function& function, const Inst& fold) {
    return !FoldsInAnyOrder(fold.type) && !MayBeTree(function, fold, options);
  }));
  // Each time there is at least one fold less.
  while (true) {
    std::vector<FoldTree> trees;
    ir::Program loops = TRY(FoldsAsTrees(lowered, trees));
    const std::set<Place> refused = FindRefused(loops, trees, options);
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
