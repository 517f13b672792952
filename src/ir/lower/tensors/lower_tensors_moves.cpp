// Tensor ops that move elements: bits stay as they are. Sizes that may not fit are tested first, so
// that the loops themselves cannot trap and may run in any order.
#include <limits>

#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

// Of a transposition of 1024 x 1024 f32 (Zen 4): 2.1 ms in tiles of 8 or 16, 4.1 in those of 32, whose lines are too many for
// one set of the first-level cache.
constexpr int64_t TileSize = 16;

}  // namespace

void TensorLowering::LowerReshape(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId result = Function::result_of(inst);
  if (!SameFactors(source_.type(operand), source_.type(result))) {
    IndexExpr have = math_.Product(SizesOf(operand));
    IndexExpr want = math_.CountOrNegative(SizesOf(result));
    AssertEqual(have, want);
  }
  Bind(result, Get(operand));
}

// Every element of the target, from where a step along each axis is as long as `steps` say.
void TensorLowering::CopyElements(const IndexExprs& sizes, ValueId from, IndexExpr first,
                                  const IndexExprs& steps, const Target& target,
                                  const IndexExprs& strides) {
  math_.Nest(sizes, Order::Independent, [&](std::span<const IndexExpr> at) {
    ValueId value = Load(from, math_.Add(first, math_.Dot(at, steps)));
    Store(target.buffer, math_.Dot(at, strides), value);
  });
}

void TensorLowering::LowerTranspose(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId from = Get(operand);
  Target target = Start(inst);
  IndexExprs sizes = SizesOf(Function::result_of(inst));
  IndexExprs strides = math_.Strides(sizes);
  IndexExprs operand_strides = math_.Strides(SizesOf(operand));
  IndexExprs permuted;
  for (uint32_t i = 0; i < sizes.size(); ++i)
    permuted.push_back(operand_strides[static_cast<size_t>(source_.word(inst, i))]);
  // Where neighbors of the operand go to another axis than the last, both are taken in tiles, which stay in a cache.
  size_t axis = 0;
  while (axis + 1 < sizes.size() &&
         source_.word(inst, static_cast<uint32_t>(axis)) + 1 != static_cast<int64_t>(sizes.size()))
    ++axis;
  if (folds_ == Folds::KeepRows && axis + 1 < sizes.size())
    return CopyTiles(sizes, axis, from, permuted, target, strides);
  CopyElements(sizes, from, IndexExpr::Known(0), permuted, target, strides);
}

void TensorLowering::CopyTiles(const IndexExprs& sizes, size_t axis, ValueId from,
                               const IndexExprs& steps, const Target& target,
                               const IndexExprs& strides) {
  const size_t last = sizes.size() - 1;
  IndexExprs tiles = sizes;
  for (const size_t tiled : {axis, last}) tiles[tiled] = math_.CeilDiv(sizes[tiled], TileSize);
  math_.Nest(tiles, Order::Independent, [&](std::span<const IndexExpr> tile) {
    IndexExprs first(tile.begin(), tile.end()), counts;
    for (const size_t tiled : {axis, last}) {
      first[tiled] = math_.Mul(tile[tiled], IndexExpr::Known(TileSize));
      const bool is_whole = sizes[tiled].known() && sizes[tiled].constant % TileSize == 0;
      const IndexExpr left = is_whole ? first[tiled] : math_.Sub(sizes[tiled], first[tiled]);
      counts.push_back(is_whole ? IndexExpr::Known(TileSize)
                                : math_.Min(left, IndexExpr::Known(TileSize)));
    }
    math_.Nest(counts, Order::Independent, [&](std::span<const IndexExpr> inside) {
      IndexExprs at = first;
      at[axis] = math_.Add(first[axis], inside[0]);
      at[last] = math_.Add(first[last], inside[1]);
      const ValueId value = Load(from, math_.Dot(at, steps));
      Store(target.buffer, math_.Dot(at, strides), value);
    });
  });
}

