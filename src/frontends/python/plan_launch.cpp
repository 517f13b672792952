// Guards: a kernel says `if i < n:` around everything because a GPU starts whole blocks. Ours starts exactly the lanes
// that pass, so such a guard is the bound of the parallel and nothing is evaluated beyond it. Peeled one by one, also
// `if i >= n: return`, `i < n and j < m` and nested ones; what is no bound stays a condition.
#include "frontends/python/plan.h"

#include <algorithm>

namespace frazil::frontends::python {
namespace {

bool IsId(const Expr* e, IdKind kind) {
  return e->kind == ExprKind::Call && e->function->kind == FunctionKind::Id &&
         e->function->detail == static_cast<uint8_t>(kind);
}

class Planner {
 public:
  Planner(KernelTree& tree, const Block& pass) : tree_(tree) { plan_.body = pass; }

  LaunchPlan Run() {
    FindIds();
    known_ = AssignedAtTop(plan_.body);
    while (!plan_.has_blocks && plan_.dims != 0 && Peel()) {
    }
    return std::move(plan_);
  }

 private:
  void FindIds() {
    FindIds(plan_.body);
    for (const Array& array : tree_.arrays) plan_.has_blocks |= array.is_shared;
    if (plan_.has_blocks) plan_.dims = std::max(plan_.dims, 1u);
  }

  void FindIds(const Block& block) {
    for (const Stmt* stmt : block) {
      plan_.has_blocks |= stmt->kind == StmtKind::Barrier;
      FindIds(stmt->value);
      for (const Expr* arg : stmt->args) FindIds(arg);
      FindIds(stmt->body);
      FindIds(stmt->other);
    }
  }

  void FindIds(const Expr* e) {
    if (e == nullptr) return;
    for (const Expr* arg : e->args) FindIds(arg);
    FindIds(e->body);
    if (e->kind != ExprKind::Call || e->function->kind != FunctionKind::Id) return;
    IdKind kind = static_cast<IdKind>(e->function->detail);
    plan_.dims = std::max(plan_.dims, e->id + 1);
    if (kind == IdKind::GlobalSize) plan_.uses_size[e->id] = true;
    if (kind >= IdKind::LocalId) plan_.has_blocks = true;
  }

  // The dimension whose global id this is, behind names and casts that keep it.
  std::optional<uint32_t> GlobalIdOf(const Expr* e) const {
    for (int depth = 0; depth < 16; ++depth) {
      if (IsId(e, IdKind::GlobalId)) return e->id;
      if (e->kind == ExprKind::Cast && ir::IsFixedInt(e->to) &&
          ir::BitsOf(ir::Type::Of(e->to)) >= 32) {
        e = e->args[0];
        continue;
      }
      if (e->kind != ExprKind::Var) return std::nullopt;
      const Local& local = tree_.locals[e->id];
      if (local.values.size() != 1 || local.values[0] == nullptr || !local.type.is_int())
        return std::nullopt;
      if (ir::BitsOf(ir::Type::Of(local.type.scalar)) < 32) return std::nullopt;
      e = local.values[0];
    }
    return std::nullopt;
  }

  struct Conjunct {
    Expr* whole = nullptr;  // with `holds`: what must be true or false
    bool holds = true;
    Expr* id = nullptr;  // the comparison id < bound, if it is one
    Expr* bound = nullptr;
    bool is_trivial = false;
  };

  void Compare(Expr* whole, bool holds, BinaryOp op, Expr* left, Expr* right,
               std::vector<Conjunct>& out) const {
    if (!holds) {
      // Only on integers: a NaN is neither.
      constexpr BinaryOp Opposite[] = {BinaryOp::Ge, BinaryOp::Gt, BinaryOp::Le,
                                       BinaryOp::Lt, BinaryOp::Ne, BinaryOp::Eq};
      op = Opposite[static_cast<int>(op) - static_cast<int>(BinaryOp::Lt)];
    }
    Conjunct conjunct{whole, holds};
    if (op == BinaryOp::Gt || op == BinaryOp::Ge) {
      std::swap(left, right);
      op = op == BinaryOp::Gt ? BinaryOp::Lt : BinaryOp::Le;
    }
    bool are_ints = left->type.is_int() && right->type.is_int();
    if (op == BinaryOp::Lt && are_ints) {
      conjunct.id = left;
      conjunct.bound = right;
    }
    bool is_zero = left->kind == ExprKind::Literal && left->literal.integer == 0;
    conjunct.is_trivial =
        op == BinaryOp::Le && are_ints && is_zero && GlobalIdOf(right).has_value();
    out.push_back(conjunct);
  }

