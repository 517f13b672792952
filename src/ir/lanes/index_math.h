// Index arithmetic for code that is being built. What is known now is computed now, so that static
// shapes lower to plain constants and loops of one iteration vanish.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace frazil::ir {

// An index: a value of the function being built, or a constant that has not been written down yet.
struct IndexExpr {
  ValueId value;
  int64_t constant = 0;

  static IndexExpr Known(int64_t n) { return {ValueId(), n}; }
  static IndexExpr Of(ValueId value) { return {value, 0}; }
  bool known() const { return !value.valid(); }
  bool is(int64_t n) const { return known() && constant == n; }
};
using IndexExprs = std::vector<IndexExpr>;

class IndexMath {
 public:
  explicit IndexMath(FunctionBuilder& builder) : builder_(builder) {}

  ValueId Value(IndexExpr a);
  IndexExpr Add(IndexExpr a, IndexExpr b);
  IndexExpr Sub(IndexExpr a, IndexExpr b);
  IndexExpr Mul(IndexExpr a, IndexExpr b);
  IndexExpr Min(IndexExpr a, IndexExpr b);
  IndexExpr FloorDiv(IndexExpr a, int64_t divisor);  // divisor > 0
  IndexExpr CeilDiv(IndexExpr a, int64_t divisor);   // a >= 0, divisor > 0
  ValueId Compare(Op op, IndexExpr a, IndexExpr b);

  IndexExpr Product(std::span<const IndexExpr> factors);
  // The product, or -1 where a factor is negative or the product does not fit: what `alloc`
  // refuses. A factor of 0 makes it 0, however large the others are.
  IndexExpr CountOrNegative(std::span<const IndexExpr> sizes);
  // Row-major distances between neighbors along each axis.
  IndexExprs Strides(std::span<const IndexExpr> sizes);
  // The sum of index times stride.
  IndexExpr Dot(std::span<const IndexExpr> indices, std::span<const IndexExpr> strides);

  // Independent gives `parallel`; Sequential gives `for`, which is needed where the body may trap:
  // a `parallel` would put its iteration into the outcome.
  enum class Order : uint8_t { Independent, Sequential };
  void Loop(IndexExpr count, Order order, const std::function<void(IndexExpr)>& body);
  void Nest(std::span<const IndexExpr> sizes, Order order,
            const std::function<void(std::span<const IndexExpr>)>& body);

 private:
  IndexExpr Emit(Op op, IndexExpr a, IndexExpr b);
  IndexExpr MulOrNegative(IndexExpr a, IndexExpr b);
  IndexExpr EmptyOr(IndexExpr count, std::span<const IndexExpr> sizes);
  void NestFrom(std::span<const IndexExpr> sizes, Order order, IndexExprs& indices,
                const std::function<void(std::span<const IndexExpr>)>& body);

  FunctionBuilder& builder_;
};

}  // namespace frazil::ir
