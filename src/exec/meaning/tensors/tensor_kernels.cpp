// Convolution, scan, sort, scatter and quantized products, as docs/semantics.md says them and in that order.
#include <algorithm>
#include <numeric>
#include <vector>

#include "exec/meaning/tensors/tensor_ops.h"

namespace frazil::exec {
namespace {

using ir::Op;

// acc + a * b: fused on floats, exact in fields, wrapping on integers.
Element MultiplyAdd(ir::Type type, const Element& a, const Element& b, const Element& acc) {
  if (ir::IsFloat(type.scalar))
    return {*EvalWord(Op::Fma, type.scalar, type.scalar, a[0], b[0], acc[0])};
  return Apply(Op::Add, type, acc, Apply(Op::Mul, type, a, b));
}

// The lines along an axis: where each begins, and how far apart its elements are.
struct Lines {
  Lines(Dims dims, size_t axis, int64_t count)
      : length(dims[axis]), stride(StridesOf(dims)[axis]), lines(count == 0 ? 0 : count / length) {}
  int64_t StartOf(int64_t line) const { return line / stride * length * stride + line % stride; }

  int64_t length;
  int64_t stride;
  int64_t lines;
};

bool Holds(Op op, ir::Type type, const Element& a, const Element& b) {
  return *EvalWord(op, type.scalar, type.scalar, a[0], b[0]) != 0;
}

bool IsNan(ir::Type type, const Element& a) { return Holds(Op::Ne, type, a, a); }

}  // namespace

bool Convolve(const Object& x, const Object& w, const ir::ConvSpec& spec, const Expired& expired,
              Object& to) {
  const ir::Type type = FoldType(to.memory->element());
  const int64_t channels = w.dims[1], rows = w.dims[2], columns = w.dims[3];
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    if (expired()) return false;
    const int64_t q = i % to.dims[3];
    const int64_t p = i / to.dims[3] % to.dims[2];
    const int64_t o = i / to.dims[3] / to.dims[2] % to.dims[1];
    const int64_t n = i / to.dims[3] / to.dims[2] / to.dims[1];
    const int64_t group = o / (to.dims[1] / spec.groups);
    Element sum = {};
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t ky = 0; ky < rows; ++ky) {
        for (int64_t kx = 0; kx < columns; ++kx) {
          const int64_t row = p * spec.stride[0] + ky * spec.dilation[0] - spec.before[0];
          const int64_t column = q * spec.stride[1] + kx * spec.dilation[1] - spec.before[1];
          const bool inside = row >= 0 && row < x.dims[2] && column >= 0 && column < x.dims[3];
          const int64_t channel = n * x.dims[1] + group * channels + c;
          const Element factor =
              inside ? Read(*x.memory, (channel * x.dims[2] + row) * x.dims[3] + column)
                     : Element{};
          const Element weight = Read(*w.memory, ((o * channels + c) * rows + ky) * columns + kx);
          sum = MultiplyAdd(type, weight, factor, sum);
        }
      }
    }
    Write(*to.memory, i, sum);
  }
  return true;
}

void Scan(const Object& from, ir::ReduceKind kind, size_t axis, Object& to) {
  const ir::Type type = FoldType(from.memory->element());
  const Lines lines(from.dims, axis, from.memory->length());
  for (int64_t line = 0; line < lines.lines; ++line) {
    Element sum = {};
    for (int64_t e = 0; e < lines.length; ++e) {
      const int64_t at = lines.StartOf(line) + e * lines.stride;
      const Element element = Read(*from.memory, at);
      sum = e == 0 ? element : Apply(CombinerOf(kind), type, sum, element);
      Write(*to.memory, at, sum);
    }
  }
}

