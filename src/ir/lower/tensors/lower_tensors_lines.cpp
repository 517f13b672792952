// Ops along one axis: scan and scatter.
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

// So many lines side by side make a row that is worth an array of sums; so many one after the other, lanes.
constexpr int64_t ManyLines = 8;

bool AreMany(IndexExpr lines) { return !lines.known() || lines.constant >= ManyLines; }

}  // namespace

// A line is one chain. Where lines lie side by side (another axis than the last) all of them advance by a row, their sums
// being an array. Where they lie one after the other a target with vectors takes them as lanes, if the loop over a line has
// one load and one store.
void TensorLowering::LowerScan(const Inst& inst) {
  const IndexExprs sizes = SizesOf(inst.type);
  const std::span<const IndexExpr> all(sizes);
  const size_t axis = static_cast<size_t>(source_.word(inst, 1));
  const Type element = inst.type.element();
  const ValueId from = Get(source_.operand(inst, 0));
  const Target target = Start(inst);
  if (target.count.is(0)) return;
  const ScanLines lines = {from,
                           target.buffer,
                           element,
                           Contains(sets::Half, element.scalar) ? types::F32 : element,
                           CombinerOf(static_cast<ReduceKind>(source_.word(inst, 0))),
                           sizes[axis],
                           math_.Product(all.subspan(axis + 1))};
  const IndexExpr outer = math_.Product(all.first(axis));
  const bool has_lanes = folds_ == Folds::KeepRows && lines.apart.is(1) && AreMany(outer);
  WhereAny(target.count, [&] {
    if (AreMany(lines.apart)) return ScanRows(lines, outer);
    const IndexExprs nest = {outer, lines.apart};
    math_.Nest(nest, Order::Independent, [&](std::span<const IndexExpr> at) {
      const IndexExpr before = math_.Mul(math_.Mul(at[0], lines.length), lines.apart);
      if (has_lanes)
        ScanLane(lines, before);
      else
        ScanLine(lines, math_.Add(before, at[1]));
    });
  });
}

ValueId TensorLowering::ScanLoad(const ScanLines& lines, IndexExpr at) {
  const ValueId value = Load(lines.from, at);
  return lines.wide == lines.element ? value : builder_.Cast(Op::Cast, value, lines.wide);
}

void TensorLowering::ScanStore(const ScanLines& lines, IndexExpr at, ValueId sum) {
  const bool is_plain = lines.wide == lines.element;
  Store(lines.to, at, is_plain ? sum : builder_.Cast(Op::Cast, sum, lines.element));
}

void TensorLowering::ScanLine(const ScanLines& lines, IndexExpr start) {
  const ValueId first = ScanLoad(lines, start);
  ScanStore(lines, start, first);
  if (lines.length.is(1)) return;
  const ValueId second = math_.Value(IndexExpr::Known(1));
  builder_.For(second, math_.Value(lines.length), 1, std::span(&first, 1),
               [&](ValueId e, std::span<const ValueId> sum) {
                 const IndexExpr along = math_.Mul(IndexExpr::Of(e), lines.apart);
                 const IndexExpr at = math_.Add(start, along);
                 const ValueId next = builder_.Binary(lines.op, sum[0], ScanLoad(lines, at));
                 ScanStore(lines, at, next);
                 return Values{next};
               });
}

void TensorLowering::ScanLane(const ScanLines& lines, IndexExpr start) {
  const ValueId none = Zero(lines.wide);
  const ValueId lo = math_.Value(IndexExpr::Known(0));
  builder_.For(lo, math_.Value(lines.length), 1, std::span(&none, 1),
               [&](ValueId e, std::span<const ValueId> sum) {
                 const IndexExpr at = math_.Add(start, IndexExpr::Of(e));
                 const ValueId value = ScanLoad(lines, at);
                 const ValueId both = builder_.Binary(lines.op, sum[0], value);
                 const ValueId is_first = builder_.Binary(Op::Eq, e, lo);
                 const ValueId next = builder_.Select(is_first, value, both);
                 ScanStore(lines, at, next);
                 return Values{next};
               });
}

