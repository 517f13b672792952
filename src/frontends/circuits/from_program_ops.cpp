// Ops of a pass as generators, and the parts of marks, heads and softmaxes.
#include "frontends/circuits/from_program.h"

#include <algorithm>

namespace frazil::frontends::circuits {

using namespace ir::names;

Result<void> Reverse::Compute(const Inst& inst) {
  if (inst.op == Op::Const) {
    Define(inst, {Kind::Constant, 0, 0, {}, function_.words_of(inst)[0]});
    return {};
  }
  if (inst.regions.count != 0 || inst.results.count != 1)
    return Refuse(inst, "no generator does this");
  naming_ = NamingOf(inst);
  if (const auto found = naming_ ? made_.find(*naming_) : made_.end();
      found != made_.end() && Unchanged(found->second)) {
    Define(inst, found->second);
    return {};
  }
  if (TRY(PartOfMark(inst)) || TRY(PartOfSoftmax(inst)) || TRY(PartOfHead(inst))) return {};
  for (const Unary& unary : Unaries) {
    if (unary.op != inst.op) continue;
    const SlotId source = TRY(InSlot(inst, 0)), place = TRY(PlaceFor(inst));
    Emit(Generator::Merge, V(unary.variant), source, place, place);
    Placed(inst, place);
    return {};
  }
  if (inst.op == Op::Neg) {  // a * -1, to the bit (rules mul_minus_one, float_mul_minus_one)
    const SlotId source = TRY(InSlot(inst, 0)), place = TRY(PlaceFor(inst));
    if (!ir::IsFloat(inst.type.scalar) && !ir::IsSigned(inst.type.scalar))
      return Refuse(inst, "no generator does this");
    Emit(Generator::Merge, V(MergeVariant::Mul), source, {}, place, IntegerNumber(-1));
    Placed(inst, place);
    return {};
  }
  for (const Binary& binary : Binaries)
    if (binary.op == inst.op) return ComputeBinary(inst, binary);
  return Refuse(inst, "no generator does this");
}

Result<void> Reverse::ComputeBinary(const Inst& inst, const Binary& binary) {
  uint32_t left = 0, right = 1;
  const auto is_constant = [&](uint32_t operand) {
    const Known* known = Find(inst, operand);
    return known != nullptr && known->kind == Kind::Constant;
  };
  if (is_constant(0) && !is_constant(1) && ir::Info(inst.op).law == ir::Law::Commutes)
    std::swap(left, right);
  const SlotId source = TRY(InSlot(inst, left));
  if (is_constant(right)) {
    const Number number = TRY(NumberOf(inst, right, Find(inst, right)->word));
    const SlotId place = TRY(PlaceFor(inst));
    Emit(binary.generator, binary.variant, source, {}, place, number);
    Placed(inst, place);
    return {};
  }
  const SlotId context = TRY(InSlot(inst, right)), place = TRY(PlaceFor(inst));
  Emit(binary.generator, binary.variant, source, context, place);
  Placed(inst, place);
  return {};
}

Result<bool> Reverse::PartOfMark(const Inst& inst) {
  const bool is_float = ir::IsFloat(result_.element.scalar);
  const uint64_t sign = uint64_t{1} << (ir::BitsOf(result_.element) - 1);
  const auto mask =
      static_cast<uint64_t>(-static_cast<int64_t>(sign)) | sign;  // sign-extended in a signed type
  if (inst.op == Op::Bitcast) {
    const Known* known = Find(inst, 0);
    if (known == nullptr) return Refuse(inst, "no generator does this");
    if (is_float && known->kind == Kind::Element && !ir::IsFloat(inst.type.scalar)) {
      Define(inst,
             {Kind::Bits, known->slot, known->version, {}, 0, function_.operand(inst, 0).index});
      return true;
    }
    if (known->kind != Kind::MarkedBits || inst.type != result_.element)
      return Refuse(inst, "only as part of a mark");
    return Mark(inst, known->value);
  }
  if (inst.op != Op::Xor) return false;
  for (uint32_t k = 0; k < 2; ++k) {
    const Known *bits = Find(inst, k), *flipped = Find(inst, 1 - k);
    if (bits == nullptr || flipped == nullptr || flipped->kind != Kind::Constant) continue;
    if (flipped->word != sign && flipped->word != mask) continue;
    if (bits->kind == Kind::Bits) {
      Define(inst, {Kind::MarkedBits, bits->slot, bits->version, {}, 0, bits->value});
      return true;
    }
    if (!is_float && bits->kind == Kind::Element)
      return Mark(inst, function_.operand(inst, k).index);
  }
  return Refuse(inst, "only the sign bit of an element, as a mark");
}

Result<bool> Reverse::Mark(const Inst& inst, uint32_t value) {
  const Known known = known_.at(value);
  if (!Unchanged(known)) return Refuse(inst, "an operand was overwritten");
  naming_ = Naming{static_cast<uint64_t>(Op::Bitcast), known.slot, known.version};
  if (const auto found = made_.find(*naming_); found != made_.end() && Unchanged(found->second)) {
    Define(inst, found->second);
    return true;
  }
  const SlotId place = TRY(PlaceFor(inst));
  if (place != known.slot) Emit(Generator::Copy, 0, known.slot, {}, place);
  Emit(Generator::Mark, 0, place, {}, place);
  Placed(inst, place);
  return true;
}

Result<bool> Reverse::PartOfHead(const Inst& inst) {
  if (inst.op == Op::Eq) {
    const Known *index = Find(inst, 0), *zero = Find(inst, 1);
    if (index != nullptr && zero != nullptr && index->kind == Kind::Constant)
      std::swap(index, zero);
    if (index == nullptr || zero == nullptr || index->kind != Kind::Number ||
        zero->kind != Kind::Constant || zero->word != 0)
      return false;
    Define(inst, {Kind::IsFirst});
    return true;
  }
  if (inst.op != Op::Select) return false;
  const Known *first = Find(inst, 0), *folded = Find(inst, 1);
  if (first == nullptr || folded == nullptr || first->kind != Kind::IsFirst ||
      folded->kind != Kind::Folded)
    return false;
  const Known head = *folded;
  const SlotId rest = TRY(InSlot(inst, 2));
  SlotId place = TRY(PlaceFor(inst));
  if (place == head.slot && place != rest)
    place = TRY(Scratch());  // the copy would overwrite what is reduced
  if (place != rest) Emit(Generator::Copy, 0, rest, {}, place);
  TRY_VOID(EmitReduce(inst, head, place));
  Placed(inst, place);
  return true;
}

Result<bool> Reverse::PartOfSoftmax(const Inst& inst) {
  const Known* left = inst.operands.count > 0 ? Find(inst, 0) : nullptr;
  const Known* right = inst.operands.count > 1 ? Find(inst, 1) : nullptr;
  if (left == nullptr) return false;
  if (inst.op == Op::Sub && right != nullptr && left->kind == Kind::Element &&
      right->kind == Kind::Folded && right->fold == ir::ReduceKind::Max &&
      right->origin == left->slot && right->origin_version == left->version) {
    Define(inst, {Kind::Shifted, left->slot, left->version});
    return true;
  }
  if (inst.op == Op::Exp && left->kind == Kind::Shifted) {
    Define(inst, {Kind::Power, left->slot, left->version});
    return true;
  }
  if (inst.op != Op::Div || right == nullptr || left->kind != Kind::Power ||
      right->kind != Kind::PowerSum)
    return false;
  if (right->slot != left->slot || right->version != left->version || !Unchanged(*left))
    return false;
  const SlotId source = left->slot, place = TRY(PlaceFor(inst));
  Emit(Generator::Softmax, 0, source, {}, place);
  Placed(inst, place);
  return true;
}

}  // namespace frazil::frontends::circuits
