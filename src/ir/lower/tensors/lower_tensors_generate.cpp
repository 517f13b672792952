// Generate and extract: elements by index. A tensor that is made for each index only to become a row of the result is made in
// its place there; another one of the same kind that is read, element by element, for the last time where that row is made is
// kept in the row before it.
#include <algorithm>
#include <utility>

#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

template <typename Visit>
void ForEachInside(const Function& function, RegionId region, const Visit& visit) {
  for (InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    visit(inst);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      ForEachInside(function, Function::region_of(inst, r), visit);
  }
}

}  // namespace

Result<void> TensorLowering::LowerGenerate(const Inst& inst) {
  const RegionId id = Function::region_of(inst, 0);
  const Region& region = source_.region(id);
  std::vector<Target> targets;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const auto row = rows_.find(Function::result_of(inst, k).index);
    targets.push_back(row == rows_.end() ? Start(inst, k) : Target{row->second.buffer, {}});
  }
  const IndexExprs sizes = SizesOf(Function::result_of(inst));
  const std::span leading = std::span(sizes).first(region.params.count);
  NoteBounds(inst);
  if (IsColumns(inst)) return LowerColumns(inst, targets);
  PlaceRows(inst);
  const bool was_in_generate = std::exchange(is_in_generate_, true);
  const Order order = CannotTrap(id) ? Order::Independent : Order::Sequential;
  if (order == Order::Sequential) HoistScratch(id, math_.Product(leading));
  Result<void> status;
  const auto make = [&](IndexExpr element) {
    if (Result<void> made = MakeElement(inst, targets, element); !made) status = made;
  };
  const auto loops = [&] {
    if (IsFlat(inst)) {
      math_.Loop(math_.Product(leading), order, [&](IndexExpr element) {
        flat_[region.params.begin] = element;
        make(element);
      });
      return Values();
    }
    const IndexExprs strides = math_.Strides(leading);
    math_.Nest(leading, order, [&](std::span<const IndexExpr> at) {
      for (uint32_t i = 0; i < at.size(); ++i)
        BindNamed(Function::param_of(region, i), math_.Value(at[i]));
      make(math_.Dot(at, strides));
    });
    return Values();
  };
  // Nothing is made for nobody: of an empty rest there may be more than anybody can count.
  const std::optional<ValueId> some = HasSomeRest(inst);
  if (some && some->valid())
    builder_.If(*some, {}, loops, [] { return Values(); });
  else if (some)
    loops();
  is_in_generate_ = was_in_generate;
  return status;
}

// Has any result elements behind the indices? Invalid: surely; nothing: surely not.
std::optional<ValueId> TensorLowering::HasSomeRest(const Inst& generate) {
  const uint32_t rank = source_.region(Function::region_of(generate, 0)).params.count;
  ValueId some;
  for (uint32_t k = 0; k < generate.results.count; ++k) {
    const IndexExprs sizes = SizesOf(Function::result_of(generate, k));
    ValueId all;
    bool has_none = false;
    // Size by size, as the loops along them want to know it.
    for (const IndexExpr size : std::span(sizes).subspan(rank)) {
      has_none = has_none || size.is(0);
      if (!size.known()) all = Both(all, math_.Compare(Op::Gt, size, IndexExpr::Known(0)));
    }
    if (has_none) continue;
    if (!all.valid()) return ValueId();
    some = some.valid() ? builder_.Binary(Op::Or, some, all) : all;
  }
  return some.valid() ? std::optional(some) : std::nullopt;
}

Result<void> TensorLowering::MakeElement(const Inst& inst, std::span<const Target> targets,
                                         IndexExpr element) {
  const RegionId id = Function::region_of(inst, 0);
  const uint32_t rank = source_.region(id).params.count;
  std::vector<IndexExpr> firsts, counts;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    const IndexExprs sizes = SizesOf(result);
    const auto row = rows_.find(result.index);
    counts.push_back(math_.Product(std::span(sizes).subspan(rank)));
    firsts.push_back(math_.Mul(element, counts.back()));
    if (row != rows_.end()) firsts.back() = math_.Add(row->second.first, firsts.back());
  }
  for (const auto& [value, k] : placed_) {
    const InstId def = source_.values[value].def;
    const std::vector<InstId>& insts = source_.region(id).insts;
    if (k < targets.size() && std::ranges::find(insts, def) != insts.end())
      rows_[value] = {targets[k].buffer, firsts[k]};
  }
  sums_.clear();
  const std::span<const ValueId> yielded = TRY(CopyUntilYield(id));
  for (uint32_t k = 0; k < yielded.size(); ++k) {
    if (!source_.type(yielded[k]).is_tensor()) {
      Store(targets[k].buffer, firsts[k], Get(yielded[k]));
      continue;
    }
    const Place from = PlaceOf(yielded[k]);
    if (const auto placed = placed_.find(yielded[k].index);
        placed != placed_.end() && placed->second == k && rows_.contains(yielded[k].index))
      continue;
    math_.Loop(counts[k], Order::Independent, [&](IndexExpr i) {
      Store(targets[k].buffer, math_.Add(firsts[k], i),
            Load(from.buffer, math_.Add(from.first, i)));
    });
  }
  return {};
}

