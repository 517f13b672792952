// Reduce, in exactly the tree of [tensor.reduce]. The chains of a block are an array; a step adds
// one row of `chains` elements to it, so that neighbors in memory meet neighbors in the array:
// that is the form a target with vectors wants. What static sizes decide is decided here: no array
// for one chain, no tree of blocks for one block.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "base/check.h"
#include "ir/lower/fold.h"
#include "ir/lower/lower_tensors.h"

namespace frazil::ir {
namespace {

// The tree along the innermost axis ([tensor.reduce]).
constexpr int64_t DefaultChains = 64;
constexpr int64_t DefaultBlock = 4096;

// The least or greatest value of an integer type, as the word of a constant.
uint64_t ExtremeWord(Type type, bool greatest) {
  int bits = BitsOf(type);
  if (!IsSigned(type.scalar)) return greatest ? ~0ull >> (64 - bits) : 0;
  int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return static_cast<uint64_t>(greatest ? ~least : least);
}

ValueId Identity(FunctionBuilder& builder, ReduceKind kind, Type type) {
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

// Builds the fold of one line of elements: length, a way to read one, and scratch.
class Fold {
 public:
  using Element = std::function<ValueId(IndexExpr)>;
  Fold(FunctionBuilder& builder, ReduceKind kind, Type type, int64_t chains, int64_t block,
       std::optional<Op> source_op)
      : builder_(builder),
        math_(builder),
        kind_(kind),
        type_(type),
        chains_(chains),
        block_(block),
        source_op_(source_op) {}

  // Scratch, to be made before the loops over `lines` lines. False if none is needed.
  bool Prepare(IndexExpr length, IndexExpr lines) {
    one_block_ = length.known() && length.constant <= block_;
    if (chains_ > 1) chain_array_ = Alloc(IndexExpr::Known(chains_));
    if (!one_block_) block_array_ = Alloc(BlocksOf(length, lines));
    return chains_ > 1 || !one_block_;
  }

  ValueId Line(IndexExpr length, const Element& element) {
    if (length.is(0)) return Identity(builder_, kind_, type_);
    if (length.known()) return NonEmpty(length, element);
    ValueId is_empty = math_.Compare(Op::Eq, length, IndexExpr::Known(0));
    return builder_.If(
        is_empty, std::span(&type_, 1), [&] { return Values{Identity(builder_, kind_, type_)}; },
        [&] { return Values{NonEmpty(length, element)}; })[0];
  }

 private:
  using Order = IndexMath::Order;

  // None of no lines, which may be longer than any memory.
  IndexExpr BlocksOf(IndexExpr length, IndexExpr lines) {
    const IndexExpr blocks = math_.CeilDiv(length, block_);
    if (lines.known()) return blocks;
    const ValueId none = math_.Compare(Op::Eq, lines, IndexExpr::Known(0));
    return IndexExpr::Of(
        builder_.Select(none, math_.Value(IndexExpr::Known(0)), math_.Value(blocks)));
  }

  ValueId Alloc(IndexExpr count) {
    const ValueId array = builder_.Alloc(type_, math_.Value(count));
    builder_.StandFor(source_op_);
    return array;
  }
  ValueId Combine(ValueId a, ValueId b) { return builder_.Binary(CombinerOf(kind_), a, b); }
  ValueId LoadAt(ValueId array, IndexExpr i) { return builder_.Load(array, math_.Value(i)); }
  void StoreAt(ValueId array, IndexExpr i, ValueId value) {
    builder_.Store(array, math_.Value(i), value);
  }

  ValueId NonEmpty(IndexExpr length, const Element& element) {
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

  void LastBlock(IndexExpr whole, IndexExpr length, const Element& element) {
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
  ValueId Block(IndexExpr start, IndexExpr count, const Element& element) {
    if (chains_ == 1) return Chain(start, count, element);
    IndexExpr step = IndexExpr::Known(chains_);
    IndexExpr present = math_.Min(count, step);
    math_.Loop(present, Order::Independent,
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
  void Rows(IndexExpr start, IndexExpr count, const Element& element) {
    ValueId second = math_.Value(IndexExpr::Known(chains_));
    builder_.For(second, math_.Value(count), chains_, {}, [&](ValueId r, std::span<const ValueId>) {
      IndexExpr row = IndexExpr::Of(r);
      bool is_whole = count.known() && count.constant % chains_ == 0;
      IndexExpr width = IndexExpr::Known(chains_);
      if (!is_whole) width = math_.Min(math_.Sub(count, row), width);
      IndexExpr first = math_.Add(start, row);
      math_.Loop(width, Order::Independent, [&](IndexExpr c) {
        ValueId chain = LoadAt(chain_array_, c);
        StoreAt(chain_array_, c, Combine(chain, element(math_.Add(first, c))));
      });
      return Values();
    });
  }

  ValueId Chain(IndexExpr start, IndexExpr count, const Element& element) {
    ValueId first = element(start);
    if (count.is(1)) return first;
    ValueId one = math_.Value(IndexExpr::Known(1));
    return builder_.For(one, math_.Value(count), 1, std::span(&first, 1),
                        [&](ValueId e, std::span<const ValueId> chain) {
                          ValueId next = element(math_.Add(start, IndexExpr::Of(e)));
                          return Values{Combine(chain[0], next)};
                        })[0];
  }

  // Adjacent pairs, level by level, in place: a pair is read before anything is written at or after
  // it.
  void CombineBlocks(IndexExpr blocks) {
    ValueId count = math_.Value(blocks);
    ValueId one = math_.Value(IndexExpr::Known(1));
    builder_.While(
        std::span(&count, 1),
        [&](std::span<const ValueId> left) { return builder_.Binary(Op::Gt, left[0], one); },
        [&](std::span<const ValueId> left) {
          IndexExpr pairs = IndexExpr::Of(builder_.Binary(Op::Shr, left[0], one));
          math_.Loop(pairs, Order::Sequential, [&](IndexExpr j) {
            IndexExpr even = math_.Add(j, j);
            ValueId a = LoadAt(block_array_, even);
            ValueId b = LoadAt(block_array_, math_.Add(even, IndexExpr::Known(1)));
            StoreAt(block_array_, j, Combine(a, b));
          });
          ValueId odd = builder_.Binary(Op::And, left[0], one);
          ValueId is_odd = builder_.Binary(Op::Eq, odd, one);
          builder_.If(
              is_odd, {},
              [&] {
                IndexExpr last = math_.Sub(IndexExpr::Of(left[0]), IndexExpr::Known(1));
                StoreAt(block_array_, pairs, LoadAt(block_array_, last));
                return Values();
              },
              [] { return Values(); });
          return Values{math_.Value(math_.Add(pairs, IndexExpr::Of(odd)))};
        });
  }

  FunctionBuilder& builder_;
  IndexMath math_;
  ReduceKind kind_;
  Type type_;
  int64_t chains_;
  int64_t block_;
  std::optional<Op> source_op_;
  bool one_block_ = false;
  ValueId chain_array_;
  ValueId block_array_;
};

}  // namespace

ValueId EmitFold(FunctionBuilder& builder, ReduceKind kind, Type type, ValueId length,
                 const std::function<ValueId(ValueId)>& element) {
  IndexMath math(builder);
  Fold fold(builder, kind, type, DefaultChains, DefaultBlock, std::nullopt);
  fold.Prepare(IndexExpr::Of(length), IndexExpr::Known(1));
  return fold.Line(IndexExpr::Of(length), [&](IndexExpr e) { return element(math.Value(e)); });
}

void TensorLowering::LowerReduce(const Inst& inst) {
  ValueId operand = source_.operand(inst, 0);
  ValueId from = Get(operand);
  Type element = source_.type(operand).element();
  bool is_half = Contains(sets::Half, element.scalar);
  Type wide = is_half ? types::F32 : element;
  size_t axis = static_cast<size_t>(source_.word(inst, 1));
  int64_t chains = source_.word(inst, 2);
  CHECK(std::has_single_bit(static_cast<uint64_t>(chains)));
  IndexExprs sizes = SizesOf(operand);
  std::span<const IndexExpr> all(sizes);
  IndexExpr length = sizes[axis];
  // Chains that are never there change nothing.
  if (length.known() && length.constant < chains)
    chains = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(length.constant, 1))));
  Target target = Start(inst);
  if (target.count.is(0)) return;
  IndexExpr outer = math_.Product(all.first(axis));
  IndexExpr inner = math_.Product(all.subspan(axis + 1));
  Fold fold(builder_, static_cast<ReduceKind>(source_.word(inst, 0)), wide, chains,
            source_.word(inst, 3), inst.op);
  // Lines that share scratch come one after the other.
  Order order = fold.Prepare(length, target.count) ? Order::Sequential : Order::Independent;
  IndexExprs nest = {outer, inner};
  math_.Nest(nest, order, [&](std::span<const IndexExpr> at) {
    IndexExpr start = math_.Add(math_.Mul(math_.Mul(at[0], length), inner), at[1]);
    ValueId result = fold.Line(length, [&](IndexExpr e) {
      ValueId value = Load(from, math_.Add(start, math_.Mul(e, inner)));
      return is_half ? builder_.Cast(Op::Cast, value, wide) : value;
    });
    if (is_half) result = builder_.Cast(Op::Cast, result, element);
    Store(target.buffer, math_.Add(math_.Mul(at[0], inner), at[1]), result);
  });
}

}  // namespace frazil::ir
