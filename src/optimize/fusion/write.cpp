#include "optimize/fusion/write.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "optimize/fusion/index_maps.h"

namespace frazil::optimize {

using namespace ir::names;
using ir::Dim;
using ir::Shape;
using ir::Values;
namespace types = ir::types;

FusionWriter::FusionWriter(const PassInput& input)
    : PassCloner(input),
      plan_(PlanFusion(source_)),
      variables_(MostVariables),
      named_again_(source_.values.size(), false) {}

const Inst& FusionWriter::DefinitionOf(ValueId value) const {
  return source_.inst(source_.values[value.index].def);
}

Result<void> FusionWriter::Visit(const Inst& inst) {
  if (inst.results.count != 1) return CopyInst(inst);
  const ValueId result = Function::result_of(inst);
  const Fate fate = plan_.fates[result.index];
  if (fate == Fate::Kept) return CopyInst(inst);
  const auto id = static_cast<uint32_t>(&inst - source_.insts.data());
  if (const auto made = plan_.made_at.find(id); made != plan_.made_at.end()) {
    number_ = made->second;
    return WriteCluster(plan_.clusters[number_]);
  }
  if (fate == Fate::Inlined && inst.op == Op::Reshape && IsInMemory(source_.operand(inst, 0)) &&
      IsBound(source_.operand(inst, 0))) {
    named_again_[result.index] = true;
    return CopyInst(inst);
  }
  return {};
}

// --- clusters -------------------------------------------------------------------------------------------------

Result<void> FusionWriter::WriteCluster(const Cluster& cluster) {
  // Alone it is better off as what it is.
  if (cluster.roots.size() == 1 && cluster.parts == 0)
    return CopyInst(DefinitionOf(cluster.roots[0]));
  changed_ = true;
  cluster_ = &cluster;
  elements_.clear(), indices_.clear(), prepared_.clear(), rows_.clear();
  std::vector<Type> types;
  for (ValueId root : cluster.roots) types.push_back(source_.type(root));
  const Values made =
      builder_.Generate(cluster.depth, types, [&](std::span<const ValueId> indices) {
        std::ranges::copy(indices, variables_.begin());
        return WriteRoots(cluster);
      });
  for (size_t i = 0; i < made.size(); ++i) BindNamed(cluster.roots[i], made[i]);
  cluster_ = nullptr;
  return std::exchange(status_, {});
}

Values FusionWriter::Elements(std::span<const ValueId> roots) {
  Values elements;
  for (ValueId root : roots)
    elements.push_back(Element(root, WholePoint(plan_.terms, source_.shape(source_.type(root)))));
  return elements;
}

Values FusionWriter::WriteRoots(const Cluster& cluster) {
  if (cluster.depth == cluster.shape.size()) return Elements(cluster.roots);
  std::vector<ValueId> whole, lead;
  std::vector<Type> row_types;
  const Shape rest(cluster.shape.begin() + cluster.depth, cluster.shape.end());
  for (ValueId root : cluster.roots) {
    const Shape& shape = source_.shape(source_.type(root));
    (shape.size() == cluster.depth ? lead : whole).push_back(root);
    Prepare(root, WholePoint(plan_.terms, shape));
  }
  for (ValueId root : whole)
    row_types.push_back(Type::Tensor(source_.type(root).element(), builder_.AddShape(rest)));
  const Values scalars = Elements(lead);
  const auto inner = static_cast<uint32_t>(rest.size());
  const Values rows = builder_.Generate(inner, row_types, [&](std::span<const ValueId> indices) {
    const Scope scope(*this);
    std::ranges::copy(indices, variables_.begin() + cluster.depth);
    return Elements(whole);
  });
  Values all;
  size_t next_row = 0, next_scalar = 0;
  for (ValueId root : cluster.roots)
    all.push_back(source_.shape(source_.type(root)).size() == cluster.depth ? scalars[next_scalar++]
                                                                            : rows[next_row++]);
  return all;
}

// --- before the loops -----------------------------------------------------------------------------------------

bool FusionWriter::IsInMemory(ValueId value) const {
  switch (plan_.fates[value.index]) {
    case Fate::Kept: return true;
    case Fate::Root: return cluster_ == nullptr || plan_.cluster_of[value.index] != number_;
    default: return named_again_[value.index];
  }
}

bool FusionWriter::IsOuter(const Point& at) const {
  return (plan_.terms.VariablesOf(at) >> cluster_->depth) == 0;
}

Point FusionWriter::OperandAt(const Inst& inst, uint32_t i, const Point& at) {
  const auto along = plan_.along.find(Function::result_of(inst).index);
  return OperandPoint(plan_.terms, source_, inst, i, at,
                      along == plan_.along.end() ? 0 : along->second);
}

void FusionWriter::Prepare(ValueId value, const Point& at) {
  if (!prepared_.emplace(value.index, at).second) return;
  if (IsOuter(at)) return void(Element(value, at));
  if (IsInMemory(value)) return;
  if (plan_.fates[value.index] == Fate::Row) return MakeRow(value);
  PrepareOperands(DefinitionOf(value), at);
}

void FusionWriter::PrepareOperands(const Inst& inst, const Point& at) {
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    if (const ValueId operand = source_.operand(inst, i); source_.type(operand).is_tensor())
      Prepare(operand, OperandAt(inst, i, at));
}

void FusionWriter::MakeRow(ValueId value) {
  if (rows_.contains(value.index)) return;
  CHECK(open_scopes_ == 0);  // or others could not read it
  const RowPlan& row = plan_.rows.at(value.index);
  const Inst& inst = DefinitionOf(value);
  PrepareOperands(inst, row.point);
  Shape shape;
  for (uint32_t axis : row.axes) shape.push_back(source_.shape(inst.type)[axis]);
  const Type type = Type::Tensor(inst.type.element(), builder_.AddShape(shape));
  const auto rank = static_cast<uint32_t>(row.axes.size());
  rows_[value.index] =
      builder_.Generate(rank, std::span(&type, 1), [&](std::span<const ValueId> indices) {
        const Scope scope(*this);
        for (uint32_t i = 0; i < rank; ++i) variables_[row.variables[i]] = indices[i];
        return Values{Compute(inst, row.point)};
      })[0];
}

// --- elements -------------------------------------------------------------------------------------------------

ValueId FusionWriter::Element(ValueId value, const Point& at) {
  const Key key(value.index, at);
  if (const auto known = elements_.find(key); known != elements_.end()) return known->second;
  ValueId element;
  if (IsInMemory(value)) {
    element = Extract(Get(value), source_.type(value), at);
  } else if (plan_.fates[value.index] == Fate::Row) {
    MakeRow(value);
    const RowPlan& row = plan_.rows.at(value.index);
    Point in_row;
    for (uint32_t axis : row.axes) in_row.push_back(at[axis]);
    const ValueId tensor = rows_.at(value.index);
    element = Extract(tensor, builder_.TypeOf(tensor), in_row);
  } else {
    element = Compute(DefinitionOf(value), at);
  }
  elements_[key] = element;
  return element;
}

ValueId FusionWriter::Compute(const Inst& inst, const Point& at) {
  switch (inst.op) {
    case Op::Map: return ComputeMap(inst, at);
    case Op::Reduce: return ComputeFold(inst, at);
    case Op::TensorUniform:
    case Op::TensorNormal: return ComputeRandom(inst, at);
    case Op::Iota: {
      const ValueId index = Index(at[static_cast<size_t>(source_.word(inst, 0))]);
      const Type type = inst.type.element();
      return type == types::Index ? index : builder_.Cast(Op::Cast, index, type);
    }
    default: break;
  }
  const ValueId operand = source_.operand(inst, 0);
  if (!source_.type(operand).is_tensor()) return Get(operand);
  return Element(operand, OperandAt(inst, 0, at));
}

ValueId FusionWriter::ComputeMap(const Inst& inst, const Point& at) {
  Values elements;
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    elements.push_back(Element(source_.operand(inst, i), OperandAt(inst, i, at)));
  const Region& region = source_.region(Function::region_of(inst, 0));
  for (uint32_t i = 0; i < elements.size(); ++i) Bind(Function::param_of(region, i), elements[i]);
  const Result<void> copied = CopyInsts(std::span(region.insts).first(region.insts.size() - 1));
  if (!copied) status_ = copied;
  return Get(source_.operand(source_.inst(region.insts.back()), 0));
}

ValueId FusionWriter::ComputeFold(const Inst& inst, const Point& at) {
  const ValueId operand = source_.operand(inst, 0);
  const Point in_fold = OperandAt(inst, 0, at);
  Prepare(operand, in_fold);
  const uint32_t variable = plan_.along.at(Function::result_of(inst).index);
  const auto axis = static_cast<size_t>(source_.word(inst, 1));
  const ValueId count = Size(source_.shape(source_.type(operand))[axis]);
  return builder_.Fold(static_cast<ir::ReduceKind>(source_.word(inst, 0)), inst.type.element(),
                       count, static_cast<uint64_t>(source_.word(inst, 2)),
                       static_cast<uint64_t>(source_.word(inst, 3)), [&](ValueId index) {
                         const Scope scope(*this);
                         variables_[variable] = index;
                         return Element(operand, in_fold);
                       });
}

ValueId FusionWriter::ComputeRandom(const Inst& inst, const Point& at) {
  const TermId number = ElementNumber(plan_.terms, source_.shape(inst.type), at);
  const ValueId element = builder_.Cast(Op::Cast, Index(number), types::U64);
  const Type type = inst.type.element();
  return builder_.Emit1(inst.op == Op::TensorUniform ? Op::RandomUniform : Op::RandomNormal, type,
                        {Get(source_.operand(inst, 0)), Get(source_.operand(inst, 1)), element},
                        type);
}

ValueId FusionWriter::Extract(ValueId tensor, Type type, const Point& at) {
  Values operands = {tensor};
  const Shape shape = builder_.function().shape(type);
  // All indices as they come: the lowering makes one loop of them.
  const bool is_same = cluster_->depth == shape.size() && shape == cluster_->shape &&
                       at == WholePoint(plan_.terms, shape);
  for (uint32_t i = 0; i < at.size(); ++i)
    operands.push_back(is_same ? variables_[i] : Index(at[i]));
  const Type element = type.element();
  return builder_.Emit(Op::Extract, element, operands, std::span(&element, 1))[0];
}

ValueId FusionWriter::Size(Dim dim) {
  return dim.is_symbol() ? Get(source_.param(dim.param()))
                         : builder_.ConstInt(types::Index, dim.value);
}

ValueId FusionWriter::Index(TermId id) {
  using Kind = IndexTerms::Kind;
  if (const auto known = indices_.find(id); known != indices_.end()) return known->second;
  const IndexTerms::Term term = plan_.terms[id];
  if (term.kind == Kind::Variable) return variables_[static_cast<size_t>(term.number)];
  ValueId value;
  switch (term.kind) {
    case Kind::Constant: value = builder_.ConstInt(types::Index, term.number); break;
    case Kind::Sum: value = builder_.Binary(Op::Add, Index(term.a), Index(term.b)); break;
    case Kind::Multiple:
      value = builder_.Binary(Op::Mul, Index(term.a), builder_.ConstInt(types::Index, term.number));
      break;
    case Kind::SizeMultiple:
      value = builder_.Binary(Op::Mul, Index(term.a), Size(Dim{term.number}));
      break;
    case Kind::Variable: break;
  }
  indices_[id] = value;
  return value;
}

}  // namespace frazil::optimize
