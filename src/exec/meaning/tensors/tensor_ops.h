// Tensor ops on tensor values, element by element in logical order: what the interpreter calls for
// each tensor instruction. Results are made by the caller, with their sizes; every size fits by
// then.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/value.h"
#include "ir/conv.h"
#include "ir/op.h"

namespace frazil::exec {

// A buffer (no dims) or a tensor, as values of a running program.
struct Object {
  std::shared_ptr<Memory> memory;
  std::vector<int64_t> dims;
};

using Dims = std::span<const int64_t>;

// How far apart neighbors along each axis lie.
std::vector<int64_t> StridesOf(Dims dims);

// Element `at` of the result is element start + sum(at[i] * strides[i]): transpose, broadcast,
// slice.
void CopyStrided(const Object& from, int64_t start, std::span<const int64_t> strides, Object& to);
void Fill(std::span<const uint64_t> words, Object& to);
void Iota(size_t axis, Object& to);
void Concat(std::span<const Object* const> parts, size_t axis, Object& to);
// Traps where a pick lies outside of the axis.
std::optional<ir::Trap> Gather(const Object& from, const Object& picks, size_t axis, Object& to);

struct ReduceSpec {
  ir::ReduceKind kind;
  size_t axis;
  int64_t chains;
  int64_t block;
};
void Reduce(const Object& from, const ReduceSpec& spec, Object& to);

// The defined tree over elements that come one by one.
class TreeFold {
 public:
  TreeFold(ir::Type element, ir::ReduceKind kind, int64_t chains, int64_t block);
  void Add(std::span<const uint64_t> element);
  // The words of the result, of the element's type; then it begins again.
  void Finish(std::span<uint64_t> result);

 private:
  // xfield is the widest that is folded.
  using Element = std::array<uint64_t, 3>;
  Element Combine(const Element& a, const Element& b) const;
  void CloseBlock();

  ir::Type element_, type_;  // f16 and bf16 are folded in f32
  ir::ReduceKind kind_;
  int64_t chains_, block_;
  int64_t count_ = 0;           // of the open block
  std::vector<Element> chain_;  // those that are present
  std::vector<Element> blocks_;
};

// `expired` is asked now and then; true ends it early, with false for an answer.
bool Matmul(const Object& a, const Object& b, bool fast, const std::function<bool()>& expired,
            Object& to);
// The same in the words of docs/semantics.md, one output after the other: for elements of several words, and for tests.
bool MatmulByChains(const Object& a, const Object& b, bool fast,
                    const std::function<bool()>& expired, Object& to);

// tensor_kernels.cpp. `expired` as above.
using Expired = std::function<bool()>;
bool Convolve(const Object& x, const Object& w, const ir::ConvSpec& spec, const Expired& expired,
              Object& to);
void Scan(const Object& from, ir::ReduceKind kind, size_t axis, Object& to);
bool Sort(const Object& from, size_t axis, bool descending, const Expired& expired, Object& to,
          Object& positions);
// Traps where a pick lies outside of the axis.
std::optional<ir::Trap> Scatter(const Object& base, const Object& picks, const Object& updates,
                                ir::ScatterKind kind, size_t axis, Object& to);
struct Quantized {
  const Object& elements;
  const Object& scales;
  int64_t bits;
};
bool MatmulQuantized(const Quantized& a, const Quantized& w, const Expired& expired, Object& to);

// --- elements as words, for the ops that compute ------------------------------------------------------------------
// xfield is the widest that is computed with.
using Element = std::array<uint64_t, 3>;

inline bool IsHalf(ir::Type type) { return ir::Contains(ir::sets::Half, type.scalar); }
inline ir::Type FoldType(ir::Type element) { return IsHalf(element) ? ir::types::F32 : element; }

// Elements as they are computed with: f16 and bf16 in f32.
inline Element Read(const Memory& memory, int64_t index) {
  Element element = {};
  memory.Get(index, element);
  if (!IsHalf(memory.element())) return element;
  return {*EvalWord(ir::Op::Cast, ir::Scalar::F32, memory.element().scalar, element[0])};
}

inline void Write(Memory& memory, int64_t index, Element element) {
  if (IsHalf(memory.element()))
    element[0] = *EvalWord(ir::Op::Cast, memory.element().scalar, ir::Scalar::F32, element[0]);
  memory.Set(index, element);
}

// An op of two elements that cannot trap.
inline Element Apply(ir::Op op, ir::Type type, const Element& a, const Element& b) {
  if (!IsWide(type.scalar)) return {*EvalWord(op, type.scalar, type.scalar, a[0], b[0])};
  Element result = {};
  const auto trap = EvalScalar({op, type, type}, std::array{Words(a), Words(b)}, result);
  CHECK(!trap);
  return result;
}

}  // namespace frazil::exec