bool Sort(const Object& from, size_t axis, bool descending, const Expired& expired, Object& to,
          Object& positions) {
  const ir::Type type = from.memory->element();
  const Lines lines(from.dims, axis, from.memory->length());
  for (int64_t line = 0; line < lines.lines; ++line) {
    if (expired()) return false;
    const int64_t start = lines.StartOf(line);
    std::vector<Element> elements(static_cast<size_t>(lines.length));
    for (size_t e = 0; e < elements.size(); ++e)
      from.memory->Get(start + static_cast<int64_t>(e) * lines.stride, elements[e]);
    std::vector<size_t> order(elements.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto comes_before = [&](const Element& a, const Element& b) {
      if (IsNan(type, a) || IsNan(type, b)) return !IsNan(type, a) && IsNan(type, b);
      return descending ? Holds(Op::Lt, type, b, a) : Holds(Op::Lt, type, a, b);
    };
    std::ranges::sort(order, [&](size_t i, size_t j) {
      if (comes_before(elements[i], elements[j])) return true;
      return !comes_before(elements[j], elements[i]) && i < j;
    });
    for (size_t e = 0; e < order.size(); ++e) {
      const int64_t at = start + static_cast<int64_t>(e) * lines.stride;
      const uint64_t position = order[e];
      to.memory->Set(at, elements[order[e]]);
      positions.memory->Set(at, std::span(&position, 1));
    }
  }
  return true;
}

std::optional<ir::Trap> Scatter(const Object& base, const Object& picks, const Object& updates,
                                ir::ScatterKind kind, size_t axis, Object& to) {
  const ir::Type type = to.memory->element();
  const auto combiner = CombinerOf(kind);
  std::vector<uint64_t> words(ir::WordsOf(type));
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    base.memory->Get(i, words);
    to.memory->Set(i, words);
  }
  const int64_t size = to.dims[axis];
  const int64_t inner = StridesOf(to.dims)[axis];
  const int64_t count = picks.memory->length();
  for (int64_t i = 0; i < updates.memory->length(); ++i) {
    uint64_t word = 0;
    picks.memory->Get(i / inner % count, std::span(&word, 1));
    const int64_t pick = static_cast<int64_t>(word);
    if (pick < 0 || pick >= size) return ir::Trap::OutOfBounds;
    const int64_t at = (i / inner / count * size + pick) * inner + i % inner;
    updates.memory->Get(i, words);
    if (combiner) {
      // Each update is the op of the elements' own type.
      Element old = {}, update = {};
      to.memory->Get(at, old);
      std::ranges::copy(words, update.begin());
      std::ranges::copy_n(Apply(*combiner, type, old, update).begin(),
                          static_cast<std::ptrdiff_t>(words.size()), words.begin());
    }
    to.memory->Set(at, words);
  }
  return std::nullopt;
}

namespace {

// An element of i8, or of two's complement nibbles of which a byte holds the low one first.
int64_t IntegerAt(const Quantized& tensor, int64_t row, int64_t k) {
  const int64_t bytes = tensor.elements.dims[1];
  uint64_t word = 0;
  const int64_t at = row * bytes + (tensor.bits == 8 ? k : k / 2);
  tensor.elements.memory->Get(at, std::span(&word, 1));
  if (tensor.bits == 8) return static_cast<int8_t>(word);
  const int64_t nibble = static_cast<int64_t>(k % 2 == 0 ? word & 15 : word >> 4 & 15);
  return nibble < 8 ? nibble : nibble - 16;
}

}  // namespace

bool MatmulQuantized(const Quantized& a, const Quantized& w, const Expired& expired, Object& to) {
  const int64_t groups = a.scales.dims[1];
  constexpr ir::Scalar F32 = ir::Scalar::F32;
  for (int64_t i = 0; i < to.memory->length(); ++i) {
    if (expired()) return false;
    const int64_t row = i / to.dims[1], column = i % to.dims[1];
    uint64_t sum = 0;
    for (int64_t g = 0; g < groups; ++g) {
      int64_t dot = 0;
      for (int64_t k = g * ir::QuantizedGroup; k < (g + 1) * ir::QuantizedGroup; ++k)
        dot += IntegerAt(a, row, k) * IntegerAt(w, column, k);
      const uint64_t scale =
          *EvalWord(Op::Mul, F32, F32, Read(*a.scales.memory, row * groups + g)[0],
                    Read(*w.scales.memory, column * groups + g)[0]);
      const uint64_t number = *EvalWord(Op::Cast, F32, ir::Scalar::I64, static_cast<uint64_t>(dot));
      sum = *EvalWord(Op::Fma, F32, F32, scale, number, sum);
    }
    to.memory->Set(i, std::span(&sum, 1));
  }
  return true;
}

}  // namespace frazil::exec
