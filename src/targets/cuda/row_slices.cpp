// What a lane does with its elements of some slices of a row.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <cmath>

#include "targets/cuda/rows.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr uint32_t WideBytes = 16;

}  // namespace

// What all passes of the group do with some slices. Everything that is read is asked for first.
void RowEmitter::EmitSlices(const LlvmValues& slices, LlvmValues& chains, bool is_rest) {
  is_rest_ = is_rest;
  std::vector<std::vector<LlvmValues>> loaded(slices.size());
  for (size_t u = 0; u < slices.size(); ++u) {
    slice_ = slices[u];
    for (size_t a = 0; a < plan_.arrays.size(); ++a)
      loaded[u].push_back(plan_.arrays[a].reads[group_] ? ReadSlice(a) : LlvmValues());
  }
  for (size_t u = 0; u < slices.size(); ++u) {
    slice_ = slices[u];
    current_ = std::move(loaded[u]);
    size_t f = 0;
    for (ir::InstId id : plan_.groups[group_].passes) {
      const Inst& loop = function_.inst(id);
      const bool is_fold = IsFoldLoop(loop);
      EmitPass(loop, is_fold ? &folds_[f] : nullptr,
               is_fold ? ChainsOf(chains, f) : std::span<llvm::Value*>());
      if (is_fold) ++f;
    }
    for (size_t a = 0; a < plan_.arrays.size(); ++a) WriteSlice(a);
  }
}

// Of element k of a lane, from the first one of its lane in the slice.
uint64_t RowEmitter::OffsetOf(uint32_t k) const {
  return uint64_t{k / form_.width} * form_.lanes * form_.width + k % form_.width;
}

llvm::Value* RowEmitter::IndexOf(uint32_t k) {
  llvm::Value* const first = builder_.CreateAdd(builder_.CreateShl(slice_, 6),
                                                builder_.CreateMul(lane_, Long(form_.width)));
  return builder_.CreateAdd(first, Long(OffsetOf(k)));
}

llvm::Value* RowEmitter::IsThere(uint32_t k) { return builder_.CreateICmpULT(IndexOf(k), count_); }

llvm::Align RowEmitter::AlignOf(ir::Type element) const {
  return llvm::Align(std::min(WideBytes, ir::BytesOf(element) * form_.width));
}

llvm::Value* RowEmitter::Place(llvm::Value* lane_first, ir::Type element, uint32_t k) {
  llvm::Value* const slice =
      emitter_.ElementAddress(element, lane_first, builder_.CreateShl(slice_, 6));
  return emitter_.ElementAddress(element, slice, Long(OffsetOf(k)));
}

LlvmValues RowEmitter::ReadSlice(size_t a) {
  const RowArray& array = *places_[a].array;
  const bool is_kept = form_.keeps && array.is_kept && static_cast<int>(group_) > array.first_use;
  llvm::Type* const type = emitter_.ops_.TypeOf(array.element);
  LlvmValues values;
  if (is_rest_ && !is_kept) {
    // Where there is no element, the first one once more.
    for (uint32_t k = 0; k < Elements(); ++k) {
      llvm::Value* const index = builder_.CreateSelect(IsThere(k), IndexOf(k), Long(0));
      values.push_back(emitter_.LoadElement(
          array.element, emitter_.ElementAddress(array.element, places_[a].row, index)));
    }
    return values;
  }
  llvm::Value* const first = is_kept ? places_[a].kept : places_[a].lane;
  for (uint32_t k = 0; k < Elements(); k += form_.width) {
    llvm::Value* const vector =
        builder_.CreateAlignedLoad(llvm::FixedVectorType::get(type, form_.width),
                                   Place(first, array.element, k), AlignOf(array.element));
    for (uint32_t v = 0; v < form_.width; ++v)
      values.push_back(builder_.CreateExtractElement(vector, v));
  }
  return values;
}

void RowEmitter::WriteSlice(size_t a) {
  const RowArray& array = *places_[a].array;
  const bool is_written = array.writes[group_];
  const bool is_new = is_written || static_cast<int>(group_) == array.first_use;
  if (current_[a].empty()) return;
  const auto vector = [&](uint32_t k) {
    llvm::Value* all =
        llvm::PoisonValue::get(llvm::FixedVectorType::get(current_[a][k]->getType(), form_.width));
    for (uint32_t v = 0; v < form_.width; ++v)
      all = builder_.CreateInsertElement(all, current_[a][k + v], v);
    return all;
  };
  if (form_.keeps && array.is_kept && is_new && plan_.IsReadAfter(a, group_))
    for (uint32_t k = 0; k < Elements(); k += form_.width) {
      llvm::StoreInst* const store = builder_.CreateAlignedStore(
          vector(k), Place(places_[a].kept, array.element, k), AlignOf(array.element));
      if (array.is_computed) store->setMetadata(AnyNan, llvm::MDNode::get(emitter_.context(), {}));
    }
  // What is written again later need not be in memory before.
  if (!is_written || (form_.keeps && array.last_write != static_cast<int>(group_))) return;
  if (is_rest_) {
    for (uint32_t k = 0; k < Elements(); ++k) {
      llvm::Value* is_there = IsThere(k);
      if (is_active_ != nullptr) is_there = builder_.CreateAnd(is_there, is_active_);
      If(is_there, [&] {
        emitter_.StoreElement(array.element, Place(places_[a].lane, array.element, k),
                              current_[a][k]);
      });
    }
    return;
  }
  const auto store = [&] {
    for (uint32_t k = 0; k < Elements(); k += form_.width)
      builder_.CreateAlignedStore(vector(k), Place(places_[a].lane, array.element, k),
                                  AlignOf(array.element));
  };
  is_active_ == nullptr ? store() : If(is_active_, store);
}

