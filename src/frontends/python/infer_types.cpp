// A variable's type is the join of all that is assigned to it. Types only grow, so going round until nothing changes
// ends; then weak ones settle (i32, f32) and it goes round once more, because what met them may grow. The rules are
// reported in a last walk over every statement, when types are final.
#include <fmt/format.h>

#include "frontends/python/functions.h"
#include "frontends/python/infer.h"
#include "frontends/python/passes.h"

namespace frazil::frontends::python {

using ir::Scalar;

void Inference::Run() {
  Fixpoint();
  for (Local& local : tree_.locals)
    if (!local.is_constant && local.type.kind != ValueType::Nothing)
      local.type = ValueType::Of(Settle(local.type));
  Fixpoint();
  reports_ = true;
  for (Block& pass : tree_.passes) Visit(pass);
}

void Inference::Fixpoint() {
  // A round brings types one step against the order of assignments; more than this is no program somebody wrote.
  constexpr uint64_t MaxWork = 20'000'000;
  uint64_t work = 0;
  for (bool changed = true; changed;) {
    changed = false;
    work += tree_.exprs.size();
    if (work > MaxWork) {
      errors_.Add(tree_.location, "types of variables depend on each other in too many steps", "",
                  Diag::LimitReached);
      return;
    }
    for (Local& local : tree_.locals) {
      ValueType type = local.declared;
      if (type.kind == ValueType::Unknown) {
        type = local.type;
        for (Expr* value : local.values)
          type = Join(type, value == nullptr ? ValueType::Of(Scalar::Index) : Infer(value));
      }
      // Once settled, weak values no longer make a difference.
      if (type != local.type) {
        local.type = type;
        changed = true;
      }
    }
  }
}

void Inference::Visit(Block& block) {
  for (Stmt* stmt : block) Visit(*stmt);
}

void Inference::Visit(Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Assign:
      Infer(stmt.value);
      return CheckAssign(stmt.value, tree_.locals[stmt.local], stmt.location);
    case StmtKind::Store:
    case StmtKind::Update: {
      for (Expr* index : stmt.args) CheckIndex(index);
      Scalar element = tree_.arrays[stmt.array].element;
      ValueType type = Infer(stmt.value);
      if (stmt.kind == StmtKind::Update) {
        Expr old;
        old.kind = ExprKind::Load;
        old.id = stmt.array;
        old.location = stmt.location;
        Expr sum;
        sum.kind = ExprKind::Binary;
        sum.binary = stmt.op;
        sum.location = stmt.location;
        sum.args = {&old, stmt.value};
        type = Infer(&sum);
      }
      return CheckStore(stmt.value, type, element, stmt.location, stmt.kind == StmtKind::Update);
    }
    case StmtKind::If:
      InferCondition(stmt.value);
      Visit(stmt.body);
      return Visit(stmt.other);
    case StmtKind::For:
      for (Expr* bound : stmt.args) {
        ValueType type = Infer(bound);
        if (!type.is_int() && type.kind != ValueType::Nothing)
          Say(bound->location, fmt::format("range takes integers, not {}", TypeName(type)),
              "cast it: int(x)");
      }
      CheckLiterals(nullptr, ValueType::Of(Scalar::Index),
                    {stmt.args[0], stmt.args[1], stmt.args[2]});
      if (stmt.args[2]->kind == ExprKind::Literal && stmt.args[2]->literal.integer == 0)
        Say(stmt.args[2]->location, "the step of a range must not be 0");
      if (!MayAssign(ValueType::Of(Scalar::Index), tree_.locals[stmt.local].type.scalar))
        Say(stmt.location,
            fmt::format("the loop's variable '{}' is {} elsewhere", tree_.locals[stmt.local].name,
                        TypeName(tree_.locals[stmt.local].type)),
            "use another name");
      if (stmt.value != nullptr) InferCondition(stmt.value);
      return Visit(stmt.body);
    case StmtKind::While: InferCondition(stmt.value); return Visit(stmt.body);
    case StmtKind::Assert: InferCondition(stmt.value); return;
    case StmtKind::Expr:
      statement_ = stmt.value;
      Infer(stmt.value);
      return;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Return:
    case StmtKind::Barrier: return;
  }
}

void Inference::CheckAssign(Expr* value, const Local& local, Location place) {
  if (local.is_constant || value->type.kind == ValueType::Nothing) return;
  if (local.type.kind == ValueType::Nothing)
    return Say(place, fmt::format("the values assigned to '{}' have no common type", local.name),
               "i64 and u64 do not mix: cast one of them");
  CheckStore(value, value->type, local.type.scalar, place, false, local.name);
}

void Inference::CheckStore(Expr* value, ValueType from, Scalar to, Location place, bool is_update,
                           std::string_view name) {
  if (from.kind == ValueType::Nothing) return;
  std::string to_name = TypeName(ValueType::Of(to));
  bool is_literal = value->kind == ExprKind::Literal && !is_update;
  if (is_literal && value->literal.kind != Literal::Bool && !Fits(value->literal, to)) {
    bool is_float = value->literal.kind == Literal::Float;
    return Say(value->location, fmt::format("this constant does not fit {}", to_name),
               to == Scalar::Bool ? "write True or False"
               : is_float         ? "write it without a point"
                                  : "");
  }
  if (MayAssign(from, to)) return;
  std::string where =
      name.empty() ? "an array of " + to_name : fmt::format("'{}', which is {}", name, to_name);
  if (to == Scalar::Bool)
    return Say(place,
               fmt::format("a value of type {} does not become a bool by itself", TypeName(from)),
               "write 'x != 0'");
  Say(place, fmt::format("a value of type {} does not fit {} without loss", TypeName(from), where),
      fmt::format("cast it: {}(...)", to_name));
}

void Inference::CheckIndex(Expr* index) {
  ValueType type = Infer(index);
  if (!reports_ || type.kind == ValueType::Nothing) return;
  if (!type.is_int())
    return Say(index->location, fmt::format("an index is an integer, not {}", TypeName(type)),
               "cast it: int(x)");
  if (index->kind == ExprKind::Literal && index->literal.integer < 0)
    Say(index->location, "a negative index is out of bounds here",
        "count from the front: len(a) - 1");
}

// A condition may be a number: it holds if that is not 0, as in Python.
void Inference::InferCondition(Expr* e) {
  e->type = ValueType::Of(Scalar::Bool);
  if (e->kind == ExprKind::Binary && (e->binary == BinaryOp::And || e->binary == BinaryOp::Or)) {
    InferCondition(e->args[0]);
    InferCondition(e->args[1]);
    return;
  }
  if (e->kind == ExprKind::Unary && e->unary == UnaryOp::Not) return InferCondition(e->args[0]);
  Infer(e);
}

}  // namespace frazil::frontends::python
