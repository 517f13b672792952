// The slots of a program and what stands outside of its passes.
#include "frontends/circuits/from_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::frontends::circuits {

using namespace ir::names;

Result<CircuitText> Reverse::Run() {
  if (!function_.results.empty())
    return Refuse("the program returns values; circuits write slots", {});
  TRY_VOID(Declare());
  const std::vector<ir::InstId>& insts = function_.region(function_.body).insts;
  for (top_ = 0; top_ < insts.size(); ++top_) TRY_VOID(Top(function_.inst(insts[top_])));
  if (operations_.empty()) {
    if (result_.slots.empty()) return Refuse("the program touches no buffer", {});
    Emit(Generator::Copy, 0, result_.slots[0], {},
         result_.slots[0]);  // a circuit has at least one generator
  }
  Sequence sequence;
  for (Operation& operation : operations_) sequence.items.push_back({operation, {}});
  result_.phrase.branches.push_back(std::move(sequence));
  result_.text = PrintPhrase(result_.phrase);
  return std::move(result_);
}

std::unexpected<Error> Reverse::Refuse(std::string why, Location where) {
  return Fail(Diag::NotACircuit, std::move(why), where);
}

std::unexpected<Error> Reverse::Refuse(const Inst& inst, std::string_view why) const {
  return Refuse(fmt::format("{}: {}", ir::Info(inst.op).mnemonic, why), inst.location);
}

Result<void> Reverse::Declare() {
  std::set<SlotId> taken;
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const Type type = function_.param_type(i);
    if (!type.is_buffer()) continue;
    if (!buffers.empty() && type.element() != result_.element)
      return Refuse(fmt::format("slots of a circuit have one element type; here are {} and {}",
                                ir::ScalarOrBufferName(result_.element),
                                ir::ScalarOrBufferName(type.element())),
                    {});
    result_.element = type.element();
    buffers.push_back(i);
    const uint32_t value = function_.param(i).index;
    const std::optional<SlotId> named = value < function_.value_names.size()
                                            ? SlotNamed(function_.value_names[value])
                                            : std::nullopt;
    if (named && taken.insert(*named).second) slots_[value] = *named;
  }
  if (!buffers.empty() && !ir::Contains(ir::sets::Fixed | ir::sets::Float, result_.element.scalar))
    return Refuse(
        fmt::format("slots of a circuit do not hold {}", ir::ScalarOrBufferName(result_.element)),
        {});
  taken_ = std::move(taken);
  for (uint32_t i : buffers) {
    const uint32_t value = function_.param(i).index;
    if (!slots_.contains(value)) slots_[value] = TRY(FreeSlot());
    result_.slots.push_back(slots_[value]);
  }
  return {};
}

Result<SlotId> Reverse::FreeSlot() {
  for (int c = 0; c < ClassCount; ++c)
    if (taken_.insert(SlotOf(static_cast<uint8_t>(c))).second)
      return SlotOf(static_cast<uint8_t>(c));
  return Refuse("the program needs more slots than there are classes", {});
}

Result<SlotId> Reverse::Scratch() {
  const SlotId slot = TRY(FreeSlot());
  result_.phrase.scratch.push_back(SigilOf(slot));  // free classes ascend
  return slot;
}

Result<SlotId> Reverse::Temporary(size_t needed_from) {
  for (SlotId slot : temporaries_)
    if (!kept_.contains(slot) && Needed(slot, needed_from).empty()) return slot;
  temporaries_.push_back(TRY(Scratch()));
  return temporaries_.back();
}

Sigil Reverse::SigilOf(SlotId slot) {
  return {static_cast<uint8_t>(slot / (PageCount + 1)), 0, false,
          static_cast<int8_t>(slot % (PageCount + 1) - 1)};
}

void Reverse::Emit(Generator generator, uint8_t variant, SlotId source,
                   std::optional<SlotId> context, SlotId destination,
                   std::optional<Number> number) {
  Operation operation;
  operation.generator = generator;
  operation.variant = variant;
  operation.first = SigilOf(source);
  const bool triple = generator == Generator::Merge || generator == Generator::Split;
  operation.target = generator == Generator::Mark ? TargetKind::Single
                     : triple                     ? TargetKind::Triple
                                                  : TargetKind::Pair;
  if (context && !number) operation.context = SigilOf(*context);
  operation.number = number;
  if (generator != Generator::Mark) operation.second = SigilOf(destination);
  operations_.push_back(operation);
  ++versions_[destination];
  if (generator == Generator::Swap) ++versions_[source];
}

const Known* Reverse::Find(ValueId value) const {
  const auto found = known_.find(value.index);
  return found == known_.end() ? nullptr : &found->second;
}

const Known* Reverse::Find(const Inst& inst, uint32_t operand) const {
  return Find(function_.operand(inst, operand));
}

void Reverse::Define(const Inst& inst, Known known) {
  known_[ir::Function::result_of(inst).index] = known;
}

