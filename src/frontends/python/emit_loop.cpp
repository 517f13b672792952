// `for v in range(start, stop, step)`. A constant positive step is the IR's own `for`; any other counts its trips. A
// loop that may be left early is a `while` over the trips.
#include "frontends/python/emit.h"

namespace frazil::frontends::python {

using ir::Op;

void Emitter::EmitFor(Stmt& stmt) {
  auto bound = [&](Expr* e) {
    auto hoisted = hoisted_.find(e);
    return hoisted != hoisted_.end() ? hoisted->second : As(e, Scalar::Index);
  };
  ValueId lo = bound(stmt.args[0]);
  ValueId hi = bound(stmt.args[1]);
  Expr* step_expr = stmt.args[2];
  bool is_constant = step_expr->kind == ExprKind::Literal;
  int64_t step = is_constant ? static_cast<int64_t>(step_expr->literal.integer) : 0;
  bool is_plain = is_constant && step > 0 && stmt.value == nullptr;
  if (is_plain) return EmitCountedFor(stmt, lo, hi, {}, step, {});
  if (is_constant && step == 1) return EmitStoppableFor(stmt, lo, hi, {});
  ValueId step_value = bound(step_expr);
  builder_.SetLocation(stmt.location);
  ValueId one = Index(1);
  // floor((distance - 1) / |step|) + 1; a step of 0 traps, as it raises in Python.
  ValueId up = is_constant && step < 0 ? ValueId() : builder_.Binary(Op::Sub, hi, lo);
  ValueId down = is_constant && step > 0 ? ValueId() : builder_.Binary(Op::Sub, lo, hi);
  ValueId distance = is_constant
                         ? (step > 0 ? up : down)
                         : builder_.Select(builder_.Binary(Op::Gt, step_value, Index(0)), up, down);
  ValueId size = is_constant ? Index(step > 0 ? step : -step) : builder_.Unary(Op::Abs, step_value);
  ValueId before = builder_.Binary(Op::Sub, distance, one);
  ValueId trips = builder_.Binary(Op::Add, builder_.Binary(Op::DivFloor, before, size), one);
  if (stmt.value != nullptr) return EmitStoppableFor(stmt, lo, trips, step_value);
  EmitCountedFor(stmt, lo, hi, trips, step, step_value);
}

void Emitter::EmitCountedFor(Stmt& stmt, ValueId lo, ValueId hi, ValueId trips, int64_t step,
                             ValueId step_value) {
  bool counts_trips = trips.valid();
  std::vector<uint32_t> carried = Carried(stmt);
  builder_.SetLocation(stmt.location);
  Values inits = CurrentValues(carried);
  ValueId from = counts_trips ? Index(0) : lo;
  Scalar type = tree_.locals[stmt.local].type.scalar;
  auto body = [&](ValueId i, std::span<const ValueId> now) {
    SetValues(carried, now);
    ValueId at =
        counts_trips ? builder_.Binary(Op::Add, lo, builder_.Binary(Op::Mul, i, step_value)) : i;
    if (!counts_trips) NameOnce(at, tree_.locals[stmt.local].name);
    values_[stmt.local] = Convert(at, type);
    return BlockValues(stmt.body, stmt, carried);
  };
  SetValues(carried, InBranch([&] {
              return builder_.For(from, counts_trips ? trips : hi, counts_trips ? 1 : step, inits,
                                  body);
            }));
}

// The counter runs from 0 over the trips; without a step it is the variable itself, from lo to `end`.
void Emitter::EmitStoppableFor(Stmt& stmt, ValueId lo, ValueId end, ValueId step) {
  std::vector<uint32_t> carried = Carried(stmt);
  builder_.SetLocation(stmt.location);
  Values inits = CurrentValues(carried);
  inits.insert(inits.begin(), step.valid() ? Index(0) : lo);
  Scalar type = tree_.locals[stmt.local].type.scalar;
  auto test = [&](std::span<const ValueId> now) {
    SetValues(carried, now.subspan(1));
    ValueId goes_on = Condition(stmt.value);
    builder_.SetLocation(stmt.location);
    return builder_.Binary(Op::And, goes_on, builder_.Binary(Op::Lt, now[0], end));
  };
  auto body = [&](std::span<const ValueId> now) {
    ValueId at = step.valid() ? builder_.Binary(Op::Add, lo, builder_.Binary(Op::Mul, now[0], step))
                              : now[0];
    values_[stmt.local] = Convert(at, type);
    Values next = BlockValues(stmt.body, stmt, carried);
    next.insert(next.begin(), builder_.Binary(Op::Add, now[0], Index(1)));
    return next;
  };
  Values results = InBranch([&] { return builder_.While(inits, test, body); });
  SetValues(carried, std::span(results).subspan(1));
}

}  // namespace frazil::frontends::python
