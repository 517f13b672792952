// From any program to a plan: which folds stay with rows, and the lowering that follows from that.
#include <set>

#include "ir/lanes/independence.h"
#include "ir/lower/lower.h"
#include "targets/cuda/plan.h"
#include "targets/llvm/fold_trees.h"

namespace frazil::targets::cuda {
namespace {

using namespace ir::names;

// A loop directly in a parallel that can be rows, which the host reaches by choices alone.
bool IsInRows(const PlannedProgram& planned, InstId loop) {
  const ir::Program& program = planned.lowered;
  const Function& function = program.entry_function();
  const FunctionFacts& facts = planned.facts.functions[program.entry.index];
  const InstId parallel = facts.owner[facts.region[loop.index].index];
  if (!parallel.valid() || function.inst(parallel).op != Op::Parallel) return false;
  for (InstId owner = facts.owner[facts.region[parallel.index].index]; owner.valid();
       owner = facts.owner[facts.region[owner.index].index])
    if (function.inst(owner).op != Op::If || function.inst(owner).results.count != 0) return false;
  return PlanRows(program, function, planned.facts, facts, function.inst(parallel)) &&
         ir::IndependenceOf(program, function, parallel).independent;
}

// Folds in rows that some lanes of a warp can take are left to them; the others become loops. Nothing where there is none
// of them.
Result<std::optional<PlannedProgram>> PlanRowsOf(const ir::Program& source, ir::Program lowered,
                                                 const ir::Program& with_barriers,
                                                 const TileShape& tile) {
  const auto number = [](const ir::Program& program, const Function& function) {
    return static_cast<uint32_t>(&function - program.functions.data());
  };
  const ir::Program all = std::move(lowered);
  lowered = TRY(ir::ExpandFolds(all, [&](const Function& function, const Inst& fold) {
    return number(all, function) != all.entry.index || !ir::IsFloat(fold.type.scalar) ||
           function.word(fold, 1) != FoldChains || function.word(fold, 2) != FoldBlock;
  }));
  PlannedProgram planned;
  while (true) {
    std::vector<FoldTree> trees;
    planned.lowered = TRY(FoldsAsTrees(lowered, trees));
    if (trees.empty()) return std::nullopt;
    planned.facts = FindFacts(planned.lowered, /*metered=*/false);
    planned.facts.functions[planned.lowered.entry.index].shapes =
        ShapesOf(source.entry_function(), planned.lowered.entry_function());
    std::set<uint32_t> refused;
    for (const FoldTree& tree : trees)
      if (!IsInRows(planned, tree.loop)) refused.insert(tree.fold);
    if (refused.empty()) break;
    const ir::Program before = std::move(lowered);
    lowered = TRY(ir::ExpandFolds(before, [&](const Function& function, const Inst& fold) {
      return refused.contains(static_cast<uint32_t>(&fold - function.insts.data()));
    }));
  }
  planned.plan = TRY(MakePlan(planned.lowered, planned.facts, with_barriers, tile));
  // Each of them must be in a step that knows what it is.
  size_t in_rows = 0, there = 0;
  const Function& entry = planned.lowered.entry_function();
  for (const Inst& inst : entry.insts) there += IsFoldLoop(inst) ? 1 : 0;
  for (const Step& step : planned.plan.steps)
    if (step.launch.kind == StepKind::Rows)
      for (const RowGroup& group : step.rows->groups)
        for (InstId id : group.passes) in_rows += IsFoldLoop(entry.inst(id)) ? 1 : 0;
  if (in_rows != there) return std::nullopt;
  return planned;
}

}  // namespace

Result<PlannedProgram> PlanProgram(const ir::Program& program, const TileShape& tile) {
  const ir::Program with_barriers = TRY(ir::ExpandPrelude(TRY(ir::LowerTensors(program))));
  if (ir::Program kept = TRY(ir::LowerForTarget(program, {}, ir::Folds::Keep)); ir::HasFolds(kept))
    if (auto rows = TRY(PlanRowsOf(program, std::move(kept), with_barriers, tile)); rows)
      return std::move(*rows);
  PlannedProgram planned;
  planned.lowered = TRY(ir::LowerForTarget(program));
  planned.facts = FindFacts(planned.lowered, /*metered=*/false);
  planned.plan = TRY(MakePlan(planned.lowered, planned.facts, with_barriers, tile));
  return planned;
}

}  // namespace frazil::targets::cuda
