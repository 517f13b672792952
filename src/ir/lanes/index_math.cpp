// Known operands fold with wrapping arithmetic, exactly as the instructions they replace would.
#include "ir/lanes/index_math.h"

#include <algorithm>

#include "base/check.h"

namespace frazil::ir {
namespace {

int64_t Wrap(uint64_t n) { return static_cast<int64_t>(n); }

}  // namespace

ValueId IndexMath::Value(IndexExpr a) {
  return a.known() ? builder_.ConstInt(types::Index, a.constant) : a.value;
}

IndexExpr IndexMath::Emit(Op op, IndexExpr a, IndexExpr b) {
  ValueId left = Value(a);
  return IndexExpr::Of(builder_.Binary(op, left, Value(b)));
}

IndexExpr IndexMath::Add(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known())
    return IndexExpr::Known(
        Wrap(static_cast<uint64_t>(a.constant) + static_cast<uint64_t>(b.constant)));
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return Emit(Op::Add, a, b);
}

IndexExpr IndexMath::Sub(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known())
    return IndexExpr::Known(
        Wrap(static_cast<uint64_t>(a.constant) - static_cast<uint64_t>(b.constant)));
  if (b.is(0)) return a;
  return Emit(Op::Sub, a, b);
}

IndexExpr IndexMath::Mul(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known())
    return IndexExpr::Known(
        Wrap(static_cast<uint64_t>(a.constant) * static_cast<uint64_t>(b.constant)));
  if (a.is(0) || b.is(0)) return IndexExpr::Known(0);
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  return Emit(Op::Mul, a, b);
}

IndexExpr IndexMath::Min(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known()) return IndexExpr::Known(std::min(a.constant, b.constant));
  return Emit(Op::Min, a, b);
}

IndexExpr IndexMath::FloorDiv(IndexExpr a, int64_t divisor) {
  CHECK(divisor > 0);
  if (divisor == 1) return a;
  if (a.known()) return IndexExpr::Known(a.constant / divisor - (a.constant % divisor < 0 ? 1 : 0));
  return IndexExpr::Of(builder_.Binary(Op::DivFloor, a.value, Value(IndexExpr::Known(divisor))));
}

IndexExpr IndexMath::CeilDiv(IndexExpr a, int64_t divisor) {
  // As floor((a - 1) / divisor) + 1, which cannot overflow.
  IndexExpr quotient = FloorDiv(Sub(a, IndexExpr::Known(1)), divisor);
  return Add(quotient, IndexExpr::Known(1));
}

ValueId IndexMath::Compare(Op op, IndexExpr a, IndexExpr b) {
  ValueId left = Value(a);
  return builder_.Binary(op, left, Value(b));
}

IndexExpr IndexMath::Product(std::span<const IndexExpr> factors) {
  IndexExpr product = IndexExpr::Known(1);
  for (IndexExpr factor : factors) product = Mul(product, factor);
  return product;
}

IndexExpr IndexMath::MulOrNegative(IndexExpr a, IndexExpr b) {
  if (a.known() && b.known()) {
    int64_t product = 0;
    bool wrapped = __builtin_mul_overflow(a.constant, b.constant, &product);
    return IndexExpr::Known(wrapped || a.constant < 0 || b.constant < 0 ? -1 : product);
  }
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  // Two non-negative factors fit if the upper half is 0 and the lower one not negative; or-ing
  // keeps a sign bit if any of the three is negative.
  ValueId x = Value(a);
  ValueId y = Value(b);
  ValueId low = builder_.Binary(Op::Mul, x, y);
  ValueId high = builder_.Binary(Op::MulHi, x, y);
  ValueId zero = Value(IndexExpr::Known(0));
  ValueId signs = builder_.Binary(Op::Or, x, y);
  signs = builder_.Binary(Op::Or, signs, low);
  ValueId none_negative = builder_.Binary(Op::Ge, signs, zero);
  ValueId upper_empty = builder_.Binary(Op::Eq, high, zero);
  ValueId fits = builder_.Binary(Op::And, none_negative, upper_empty);
  return IndexExpr::Of(builder_.Select(fits, low, Value(IndexExpr::Known(-1))));
}