TensorLowering::Place TensorLowering::PlaceOf(ValueId old_tensor) const {
  const auto row = rows_.find(old_tensor.index);
  return row == rows_.end() ? Place{Get(old_tensor), IndexExpr::Known(0)} : row->second;
}

// --- rows in their place --------------------------------------------------------------------------------------

// A `generate` of the region whose result is yielded once, and beside that only extracted from.
void TensorLowering::PlaceRows(const Inst& generate) {
  const RegionId id = Function::region_of(generate, 0);
  const std::vector<InstId>& insts = source_.region(id).insts;
  const std::span<const ValueId> yielded = source_.operands_of(source_.inst(insts.back()));
  for (uint32_t k = 0; k < yielded.size(); ++k) {
    if (!source_.type(yielded[k]).is_tensor() || std::ranges::count(yielded, yielded[k]) != 1)
      continue;
    const InstId def = source_.values[yielded[k].index].def;
    if (!def.valid() || std::ranges::find(insts, def) == insts.end()) continue;
    const Inst& last = source_.inst(def);
    bool only_extracted = last.op == Op::Generate;
    ForEachInside(source_, id, [&](const Inst& user) {
      if (user.op == Op::Extract || &user == &source_.inst(insts.back())) return;
      for (ValueId operand : source_.operands_of(user))
        only_extracted = only_extracted && operand != yielded[k];
    });
    if (!only_extracted) continue;
    placed_[yielded[k].index] = k;
    PlaceBefore(generate, last, k);
  }
}

// One more, which `last` is the last to read, each element where it makes the same one.
void TensorLowering::PlaceBefore(const Inst& generate, const Inst& last, uint32_t k) {
  const RegionId id = Function::region_of(generate, 0);
  const std::vector<InstId>& insts = source_.region(id).insts;
  const ValueId row = source_.operand(source_.inst(insts.back()), k);
  // Whatever else the row's `generate` makes is made in turn with it.
  if (last.results.count != 1) return;
  const auto end = std::ranges::find(insts, source_.values[row.index].def);
  for (size_t i = static_cast<size_t>(end - insts.begin()); i-- > 0;) {
    const Inst& inst = source_.inst(insts[i]);
    if (inst.op != Op::Generate) continue;
    const ValueId value = Function::result_of(inst);
    if (inst.results.count != 1 || source_.type(value) != source_.type(row) ||
        placed_.contains(value.index) || !IsReadBefore(value, last, id))
      continue;
    placed_[value.index] = k;
    return;
  }
}

bool TensorLowering::IsReadBefore(ValueId old_tensor, const Inst& last, RegionId region) const {
  bool is_good = true, is_over = false;
  for (InstId id : source_.region(region).insts) {
    const Inst& inst = source_.inst(id);
    const auto look = [&](const Inst& user, const Region* of_last) {
      for (uint32_t i = 0; i < user.operands.count; ++i) {
        if (source_.operand(user, i) != old_tensor) continue;
        is_good = is_good && !is_over && user.op == Op::Extract && i == 0 &&
                  (of_last == nullptr || TakesIndices(user, *of_last));
      }
    };
    look(inst, nullptr);
    const Region* of_last =
        &inst == &last ? &source_.region(Function::region_of(last, 0)) : nullptr;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      ForEachInside(source_, Function::region_of(inst, r),
                    [&](const Inst& user) { look(user, of_last); });
    is_over = is_over || &inst == &last;
  }
  return is_good;
}

// --- indices --------------------------------------------------------------------------------------------------

bool TensorLowering::TakesIndices(const Inst& extract, const Region& region) const {
  if (extract.op != Op::Extract || extract.operands.count != region.params.count + 1) return false;
  for (uint32_t i = 0; i < region.params.count; ++i)
    if (source_.operand(extract, i + 1) != Function::param_of(region, i)) return false;
  return true;
}

// Are all indices together only the number of an element, here and wherever something is extracted?
bool TensorLowering::IsFlat(const Inst& generate) const {
  const RegionId id = Function::region_of(generate, 0);
  const Region& region = source_.region(id);
  if (region.params.count < 2) return false;
  Shape leading = source_.shape(generate.type);
  leading.resize(region.params.count);
  bool is_flat = true;
  ForEachInside(source_, id, [&](const Inst& user) {
    const bool takes = TakesIndices(user, region) &&
                       !deferred_.contains(source_.operand(user, 0).index) &&
                       source_.shape(source_.type(source_.operand(user, 0))) == leading;
    for (ValueId operand : source_.operands_of(user))
      if (operand.index - region.params.begin < region.params.count) is_flat = is_flat && takes;
  });
  return is_flat;
}

