// Sort: runs of 1, 2, 4 ... elements are merged, from one pair of scratch arrays (elements, positions) to another and back.
// Stable, because the left run goes first where neither comes before the other.
#include "ir/lower/tensors/lower_tensors.h"

namespace frazil::ir {
namespace {

// What one line is sorted in. Each line has its own part of the arrays, so that lines may run side by side.
struct Arrays {
  ValueId keys, positions;
};

class MergeSort {
 public:
  MergeSort(FunctionBuilder& builder, Type type, bool is_descending)
      : builder_(builder), type_(type), is_descending_(is_descending) {}

  // Sorts `length` elements from `start` on of the first arrays; the second are scratch.
  void Line(const Arrays& arrays, const Arrays& scratch, ValueId start, ValueId length) {
    const ValueId one = Number(1);
    builder_.While(
        std::span(&one, 1),
        [&](std::span<const ValueId> width) { return builder_.Binary(Op::Lt, width[0], length); },
        [&](std::span<const ValueId> width) {
          MergePairs(arrays, scratch, start, length, width[0]);
          builder_.For(Number(0), length, 1, {}, [&](ValueId e, std::span<const ValueId>) {
            const ValueId at = builder_.Binary(Op::Add, start, e);
            Move(scratch, at, arrays, at);
            return Values();
          });
          return Values{builder_.Binary(Op::Add, width[0], width[0])};
        });
  }

 private:
  ValueId Number(int64_t n) { return builder_.ConstInt(types::Index, n); }
  void Move(const Arrays& from, ValueId at, const Arrays& to, ValueId to_at) {
    builder_.Store(to.keys, to_at, builder_.Load(from.keys, at));
    builder_.Store(to.positions, to_at, builder_.Load(from.positions, at));
  }

  // a before b, wherever they were. NaNs are last in both orders.
  ValueId ComesBefore(ValueId a, ValueId b) {
    const ValueId less =
        is_descending_ ? builder_.Binary(Op::Lt, b, a) : builder_.Binary(Op::Lt, a, b);
    if (!IsFloat(type_.scalar)) return less;
    const ValueId is_number = builder_.Binary(Op::Eq, a, a);
    const ValueId is_nan = builder_.Binary(Op::Ne, b, b);
    return builder_.Binary(Op::Or, less, builder_.Binary(Op::And, is_number, is_nan));
  }

  void MergePairs(const Arrays& from, const Arrays& to, ValueId start, ValueId length,
                  ValueId width) {
    const ValueId first = Number(0);
    builder_.While(
        std::span(&first, 1),
        [&](std::span<const ValueId> at) { return builder_.Binary(Op::Lt, at[0], length); },
        [&](std::span<const ValueId> at) {
          const auto least = [&](ValueId a) { return builder_.Binary(Op::Min, a, length); };
          const ValueId middle = least(builder_.Binary(Op::Add, at[0], width));
          const ValueId end = least(builder_.Binary(Op::Add, middle, width));
          const ValueId runs[] = {at[0], middle};
          builder_.For(at[0], end, 1, runs, [&](ValueId k, std::span<const ValueId> run) {
            return Step(from, to, start, k, run[0], run[1], middle, end);
          });
          return Values{end};
        });
  }

  // The next element of two runs that go on at `left` and `right`. Where one has ended, what is read of it is not used.
  Values Step(const Arrays& from, const Arrays& to, ValueId start, ValueId k, ValueId left,
              ValueId right, ValueId middle, ValueId end) {
    const ValueId one = Number(1);
    const auto place = [&](ValueId at) { return builder_.Binary(Op::Add, start, at); };
    const auto key = [&](ValueId at) {
      const ValueId last = builder_.Binary(Op::Sub, end, one);
      return builder_.Load(from.keys, place(builder_.Binary(Op::Min, at, last)));
    };
    const ValueId left_ended = builder_.Binary(Op::Ge, left, middle);
    const ValueId right_goes_on = builder_.Binary(Op::Lt, right, end);
    const ValueId right_key = key(right);
    const ValueId is_before = ComesBefore(right_key, key(left));
    const ValueId takes_right =
        builder_.Binary(Op::And, right_goes_on, builder_.Binary(Op::Or, left_ended, is_before));
    const ValueId taken = place(builder_.Select(takes_right, right, left));
    Move(from, taken, to, place(k));
    return {builder_.Select(takes_right, left, builder_.Binary(Op::Add, left, one)),
            builder_.Select(takes_right, builder_.Binary(Op::Add, right, one), right)};
  }

  FunctionBuilder& builder_;
  Type type_;
  bool is_descending_;
};

}  // namespace

void TensorLowering::LowerSort(const Inst& inst) {
  const ValueId operand = source_.operand(inst, 0);
  const ValueId from = Get(operand);
  const Type element = inst.type.element();
  const size_t axis = static_cast<size_t>(source_.word(inst, 0));
  const IndexExprs sizes = SizesOf(operand);
  const std::span<const IndexExpr> all(sizes);
  const IndexExpr length = sizes[axis];
  const Target sorted = Start(inst, 0);
  const Target positions = Start(inst, 1);
  if (sorted.count.is(0)) return;
  const IndexExpr outer = math_.Product(all.first(axis));
  const IndexExpr inner = math_.Product(all.subspan(axis + 1));
  const Arrays arrays = {Alloc(element, sorted.count), Alloc(types::Index, sorted.count)};
  const Arrays scratch = {Alloc(element, sorted.count), Alloc(types::Index, sorted.count)};
  MergeSort merge(builder_, element, source_.word(inst, 1) != 0);
  const IndexExprs nest = {outer, inner};
  const auto sort_line = [&](std::span<const IndexExpr> at) {
    const IndexExpr line = math_.Add(math_.Mul(at[0], inner), at[1]);
    const IndexExpr start = math_.Mul(line, length);
    const IndexExpr first = math_.Add(math_.Mul(math_.Mul(at[0], length), inner), at[1]);
    const auto place = [&](IndexExpr e) { return math_.Add(first, math_.Mul(e, inner)); };
    math_.Loop(length, Order::Sequential, [&](IndexExpr e) {
      const IndexExpr to = math_.Add(start, e);
      Store(arrays.keys, to, Load(from, place(e)));
      Store(arrays.positions, to, math_.Value(e));
    });
    const ValueId line_start = math_.Value(start);
    merge.Line(arrays, scratch, line_start, math_.Value(length));
    math_.Loop(length, Order::Sequential, [&](IndexExpr e) {
      const IndexExpr at_line = math_.Add(start, e);
      const IndexExpr to = place(e);
      Store(sorted.buffer, to, Load(arrays.keys, at_line));
      Store(positions.buffer, to, Load(arrays.positions, at_line));
    });
  };
  WhereAny(sorted.count, [&] { math_.Nest(nest, Order::Independent, sort_line); });
}

}  // namespace frazil::ir
