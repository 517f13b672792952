#include "optimize/fusion/index_maps.h"

#include <algorithm>

#include "base/check.h"
#include "optimize/traps.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using ir::Dim;
using ir::Shape;

bool IsOne(Dim dim) { return dim == Dim::Constant(1); }

// Scalars from scalars, without a trap and without a tensor from outside.
bool IsPlain(const Function& f, RegionId region) {
  for (InstId id : f.region(region).insts) {
    const Inst& inst = f.inst(id);
    if (inst.op == Op::Yield) continue;
    const bool is_branch = inst.op == Op::If || inst.op == Op::Switch;
    if (!is_branch && (ir::Info(inst.op).effect != ir::Effect::Pure || MayTrap(f, inst)))
      return false;
    for (ValueId operand : f.operands_of(inst))
      if (!f.type(operand).is_scalar()) return false;
    for (uint32_t i = 0; i < inst.results.count; ++i)
      if (!f.type(Function::result_of(inst, i)).is_scalar()) return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!IsPlain(f, Function::region_of(inst, r))) return false;
  }
  return true;
}

bool BroadcastFits(const Function& f, const Inst& inst) {
  const Type from = f.type(f.operand(inst, 0));
  if (!from.is_tensor()) return true;
  for (uint32_t i = 0; i < f.shape(from).size(); ++i) {
    const Dim size = f.shape(from)[i];
    if (!IsOne(size) && size != f.shape(inst.type)[static_cast<size_t>(f.word(inst, i))])
      return false;
  }
  return true;
}

// Constants were checked; of a symbolic axis everything is taken.
bool SliceFits(const Function& f, const Inst& inst) {
  const Shape& from = f.shape(f.type(f.operand(inst, 0)));
  const Shape& to = f.shape(inst.type);
  const auto rank = static_cast<uint32_t>(from.size());
  for (uint32_t i = 0; i < rank; ++i) {
    if (!from[i].is_symbol() && !to[i].is_symbol()) continue;
    if (from[i] != to[i] || f.word(inst, i) != 0 || f.word(inst, rank + i) != 1) return false;
  }
  return true;
}

// For each axis of `from` the axes of `to` that it is split into: [first, last). Nothing where one of `to` is made of
// several, or where sizes need not fit.
using Split = std::vector<std::pair<uint32_t, uint32_t>>;
std::optional<Split> SplitOf(const Shape& from, const Shape& to) {
  Split split;
  uint32_t next = 0;
  const auto skip_ones = [&] {
    while (next < to.size() && IsOne(to[next])) ++next;
  };
  for (Dim size : from) {
    skip_ones();
    if (IsOne(size)) {
      split.emplace_back(next, next);
      continue;
    }
    if (next == to.size()) return std::nullopt;
    const uint32_t first = next;
    if (size == to[next]) {
      split.emplace_back(first, ++next);
      continue;
    }
    if (size.is_symbol() || size.value == 0) return std::nullopt;
    for (int64_t left = size.value; left > 1; ++next) {
      if (next == to.size() || to[next].is_symbol() || to[next].value == 0 ||
          left % to[next].value != 0)
        return std::nullopt;
      left /= to[next].value;
    }
    split.emplace_back(first, next);
  }
  skip_ones();
  if (next != to.size()) return std::nullopt;
  return split;
}

Point ReshapePoint(IndexTerms& terms, const Shape& from, const Shape& to, const Point& point) {
  const std::optional<Split> split = SplitOf(from, to);
  CHECK(split);
  Point at;
  for (const auto& [first, last] : *split) {
    TermId index = terms.Constant(0);
    for (uint32_t i = first; i < last; ++i) index = terms.Sum(terms.Times(index, to[i]), point[i]);
    at.push_back(index);
  }
  return at;
}

}  // namespace

bool HasIndexMap(const Function& f, const Inst& inst) {
  switch (inst.op) {
    case Op::Map: return IsPlain(f, Function::region_of(inst, 0));
    case Op::Reduce:
    case Op::Transpose:
    case Op::Iota:
    case Op::TensorUniform:
    case Op::TensorNormal: return true;
    case Op::Broadcast: return BroadcastFits(f, inst);
    case Op::Slice: return SliceFits(f, inst);
    case Op::Reshape:
      return SplitOf(f.shape(f.type(f.operand(inst, 0))), f.shape(inst.type)).has_value();
    default: return false;
  }
}

Point OnlyIndices(IndexTerms& terms, const Shape& shape, Point point) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (IsOne(shape[i])) point[i] = terms.Constant(0);
  return point;
}

Point WholePoint(IndexTerms& terms, const Shape& shape) {
  Point point;
  for (uint32_t i = 0; i < shape.size(); ++i) point.push_back(terms.Variable(i));
  return OnlyIndices(terms, shape, std::move(point));
}

Point OperandPoint(IndexTerms& terms, const Function& f, const Inst& inst, uint32_t i,
                   const Point& point, uint32_t along) {
  const Shape& from = f.shape(f.type(f.operand(inst, i)));
  const auto rank = static_cast<uint32_t>(from.size());
  Point at(rank);
  switch (inst.op) {
    case Op::Map: at = point; break;
    case Op::Reduce:
      at = point;
      at.insert(at.begin() + f.word(inst, 1), terms.Variable(along));
      break;
    case Op::Transpose:
      for (uint32_t k = 0; k < rank; ++k) at[static_cast<size_t>(f.word(inst, k))] = point[k];
      break;
    case Op::Broadcast:
      for (uint32_t k = 0; k < rank; ++k) at[k] = point[static_cast<size_t>(f.word(inst, k))];
      break;
    case Op::Slice:
      for (uint32_t k = 0; k < rank; ++k)
        at[k] = terms.Sum(terms.Times(point[k], f.word(inst, rank + k)),
                          terms.Constant(f.word(inst, k)));
      break;
    case Op::Reshape: at = ReshapePoint(terms, from, f.shape(inst.type), point); break;
    default: CHECK(!"the op reads no elements of others");
  }
  return OnlyIndices(terms, from, std::move(at));
}

TermId ElementNumber(IndexTerms& terms, const Shape& shape, const Point& point) {
  TermId number = terms.Constant(0);
  for (size_t i = 0; i < shape.size(); ++i)
    number = terms.Sum(terms.Times(number, shape[i]), point[i]);
  return number;
}

}  // namespace frazil::optimize