bool Reverse::IsZeroIndex(ValueId value) const {
  const Known* known = Find(value);
  return known != nullptr && known->kind == Kind::Constant && known->word == 0;
}

Result<void> Reverse::Top(const Inst& inst) {
  switch (inst.op) {
    case Op::Return: return {};
    case Op::Const:
      return Define(inst, {Kind::Constant, 0, 0, {}, function_.words_of(inst)[0]}), Result<void>{};
    case Op::Cast: return {};  // of an extent; other uses find nothing known of it
    case Op::Load:
      return Refuse(inst,
                    "element 0 of a slot is read on its own, as where a reduction is joined with "
                    "what its place "
                    "held before; generators read whole slots, and a reduction overwrites");
    case Op::Fold: return Fold(inst);
    case Op::Parallel: return Pass(inst);
    case Op::TensorLoad: return Whole(inst);
    case Op::Map: return Map(inst);
    case Op::Reduce: return Reduce(inst);
    case Op::Iota: {
      const ir::Shape& shape = function_.shape(inst.type);
      if (shape.size() != 1 || !shape[0].is_symbol() || inst.type.element() != ir::types::Index)
        return Refuse(inst, "a shape other than the extent");
      TRY_VOID(SetExtent(inst, function_.param(shape[0].param())));
      Define(inst, {Kind::Number});
      return {};
    }
    case Op::Extract: {
      const Known* known = Find(inst, 0);
      if (known == nullptr || inst.operands.count != 1)
        return Refuse(inst, "of something that is no reduction");
      Define(inst, *known);
      return {};
    }
    case Op::Alloc: {
      TRY_VOID(SetExtent(inst, function_.operand(inst, 0)));
      if (inst.type != result_.element)
        return Refuse(inst, "scratch of another type than the slots'");
      slots_[ir::Function::result_of(inst).index] = TRY(Scratch());
      return {};
    }
    case Op::Store: return StoreFirst(inst);
    default: return Refuse(inst, "no generator does this");
  }
}

Result<void> Reverse::SetExtent(const Inst& inst, ValueId value) {
  for (ir::InstId def = function_.values[value.index].def;
       def.valid() && function_.inst(def).op == Op::Cast; def = function_.values[value.index].def)
    value = function_.operand(function_.inst(def), 0);
  if (function_.values[value.index].def.valid()) return Refuse(inst, "the extent is no parameter");
  if (extent_.valid() && extent_ != value) return Refuse(inst, "passes of different lengths");
  extent_ = value;
  return {};
}

Result<SlotId> Reverse::SlotOfBuffer(const Inst& inst) const {
  const auto found = slots_.find(function_.operand(inst, 0).index);
  if (found == slots_.end()) return Refuse(inst, "the buffer is no slot");
  return found->second;
}

Result<void> Reverse::Whole(const Inst& inst) {
  const ir::Shape& shape = function_.shape(inst.type);
  if (shape.size() != 1 || !shape[0].is_symbol())
    return Refuse(inst, "a shape other than the extent");
  TRY_VOID(SetExtent(inst, function_.param(shape[0].param())));
  const SlotId slot = TRY(SlotOfBuffer(inst));
  Define(inst, {Kind::Whole, slot, versions_[slot]});
  return {};
}

Result<void> Reverse::Map(const Inst& inst) {
  const ir::Region& region = function_.region(ir::Function::region_of(inst, 0));
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    const Known* whole = Find(inst, i);
    if (whole != nullptr && whole->kind == Kind::Number) {
      known_[ir::Function::param_of(region, i).index] = *whole;
      continue;
    }
    if (whole == nullptr || whole->kind != Kind::Whole || !Unchanged(*whole))
      return Refuse(inst, "an operand is no slot");
    known_[ir::Function::param_of(region, i).index] = {Kind::Element, whole->slot, whole->version};
  }
  // The powers of a softmax are no slot: the generator makes them itself.
  in_map_ = true;
  body_ = region.insts;
  FindLastUses();
  for (at_ = 0; at_ + 1 < body_.size(); ++at_) TRY_VOID(Compute(function_.inst(body_[at_])));
  in_map_ = false;
  const Known* yielded = Find(function_.inst(body_.back()), 0);
  if (yielded == nullptr) return Refuse(inst, "yields no element");
  if (yielded->kind == Kind::Power) {
    Define(inst, {Kind::Powers, yielded->slot, yielded->version});
    return {};
  }
  if (yielded->kind != Kind::Element) return Refuse(inst, "yields no element");
  kept_.insert(yielded->slot);
  Define(inst, {Kind::Whole, yielded->slot, versions_[yielded->slot]});
  return {};
}

