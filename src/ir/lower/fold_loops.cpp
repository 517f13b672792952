// A fold as loops. The chains of a block are an array; a step adds one row of `chains` elements to it, so that neighbors in
// memory meet neighbors in the array: that is the form a target with vectors wants. What static sizes decide is decided
// here: no array for one chain, no tree of blocks for one block.
#include "ir/lower/fold_loops.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ir/lower/fold.h"

namespace frazil::ir {
namespace {

// The tree along the innermost axis ([tensor.reduce]).
constexpr int64_t DefaultChains = 64;
constexpr int64_t DefaultBlock = 4096;
// So many elements of one chain are written one after the other: windows of pooling, which then are lanes of the loop around.
constexpr int64_t MostStraight = 4;

// The least or greatest value of an integer type, as the word of a constant.
uint64_t ExtremeWord(Type type, bool greatest) {
  int bits = BitsOf(type);
  if (!IsSigned(type.scalar)) return greatest ? ~0ull >> (64 - bits) : 0;
  int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return static_cast<uint64_t>(greatest ? ~least : least);
}

}  // namespace

ValueId FoldIdentity(FunctionBuilder& builder, ReduceKind kind, Type type) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Or:
    case ReduceKind::Xor: return builder.Const(type, std::vector<uint64_t>(WordsOf(type), 0));
    case ReduceKind::Product:
      return IsFloat(type.scalar) ? builder.ConstFloat(type, 1) : builder.ConstInt(type, 1);
    case ReduceKind::And: return builder.ConstInt(type, type.scalar == Scalar::Bool ? 1 : -1);
    case ReduceKind::Min:
    case ReduceKind::Minimum:
    case ReduceKind::Max:
    case ReduceKind::Maximum: break;
  }
  bool greatest = kind == ReduceKind::Min || kind == ReduceKind::Minimum;
  double infinity = std::numeric_limits<double>::infinity();
  if (IsFloat(type.scalar)) return builder.ConstFloat(type, greatest ? infinity : -infinity);
  uint64_t word = ExtremeWord(type, greatest);
  return builder.Const(type, std::span(&word, 1));
}

bool FoldLoops::Prepare(IndexExpr length, IndexExpr lines) {
  one_block_ = length.known() && length.constant <= block_;
  if (chains_ > 1) chain_array_ = Alloc(IndexExpr::Known(chains_));
  if (!one_block_) block_array_ = Alloc(BlocksOf(length, lines));
  return chains_ > 1 || !one_block_;
}

ValueId FoldLoops::Line(IndexExpr length, const Element& element) {
  if (length.is(0)) return FoldIdentity(builder_, kind_, type_);
  if (length.known()) return NonEmpty(length, element);
  ValueId is_empty = math_.Compare(Op::Eq, length, IndexExpr::Known(0));
  return builder_.If(
      is_empty, std::span(&type_, 1), [&] { return Values{FoldIdentity(builder_, kind_, type_)}; },
      [&] { return Values{NonEmpty(length, element)}; })[0];
}

// None of no lines, which may be longer than any memory.
IndexExpr FoldLoops::BlocksOf(IndexExpr length, IndexExpr lines) {
  const IndexExpr blocks = math_.CeilDiv(length, block_);
  if (lines.known()) return blocks;
  const ValueId none = math_.Compare(Op::Eq, lines, IndexExpr::Known(0));
  return IndexExpr::Of(
      builder_.Select(none, math_.Value(IndexExpr::Known(0)), math_.Value(blocks)));
}

ValueId FoldLoops::Alloc(IndexExpr count) {
  const ValueId array = builder_.Alloc(type_, math_.Value(count));
  builder_.StandFor(source_op_);
  return array;
}
ValueId FoldLoops::Combine(ValueId a, ValueId b) {
  return builder_.Binary(CombinerOf(kind_), a, b);
}
ValueId FoldLoops::LoadAt(ValueId array, IndexExpr i) {
  return builder_.Load(array, math_.Value(i));
}
void FoldLoops::StoreAt(ValueId array, IndexExpr i, ValueId value) {
  builder_.Store(array, math_.Value(i), value);
}

ValueId FoldLoops::NonEmpty(IndexExpr length, const Element& element) {
  if (one_block_) return Block(IndexExpr::Known(0), length, element);
  // Whole blocks first: all sizes in them are known.
  IndexExpr whole = math_.FloorDiv(length, block_);
  math_.Loop(whole, Order::Sequential, [&](IndexExpr b) {
    IndexExpr start = math_.Mul(b, IndexExpr::Known(block_));
    StoreAt(block_array_, b, Block(start, IndexExpr::Known(block_), element));
  });
  LastBlock(whole, length, element);
  IndexExpr blocks = math_.CeilDiv(length, block_);
  CombineBlocks(blocks);
  return LoadAt(block_array_, IndexExpr::Known(0));
}

void FoldLoops::LastBlock(IndexExpr whole, IndexExpr length, const Element& element) {
  IndexExpr start = math_.Mul(whole, IndexExpr::Known(block_));
  IndexExpr count = math_.Sub(length, start);
  if (count.is(0)) return;
  if (count.known()) return StoreAt(block_array_, whole, Block(start, count, element));
  ValueId is_there = math_.Compare(Op::Gt, count, IndexExpr::Known(0));
  builder_.If(
      is_there, {},
      [&] { return StoreAt(block_array_, whole, Block(start, count, element)), Values(); },
      [] { return Values(); });
}