void TensorLowering::NoteBounds(const Inst& inst) {
  const Region& region = source_.region(Function::region_of(inst, 0));
  if (inst.op == Op::Generate)
    for (uint32_t i = 0; i < region.params.count; ++i)
      below_.emplace(region.params.begin + i, source_.shape(inst.type)[i]);
  if (inst.op != Op::Fold) return;
  const ValueId count = source_.operand(inst, 0);
  const InstId def = source_.values[count.index].def;
  if (def.valid() && source_.inst(def).op == Op::Const)
    below_.emplace(region.params.begin,
                   Dim::Constant(std::max<int64_t>(source_.word(source_.inst(def), 0), 0)));
  for (uint32_t i = 0; i < source_.param_count(); ++i)
    if (source_.param(i) == count) below_.emplace(region.params.begin, Dim::Symbol(i));
}

bool TensorLowering::CannotTrap(RegionId region) {
  for (InstId id : source_.region(region).insts) {
    const Inst& inst = source_.inst(id);
    if (inst.op == Op::Generate || inst.op == Op::Fold) NoteBounds(inst);
    if (inst.op == Op::Extract) {
      if (!IsWithin(inst)) return false;
    } else if (inst.op != Op::Fold && Info(inst.op).traps != 0) {
      return false;
    }
    // What is not in its place needs scratch, and `alloc` traps.
    for (uint32_t k = 0; k < inst.results.count; ++k) {
      const ValueId result = Function::result_of(inst, k);
      if (!source_.type(result).is_scalar() && !placed_.contains(result.index)) return false;
    }
    if (inst.op == Op::Generate) PlaceRows(inst);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!CannotTrap(Function::region_of(inst, r))) return false;
  }
  return true;
}

std::optional<std::pair<int64_t, int64_t>> TensorLowering::RangeOf(ValueId index, int depth) const {
  constexpr int MostDepth = 24;
  if (const auto bound = below_.find(index.index); bound != below_.end()) {
    if (bound->second.is_symbol() || bound->second.value <= 0) return std::nullopt;
    return std::pair(int64_t{0}, bound->second.value - 1);
  }
  const InstId def = source_.values[index.index].def;
  if (!def.valid() || depth > MostDepth) return std::nullopt;
  const Inst& inst = source_.inst(def);
  if (inst.op == Op::Const) return std::pair(source_.word(inst, 0), source_.word(inst, 0));
  if (inst.op != Op::Add && inst.op != Op::Sub && inst.op != Op::Mul) return std::nullopt;
  const auto a = RangeOf(source_.operand(inst, 0), depth + 1);
  const auto b = RangeOf(source_.operand(inst, 1), depth + 1);
  if (!a || !b) return std::nullopt;
  __extension__ using Wide = __int128;
  const Wide al = a->first, ah = a->second, bl = b->first, bh = b->second;
  Wide low = al + bl, high = ah + bh;
  if (inst.op == Op::Sub) low = al - bh, high = ah - bl;
  if (inst.op == Op::Mul) {
    low = std::min({al * bl, al * bh, ah * bl, ah * bh});
    high = std::max({al * bl, al * bh, ah * bl, ah * bh});
  }
  if (low < INT64_MIN || high > INT64_MAX) return std::nullopt;
  return std::pair(static_cast<int64_t>(low), static_cast<int64_t>(high));
}

bool TensorLowering::IsWithin(ValueId index, Dim size) const {
  if (const auto bound = below_.find(index.index); bound != below_.end() && bound->second == size)
    return true;
  const auto range = size.is_symbol() ? std::nullopt : RangeOf(index);
  return range && range->first >= 0 && range->second < size.value;
}

bool TensorLowering::IsWithin(const Inst& extract) const {
  const Shape& shape = source_.shape(source_.type(source_.operand(extract, 0)));
  for (uint32_t i = 0; i < shape.size(); ++i)
    if (!IsWithin(source_.operand(extract, i + 1), shape[i])) return false;
  return true;
}

void TensorLowering::LowerExtract(const Inst& inst) {
  const std::span<const ValueId> operands = source_.operands_of(inst);
  const ValueId result = Function::result_of(inst);
  if (deferred_.contains(operands[0].index)) {
    ValueId& sum = sums_[operands[0].index];
    IndexExprs at;
    for (ValueId index : operands.subspan(1)) at.push_back(IndexExpr::Of(Get(index)));
    if (!sum.valid()) sum = ProductAt(source_.inst(source_.values[operands[0].index].def), at);
    return Bind(result, sum);
  }
  const Place from = PlaceOf(operands[0]);
  if (const auto flat = operands.size() < 2 ? flat_.end() : flat_.find(operands[1].index);
      flat != flat_.end())
    return BindNamed(result, Load(from.buffer, math_.Add(from.first, flat->second)));
  const IndexExprs sizes = SizesOf(operands[0]);
  IndexExprs at;
  for (ValueId index : operands.subspan(1)) at.push_back(IndexExpr::Of(Get(index)));
  const IndexExpr element = math_.Add(from.first, math_.Dot(at, math_.Strides(sizes)));
  if (IsWithin(inst)) return BindNamed(result, Load(from.buffer, element));
  const ValueId within = AllWithin(at, sizes);
  ValueId index = math_.Value(element);
  if (within.valid()) index = builder_.Select(within, index, math_.Value(IndexExpr::Known(-1)));
  BindNamed(result, CheckedLoad(from.buffer, index));
}

}  // namespace frazil::ir
