// Scratch of tensors: a buffer whose tensor nobody reads any more is used again, and rows that each index of a `generate` makes
// anew share one. Every op writes all of what it makes, so that nobody sees what was there before.
#include <algorithm>

#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

template <typename Visit>
void ForEachOperand(const Function& function, const Inst& inst, const Visit& visit) {
  for (ValueId operand : function.operands_of(inst)) visit(operand);
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId id : function.region(Function::region_of(inst, r)).insts)
      ForEachOperand(function, function.inst(id), visit);
}

}  // namespace

// By instructions of the body. A reshape is another name for its operand.
void TensorLowering::FindLifetimes() {
  const std::vector<InstId>& body = source_.region(source_.body).insts;
  for (uint32_t i = 0; i < source_.values.size(); ++i) same_memory_.push_back(i);
  last_use_.assign(source_.values.size(), 0);
  positions_.assign(source_.insts.size(), 0);
  for (uint32_t i = 0; i < body.size(); ++i) {
    const Inst& inst = source_.inst(body[i]);
    positions_[body[i].index] = i + 1;
    if (inst.op == Op::Reshape)
      same_memory_[Function::result_of(inst).index] = same_memory_[source_.operand(inst, 0).index];
    for (uint32_t k = 0; k < inst.results.count; ++k)
      last_use_[same_memory_[inst.results.begin + k]] = i + 1;
    ForEachOperand(source_, inst, [&](ValueId operand) { NoteUse(operand, i + 1); });
  }
}

// What is not made where it stands reads what it is made of here.
void TensorLowering::NoteUse(ValueId old_value, uint32_t position) {
  last_use_[same_memory_[old_value.index]] = position;
  if (deferred_.contains(old_value.index) || IsReadInPlace(old_value))
    for (ValueId operand : source_.operands_of(source_.inst(source_.values[old_value.index].def)))
      NoteUse(operand, position);
}

// Before an instruction of the body: what was read for the last time is free.
void TensorLowering::FreeUnused(uint32_t position) {
  std::erase_if(made_, [&](const Made& made) {
    const bool is_over = last_use_[made.memory] < position;
    if (is_over) free_.push_back(made);
    return is_over;
  });
}

bool TensorLowering::Fits(const Made& made, Type type) const {
  if (made.type.element() != type.element()) return false;
  const auto count = [&](Type tensor) -> std::optional<int64_t> {
    int64_t product = 1;
    for (Dim dim : source_.shape(tensor))
      if (dim.is_symbol() || __builtin_mul_overflow(product, dim.value, &product))
        return std::nullopt;
    return product;
  };
  const std::optional<int64_t> have = count(made.type), want = count(type);
  return have && want ? *want <= *have : SameFactors(made.type, type);
}

// A buffer for a result of this instruction, if one is free: a map may also write where it has just read for the last time.
ValueId TensorLowering::Reuse(const Inst& inst, ValueId old_value) {
  const uint32_t position = positions_[static_cast<size_t>(&inst - source_.insts.data())];
  if (position == 0) return {};
  const Type type = source_.type(old_value);
  const auto take = [&](std::vector<Made>& from, std::vector<Made>::iterator found) {
    const Made made{
        .memory = same_memory_[old_value.index], .buffer = found->buffer, .type = found->type};
    from.erase(found);
    made_.push_back(made);
    return made.buffer;
  };
  // The chains of a product read more than the element that is made.
  const bool has_chains = std::ranges::any_of(source_.operands_of(inst), [&](ValueId operand) {
    return deferred_.contains(operand.index);
  });
  if (inst.op == Op::Map && !has_chains)
    for (ValueId operand : source_.operands_of(inst)) {
      const auto found = std::ranges::find(made_, same_memory_[operand.index], &Made::memory);
      if (found != made_.end() && last_use_[found->memory] == position && Fits(*found, type))
        return take(made_, found);
    }
  const auto found =
      std::ranges::find_if(free_, [&](const Made& made) { return Fits(made, type); });
  return found == free_.end() ? ValueId() : take(free_, found);
}

void TensorLowering::NoteMade(const Inst& inst, ValueId old_value, ValueId buffer) {
  if (positions_[static_cast<size_t>(&inst - source_.insts.data())] == 0) return;
  made_.push_back({same_memory_[old_value.index], buffer, source_.type(old_value)});
}

// What each index makes anew, before the loops over them. They come one after the other: `alloc` may trap.
void TensorLowering::HoistScratch(RegionId region, IndexExpr indices) {
  for (InstId id : source_.region(region).insts) {
    const Inst& inst = source_.inst(id);
    if (!MakesItsBuffer(inst.op)) continue;
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      const ValueId value = Function::result_of(inst, k);
      if (!source_.type(value).is_tensor() || placed_.contains(value.index) ||
          deferred_.contains(value.index) || IsReadInPlace(value))
        continue;
      ValueId count = math_.Value(math_.CountOrNegative(SizesOf(value)));
      // Of no indices nothing is made, whatever its size would be.
      if (!indices.known())
        count = builder_.Select(math_.Compare(Op::Gt, indices, IndexExpr::Known(0)), count,
                                math_.Value(IndexExpr::Known(0)));
      hoisted_[value.index] = Alloc(source_.type(value).element(), IndexExpr::Of(count));
    }
  }
}

}  // namespace frazil::ir
