// Reduce and matmul: the two tensor ops that fold, in the order that docs/semantics.md defines. f16
// and bf16 are folded in f32 and rounded once at the end.
#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "exec/batch/batch_rows.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/tensors/tensor_ops.h"
#include "ir/text/literal.h"

namespace frazil::exec {
namespace {

using ir::Op;

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

TreeFold::TreeFold(ir::Type element, ir::ReduceKind kind, int64_t chains, int64_t block)
    : element_(element), type_(FoldType(element)), kind_(kind), chains_(chains), block_(block) {}

TreeFold::Element TreeFold::Combine(const Element& a, const Element& b) const {
  return Apply(CombinerOf(kind_), type_, a, b);
}

void TreeFold::Add(std::span<const uint64_t> words) {
  Element element = {};
  std::ranges::copy(words, element.begin());
  if (IsHalf(element_))
    element = {*EvalWord(Op::Cast, ir::Scalar::F32, element_.scalar, element[0])};
  if (count_ < chains_) {
    chain_.push_back(element);
  } else {
    Element& chain = chain_[static_cast<size_t>(count_ % chains_)];
    chain = Combine(chain, element);
  }
  if (++count_ == block_) CloseBlock();
}

// By halves; chains that are not there are skipped.
void TreeFold::CloseBlock() {
  size_t present = chain_.size();
  for (size_t distance = static_cast<size_t>(chains_) / 2; distance >= 1; distance /= 2) {
    for (size_t c = 0; c < distance && c + distance < present; ++c)
      chain_[c] = Combine(chain_[c], chain_[c + distance]);
    present = std::min(present, distance);
  }
  blocks_.push_back(chain_[0]);
  chain_.clear();
  count_ = 0;
}

void TreeFold::Finish(std::span<uint64_t> result) {
  if (count_ != 0) CloseBlock();
  if (blocks_.empty()) blocks_.push_back(IdentityOf(kind_, type_));
  while (blocks_.size() > 1) {
    std::vector<Element> pairs;
    for (size_t i = 0; i + 1 < blocks_.size(); i += 2)
      pairs.push_back(Combine(blocks_[i], blocks_[i + 1]));
    if (blocks_.size() % 2 != 0) pairs.push_back(blocks_.back());
    blocks_ = std::move(pairs);
  }
  Element last = blocks_[0];
  blocks_.clear();
  if (IsHalf(element_)) last[0] = *EvalWord(Op::Cast, element_.scalar, ir::Scalar::F32, last[0]);
  std::copy_n(last.begin(), result.size(), result.begin());
}

void Reduce(const Object& from, const ReduceSpec& spec, Object& to) {
  const int64_t stride = StridesOf(from.dims)[spec.axis];
  const int64_t length = from.dims[spec.axis];
  TreeFold fold(from.memory->element(), spec.kind, spec.chains, spec.block);
  Element element = {};
  const std::span words = std::span(element).first(ir::WordsOf(from.memory->element()));
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    const int64_t start = i / stride * length * stride + i % stride;
    for (int64_t e = 0; e < length; ++e) {
      from.memory->Get(start + e * stride, words);
      fold.Add(words);
    }
    fold.Finish(words);
    to.memory->Set(i, words);
  }
}

namespace {

// As words of the type that is folded in, packed.
std::vector<uint64_t> Unpacked(const Memory& memory) {
  const ir::Type type = FoldType(memory.element());
  std::vector<uint64_t> words(static_cast<uint64_t>(memory.length()) * ir::BytesOf(type) / 8 + 1);
  Memory to(type, memory.length(), words.data());
  if (IsHalf(memory.element()))
    for (int64_t i = 0; i < memory.length(); ++i) to.Set(i, Read(memory, i));
  else
    std::copy_n(memory.data(), memory.size_bytes(), to.data());
  return words;
}

}  // namespace

bool Matmul(const Object& a, const Object& b, bool fast, const std::function<bool()>& expired,
            Object& to) {
  const ir::Type element = to.memory->element(), type = FoldType(element);
  const RowKernel kernel = RowKernelFor(type.scalar, !fast && ir::IsFloat(element.scalar));
  if (kernel == nullptr) return MatmulByChains(a, b, fast, expired, to);
  if (to.memory->length() == 0) return true;
  const size_t rank = to.dims.size();
  const int64_t rows = to.dims[rank - 2], columns = to.dims[rank - 1], depth = a.dims[rank - 1];
  const std::vector<uint64_t> left = Unpacked(*a.memory), right = Unpacked(*b.memory);
  const auto bytes = static_cast<int64_t>(ir::BytesOf(type));
  Memory sums(type, columns);
  for (int64_t row = 0; row < to.memory->length() / columns; ++row) {
    if (expired()) return false;
    std::fill_n(sums.data(), sums.size_bytes(), std::byte{0});
    kernel({reinterpret_cast<const std::byte*>(left.data()) + row * depth * bytes,
            reinterpret_cast<const std::byte*>(right.data()) + row / rows * depth * columns * bytes,
            sums.data(), static_cast<size_t>(depth), static_cast<size_t>(columns)});
    if (!IsHalf(element)) {
      std::copy_n(sums.data(), sums.size_bytes(),
                  to.memory->data() + static_cast<uint64_t>(row) * sums.size_bytes());
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) Write(*to.memory, row * columns + j, Read(sums, j));
  }
  return true;
}

bool MatmulByChains(const Object& a, const Object& b, bool fast,
                    const std::function<bool()>& expired, Object& to) {
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
