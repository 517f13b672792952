#include "optimize/calls/sizes.h"

#include <algorithm>

namespace frazil::optimize {

using namespace ir::names;

SizeClasses::SizeClasses(const Function& function, std::span<const InstId> insts,
                         std::span<const ValueId> first)
    : function_(function) {
  for (const InstId id : insts) Inst(function_.inst(id));
  Number(first);
}

uint32_t SizeClasses::RankOf(ValueId tensor) const {
  return static_cast<uint32_t>(function_.shape(function_.type(tensor)).size());
}

SizeClasses::Node SizeClasses::NodeOf(ValueId value, uint32_t axis) {
  const auto [at, is_new] =
      values_.try_emplace({value.index, axis}, static_cast<Node>(parents_.size()));
  if (!is_new) return at->second;
  parents_.push_back(at->second);
  int64_t length = -1;  // of an index: not known until it is united
  if (axis != Extent) {
    const ir::Dim dim = function_.shape(function_.type(value))[axis];
    length = dim.is_symbol() ? -1 : dim.value;
  } else if (const InstId def = function_.values[value.index].def;
             def.valid() && function_.inst(def).op == Op::Const) {
    length = function_.word(function_.inst(def), 0);
    constants_.push_back(value);
  }
  lengths_.push_back(length);
  // A symbol leaves open whether there is an element at all; one element is another program.
  is_fixed_.push_back(axis != Extent && length <= 1);
  return at->second;
}

SizeClasses::Node SizeClasses::Root(Node node) const {
  while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
  return node;
}

void SizeClasses::Unite(Node a, Node b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return;
  // Axes of other lengths are never one: whoever says so has misread the op.
  if (lengths_[a] >= 0 && lengths_[b] >= 0 && lengths_[a] != lengths_[b]) {
    is_fixed_[a] = is_fixed_[b] = true;
    return;
  }
  parents_[b] = a;
  lengths_[a] = std::max(lengths_[a], lengths_[b]);
  is_fixed_[a] = is_fixed_[a] || is_fixed_[b];
}

void SizeClasses::FixAll(ValueId tensor) {
  if (!function_.type(tensor).is_tensor()) return;
  for (uint32_t axis = 0; axis < RankOf(tensor); ++axis) Fix(NodeOf(tensor, axis));
}

void SizeClasses::Region(RegionId region) {
  for (const InstId id : function_.region(region).insts) Inst(function_.inst(id));
}

void SizeClasses::Generate(const ir::Inst& inst) {
  const ir::Region& region = function_.region(Function::region_of(inst, 0));
  const ir::Inst& yield = function_.inst(region.insts.back());
  const uint32_t rank = region.params.count;
  for (uint32_t r = 0; r < inst.results.count; ++r) {
    const ValueId result = Function::result_of(inst, r);
    for (uint32_t axis = 0; axis < rank; ++axis)
      Unite(NodeOf(result, axis), NodeOf(Function::param_of(region, axis), Extent));
    for (uint32_t axis = rank; axis < RankOf(result); ++axis)
      UniteAxis(result, axis, function_.operand(yield, r), axis - rank);
  }
  Region(Function::region_of(inst, 0));
}

void SizeClasses::Fold(const ir::Inst& inst) {
  const ir::Region& region = function_.region(Function::region_of(inst, 0));
  const Node extent = NodeOf(Function::param_of(region, 0), Extent);
  const ValueId count = function_.operand(inst, 0);
  const InstId def = function_.values[count.index].def;
  if (def.valid() && function_.inst(def).op == Op::Const)
    Unite(NodeOf(count, Extent), extent);
  else
    Fix(extent);
  Region(Function::region_of(inst, 0));
}

// An index that is a loop's own is inside wherever the loop is as long as the axis.
void SizeClasses::Extract(const ir::Inst& inst) {
  const ValueId tensor = function_.operand(inst, 0);
  for (uint32_t axis = 0; axis < RankOf(tensor); ++axis) {
    const ValueId index = function_.operand(inst, axis + 1);
    const InstId def = function_.values[index.index].def;
    const bool is_const = def.valid() && function_.inst(def).op == Op::Const;
    if (!is_const && IsIndexOfLoop(index))
      Unite(NodeOf(tensor, axis), NodeOf(index, Extent));
    else
      Fix(NodeOf(tensor, axis));
  }
}

// What is not known to join sizes keeps them.
void SizeClasses::Other(const ir::Inst& inst) {
  // A value made of an index says nothing about bounds where it is no index any more.
  const bool is_harmless =
      inst.op == Op::Cast || inst.op == Op::Yield ||
      (inst.results.count == 1 && function_.type(Function::result_of(inst)) == ir::types::Bool);
  for (const ValueId operand : function_.operands_of(inst)) {
    FixAll(operand);
    if (!is_harmless && IsIndexOfLoop(operand)) Fix(NodeOf(operand, Extent));
  }
  for (uint32_t i = 0; i < inst.results.count; ++i) FixAll(Function::result_of(inst, i));
  for (uint32_t i = 0; i < inst.regions.count; ++i) Region(Function::region_of(inst, i));
}

void SizeClasses::Inst(const ir::Inst& inst) {
  const std::span<const ValueId> operands = function_.operands_of(inst);
  const ValueId result = inst.results.count > 0 ? Function::result_of(inst) : ValueId();
  switch (inst.op) {
    case Op::Const: return;
    case Op::Yield: return;  // by what it ends
    case Op::Generate: return Generate(inst);
    case Op::Fold: return Fold(inst);
    case Op::Extract: return Extract(inst);
    case Op::Map:
      for (const ValueId operand : operands)
        for (uint32_t axis = 0; axis < RankOf(result); ++axis)
          UniteAxis(operand, axis, result, axis);
      return Region(Function::region_of(inst, 0));
    case Op::Reduce: {
      const auto gone = static_cast<uint32_t>(function_.word(inst, 1));
      NodeOf(operands[0], gone);
      for (uint32_t axis = 0; axis < RankOf(result); ++axis)
        UniteAxis(operands[0], axis + (axis >= gone ? 1 : 0), result, axis);
      return;
    }
    case Op::Matmul:
    case Op::MatmulFast: {
      const uint32_t rank = RankOf(result);
      for (uint32_t axis = 0; axis + 1 < rank; ++axis) UniteAxis(operands[0], axis, result, axis);
      for (uint32_t axis = 0; axis < rank; ++axis)
        if (axis + 2 != rank) UniteAxis(operands[1], axis, result, axis);
      return UniteAxis(operands[0], rank - 1, operands[1], rank - 2);
    }
    case Op::Transpose:
      for (uint32_t axis = 0; axis < RankOf(result); ++axis)
        UniteAxis(operands[0], static_cast<uint32_t>(function_.word(inst, axis)), result, axis);
      return;
    case Op::Broadcast:
      for (uint32_t axis = 0; axis < RankOf(result); ++axis) NodeOf(result, axis);
      if (!function_.type(operands[0]).is_tensor()) return;
      for (uint32_t axis = 0; axis < RankOf(operands[0]); ++axis) {
        const auto to = static_cast<uint32_t>(function_.word(inst, axis));
        const Node from = NodeOf(operands[0], axis);
        if (lengths_[Root(from)] == lengths_[Root(NodeOf(result, to))])
          Unite(from, NodeOf(result, to));
      }
      return;
    case Op::Gather: {
      const auto at = static_cast<uint32_t>(function_.word(inst, 0));
      const uint32_t picks = RankOf(operands[1]);
      for (uint32_t axis = 0; axis < RankOf(operands[0]); ++axis) {
        NodeOf(operands[0], axis);
        if (axis < at) UniteAxis(operands[0], axis, result, axis);
        if (axis > at) UniteAxis(operands[0], axis, result, axis + picks - 1);
      }
      for (uint32_t axis = 0; axis < picks; ++axis) UniteAxis(operands[1], axis, result, at + axis);
      return;
    }
    case Op::Iota:
    case Op::TensorUniform:
    case Op::TensorNormal:
      for (uint32_t axis = 0; axis < RankOf(result); ++axis) NodeOf(result, axis);
      return;
    default: return Other(inst);
  }
}

void SizeClasses::Number(std::span<const ValueId> first) {
  const auto number = [&](Node node) {
    const Node root = Root(node);
    if (is_fixed_[root] || lengths_[root] <= 1 || symbols_.contains(root)) return;
    symbols_.emplace(root, static_cast<uint32_t>(sizes_.size()));
    sizes_.push_back(lengths_[root]);
  };
  for (const ValueId value : first)
    for (uint32_t axis = 0; axis < RankOf(value); ++axis)
      if (const auto at = values_.find({value.index, axis}); at != values_.end())
        number(at->second);
  // The rest in the order in which they were met.
  for (Node node = 0; node < parents_.size(); ++node) number(node);
}

uint32_t SizeClasses::SymbolOf(ValueId value, uint32_t axis) const {
  const auto at = values_.find({value.index, axis});
  if (at == values_.end()) return None;
  const auto symbol = symbols_.find(Root(at->second));
  return symbol == symbols_.end() ? None : symbol->second;
}

}  // namespace frazil::optimize
