// Folds over lanes and over ranges. Lanes with little to do and without effects are the elements of a fold, so that a sum
// reads its input once; others write their values to scratch first, because where a fold becomes loops it has several
// copies of what it evaluates.
#include <algorithm>

#include "base/check.h"
#include "frontends/python/emit.h"
#include "ir/lanes/plain_fold.h"

namespace frazil::frontends::python {

using ir::Op;

namespace {

constexpr int MaxFusedCost = 64;

bool HasFold(const Expr* e) {
  return e->kind == ExprKind::Fold ||
         std::ranges::any_of(e->args, [](const Expr* arg) { return HasFold(arg); });
}

int CostOfBlock(const Block& block) {
  int cost = 0;
  for (const Stmt* stmt : block) {
    if (stmt->kind == StmtKind::For || stmt->kind == StmtKind::While) return MaxFusedCost + 1;
    if (stmt->value != nullptr && HasFold(stmt->value)) return MaxFusedCost + 1;
    if (stmt->value != nullptr)
      cost += stmt->value->kind == ExprKind::Inline ? 20 : CostOf(stmt->value) % 100;
    for (const Expr* arg : stmt->args) cost += CostOf(arg);
    cost += CostOfBlock(stmt->body) + CostOfBlock(stmt->other);
  }
  return cost;
}

}  // namespace

// f16 and bf16 are folded in f32 and rounded once.
ir::ValueId Emitter::Fold(Expr* e, Scalar type) {
  bool is_half = type == Scalar::F16 || type == Scalar::BF16;
  Scalar wide = is_half ? Scalar::F32 : type;
  bool starts_at_zero = e->args[0]->kind == ExprKind::Literal && e->args[0]->literal.integer == 0;
  ValueId start = starts_at_zero ? ValueId() : As(e->args[0], Scalar::Index);
  ValueId length = As(e->args[1], Scalar::Index);
  builder_.SetLocation(e->location);
  if (start.valid()) length = builder_.Binary(Op::Sub, length, start);
  ValueId result = builder_.Fold(
      e->fold, ir::Type::Of(wide), length, ir::FoldChains, ir::FoldBlock, [&](ValueId i) {
        return InBranch([&] {
          values_[e->id] = start.valid() ? builder_.Binary(Op::Add, start, i) : i;
          return Values{As(e->args[2], wide)};
        })[0];
      });
  return Convert(result, type);
}

ir::ValueId Emitter::LaneValue(const LaunchPlan& plan, const Reduction& reduction, ValueId lane) {
  std::vector<ValueId> saved = values_;
  in_lanes_ = true;
  global_id_[0] = lane;
  Emit(plan.body);
  ValueId value = CurrentValues({reduction.local})[0];
  saved.resize(values_.size());
  values_ = std::move(saved);
  return value;
}

void Emitter::EmitReduction(const LaunchPlan& plan, const Reduction& reduction) {
  ir::Type type = TypeOf(reduction.local);
  ValueId bound = hoisted_[plan.bounds[0]];
  bool is_fused = CostOfBlock(plan.body) <= MaxFusedCost && !HasEffect(plan.body);
  builder_.SetLocation(reduction.location);
  ValueId zero = Index(0);
  ValueId address = Uniform(reduction.index, Scalar::Index);
  ValueId scratch;
  if (!is_fused) {
    scratch = builder_.Alloc(type, builder_.Binary(Op::Max, bound, zero));
    builder_.Parallel(
        zero, bound, [&](ValueId i) { builder_.Store(scratch, i, LaneValue(plan, reduction, i)); });
  }
  ir::ReduceKind kinds[] = {ir::ReduceKind::Sum, ir::ReduceKind::Min, ir::ReduceKind::Max};
  Op ops[] = {Op::Add, Op::Min, Op::Max};
  size_t kind = static_cast<size_t>(reduction.kind);
  CHECK(kind < 3);
  builder_.SetLocation(reduction.location);
  auto fold = [&] {
    ValueId result =
        builder_.Fold(kinds[kind], type, bound, ir::FoldChains, ir::FoldBlock, [&](ValueId i) {
          return is_fused ? LaneValue(plan, reduction, i) : builder_.Load(scratch, i);
        });
    builder_.SetLocation(reduction.location);
    ValueId old = builder_.Load(arrays_[reduction.array], address);
    builder_.Store(arrays_[reduction.array], address, builder_.Binary(ops[kind], old, result));
    return Values();
  };
  // Without lanes nobody touches the element.
  builder_.If(builder_.Binary(Op::Gt, bound, zero), {}, fold, [] { return Values(); });
}

}  // namespace frazil::frontends::python
