// Passes: where each value of an iteration lives.
#include "frontends/circuits/from_program.h"

#include <algorithm>
#include <bit>

#include "base/number/float16.h"
#include "ir/text/text.h"

namespace frazil::frontends::circuits {

using namespace ir::names;

Result<void> Reverse::Pass(const Inst& inst) {
  if (!IsZeroIndex(function_.operand(inst, 0))) return Refuse(inst, "a pass starts at element 0");
  TRY_VOID(SetExtent(inst, function_.operand(inst, 1)));
  const ir::Region& region = function_.region(ir::Function::region_of(inst, 0));
  std::erase_if(known_, [](const auto& entry) {
    return entry.second.kind == Kind::Element;
  });  // of passes before
  known_[ir::Function::param_of(region, 0).index] = {Kind::Number};
  body_ = region.insts;
  FindLastUses();
  if (TRY(IsSwap())) return {};
  for (at_ = 0; at_ < body_.size(); ++at_) {
    const Inst& step = function_.inst(body_[at_]);
    switch (step.op) {
      case Op::Yield: break;
      case Op::Load: TRY_VOID(Load(step)); break;
      case Op::Store: TRY_VOID(Store(step)); break;
      default: TRY_VOID(Compute(step)); break;
    }
  }
  return {};
}

Result<bool> Reverse::IsSwap() {
  if (body_.size() != 5) return false;
  const Inst *a = &function_.inst(body_[0]), *b = &function_.inst(body_[1]);
  const Inst &x = function_.inst(body_[2]), &y = function_.inst(body_[3]);
  if (a->op != Op::Load || b->op != Op::Load || x.op != Op::Store || y.op != Op::Store)
    return false;
  const ValueId va = ir::Function::result_of(*a), vb = ir::Function::result_of(*b);
  const auto crosses = [&](const Inst& store, const Inst& load, ValueId value) {
    return function_.operand(store, 0) == function_.operand(load, 0) &&
           function_.operand(store, 2) == value;
  };
  if (!(crosses(x, *a, vb) && crosses(y, *b, va)) && !(crosses(x, *b, va) && crosses(y, *a, vb)))
    return false;
  for (const Inst* inst : {a, b, &x, &y}) TRY_VOID(OwnIndex(*inst));
  const SlotId first = TRY(SlotOfBuffer(*a)), second = TRY(SlotOfBuffer(*b));
  if (first == second) return false;
  Emit(Generator::Swap, 0, std::min(first, second), {}, std::max(first, second));
  return true;
}

Result<void> Reverse::OwnIndex(const Inst& inst) const {
  const Known* index = Find(inst, 1);
  if (index == nullptr || index->kind != Kind::Number)
    return Refuse(inst, "an iteration touches elements other than its own");
  return {};
}

void Reverse::FindLastUses() {
  std::set<uint32_t> parts;
  const auto is_part = [&](const Inst& inst) {
    switch (inst.op) {
      case Op::Bitcast: return inst.type != result_.element;
      case Op::Xor: return ir::IsFloat(result_.element.scalar);
      case Op::Exp: return parts.contains(function_.operand(inst, 0).index);
      case Op::Sub: {
        const Known* folded = Find(inst, 1);
        return folded != nullptr && folded->kind == Kind::Folded;
      }
      default: return false;
    }
  };
  for (ir::InstId id : body_)
    if (is_part(function_.inst(id)))
      parts.insert(ir::Function::result_of(function_.inst(id)).index);
  last_use_.clear();
  for (size_t k = body_.size(); k-- > 0;) {
    const Inst& inst = function_.inst(body_[k]);
    size_t use = k;
    if (inst.results.count == 1 && parts.contains(ir::Function::result_of(inst).index))
      use = std::max(use, LastUse(ir::Function::result_of(inst).index));
    for (ValueId operand : function_.operands_of(inst)) {
      size_t& last = last_use_[operand.index];
      last = std::max(last, use);
    }
  }
}

size_t Reverse::LastUse(uint32_t value) const {
  const auto found = last_use_.find(value);
  return found == last_use_.end() ? 0 : found->second;
}

Result<void> Reverse::Load(const Inst& inst) {
  TRY_VOID(OwnIndex(inst));
  const SlotId slot = TRY(SlotOfBuffer(inst));
  Define(inst, {Kind::Element, slot, versions_[slot]});
  return {};
}

std::vector<uint32_t> Reverse::Needed(SlotId slot, size_t from) {
  std::vector<uint32_t> needed;
  for (const auto& [value, known] : known_)
    if (known.kind == Kind::Element && known.slot == slot && Unchanged(known) &&
        LastUse(value) >= from)
      needed.push_back(value);
  return needed;
}

Result<void> Reverse::Store(const Inst& inst) {
  TRY_VOID(OwnIndex(inst));
  const SlotId slot = TRY(SlotOfBuffer(inst));
  const ValueId value = function_.operand(inst, 2);
  const Known* known = Find(value);
  if (known == nullptr) return Refuse(inst, "the value is uniform; circuits have no scalars");
  const SlotId home = TRY(InSlot(inst, 2));
  if (home == slot) return {};
  if (const std::vector<uint32_t> needed = Needed(slot, at_ + 1); !needed.empty()) {
    const SlotId kept = TRY(Temporary(at_));
    Emit(Generator::Copy, 0, slot, {}, kept);
    for (uint32_t moved : needed) known_[moved] = {Kind::Element, kept, versions_[kept]};
  }
  Emit(Generator::Copy, 0, home, {}, slot);
  return {};
}

Result<SlotId> Reverse::InSlot(const Inst& inst, uint32_t operand) {
  const Known* known = Find(inst, operand);
  if (known == nullptr || (known->kind != Kind::Element && known->kind != Kind::Constant))
    return Refuse(inst, "an operand is uniform or a number; circuits have neither");
  if (known->kind == Kind::Element) {
    if (!Unchanged(*known)) return Refuse(inst, "an operand was overwritten");
    return known->slot;
  }
  const Number number = TRY(NumberOf(inst, operand, known->word));
  const SlotId slot = TRY(Scratch());
  if (number == RealNumber(-0.0)) {
    Emit(Generator::Mark, 0, slot, {}, slot);
  } else if (number != IntegerNumber(0)) {
    Emit(Generator::Merge, V(MergeVariant::Add), slot, {}, slot, number);
  }
  return slot;
}

Result<Number> Reverse::NumberOf(const Inst& inst, uint32_t operand, uint64_t word) const {
  const Type type = function_.type(function_.operand(inst, operand));
  if (type != result_.element) return Refuse(inst, "a constant of another type than the slots'");
  if (!ir::IsFloat(type.scalar)) {
    if (!ir::IsSigned(type.scalar) && word > static_cast<uint64_t>(INT64_MAX))
      return Refuse(inst, "a constant that the language cannot write");
    return IntegerNumber(static_cast<int64_t>(word));
  }
  const std::string text = ir::PrintLiteral(type, std::span(&word, 1));
  if (text.starts_with("bits")) return Refuse(inst, "a NaN with a payload");
  if (text == "nan") return RealNumber(std::bit_cast<double>(uint64_t{0x7ff8000000000000}));
  // The short decimal, if it still means this float when it is read as a double; else the float itself, as a double.
  const Result<std::vector<uint64_t>> wide = ir::ParseLiteral(ir::types::F64, text);
  const double near = wide ? std::bit_cast<double>((*wide)[0]) : 0;
  switch (type.scalar) {
    case ir::Scalar::F64: return RealNumber(std::bit_cast<double>(word));
    case ir::Scalar::F32: {
      const auto exact = std::bit_cast<float>(static_cast<uint32_t>(word));
      const bool same = std::bit_cast<uint32_t>(static_cast<float>(near)) == word;
      return RealNumber(same ? near : static_cast<double>(exact));
    }
    case ir::Scalar::F16:
      return RealNumber(float16::F16::FromDouble(near) == word
                            ? near
                            : float16::F16::ToFloat(static_cast<uint16_t>(word)));
    default:
      return RealNumber(float16::BF16::FromDouble(near) == word
                            ? near
                            : float16::BF16::ToFloat(static_cast<uint16_t>(word)));
  }
}

Result<SlotId> Reverse::PlaceFor(const Inst& inst) {
  const ValueId value = ir::Function::result_of(inst);
  for (size_t k = at_ + 1; k < body_.size(); ++k) {
    const Inst& store = function_.inst(body_[k]);
    if (store.op != Op::Store || function_.operand(store, 2) != value) continue;
    const auto slot = slots_.find(function_.operand(store, 0).index);
    if (slot == slots_.end() || !Needed(slot->second, at_ + 1).empty()) continue;
    bool touched = false;
    for (size_t j = at_ + 1; j < k; ++j) {
      const Inst& between = function_.inst(body_[j]);
      touched |= (between.op == Op::Load || between.op == Op::Store) &&
                 function_.operand(between, 0) == function_.operand(store, 0);
    }
    if (!touched) return slot->second;
  }
  return Temporary(at_ + 1);
}

void Reverse::Placed(const Inst& inst, SlotId slot) {
  Define(inst, {Kind::Element, slot, versions_[slot]});
  if (!in_map_ || !naming_) return;
  made_[*naming_] = {Kind::Element, slot, versions_[slot]};
  kept_.insert(slot);
}

std::optional<Reverse::Naming> Reverse::NamingOf(const Inst& inst) {
  Naming naming = {static_cast<uint64_t>(inst.op)};
  for (ValueId operand : function_.operands_of(inst)) {
    const Known* known = Find(operand);
    if (known == nullptr || (known->kind != Kind::Element && known->kind != Kind::Constant))
      return std::nullopt;
    naming.insert(naming.end(),
                  {static_cast<uint64_t>(known->kind), known->slot, known->version, known->word});
  }
  return naming;
}

}  // namespace frazil::frontends::circuits