void TensorLowering::LowerBroadcast(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId from = Get(operand);
  if (!source_.type(operand).is_tensor()) {
    Target target = Start(inst);
    math_.Loop(target.count, Order::Independent,
               [&](IndexExpr i) { Store(target.buffer, i, from); });
    return;
  }
  IndexExprs sizes = SizesOf(Function::result_of(inst));
  IndexExprs operand_sizes = SizesOf(operand);
  IndexExprs operand_strides = math_.Strides(operand_sizes);
  IndexExprs strides(sizes.size(), IndexExpr::Known(0));
  for (uint32_t i = 0; i < operand_sizes.size(); ++i) {
    IndexExpr size = operand_sizes[i];
    IndexExpr& stride = strides[static_cast<size_t>(source_.word(inst, i))];
    IndexExpr wanted = sizes[static_cast<size_t>(source_.word(inst, i))];
    bool same = size.known() ? size.constant == wanted.constant && wanted.known()
                             : size.value == wanted.value;
    if (same) stride = operand_strides[i];
    if (same || size.is(1)) continue;
    ValueId is_one = math_.Compare(Op::Eq, size, IndexExpr::Known(1));
    ValueId fits = builder_.Binary(Op::Or, is_one, math_.Compare(Op::Eq, size, wanted));
    Assert(fits);
    ValueId none = math_.Value(IndexExpr::Known(0));
    stride = IndexExpr::Of(builder_.Select(is_one, none, math_.Value(operand_strides[i])));
  }
  Target target = Start(inst);
  IndexExprs target_strides = math_.Strides(sizes);
  CopyElements(sizes, from, IndexExpr::Known(0), strides, target, target_strides);
}

void TensorLowering::LowerSlice(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId from = Get(operand);
  Target target = Start(inst);
  IndexExprs sizes = SizesOf(Function::result_of(inst));
  IndexExprs operand_sizes = SizesOf(operand);
  uint32_t rank = static_cast<uint32_t>(sizes.size());
  // Tested by division, because start + (size - 1) * step may wrap.
  ValueId within;
  for (uint32_t i = 0; i < rank && !target.count.is(0); ++i) {
    int64_t start = source_.word(inst, i);
    int64_t step = source_.word(inst, rank + i);
    if (sizes[i].known() && operand_sizes[i].known()) continue;
    IndexExpr after =
        math_.Sub(math_.Sub(operand_sizes[i], IndexExpr::Known(1)), IndexExpr::Known(start));
    IndexExpr more = step > 0 ? math_.FloorDiv(after, step)
                     : step == std::numeric_limits<int64_t>::min()
                         ? IndexExpr::Known(0)
                         : IndexExpr::Known(start / -step);
    within = Both(within, math_.Compare(Op::Lt, IndexExpr::Known(start), operand_sizes[i]));
    within = Both(within, math_.Compare(Op::Le, math_.Sub(sizes[i], IndexExpr::Known(1)), more));
  }
  if (within.valid()) {
    ValueId some = math_.Compare(Op::Gt, target.count, IndexExpr::Known(0));
    TrapIf(builder_.Binary(Op::And, some, builder_.Unary(Op::Not, within)), from);
  }
  IndexExprs strides = math_.Strides(sizes);
  IndexExprs operand_strides = math_.Strides(operand_sizes);
  IndexExprs steps;
  IndexExpr first = IndexExpr::Known(0);
  for (uint32_t i = 0; i < rank; ++i) {
    first =
        math_.Add(first, math_.Mul(IndexExpr::Known(source_.word(inst, i)), operand_strides[i]));
    steps.push_back(math_.Mul(IndexExpr::Known(source_.word(inst, rank + i)), operand_strides[i]));
  }
  CopyElements(sizes, from, first, steps, target, strides);
}