void TensorLowering::ScanRows(const ScanLines& lines, IndexExpr outer) {
  const ValueId sums = Alloc(lines.wide, lines.apart);
  math_.Loop(outer, Order::Sequential, [&](IndexExpr o) {
    const IndexExpr start = math_.Mul(math_.Mul(o, lines.length), lines.apart);
    math_.Loop(lines.apart, Order::Independent, [&](IndexExpr j) {
      const ValueId value = ScanLoad(lines, math_.Add(start, j));
      Store(sums, j, value);
      ScanStore(lines, math_.Add(start, j), value);
    });
    if (lines.length.is(1)) return;
    const ValueId second = math_.Value(IndexExpr::Known(1));
    builder_.For(second, math_.Value(lines.length), 1, {},
                 [&](ValueId e, std::span<const ValueId>) {
                   const IndexExpr along = math_.Mul(IndexExpr::Of(e), lines.apart);
                   const IndexExpr row = math_.Add(start, along);
                   math_.Loop(lines.apart, Order::Independent, [&](IndexExpr j) {
                     const ValueId sum = Load(sums, j);
                     const ValueId value = ScanLoad(lines, math_.Add(row, j));
                     const ValueId next = builder_.Binary(lines.op, sum, value);
                     Store(sums, j, next);
                     ScanStore(lines, math_.Add(row, j), next);
                   });
                   return Values();
                 });
  });
}

// Of no lines there may be any number.
void TensorLowering::WhereAny(IndexExpr count, const std::function<void()>& lines) {
  if (count.known()) return lines();
  builder_.If(
      math_.Compare(Op::Gt, count, IndexExpr::Known(0)), {}, [&] { return lines(), Values(); },
      [] { return Values(); });
}

void TensorLowering::LowerScatter(const Inst& inst) {
  const ValueId base = Get(source_.operand(inst, 0));
  const ValueId old_indices = source_.operand(inst, 1);
  const ValueId indices = Get(old_indices);
  const ValueId updates = Get(source_.operand(inst, 2));
  const auto combiner = CombinerOf(static_cast<ScatterKind>(source_.word(inst, 0)));
  const size_t axis = static_cast<size_t>(source_.word(inst, 1));
  const Target target = Start(inst);
  const IndexExprs sizes = SizesOf(inst.type);
  const std::span<const IndexExpr> all(sizes);
  const IndexExpr outer = math_.Product(all.first(axis));
  const IndexExpr inner = math_.Product(all.subspan(axis + 1));
  const IndexExpr picks = math_.Product(SizesOf(old_indices));
  CopyElements(base, target.buffer, target.count);
  const IndexExprs nest = {outer, picks, inner};
  math_.Nest(nest, Order::Sequential, [&](std::span<const IndexExpr> at) {
    const IndexExpr pick = IndexExpr::Of(Load(indices, at[1]));
    const ValueId within = AllWithin(std::span(&pick, 1), std::span(&sizes[axis], 1));
    const IndexExpr row = math_.Add(math_.Mul(at[0], sizes[axis]), pick);
    ValueId index = math_.Value(math_.Add(math_.Mul(row, inner), at[2]));
    index = builder_.Select(within, index, math_.Value(IndexExpr::Known(-1)));
    // It traps where the pick is outside, whatever is made of the old element.
    const ValueId old = CheckedLoad(target.buffer, index);
    const IndexExpr from = math_.Add(math_.Mul(at[0], picks), at[1]);
    const ValueId update = Load(updates, math_.Add(math_.Mul(from, inner), at[2]));
    builder_.Store(target.buffer, index,
                   combiner ? builder_.Binary(*combiner, old, update) : update);
  });
}

}  // namespace frazil::ir
