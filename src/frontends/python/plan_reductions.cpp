// A float atomic is a reduction if its order cannot be seen: one element for all lanes, the old value unused, nobody
// else looks at the array. Then lanes hand their values over in a variable and emit_reduction.cpp folds them in the defined
// tree. A lane that gives several values folds them in its own order first; one that gives none gives what changes
// nothing (-0 for a sum, NaN for min and max, which drop it).
#include <algorithm>
#include <limits>

#include "frontends/python/plan.h"

namespace frazil::frontends::python {
namespace {

class ReductionFinder {
 public:
  ReductionFinder(KernelTree& tree, LaunchPlan& plan) : tree_(tree), plan_(plan) {}

  void Run() {
    if (plan_.has_blocks || plan_.dims != 1 || plan_.bounds[0] == nullptr) return;
    Collect(plan_.body, false, false);
    DropImpossible();
    // Lanes run once for each fold, so a second one needs lanes without other effects.
    if (arrays_.empty() || (arrays_.size() > 1 && HasOtherEffects(plan_.body))) return;
    for (Found& found : arrays_) Rewrite(found);
  }

 private:
  struct Site {
    Stmt* stmt;
    bool is_conditional;
    bool is_in_loop;
  };
  struct Found {
    uint32_t array = 0;
    std::vector<Site> sites;
  };

  void Collect(const Block& block, bool is_conditional, bool is_in_loop) {
    for (Stmt* stmt : block) {
      if (stmt->kind == StmtKind::Expr && IsCandidate(stmt->value)) {
        uint32_t array = stmt->value->id;
        auto place = std::ranges::find(arrays_, array, &Found::array);
        if (place == arrays_.end()) place = arrays_.insert(arrays_.end(), Found{array, {}});
        place->sites.push_back({stmt, is_conditional, is_in_loop});
      }
      bool is_loop = stmt->kind == StmtKind::For || stmt->kind == StmtKind::While;
      Collect(stmt->body, true, is_in_loop || is_loop);
      Collect(stmt->other, true, is_in_loop);
    }
  }

  bool IsCandidate(const Expr* e) const {
    if (e->kind != ExprKind::Call || e->function->kind != FunctionKind::Atomic || e->unordered)
      return false;
    bool is_fold = e->function->op == ir::Op::AtomicRmw && e->function->detail <= 2;
    return is_fold && ir::IsFloat(tree_.arrays[e->id].element) &&
           IsUniform(tree_, e->args[0], false) && IsSafe(e->args[0]);
  }

  static bool IsSame(const Expr* a, const Expr* b) {
    if (a->kind != b->kind) return false;
    if (a->kind == ExprKind::Literal) return a->literal.integer == b->literal.integer;
    return (a->kind == ExprKind::Param || a->kind == ExprKind::Var) && a->id == b->id;
  }

  void DropImpossible() {
    std::erase_if(arrays_, [&](const Found& found) {
      if (tree_.arrays[found.array].uses != found.sites.size()) return true;
      const Expr* first = found.sites[0].stmt->value;
      return std::ranges::any_of(found.sites, [&](const Site& site) {
        const Expr* e = site.stmt->value;
        return e->function->detail != first->function->detail ||
               (e != first && !IsSame(e->args[0], first->args[0]));
      });
    });
  }

  bool IsReduction(const Stmt* stmt) const {
    return std::ranges::any_of(arrays_, [&](const Found& found) {
      return std::ranges::find(found.sites, stmt, &Site::stmt) != found.sites.end();
    });
  }

  bool HasOtherEffects(const Block& block) const {
    return std::ranges::any_of(block, [&](Stmt* stmt) {
      if (IsReduction(stmt)) return HasEffect(stmt->value->args[1]);
      if (stmt->kind == StmtKind::Store || stmt->kind == StmtKind::Update || HasEffect(stmt->value))
        return true;
      if (std::ranges::any_of(stmt->args, [](const Expr* arg) { return HasEffect(arg); }))
        return true;
      return HasOtherEffects(stmt->body) || HasOtherEffects(stmt->other);
    });
  }

  void Rewrite(const Found& found) {
    const Expr* first = found.sites[0].stmt->value;
    ir::Scalar element = tree_.arrays[found.array].element;
    Reduction reduction{found.array, first->args[0], 0,
                        static_cast<ir::AtomicKind>(first->function->detail), first->location};
    reduction.local = tree_.NewLocal("reduced", first->location);
    Local& local = tree_.locals[reduction.local];
    local.type = local.declared = ValueType::Of(element);
    local.values.assign(2, nullptr);  // not a constant
    bool is_plain = found.sites.size() == 1 && !found.sites[0].is_in_loop;
    bool may_be_absent = !is_plain || found.sites[0].is_conditional;
    for (const Site& site : found.sites) {
      Expr* call = site.stmt->value;
      site.stmt->kind = StmtKind::Assign;
      site.stmt->local = reduction.local;
      site.stmt->value = is_plain ? call->args[1] : Combined(call, reduction.local);
    }
    if (may_be_absent) {
      Stmt* start = tree_.NewStmt(StmtKind::Assign, first->location);
      start->local = reduction.local;
      start->value = tree_.NewExpr(ExprKind::Literal, first->location);
      bool is_sum = reduction.kind == ir::AtomicKind::Add;
      start->value->literal = {Literal::Float, 0,
                               is_sum ? -0.0 : std::numeric_limits<double>::quiet_NaN()};
      start->value->type = {ValueType::WeakFloat};
      plan_.body.insert(plan_.body.begin(), start);
    }
    plan_.reductions.push_back(reduction);
  }

  Expr* Combined(Expr* call, uint32_t local) {
    Expr* old = tree_.NewExpr(ExprKind::Var, call->location);
    old->id = local;
    bool is_sum = call->function->detail == 0;
    Expr* both = tree_.NewExpr(is_sum ? ExprKind::Binary : ExprKind::Call, call->location);
    if (!is_sum) both->function = FindFunction(call->function->detail == 1 ? "min" : "max");
    both->args = {old, call->args[1]};
    old->type = both->type = tree_.locals[local].type;
    return both;
  }

  KernelTree& tree_;
  LaunchPlan& plan_;
  std::vector<Found> arrays_;
};

}  // namespace

void PlanReductions(KernelTree& tree, LaunchPlan& plan) { ReductionFinder(tree, plan).Run(); }

}  // namespace frazil::frontends::python