// 1 <= count <= block.
ValueId FoldLoops::Block(IndexExpr start, IndexExpr count, const Element& element) {
  if (chains_ == 1) return Chain(start, count, element);
  IndexExpr step = IndexExpr::Known(chains_);
  IndexExpr present = math_.Min(count, step);
  math_.Loop(present, elements_,
             [&](IndexExpr c) { StoreAt(chain_array_, c, element(math_.Add(start, c))); });
  if (!count.known() || count.constant > chains_) Rows(start, count, element);
  // After a step with distance d only the first d chains are present.
  for (int64_t d = chains_ / 2; d >= 1; d /= 2) {
    IndexExpr distance = IndexExpr::Known(d);
    IndexExpr pairs = math_.Min(math_.Sub(present, distance), distance);
    math_.Loop(pairs, Order::Independent, [&](IndexExpr c) {
      ValueId left = LoadAt(chain_array_, c);
      StoreAt(chain_array_, c, Combine(left, LoadAt(chain_array_, math_.Add(c, distance))));
    });
    present = math_.Min(present, distance);
  }
  return LoadAt(chain_array_, IndexExpr::Known(0));
}

// All rows of `chains` elements but the first.
void FoldLoops::Rows(IndexExpr start, IndexExpr count, const Element& element) {
  ValueId second = math_.Value(IndexExpr::Known(chains_));
  builder_.For(second, math_.Value(count), chains_, {}, [&](ValueId r, std::span<const ValueId>) {
    IndexExpr row = IndexExpr::Of(r);
    bool is_whole = count.known() && count.constant % chains_ == 0;
    IndexExpr width = IndexExpr::Known(chains_);
    if (!is_whole) width = math_.Min(math_.Sub(count, row), width);
    IndexExpr first = math_.Add(start, row);
    math_.Loop(width, elements_, [&](IndexExpr c) {
      ValueId chain = LoadAt(chain_array_, c);
      StoreAt(chain_array_, c, Combine(chain, element(math_.Add(first, c))));
    });
    return Values();
  });
}

ValueId FoldLoops::Chain(IndexExpr start, IndexExpr count, const Element& element) {
  ValueId first = element(start);
  if (count.known() && count.constant <= MostStraight) {
    for (int64_t e = 1; e < count.constant; ++e)
      first = Combine(first, element(math_.Add(start, IndexExpr::Known(e))));
    return first;
  }
  ValueId one = math_.Value(IndexExpr::Known(1));
  return builder_.For(one, math_.Value(count), 1, std::span(&first, 1),
                      [&](ValueId e, std::span<const ValueId> chain) {
                        ValueId next = element(math_.Add(start, IndexExpr::Of(e)));
                        return Values{Combine(chain[0], next)};
                      })[0];
}

void FoldLoops::CombineBlocks(IndexExpr blocks) {
  CombinePairs(
      builder_, blocks,
      [&](IndexExpr to, IndexExpr left, IndexExpr right) {
        const ValueId a = LoadAt(block_array_, left);
        StoreAt(block_array_, to, Combine(a, LoadAt(block_array_, right)));
      },
      [&](IndexExpr to, IndexExpr from) { StoreAt(block_array_, to, LoadAt(block_array_, from)); });
}

void CombinePairs(FunctionBuilder& builder, IndexExpr blocks,
                  const std::function<void(IndexExpr to, IndexExpr left, IndexExpr right)>& pair,
                  const std::function<void(IndexExpr to, IndexExpr from)>& move) {
  IndexMath math(builder);
  const ValueId count = math.Value(blocks);
  const ValueId one = math.Value(IndexExpr::Known(1));
  builder.While(
      std::span(&count, 1),
      [&](std::span<const ValueId> left) { return builder.Binary(Op::Gt, left[0], one); },
      [&](std::span<const ValueId> left) {
        const IndexExpr pairs = IndexExpr::Of(builder.Binary(Op::Shr, left[0], one));
        math.Loop(pairs, IndexMath::Order::Sequential, [&](IndexExpr j) {
          const IndexExpr even = math.Add(j, j);
          pair(j, even, math.Add(even, IndexExpr::Known(1)));
        });
        const ValueId odd = builder.Binary(Op::And, left[0], one);
        const ValueId is_odd = builder.Binary(Op::Eq, odd, one);
        builder.If(
            is_odd, {},
            [&] {
              move(pairs, math.Sub(IndexExpr::Of(left[0]), IndexExpr::Known(1)));
              return Values();
            },
            [] { return Values(); });
        return Values{math.Value(math.Add(pairs, IndexExpr::Of(odd)))};
      });
}

int64_t ChainsOf(int64_t chains, IndexExpr length) {
  if (!length.known() || length.constant >= chains) return chains;
  return static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(length.constant, 1))));
}

ValueId EmitFold(FunctionBuilder& builder, ReduceKind kind, Type type, ValueId length,
                 const std::function<ValueId(ValueId)>& element) {
  IndexMath math(builder);
  FoldLoops fold(builder, kind, type, DefaultChains, DefaultBlock, std::nullopt);
  fold.Prepare(IndexExpr::Of(length), IndexExpr::Known(1));
  return fold.Line(IndexExpr::Of(length), [&](IndexExpr e) { return element(math.Value(e)); });
}

}  // namespace frazil::ir
