#include "ir/lower/column_folds.h"

#include "ir/lower/fold.h"
#include "ir/lower/fold_loops.h"

namespace frazil::ir {
namespace {

// Few columns, or few rows, and partial results are in registers instead: lanes are columns, each with a loop over rows.
constexpr int64_t FewColumns = 64;
constexpr int64_t FewRows = 8;
// Rows that are added in one turn, in their order: a partial result is read and written once for all of them.
constexpr int64_t RowsAtOnce = 4;
// Their partial results fit the first cache several times.
constexpr int64_t Tile = 2048;

bool IsFew(IndexExpr rows, IndexExpr columns) {
  return (columns.known() && columns.constant <= FewColumns) ||
         (rows.known() && rows.constant <= FewRows);
}

}  // namespace

void ColumnFolds::Prepare(IndexExpr matrices, IndexExpr width) {
  const bool is_one = length_.known() && length_.constant <= block_;
  const IndexExpr one = IndexExpr::Known(1);
  blocks_ = is_one ? one : math_.CeilDiv(length_, block_);
  partial_rows_ = blocks_.known() ? blocks_ : math_.Add(math_.FloorDiv(length_, block_), one);
  width_ = width;
  const IndexExpr sizes[] = {matrices, partial_rows_, width};
  const ValueId count = math_.Value(math_.CountOrNegative(sizes));
  for (const Line& line : lines_) {
    partial_.push_back(builder_.Alloc(line.type, count));
    builder_.StandFor(source_op_);
  }
}

IndexExpr ColumnFolds::Place(IndexExpr matrix, IndexExpr block, IndexExpr column) {
  return math_.Add(math_.Mul(math_.Add(math_.Mul(matrix, partial_rows_), block), width_), column);
}

ValueId ColumnFolds::Result(size_t line, IndexExpr matrix, IndexExpr column) {
  return builder_.Load(partial_[line], math_.Value(Place(matrix, IndexExpr::Known(0), column)));
}

Values ColumnFolds::LoadAll(IndexExpr place) {
  const ValueId index = math_.Value(place);
  Values values;
  for (ValueId partial : partial_) values.push_back(builder_.Load(partial, index));
  return values;
}

void ColumnFolds::StoreAll(IndexExpr place, std::span<const ValueId> values) {
  const ValueId index = math_.Value(place);
  for (size_t k = 0; k < partial_.size(); ++k) builder_.Store(partial_[k], index, values[k]);
}

Values ColumnFolds::Combine(std::span<const ValueId> a, std::span<const ValueId> b) {
  Values values;
  for (size_t k = 0; k < lines_.size(); ++k)
    values.push_back(builder_.Binary(CombinerOf(lines_[k].kind), a[k], b[k]));
  return values;
}

void ColumnFolds::Fold(IndexExpr matrix, IndexExpr start, IndexExpr count,
                       const Elements& elements) {
  const auto place = [&](IndexExpr block, IndexExpr c) {
    return Place(matrix, block, math_.Add(start, c));
  };
  const auto some = [&] {
    math_.Loop(blocks_, Order::Sequential, [&](IndexExpr b) {
      const IndexExpr first = math_.Mul(b, IndexExpr::Known(block_));
      IndexExpr rows = length_;
      if (!blocks_.is(1)) rows = math_.Min(math_.Sub(length_, first), IndexExpr::Known(block_));
      Block(first, rows, count, elements,
            [&](IndexExpr c) { return std::pair(place(b, c), math_.Add(start, c)); });
    });
    if (blocks_.is(1)) return Values();
    const auto columns = [&](const std::function<void(IndexExpr)>& body) {
      math_.Loop(count, Order::Independent, body);
    };
    CombinePairs(
        builder_, blocks_,
        [&](IndexExpr to, IndexExpr left, IndexExpr right) {
          columns([&](IndexExpr c) {
            const Values a = LoadAll(place(left, c));
            StoreAll(place(to, c), Combine(a, LoadAll(place(right, c))));
          });
        },
        [&](IndexExpr to, IndexExpr from) {
          columns([&](IndexExpr c) { StoreAll(place(to, c), LoadAll(place(from, c))); });
        });
    return Values();
  };
  const auto none = [&] {
    math_.Loop(count, Order::Independent, [&](IndexExpr c) {
      Values identities;
      for (const Line& line : lines_)
        identities.push_back(FoldIdentity(builder_, line.kind, line.type));
      StoreAll(place(IndexExpr::Known(0), c), identities);
    });
    return Values();
  };
  if (length_.is(0)) return void(none());
  if (length_.known()) return void(some());
  builder_.If(math_.Compare(Op::Eq, length_, IndexExpr::Known(0)), {}, none, some);
}

bool ColumnFolds::IsWanted(IndexExpr length, int64_t block, IndexExpr width) {
  if (width.is(1)) return false;
  return !(length.known() && length.constant <= block) || !IsFew(length, width);
}

void ColumnFolds::ForTiles(const std::function<void(IndexExpr, IndexExpr)>& body) {
  if (width_.known() && width_.constant <= Tile) return body(IndexExpr::Known(0), width_);
  const IndexExpr tile = IndexExpr::Known(Tile);
  math_.Loop(math_.CeilDiv(width_, Tile), Order::Independent, [&](IndexExpr t) {
    const IndexExpr start = math_.Mul(t, tile);
    body(start, math_.Min(math_.Sub(width_, start), tile));
  });
}

void ColumnFolds::Block(IndexExpr first, IndexExpr rows, IndexExpr count, const Elements& elements,
                        const At& at) {
  const auto next = [&](std::span<const ValueId> so_far, IndexExpr row, IndexExpr column) {
    return Combine(so_far, elements(math_.Add(first, row), column));
  };
  const auto each = [&](const std::function<void(IndexExpr place, IndexExpr column)>& body) {
    math_.Loop(count, Order::Independent, [&](IndexExpr c) {
      const auto [place, column] = at(c);
      body(place, column);
    });
  };
  const auto for_rows = [&](IndexExpr low, IndexExpr high, int64_t step,
                            const std::function<void(IndexExpr)>& body) {
    if (low.known() && high.known() && low.constant >= high.constant) return;
    builder_.For(math_.Value(low), math_.Value(high), step, {},
                 [&](ValueId r, std::span<const ValueId>) {
                   body(IndexExpr::Of(r));
                   return Values();
                 });
  };
  if (IsFew(length_, width_))
    return each([&](IndexExpr place, IndexExpr column) {
      Values chains = elements(first, column);
      if (!rows.is(1))
        chains = builder_.For(math_.Value(IndexExpr::Known(1)), math_.Value(rows), 1, chains,
                              [&](ValueId r, std::span<const ValueId> so_far) {
                                return next(so_far, IndexExpr::Of(r), column);
                              });
      StoreAll(place, chains);
    });
  each([&](IndexExpr place, IndexExpr column) { StoreAll(place, elements(first, column)); });
  const auto add_rows = [&](IndexExpr row, int64_t rows_at_once) {
    each([&](IndexExpr place, IndexExpr column) {
      Values chains = LoadAll(place);
      for (int64_t k = 0; k < rows_at_once; ++k)
        chains = next(chains, math_.Add(row, IndexExpr::Known(k)), column);
      StoreAll(place, chains);
    });
  };
  const IndexExpr one = IndexExpr::Known(1), at_once = IndexExpr::Known(RowsAtOnce);
  const IndexExpr turns = math_.FloorDiv(math_.Sub(rows, one), RowsAtOnce);
  const IndexExpr whole = math_.Add(math_.Mul(turns, at_once), one);
  for_rows(one, whole, RowsAtOnce, [&](IndexExpr row) { add_rows(row, RowsAtOnce); });
  for_rows(whole, rows, 1, [&](IndexExpr row) { add_rows(row, 1); });
}

}  // namespace frazil::ir
