// One pass in program order; what a loop carries is anything of its type. Bounds stay below 2^64 in
// magnitude, so that sums and products of two of them are exact in 128 bits or are not computed.
#include "targets/wasm/emit/ranges.h"

#include <algorithm>

#include "targets/wasm/emit/representation.h"

namespace frazil::targets::wasm {

using ir::Function;
using ir::Op;

namespace {

constexpr Int128 One = 1;

bool IsSmall(const Interval& x) {
  constexpr Int128 Bound = One << 62;
  return x.lo >= -Bound && x.hi <= Bound;
}

Interval Union(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval Product(const Interval& a, const Interval& b) {
  Int128 corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

bool IsCompare(Op op) {
  return op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le || op == Op::Gt ||
         op == Op::Ge;
}

Op OppositeOf(Op compare) {
  switch (compare) {
    case Op::Eq: return Op::Ne;
    case Op::Ne: return Op::Eq;
    case Op::Lt: return Op::Ge;
    case Op::Le: return Op::Gt;
    case Op::Gt: return Op::Le;
    default: return Op::Lt;
  }
}

// What is left of two numbers where a comparison of them holds. An interval may become empty: it holds nowhere.
void Narrow(Op compare, Interval& a, Interval& b) {
  switch (compare) {
    case Op::Gt: return Narrow(Op::Lt, b, a);
    case Op::Ge: return Narrow(Op::Le, b, a);
    case Op::Lt:
      a.hi = std::min(a.hi, b.hi - 1);
      b.lo = std::max(b.lo, a.lo + 1);
      return;
    case Op::Le:
      a.hi = std::min(a.hi, b.hi);
      b.lo = std::max(b.lo, a.lo);
      return;
    case Op::Eq: a = b = {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; return;
    default:
      for (auto [x, y] : {std::pair{&a, &b}, {&b, &a}}) {
        if (y->lo != y->hi) continue;
        if (x->lo == y->lo)
          ++x->lo;
        else if (x->hi == y->lo)
          --x->hi;
      }
  }
}

bool Holds(Op compare, Interval a, Interval b) {
  Narrow(compare, a, b);
  return a.lo <= a.hi && b.lo <= b.hi;
}

}  // namespace

Interval TypeInterval(ir::Type integer) {
  IntKind kind = IntKindOf(integer);
  if (kind.is_signed) return {-(One << (kind.bits - 1)), (One << (kind.bits - 1)) - 1};
  return {0, (One << kind.bits) - 1};
}

Ranges::Ranges(const ir::Program& program, const ir::Function& function)
    : Ranges(program, function, {}) {}

Ranges::Ranges(const ir::Program& program, const ir::Function& function,
               std::span<const Interval> params)
    : program_(program),
      function_(function),
      values_(function.values.size()),
      fits_(function.insts.size()) {
  for (size_t i = 0; i < values_.size(); ++i) {
    ir::Type type = function.values[i].type;
    if (type.is_scalar() && IsInteger(type)) values_[i] = TypeInterval(type);
    if (type.is_buffer()) values_[i] = {0, TypeInterval(ir::types::Index).hi};
  }
  for (uint32_t i = 0; i < params.size(); ++i) values_[function.param(i).index] = params[i];
  VisitRegion(function.body);
}

void Ranges::VisitRegion(ir::RegionId region) {
  for (ir::InstId id : function_.region(region).insts) VisitInst(function_.inst(id));
}

void Ranges::VisitStructure(const ir::Inst& inst) {
  if (inst.op == Op::For || inst.op == Op::Parallel) {
    const ir::Region& body = function_.region(Function::region_of(inst, 0));
    Interval& counter = values_[Function::param_of(body, 0).index];
    Int128 last = operand(inst, 1).hi - 1;
    counter = {operand(inst, 0).lo, std::max(operand(inst, 0).lo, last)};
  }
  for (uint32_t i = 0; i < inst.regions.count; ++i)
    inst.op == Op::If ? VisitWay(inst, i) : VisitRegion(Function::region_of(inst, i));
  if (inst.op != Op::If && inst.op != Op::Switch) return;
  for (uint32_t r = 0; r < inst.results.count; ++r) {
    ir::ValueId result = Function::result_of(inst, r);
    ir::Type type = function_.type(result);
    if (!type.is_scalar() || !IsInteger(type)) continue;
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      const ir::Region& region = function_.region(Function::region_of(inst, i));
      const Interval& yielded = operand(function_.inst(region.insts.back()), r);
      values_[result.index] = i == 0 ? yielded : Union(values_[result.index], yielded);
    }
  }
}

void Ranges::VisitWay(const ir::Inst& inst, uint32_t way) {
  const ir::RegionId region = Function::region_of(inst, way);
  const ir::InstId made = function_.values[function_.operand(inst, 0).index].def;
  if (!made.valid() || !IsCompare(function_.inst(made).op) ||
      !IsInteger(function_.type(function_.operand(function_.inst(made), 0))))
    return VisitRegion(region);
  const ir::Inst& compare = function_.inst(made);
  Interval& a = values_[function_.operand(compare, 0).index];
  Interval& b = values_[function_.operand(compare, 1).index];
  const Interval outside[] = {a, b};
  Interval left = a, right = b;
  Narrow(way == 0 ? compare.op : OppositeOf(compare.op), left, right);
  if (&a != &b && left.lo <= left.hi && right.lo <= right.hi) {
    a = left;
    b = right;
  }
  VisitRegion(region);
  a = outside[0];
  b = outside[1];
}

void Ranges::VisitInst(const ir::Inst& inst) {
  if (inst.regions.count != 0) return VisitStructure(inst);
  if (inst.results.count != 1) return;
  ir::ValueId result = Function::result_of(inst);
  ir::Type type = function_.type(result);
  if (!type.is_scalar() || !IsInteger(type)) return;
  Interval whole = TypeInterval(type);
  Interval found;
  if (ComputeExact(inst, found)) {
    bool fits = found.Within(whole);
    fits_[Index(inst)] = fits;
    // What does not fit wraps to anything; a checked op that goes on gave a value of the type.
    bool traps = ir::Info(inst.op).traps != 0;
    if (fits)
      values_[result.index] = found;
    else if (traps)
      values_[result.index] = {std::max(found.lo, whole.lo), std::min(found.hi, whole.hi)};
    if (values_[result.index].lo > values_[result.index].hi) values_[result.index] = whole;
  } else if (ComputeOther(inst, found) && found.Within(whole)) {
    values_[result.index] = found;
  }
}

// Ops whose exact result is a number that the type may not hold.
bool Ranges::ComputeExact(const ir::Inst& inst, Interval& out) const {
  switch (inst.op) {
    case Op::Add:
    case Op::AddChecked:
    case Op::Sub:
    case Op::SubChecked:
    case Op::Mul:
    case Op::MulChecked:
    case Op::Neg:
    case Op::NegChecked:
    case Op::Cast:
    case Op::CastChecked: break;
    default: return false;
  }
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    if (!IsInteger(function_.type(function_.operand(inst, i)))) return false;
  Interval a = operand(inst, 0);
  Interval b = inst.operands.count > 1 ? operand(inst, 1) : a;
  switch (inst.op) {
    case Op::Add:
    case Op::AddChecked: out = {a.lo + b.lo, a.hi + b.hi}; return true;
    case Op::Sub:
    case Op::SubChecked: out = {a.lo - b.hi, a.hi - b.lo}; return true;
    case Op::Neg:
    case Op::NegChecked: out = {-a.hi, -a.lo}; return true;
    case Op::Mul:
    case Op::MulChecked:
      if (!IsSmall(a) || !IsSmall(b)) return false;
      out = Product(a, b);
      return true;
    default: out = a; return true;
  }
}

bool Ranges::ComputeOther(const ir::Inst& inst, Interval& out) const {
  IntKind kind = IntKindOf(inst.type);
  auto non_negative = [&](uint32_t i) { return operand(inst, i).lo >= 0; };
  switch (inst.op) {
    case Op::Const: {
      uint64_t word = function_.words_of(inst)[0];
      Int128 value = kind.is_signed ? Int128{static_cast<int64_t>(word)} : Int128{word};
      out = {value, value};
      return true;
    }
    case Op::Length: out = operand(inst, 0); return true;
    case Op::Select: out = Union(operand(inst, 1), operand(inst, 2)); return IsInteger(inst.type);
    case Op::Min:
      out = {std::min(operand(inst, 0).lo, operand(inst, 1).lo),
             std::min(operand(inst, 0).hi, operand(inst, 1).hi)};
      return IsInteger(inst.type);
    case Op::Max:
      out = {std::max(operand(inst, 0).lo, operand(inst, 1).lo),
             std::max(operand(inst, 0).hi, operand(inst, 1).hi)};
      return IsInteger(inst.type);
    case Op::And:
      // A mask that is not negative bounds the result from both sides.
      if (non_negative(0)) out = {0, operand(inst, 0).hi};
      if (non_negative(1) && (!non_negative(0) || operand(inst, 1).hi < out.hi))
        out = {0, operand(inst, 1).hi};
      return non_negative(0) || non_negative(1);
    case Op::Shr: {
      const Interval& amount = operand(inst, 1);
      if (!non_negative(0) || amount.lo != amount.hi || amount.lo < 0 || amount.lo >= kind.bits)
        return false;
      out = {operand(inst, 0).lo >> static_cast<int>(amount.lo),
             operand(inst, 0).hi >> static_cast<int>(amount.lo)};
      return true;
    }
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::RemChecked:
      if (operand(inst, 1).lo <= 0) return false;
      out = {inst.op == Op::RemFloor || non_negative(0) ? Int128{0} : 1 - operand(inst, 1).hi,
             operand(inst, 1).hi - 1};
      return true;
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::DivChecked:
      if (!non_negative(0) || operand(inst, 1).lo <= 0) return false;
      out = {operand(inst, 0).lo / operand(inst, 1).hi, operand(inst, 0).hi / operand(inst, 1).lo};
      return true;
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      if (!IsInteger(function_.type(function_.operand(inst, 0)))) return false;
      const Interval &a = operand(inst, 0), &b = operand(inst, 1);
      out = {Holds(OppositeOf(inst.op), a, b) ? 0 : 1, Holds(inst.op, a, b) ? 1 : 0};
      return out.lo <= out.hi;
    }
    case Op::Clz:
    case Op::Ctz:
    case Op::Popcnt: out = {0, kind.bits}; return true;
    default: return false;
  }
}

bool Ranges::cannot_trap(const ir::Inst& inst) const {
  switch (inst.op) {
    case Op::AddChecked:
    case Op::SubChecked:
    case Op::MulChecked:
    case Op::NegChecked:
    case Op::CastChecked: return fits(inst);
    case Op::AbsChecked:
      return IsInteger(inst.type) && operand(inst, 0).lo > TypeInterval(inst.type).lo;
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::RemChecked: return IsInteger(inst.type) && !operand(inst, 1).Contains(0);
    case Op::DivChecked:
      return IsInteger(inst.type) && !operand(inst, 1).Contains(0) &&
             (!operand(inst, 1).Contains(-1) || operand(inst, 0).lo > TypeInterval(inst.type).lo);
    case Op::Lookup: {
      Int128 length = program_.data[static_cast<size_t>(function_.word(inst, 0))].length();
      return operand(inst, 0).lo >= 0 && operand(inst, 0).hi < length;
    }
    default: return ir::Info(inst.op).traps == 0;
  }
}

}  // namespace frazil::targets::wasm