void TensorLowering::LowerConcat(const Inst& inst) {
  IndexExprs sizes = SizesOf(Function::result_of(inst));
  size_t axis = static_cast<size_t>(source_.word(inst, 0));
  IndexExpr total = IndexExpr::Known(0);
  std::vector<IndexExprs> parts;
  // Empty tensors may be of any size: a sum that wraps is negative, and it may wrap again.
  ValueId signs;
  for (ValueId operand : source_.operands_of(inst)) {
    parts.push_back(SizesOf(operand));
    total = math_.Add(total, parts.back()[axis]);
    if (total.known() || parts.size() == 1) continue;
    signs = signs.valid() ? builder_.Binary(Op::Or, signs, total.value) : total.value;
  }
  AssertEqual(total, sizes[axis]);
  if (signs.valid()) Assert(math_.Compare(Op::Ge, IndexExpr::Of(signs), IndexExpr::Known(0)));
  Target target = Start(inst);
  // In memory each operand gives one run of elements for each index before the axis.
  std::span<const IndexExpr> all(sizes);
  IndexExpr outer = math_.Product(all.first(axis));
  IndexExpr inner = math_.Product(all.subspan(axis + 1));
  IndexExpr row = math_.Mul(sizes[axis], inner);
  IndexExpr offset = IndexExpr::Known(0);
  for (uint32_t p = 0; p < parts.size(); ++p) {
    ValueId from = Get(source_.operand(inst, p));
    IndexExpr run = math_.Mul(parts[p][axis], inner);
    IndexExprs nest = {outer, run};
    math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
      ValueId value = Load(from, math_.Add(math_.Mul(at[0], run), at[1]));
      IndexExpr start = math_.Add(math_.Mul(at[0], row), offset);
      Store(target.buffer, math_.Add(start, at[1]), value);
    });
    offset = math_.Add(offset, run);
  }
}

void TensorLowering::LowerGather(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId old_indices = source_.operand(inst, 1);
  ValueId from = Get(operand);
  ValueId indices = Get(old_indices);
  size_t axis = static_cast<size_t>(source_.word(inst, 0));
  Target target = Start(inst);
  IndexExprs sizes = SizesOf(operand);
  std::span<const IndexExpr> all(sizes);
  IndexExpr outer = math_.Product(all.first(axis));
  IndexExpr inner = math_.Product(all.subspan(axis + 1));
  IndexExpr picks = math_.Product(SizesOf(old_indices));
  IndexExprs nest = {outer, picks, inner};
  math_.Nest(nest, Order::Sequential, [&](std::span<const IndexExpr> at) {
    IndexExpr pick = IndexExpr::Of(Load(indices, at[1]));
    ValueId within = AllWithin(std::span(&pick, 1), std::span(&sizes[axis], 1));
    IndexExpr row = math_.Add(math_.Mul(at[0], sizes[axis]), pick);
    ValueId index = math_.Value(math_.Add(math_.Mul(row, inner), at[2]));
    index = builder_.Select(within, index, math_.Value(IndexExpr::Known(-1)));
    ValueId value = CheckedLoad(from, index);
    IndexExpr to = math_.Add(math_.Mul(at[0], picks), at[1]);
    Store(target.buffer, math_.Add(math_.Mul(to, inner), at[2]), value);
  });
}

void TensorLowering::LowerTensorLoad(const Inst& inst) {
  ValueId from = Get(source_.operand(inst, 0));
  Target target = Start(inst);
  TrapIf(math_.Compare(Op::Gt, target.count, IndexExpr::Of(builder_.Length(from))), from);
  CopyElements(from, target.buffer, target.count);
}

void TensorLowering::LowerTensorStore(const Inst& inst) {
  ValueId to = Get(source_.operand(inst, 0));
  ValueId tensor = source_.operand(inst, 1);
  ValueId from = Get(tensor);
  IndexExpr count = math_.Product(SizesOf(tensor));
  // The buffer may be one that cannot be read, but the tensor has as many elements as it should.
  TrapIf(math_.Compare(Op::Gt, count, IndexExpr::Of(builder_.Length(to))), from);
  CopyElements(from, to, count);
}

}  // namespace frazil::ir