Result<void> Reverse::Reduce(const Inst& inst) {
  const Known* whole = Find(inst, 0);
  const auto fold = static_cast<ir::ReduceKind>(function_.word(inst, 0));
  if (whole == nullptr || !Unchanged(*whole)) return Refuse(inst, "of something that is no slot");
  if (function_.word(inst, 2) != 64 || function_.word(inst, 3) != 4096)
    return Refuse(inst, "in another order than the one of circuits (64 chains, blocks of 4096)");
  const Known kept = *whole;
  return DefineFolded(inst, kept, fold);
}

Result<void> Reverse::Fold(const Inst& inst) {
  const ir::InstId id = function_.values[ir::Function::result_of(inst).index].def;
  const std::optional<ir::PlainFold> found = ir::ReadPlainFold(program_, id);
  if (!found) return Refuse(inst, "no generator does this");
  const ir::PlainFold& fold = *found;
  TRY_VOID(SetExtent(inst, fold.count));
  known_[fold.index.index] = {Kind::Number};
  in_map_ = true;
  body_ = fold.element;
  FindLastUses();
  last_use_[fold.value.index] = body_.size();
  for (at_ = 0; at_ < body_.size(); ++at_) {
    const Inst& step = function_.inst(body_[at_]);
    TRY_VOID(step.op == Op::Load ? Load(step) : Compute(step));
  }
  in_map_ = false;
  const Known* element = Find(fold.value);
  if (element == nullptr || (element->kind != Kind::Power && element->kind != Kind::Element))
    return Refuse(inst, "of something that is no slot");
  const Known whole{element->kind == Kind::Power ? Kind::Powers : Kind::Whole, element->slot,
                    element->version};
  if (whole.kind == Kind::Whole) kept_.insert(whole.slot);
  return DefineFolded(inst, whole, fold.kind);
}

Result<void> Reverse::DefineFolded(const Inst& inst, const Known& whole, ir::ReduceKind fold) {
  if (whole.kind == Kind::Powers && fold == ir::ReduceKind::Sum) {
    Define(inst, {Kind::PowerSum, whole.slot, whole.version});
    return {};
  }
  if (whole.kind != Kind::Whole) return Refuse(inst, "of something that is no slot");
  if (fold != ir::ReduceKind::Sum && fold != ir::ReduceKind::Min && fold != ir::ReduceKind::Max)
    return Refuse(inst, "reduce has the variants sum, min and max");
  Known folded{Kind::Folded, whole.slot, whole.version, fold, 0, 0, whole.slot, whole.version};
  if (IsStoredLate(inst, whole.slot)) {
    folded.slot = TRY(Scratch());
    Emit(Generator::Copy, 0, whole.slot, {}, folded.slot);
    folded.version = versions_[folded.slot];
  }
  Define(inst, folded);
  return {};
}

bool Reverse::IsStoredLate(const Inst& reduce, SlotId slot) const {
  const std::vector<ir::InstId>& insts = function_.region(function_.body).insts;
  ValueId result = ir::Function::result_of(reduce);
  bool overwritten = false;
  for (size_t k = top_ + 1; k < insts.size(); ++k) {
    const Inst& inst = function_.inst(insts[k]);
    if (inst.op == Op::Extract && function_.operand(inst, 0) == result)
      result = ir::Function::result_of(inst);
    if (inst.op == Op::Store && function_.operand(inst, 2) == result && overwritten) return true;
    if (inst.op == Op::Store) overwritten |= IsSlot(inst, slot);
    if (inst.op != Op::Parallel) continue;
    for (ir::InstId id : function_.region(ir::Function::region_of(inst, 0)).insts)
      overwritten |= function_.inst(id).op == Op::Store && IsSlot(function_.inst(id), slot);
  }
  return false;
}

bool Reverse::IsSlot(const Inst& store, SlotId slot) const {
  const auto found = slots_.find(function_.operand(store, 0).index);
  return found != slots_.end() && found->second == slot;
}

Result<void> Reverse::StoreFirst(const Inst& inst) {
  if (!IsZeroIndex(function_.operand(inst, 1)))
    return Refuse(inst, "outside of a pass only element 0 is written");
  const Known* folded = Find(inst, 2);
  if (folded == nullptr || folded->kind != Kind::Folded)
    return Refuse(inst, "the value is no reduction of a slot");
  const Known kept = *folded;
  return EmitReduce(inst, kept, TRY(SlotOfBuffer(inst)));
}

Result<void> Reverse::EmitReduce(const Inst& inst, const Known& folded, SlotId destination) {
  if (!Unchanged(folded))
    return Refuse(inst, "the slot changes between its reduction and the store");
  const ReduceVariant variant = folded.fold == ir::ReduceKind::Sum   ? ReduceVariant::Sum
                                : folded.fold == ir::ReduceKind::Min ? ReduceVariant::Min
                                                                     : ReduceVariant::Max;
  Emit(Generator::Reduce, static_cast<uint8_t>(variant), folded.slot, {}, destination);
  return {};
}

Result<CircuitText> FromProgram(const ir::Program& program) { return Reverse(program).Run(); }

}  // namespace frazil::frontends::circuits
