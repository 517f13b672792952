// Reduce and matmul: the two tensor ops that fold, in the order that docs/semantics.md defines. f16
// and bf16 are folded in f32 and rounded once at the end.
#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/tensor_ops.h"
#include "ir/text/literal.h"

namespace frazil::exec {
namespace {

using ir::Op;

// xfield is the widest that is folded.
using Element = std::array<uint64_t, 3>;

bool IsHalf(ir::Type type) { return ir::Contains(ir::sets::Half, type.scalar); }
ir::Type FoldType(ir::Type element) { return IsHalf(element) ? ir::types::F32 : element; }

Element Read(const Memory& memory, int64_t index) {
  Element element = {};
  memory.Get(index, element);
  if (!IsHalf(memory.element())) return element;
  return {*EvalWord(Op::Cast, ir::Scalar::F32, memory.element().scalar, element[0])};
}

void Write(Memory& memory, int64_t index, Element element) {
  if (IsHalf(memory.element()))
    element[0] = *EvalWord(Op::Cast, memory.element().scalar, ir::Scalar::F32, element[0]);
  memory.Set(index, element);
}

Element Apply(Op op, ir::Type type, const Element& a, const Element& b) {
  if (!IsWide(type.scalar)) return {*EvalWord(op, type.scalar, type.scalar, a[0], b[0])};
  Element result = {};
  const auto trap = EvalScalar({op, type, type}, std::array{Words(a), Words(b)}, result);
  CHECK(!trap);
  return result;
}

// The least or greatest value of a type that has an order.
uint64_t Extreme(ir::Type type, bool greatest) {
  const ir::Scalar s = type.scalar;
  if (ir::IsFloat(s)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return ir::LiteralFromDouble(type, greatest ? infinity : -infinity);
  }
  const int bits = ir::BitsOf(type);
  if (!ir::IsSigned(s)) return greatest ? ~uint64_t{0} >> (64 - bits) : 0;
  const uint64_t least = ~uint64_t{0} << (bits - 1);
  return greatest ? ~least : least;
}

Element IdentityOf(ir::ReduceKind kind, ir::Type type) {
  using ir::ReduceKind;
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Or:
    case ReduceKind::Xor: return {};
    case ReduceKind::Product:
      if (ir::IsFloat(type.scalar)) return {ir::LiteralFromDouble(type, 1)};
      return {1};
    case ReduceKind::Min:
    case ReduceKind::Minimum: return {Extreme(type, true)};
    case ReduceKind::Max:
    case ReduceKind::Maximum: return {Extreme(type, false)};
    case ReduceKind::And:
      return {type.scalar == ir::Scalar::Bool ? 1 : ir::LiteralFromInt(type, -1)[0]};
  }
  CHECK(!"a kind of reduce");
  return {};
}

// One line of elements along the axis, `stride` apart.
class LineFold {
 public:
  LineFold(const Memory& memory, const ReduceSpec& spec)
      : memory_(memory),
        type_(FoldType(memory.element())),
        spec_(spec),
        chains_(static_cast<size_t>(spec.chains)) {}

  Element Fold(int64_t start, int64_t stride, int64_t length) {
    if (length == 0) return IdentityOf(spec_.kind, type_);
    std::vector<Element> blocks;
    for (int64_t first = 0; first < length; first += spec_.block) {
      const int64_t count = std::min(spec_.block, length - first);
      blocks.push_back(FoldBlock(start + first * stride, stride, count));
    }
    while (blocks.size() > 1) blocks = CombinePairs(blocks);
    return blocks[0];
  }

 private:
  Element Combine(const Element& a, const Element& b) const {
    return Apply(CombinerOf(spec_.kind), type_, a, b);
  }

  Element FoldBlock(int64_t start, int64_t stride, int64_t count) {
    for (int64_t e = 0; e < count; ++e) {
      const Element element = Read(memory_, start + e * stride);
      Element& chain = chains_[static_cast<size_t>(e % spec_.chains)];
      chain = e < spec_.chains ? element : Combine(chain, element);
    }
    size_t present = static_cast<size_t>(std::min(count, spec_.chains));
    for (size_t distance = chains_.size() / 2; distance >= 1; distance /= 2) {
      for (size_t c = 0; c < distance && c + distance < present; ++c)
        chains_[c] = Combine(chains_[c], chains_[c + distance]);
      present = std::min(present, distance);
    }
    return chains_[0];
  }

  std::vector<Element> CombinePairs(const std::vector<Element>& blocks) const {
    std::vector<Element> combined;
    for (size_t i = 0; i + 1 < blocks.size(); i += 2)
      combined.push_back(Combine(blocks[i], blocks[i + 1]));
    if (blocks.size() % 2 != 0) combined.push_back(blocks.back());
    return combined;
  }

  const Memory& memory_;
  ir::Type type_;
  ReduceSpec spec_;
  std::vector<Element> chains_;
};

// The chain of one output of a matmul.
Element Chain(const Memory& a, int64_t a_start, const Memory& b, int64_t b_start, int64_t b_stride,
              int64_t depth, bool fused) {
  const ir::Type type = FoldType(a.element());
  Element sum = {};
  for (int64_t k = 0; k < depth; ++k) {
    const Element x = Read(a, a_start + k);
    const Element y = Read(b, b_start + k * b_stride);
    if (fused) {
      sum[0] = *EvalWord(Op::Fma, type.scalar, type.scalar, x[0], y[0], sum[0]);
    } else {
      sum = Apply(Op::Add, type, sum, Apply(Op::Mul, type, x, y));
    }
  }
  return sum;
}

}  // namespace

void Reduce(const Object& from, const ReduceSpec& spec, Object& to) {
  const int64_t stride = StridesOf(from.dims)[spec.axis];
  const int64_t length = from.dims[spec.axis];
  LineFold fold(*from.memory, spec);
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    const int64_t outer = i / stride;
    const int64_t inner = i % stride;
    Write(*to.memory, i, fold.Fold(outer * length * stride + inner, stride, length));
  }
}

bool Matmul(const Object& a, const Object& b, bool fast, const std::function<bool()>& expired,
            Object& to) {
  const size_t rank = to.dims.size();
  const int64_t rows = to.dims[rank - 2];
  const int64_t columns = to.dims[rank - 1];
  const int64_t depth = a.dims[rank - 1];
  const bool fused = !fast && ir::IsFloat(to.memory->element().scalar);
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    if (expired()) return false;
    const int64_t column = i % columns;
    const int64_t row = i / columns;
    const int64_t batch = row / rows;
    const int64_t b_start = batch * depth * columns + column;
    Write(*to.memory, i, Chain(*a.memory, row * depth, *b.memory, b_start, columns, depth, fused));
  }
  return true;
}

}  // namespace frazil::exec