  void Collect(Expr* e, bool holds, std::vector<Conjunct>& out) {
    bool is_logic =
        e->kind == ExprKind::Binary && (e->binary == BinaryOp::And || e->binary == BinaryOp::Or);
    if (is_logic && (e->binary == BinaryOp::And) == holds) {
      Collect(e->args[0], holds, out);
      return Collect(e->args[1], holds, out);
    }
    if (e->kind == ExprKind::Unary && e->unary == UnaryOp::Not)
      return Collect(e->args[0], !holds, out);
    if (e->kind == ExprKind::Binary && IsCompare(e->binary))
      return Compare(e, holds, e->binary, e->args[0], e->args[1], out);
    if (e->kind == ExprKind::Chain && holds) {
      // Operands that are evaluated once here are evaluated once by each part, which safe ones do not notice.
      if (std::ranges::all_of(e->args, [](const Expr* arg) { return IsSafe(arg); })) {
        for (size_t i = 0; i < e->ops.size(); ++i) {
          Expr* part = tree_.NewExpr(ExprKind::Binary, e->location);
          part->binary = e->ops[i];
          part->args = {e->args[i], e->args[i + 1]};
          part->type = ValueType::Of(ir::Scalar::Bool);
          Compare(part, true, e->ops[i], e->args[i], e->args[i + 1], out);
        }
        return;
      }
    }
    out.push_back({e, holds});
  }

  // `is_first`: every lane asks this before anything else, so that a trap of the bound is one of the kernel. Anywhere
  // else a lane may never come to it (`if k != 0 and i < n // k`), and only what cannot trap, or what every lane has in a variable
  // already, is evaluated early.
  bool BecomesBound(const Conjunct& conjunct, bool is_first) {
    if (conjunct.id == nullptr || !IsUniform(tree_, conjunct.bound, false)) return false;
    if (!is_first && !IsSafeBefore(tree_, conjunct.bound, known_)) return false;
    std::optional<uint32_t> dim = GlobalIdOf(conjunct.id);
    if (!dim || plan_.bounds[*dim] != nullptr || plan_.uses_size[*dim]) return false;
    plan_.bounds[*dim] = conjunct.bound;
    return true;
  }

  Expr* Condition(const Conjunct& conjunct) {
    if (conjunct.holds) return conjunct.whole;
    Expr* e = tree_.NewExpr(ExprKind::Unary, conjunct.whole->location);
    e->unary = UnaryOp::Not;
    e->args = {conjunct.whole};
    e->type = ValueType::Of(ir::Scalar::Bool);
    return e;
  }

  bool Peel() {
    Block& body = plan_.body;
    if (body.empty() || body.back()->kind != StmtKind::If) return false;
    Stmt* guard = body.back();
    if (guard->body.empty() == guard->other.empty()) return false;
    for (size_t i = 0; i + 1 < body.size(); ++i)
      if (body[i]->kind != StmtKind::Assign || HasEffect(body[i]->value)) return false;
    if (HasEffect(guard->value)) return false;
    bool holds = guard->other.empty();
    std::vector<Conjunct> conjuncts;
    Collect(guard->value, holds, conjuncts);
    Expr* rest = nullptr;
    bool found = false;
    bool is_first = std::ranges::count(plan_.bounds, nullptr) == 3;
    for (const Conjunct& conjunct : conjuncts) {
      if (conjunct.is_trivial) continue;
      const bool is_bound = BecomesBound(conjunct, is_first);
      found |= is_bound;
      is_first = false;
      if (is_bound) continue;
      Expr* condition = Condition(conjunct);
      if (rest == nullptr) {
        rest = condition;
        continue;
      }
      Expr* both = tree_.NewExpr(ExprKind::Binary, guard->location);
      both->binary = BinaryOp::And;
      both->args = {rest, condition};
      both->type = ValueType::Of(ir::Scalar::Bool);
      rest = both;
    }
    if (!found) return false;
    Block inner = holds ? guard->body : guard->other;
    body.pop_back();
    if (rest != nullptr) {
      Stmt* left = tree_.NewStmt(StmtKind::If, guard->location);
      left->value = rest;
      left->body = std::move(inner);
      inner = {left};
    }
    body.insert(body.end(), inner.begin(), inner.end());
    return true;
  }