// Instruction by instruction for all elements of the lane, where nothing branches, so that divisions by what the row agrees
// on are made together.
void RowEmitter::EmitPass(const Inst& loop, const Fold* fold, std::span<llvm::Value*> chains) {
  const ir::Region& region = function_.region(Function::region_of(loop, 0));
  const ValueId counter = Function::param_of(region, 0);
  emitter_.row_ = this;
  lanes_.clear();
  for (uint32_t k = 0; k < Elements(); ++k) {
    llvm::Value* index = IndexOf(k);
    // Whatever else is read at it must be there.
    if (is_rest_) index = builder_.CreateSelect(IsThere(k), index, Long(0));
    lanes_[counter.index].push_back(index);
  }
  for (ir::InstId id : region.insts) {
    const Inst& inst = function_.inst(id);
    if (!facts_.needed[id.index] || inst.op == Op::Yield || (fold != nullptr && id == fold->joins))
      continue;
    if (EmitQuotients(inst)) continue;
    for (element_ = 0; element_ < Elements(); ++element_) {
      Take();
      emitter_.EmitInst(inst);
      for (uint32_t r = 0; r < inst.results.count; ++r) {
        const ValueId result = Function::result_of(inst, r);
        if (emitter_.IsLive(result)) lanes_[result.index].push_back(emitter_.Get(result));
      }
    }
  }
  for (element_ = 0; fold != nullptr && element_ < Elements(); ++element_) {
    Take();
    llvm::Value* value = emitter_.Get(fold->element);
    if (is_rest_ && element_ == 0) chains.back() = value;
    if (is_rest_) value = builder_.CreateSelect(IsThere(element_), value, fold->none);
    chains[element_] = Join(*fold, chains[element_], value);
  }
  emitter_.row_ = nullptr;
}

// What is known of the element in hand becomes the emitter's.
void RowEmitter::Take() {
  for (const auto& [value, elements] : lanes_)
    if (element_ < elements.size()) emitter_.Set(ValueId(value), elements[element_]);
}

// Quotients of several numbers by one: with y, 1 / s rounded, and q within an ulp of x / s, fma(x - q s, y, q) is x / s
// rounded (Markstein), as long as nothing on the way leaves the normal numbers. Five instructions that wait for nobody,
// instead of eighteen with a branch for each (SASS of 2026-11-18); where one of them is out of range, as before.
bool RowEmitter::EmitQuotients(const Inst& inst) {
  if (inst.op != Op::Div || inst.type != ir::types::F32) return false;
  const auto known = reciprocals_.find(function_.operand(inst, 1).index);
  const auto numbers = lanes_.find(function_.operand(inst, 0).index);
  if (known == reciprocals_.end() || numbers == lanes_.end()) return false;
  llvm::Type* const type = builder_.getFloatTy();
  llvm::Value* const s = emitter_.Get(function_.operand(inst, 1));
  llvm::Value* const y = known->second.value;
  llvm::Value* is_inside = known->second.is_inside;
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return builder_.CreateIntrinsic(type, llvm::Intrinsic::fma, {a, b, c});
  };
  LlvmValues quick;
  for (llvm::Value* x : numbers->second) {
    is_inside = builder_.CreateAnd(is_inside, IsOrdinary(x));
    llvm::Value* q = builder_.CreateFMul(x, y);
    for (int round = 0; round < 2; ++round) q = fma(fma(builder_.CreateFNeg(q), s, x), y, q);
    quick.push_back(q);
  }
  If(builder_.CreateNot(is_inside), quick, [&](LlvmValues& slow) {
    for (size_t k = 0; k < slow.size(); ++k) slow[k] = builder_.CreateFDiv(numbers->second[k], s);
  });
  const ValueId result = Function::result_of(inst);
  for (llvm::Value* q : quick) {
    emitter_.SetResult(inst, q);
    lanes_[result.index].push_back(emitter_.Get(result));
  }
  return true;
}

llvm::Value* RowEmitter::IsOrdinary(llvm::Value* x) {
  llvm::Value* const size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  const auto power = [&](int exponent) {
    return llvm::ConstantFP::get(x->getType(), std::ldexp(1.0, exponent));
  };
  return builder_.CreateAnd(builder_.CreateFCmpOGE(size, power(-60)),
                            builder_.CreateFCmpOLE(size, power(60)));
}

// Of what the passes of the group divide by and a row agrees on.
void RowEmitter::FindReciprocals() {
  reciprocals_.clear();
  for (ir::InstId pass : plan_.groups[group_].passes) {
    const ir::RegionId region = Function::region_of(function_.inst(pass), 0);
    for (ir::InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index] || inst.op != Op::Div || inst.type != ir::types::F32) continue;
      const ValueId divisor = function_.operand(inst, 1);
      if (facts_.home[divisor.index] == region || reciprocals_.contains(divisor.index)) continue;
      llvm::Value* const s = emitter_.Get(divisor);
      llvm::Constant* const one = llvm::ConstantFP::get(s->getType(), 1.0);
      reciprocals_[divisor.index] = {builder_.CreateFDiv(one, s), IsOrdinary(s)};
    }
  }
}

bool RowEmitter::EmitAccess(const Inst& access) {
  const auto id = static_cast<uint32_t>(&access - function_.insts.data());
  const auto found = plan_.accesses.find(id);
  if (found == plan_.accesses.end()) return false;
  LlvmValues& values = current_[found->second];
  if (access.op == Op::Store) {
    values.resize(Elements());
    values[element_] = emitter_.Get(function_.operand(access, 2));
    return true;
  }
  if (values.empty()) values = ReadSlice(found->second);
  if (emitter_.IsLive(Function::result_of(access))) emitter_.SetResult(access, values[element_]);
  return true;
}

}  // namespace frazil::targets::cuda
