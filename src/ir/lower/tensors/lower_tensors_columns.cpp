// A `generate` whose elements are folds in one chain down the columns of what they read, and what is made of their results:
// rows come outermost (column_folds.h). Folds that need the results of others are made behind them. A target that has no
// form of its own for folds, or whose threads are columns, gets a loop for each column instead.
#include <algorithm>
#include <set>

#include "ir/lower/column_folds.h"
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

template <typename Visit>
void ForEachInside(const Function& function, const Inst& inst, const Visit& visit) {
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId id : function.region(Function::region_of(inst, r)).insts) {
      visit(function.inst(id));
      ForEachInside(function, function.inst(id), visit);
    }
}

bool Reads(const Function& function, const Inst& inst, const std::set<uint32_t>& values) {
  const auto reads = [&](const Inst& one) {
    return std::ranges::any_of(function.operands_of(one),
                               [&](ValueId value) { return values.contains(value.index); });
  };
  bool found = reads(inst);
  ForEachInside(function, inst, [&](const Inst& one) { found = found || reads(one); });
  return found;
}

void AddResults(const Inst& inst, std::set<uint32_t>& values) {
  for (uint32_t k = 0; k < inst.results.count; ++k) values.insert(inst.results.begin + k);
}

bool IsHalf(Type type) { return Contains(sets::Half, type.scalar); }
Type WideOf(Type type) { return IsHalf(type) ? types::F32 : type; }

}  // namespace

// Down the columns: neighbors in memory are neighbors of the last index, not of the fold's.
bool TensorLowering::IsDownColumns(const Inst& fold, ValueId last) const {
  const ValueId row = Function::param_of(source_.region(Function::region_of(fold, 0)), 0);
  bool has_neighbors = false, is_good = true;
  ForEachInside(source_, fold, [&](const Inst& inst) {
    is_good = is_good && inst.op != Op::Fold && inst.op != Op::Generate;
    if (inst.op != Op::Extract || inst.operands.count < 2) return;
    const ValueId innermost = source_.operand(inst, inst.operands.count - 1);
    is_good = is_good && innermost != row;
    has_neighbors = has_neighbors || innermost == last;
  });
  return is_good && has_neighbors;
}

bool TensorLowering::IsColumns(const Inst& generate) {
  const RegionId id = Function::region_of(generate, 0);
  const Region& region = source_.region(id);
  if (folds_ != Folds::KeepRows || is_in_generate_ || region.params.count == 0) return false;
  for (uint32_t k = 0; k < generate.results.count; ++k)
    if (source_.shape(source_.type(Function::result_of(generate, k))).size() != region.params.count)
      return false;
  const ValueId last = Function::param_of(region, region.params.count - 1);
  const Inst* first = nullptr;
  for (InstId inst_id : region.insts) {
    const Inst& inst = source_.inst(inst_id);
    if (inst.op != Op::Fold) {
      bool has_fold = inst.op == Op::Generate;
      ForEachInside(source_, inst, [&](const Inst& one) {
        has_fold = has_fold || one.op == Op::Fold || one.op == Op::Generate;
      });
      if (has_fold) return false;
      continue;
    }
    if (first == nullptr) first = &inst;
    if (source_.word(inst, 1) != 1 || source_.word(inst, 2) != source_.word(*first, 2) ||
        source_.operand(inst, 0) != source_.operand(*first, 0) || !IsDownColumns(inst, last))
      return false;
  }
  if (first == nullptr) return false;
  const IndexExpr width = SizesOf(Function::result_of(generate)).back();
  // The number of rows is known before the loops.
  const InstId count = source_.values[source_.operand(*first, 0).index].def;
  const bool is_inside =
      count.valid() && std::ranges::find(region.insts, count) != region.insts.end();
  if (is_inside && source_.inst(count).op != Op::Const) return false;
  const bool is_const = count.valid() && source_.inst(count).op == Op::Const;
  const IndexExpr length = is_const ? IndexExpr::Known(source_.word(source_.inst(count), 0))
                                    : IndexExpr::Of(source_.operand(*first, 0));
  return ColumnFolds::IsWanted(length, source_.word(*first, 2), width) && CannotTrap(id);
}

// Folds that do not need each other, phase by phase.
std::vector<std::vector<InstId>> TensorLowering::ColumnPhases(const Region& region) const {
  std::vector<std::vector<InstId>> phases;
  std::set<uint32_t> of_phase;  // what needs a result of the last one
  for (InstId id : region.insts) {
    const Inst& inst = source_.inst(id);
    const bool needs = Reads(source_, inst, of_phase);
    if (inst.op != Op::Fold) {
      if (needs) AddResults(inst, of_phase);
      continue;
    }
    if (phases.empty() || needs) {
      phases.emplace_back();
      of_phase.clear();
    }
    phases.back().push_back(id);
    AddResults(inst, of_phase);
  }
  return phases;
}