  KernelTree& tree_;
  LaunchPlan plan_;
  std::vector<uint32_t> known_;  // variables that every lane assigns before it asks anything
};

}  // namespace

namespace {

enum class Answer : uint8_t { No, Yes, YesIfOperandsAre };

// Asks an expression, its operands and, for a variable with one value, that value. Each variable once: `b = a + a`,
// `c = b + b` and so on would double the work with every line.
template <typename Ask>
bool HoldsThroughout(const KernelTree& tree, const Expr* e, Ask&& ask) {
  std::vector<const Expr*> open{e};
  std::vector<uint32_t> seen;
  while (!open.empty()) {
    const Expr* at = open.back();
    open.pop_back();
    const Answer answer = ask(at);
    if (answer == Answer::No) return false;
    if (answer == Answer::Yes) continue;
    open.insert(open.end(), at->args.begin(), at->args.end());
    if (at->kind != ExprKind::Var || std::ranges::find(seen, at->id) != seen.end()) continue;
    seen.push_back(at->id);
    const Local& local = tree.locals[at->id];
    if (local.values.size() != 1 || local.values[0] == nullptr) return false;
    open.push_back(local.values[0]);
  }
  return true;
}

// But for its operands.
bool IsSafeItself(const Expr* e) {
  if (e->kind == ExprKind::Load || e->kind == ExprKind::Inline || e->kind == ExprKind::Fold)
    return false;
  if (e->kind == ExprKind::Call) {
    if (e->function->kind == FunctionKind::Atomic) return false;
    bool is_op = e->function->kind != FunctionKind::Id && e->function->kind != FunctionKind::Length;
    if (is_op && ir::Info(e->function->op).traps != 0) return false;
  }
  bool divides = e->kind == ExprKind::Binary &&
                 (e->binary == BinaryOp::FloorDiv || e->binary == BinaryOp::Mod);
  return !divides || e->args[1]->kind == ExprKind::Literal;
}

}  // namespace

bool IsUniform(const KernelTree& tree, const Expr* e, bool in_block) {
  return HoldsThroughout(tree, e, [&](const Expr* at) {
    if (at->kind == ExprKind::Load || at->kind == ExprKind::Inline || at->kind == ExprKind::Fold)
      return Answer::No;
    if (at->kind != ExprKind::Call) return Answer::YesIfOperandsAre;
    if (at->function->kind == FunctionKind::Atomic) return Answer::No;
    if (at->function->kind != FunctionKind::Id) return Answer::YesIfOperandsAre;
    IdKind kind = static_cast<IdKind>(at->function->detail);
    bool is_same =
        in_block ? kind != IdKind::GlobalId && kind != IdKind::LocalId : kind == IdKind::GlobalSize;
    return is_same ? Answer::Yes : Answer::No;
  });
}

bool IsSafe(const Expr* e) {
  return IsSafeItself(e) &&
         std::ranges::all_of(e->args, [](const Expr* arg) { return IsSafe(arg); });
}

std::vector<uint32_t> AssignedAtTop(const Block& body) {
  std::vector<uint32_t> locals;
  for (const Stmt* stmt : body)
    if (stmt->kind == StmtKind::Assign) locals.push_back(stmt->local);
  return locals;
}

bool IsSafeBefore(const KernelTree& tree, const Expr* e, std::span<const uint32_t> known) {
  return HoldsThroughout(tree, e, [&](const Expr* at) {
    if (at->kind == ExprKind::Var && std::ranges::find(known, at->id) != known.end())
      return Answer::Yes;
    return IsSafeItself(at) ? Answer::YesIfOperandsAre : Answer::No;
  });
}

int CostOf(const Expr* e) {
  int cost = 1;
  if (e->kind == ExprKind::Call && e->function->kind != FunctionKind::Id)
    cost = ir::Info(e->function->op).law == ir::Law::Prelude ? 100 : 1;
  if (e->kind == ExprKind::Binary && e->binary == BinaryOp::Pow) cost = 100;
  for (const Expr* arg : e->args) cost = std::min(1000, cost + CostOf(arg));
  return cost;
}

bool HasEffect(const Expr* e) {
  if (e == nullptr) return false;
  if (e->kind == ExprKind::Call && e->function->kind == FunctionKind::Atomic) return true;
  if (e->kind == ExprKind::Inline && HasEffect(e->body)) return true;
  return std::ranges::any_of(e->args, [](const Expr* arg) { return HasEffect(arg); });
}

bool HasEffect(const Block& block) {
  return std::ranges::any_of(block, [](const Stmt* stmt) {
    if (stmt->kind == StmtKind::Store || stmt->kind == StmtKind::Update ||
        stmt->kind == StmtKind::Barrier || stmt->kind == StmtKind::Assert)
      return true;
    if (HasEffect(stmt->value) || HasEffect(stmt->body) || HasEffect(stmt->other)) return true;
    return std::ranges::any_of(stmt->args, [](const Expr* arg) { return HasEffect(arg); });
  });
}

LaunchPlan PlanLaunch(KernelTree& tree, const Block& pass) { return Planner(tree, pass).Run(); }

}  // namespace frazil::frontends::python