IndexExpr IndexMath::CountOrNegative(std::span<const IndexExpr> sizes) {
  IndexExpr count = IndexExpr::Known(1);
  for (IndexExpr size : sizes) count = MulOrNegative(count, size);
  // Of three, two may be too many and the third 0.
  auto is_factor = [](IndexExpr size) { return !size.is(1); };
  return std::ranges::count_if(sizes, is_factor) < 3 ? count : EmptyOr(count, sizes);
}

// 0 if a size is 0 and none is negative, or else the count.
IndexExpr IndexMath::EmptyOr(IndexExpr count, std::span<const IndexExpr> sizes) {
  bool is_empty = false;
  ValueId any_empty, signs;
  auto also = [&](ValueId all, ValueId one) {
    return all.valid() ? builder_.Binary(Op::Or, all, one) : one;
  };
  for (IndexExpr size : sizes) {
    if (size.known() && size.constant < 0) return count;
    is_empty |= size.is(0);
    if (size.known()) continue;
    any_empty = also(any_empty, Compare(Op::Eq, size, IndexExpr::Known(0)));
    signs = also(signs, size.value);
  }
  if (!signs.valid()) return is_empty ? IndexExpr::Known(0) : count;
  ValueId holds = Compare(Op::Ge, IndexExpr::Of(signs), IndexExpr::Known(0));
  if (!is_empty) holds = builder_.Binary(Op::And, holds, any_empty);
  return IndexExpr::Of(builder_.Select(holds, Value(IndexExpr::Known(0)), Value(count)));
}

IndexExprs IndexMath::Strides(std::span<const IndexExpr> sizes) {
  IndexExprs strides(sizes.size(), IndexExpr::Known(1));
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = Mul(strides[i], sizes[i]);
  return strides;
}

IndexExpr IndexMath::Dot(std::span<const IndexExpr> indices, std::span<const IndexExpr> strides) {
  CHECK(indices.size() == strides.size());
  IndexExpr sum = IndexExpr::Known(0);
  for (size_t i = 0; i < indices.size(); ++i) sum = Add(sum, Mul(indices[i], strides[i]));
  return sum;
}

void IndexMath::Loop(IndexExpr count, Order order, const std::function<void(IndexExpr)>& body) {
  if (count.known() && count.constant <= 0) return;
  if (count.is(1)) return body(IndexExpr::Known(0));
  ValueId lo = Value(IndexExpr::Known(0));
  ValueId hi = Value(count);
  if (order == Order::Independent) {
    builder_.Parallel(lo, hi, [&](ValueId i) { body(IndexExpr::Of(i)); });
    return;
  }
  builder_.For(lo, hi, 1, {}, [&](ValueId i, std::span<const ValueId>) {
    body(IndexExpr::Of(i));
    return Values();
  });
}

void IndexMath::NestFrom(std::span<const IndexExpr> sizes, Order order, IndexExprs& indices,
                         const std::function<void(std::span<const IndexExpr>)>& body) {
  if (indices.size() == sizes.size()) return body(indices);
  Loop(sizes[indices.size()], order, [&](IndexExpr i) {
    indices.push_back(i);
    NestFrom(sizes, order, indices, body);
    indices.pop_back();
  });
}

void IndexMath::Nest(std::span<const IndexExpr> sizes, Order order,
                     const std::function<void(std::span<const IndexExpr>)>& body) {
  // A size of 0 anywhere: none of the loops around it may turn, however often it would.
  for (IndexExpr size : sizes)
    if (size.is(0)) return;
  IndexExprs bounds(sizes.begin(), sizes.end());
  auto outermost = std::ranges::find_if(bounds, [](IndexExpr size) { return !size.is(1); });
  if (outermost != bounds.end()) {
    IndexExpr inner = Product(std::span(outermost + 1, bounds.end()));
    if (!inner.known()) {
      ValueId zero = Value(IndexExpr::Known(0));
      ValueId none = builder_.Binary(Op::Eq, inner.value, zero);
      *outermost = IndexExpr::Of(builder_.Select(none, zero, Value(*outermost)));
    }
  }
  IndexExprs indices;
  NestFrom(bounds, order, indices, body);
}

}  // namespace frazil::ir