// What the region computes of the folds whose results are there.
Result<void> TensorLowering::CopyColumn(const Region& region,
                                        const std::map<uint32_t, ValueId>& results) {
  std::set<uint32_t> missing;
  for (InstId id : std::span(region.insts).first(region.insts.size() - 1)) {
    const Inst& inst = source_.inst(id);
    if (inst.op == Op::Fold) {
      const auto made = results.find(Function::result_of(inst).index);
      if (made == results.end()) {
        AddResults(inst, missing);
        continue;
      }
      const bool is_half = IsHalf(inst.type);
      Bind(Function::result_of(inst),
           is_half ? builder_.Cast(Op::Cast, made->second, inst.type) : made->second);
    } else if (Reads(source_, inst, missing)) {
      AddResults(inst, missing);
    } else {
      TRY_VOID(Visit(inst));
    }
  }
  return {};
}

Result<void> TensorLowering::LowerColumns(const Inst& generate, std::span<const Target> targets) {
  const Region& region = source_.region(Function::region_of(generate, 0));
  const IndexExprs sizes = SizesOf(Function::result_of(generate));
  const std::span outer = std::span(sizes).first(sizes.size() - 1);
  const IndexExpr width = sizes.back();
  const std::vector<std::vector<InstId>> phases = ColumnPhases(region);
  std::vector<ColumnFolds> folds;
  for (const std::vector<InstId>& phase : phases) {
    std::vector<ColumnFolds::Line> lines;
    for (InstId id : phase)
      lines.push_back({static_cast<ReduceKind>(source_.word(source_.inst(id), 0)),
                       WideOf(source_.inst(id).type)});
    const Inst& first = source_.inst(phase[0]);
    folds.emplace_back(builder_, std::move(lines), FoldLength(source_.operand(first, 0)),
                       source_.word(first, 2), source_op_);
    folds.back().Prepare(math_.Product(outer), width);
  }
  Result<void> status;
  const auto note = [&](Result<void> copied) {
    if (!copied) status = copied;
  };
  const IndexExprs strides = math_.Strides(outer);
  math_.Nest(outer, Order::Independent, [&](std::span<const IndexExpr> at) {
    const IndexExpr matrix = math_.Dot(at, strides);
    // Everything of one column that is there behind `phase` phases.
    const auto copy = [&](size_t phase, IndexExpr column) {
      for (uint32_t i = 0; i < at.size(); ++i)
        BindNamed(Function::param_of(region, i), math_.Value(at[i]));
      BindNamed(Function::param_of(region, static_cast<uint32_t>(at.size())), math_.Value(column));
      std::map<uint32_t, ValueId> results;
      for (size_t p = 0; p < phase; ++p)
        for (size_t k = 0; k < phases[p].size(); ++k)
          results[Function::result_of(source_.inst(phases[p][k])).index] =
              folds[p].Result(k, matrix, column);
      note(CopyColumn(region, results));
    };
    folds[0].ForTiles([&](IndexExpr start, IndexExpr count) {
      for (size_t p = 0; p < phases.size(); ++p)
        folds[p].Fold(matrix, start, count, [&](IndexExpr row, IndexExpr column) {
          copy(p, column);
          Values elements;
          for (InstId id : phases[p])
            elements.push_back(ColumnElement(source_.inst(id), row, status));
          return elements;
        });
      math_.Loop(count, Order::Independent, [&](IndexExpr c) {
        const IndexExpr column = math_.Add(start, c);
        copy(phases.size(), column);
        const Inst& yield = source_.inst(region.insts.back());
        const IndexExpr element = math_.Add(math_.Mul(matrix, width), column);
        for (uint32_t k = 0; k < targets.size(); ++k)
          Store(targets[k].buffer, element, Get(source_.operand(yield, k)));
      });
    });
  });
  return status;
}

ValueId TensorLowering::ColumnElement(const Inst& fold, IndexExpr row, Result<void>& status) {
  const RegionId id = Function::region_of(fold, 0);
  BindNamed(Function::param_of(source_.region(id), 0), math_.Value(row));
  const Result<std::span<const ValueId>> yielded = CopyUntilYield(id);
  if (!yielded) {
    status = std::unexpected(yielded.error());
    return Zero(WideOf(fold.type));
  }
  const ValueId value = Get((*yielded)[0]);
  return IsHalf(fold.type) ? builder_.Cast(Op::Cast, value, types::F32) : value;
}

// A negative length is that of no elements.
IndexExpr TensorLowering::FoldLength(ValueId old_count) {
  const InstId def = source_.values[old_count.index].def;
  if (def.valid() && source_.inst(def).op == Op::Const)
    return IndexExpr::Known(std::max<int64_t>(source_.word(source_.inst(def), 0), 0));
  const ValueId none = math_.Value(IndexExpr::Known(0));
  return IndexExpr::Of(builder_.Binary(Op::Max, Get(old_count), none));
}

}  // namespace frazil::ir
