// What the files of tensor_graph.h share; nobody else includes it.
#pragma once

#include <vector>

#include "exec/random_arguments.h"
#include "generator/tensor_graph.h"
#include "ir/builder.h"

namespace frazil::generator {

class TensorGraph {
 public:
  explicit TensorGraph(const TensorGraphOptions& options)
      : options_(options),
        random_(options.seed),
        b_(program_, "main", std::initializer_list<ir::Type>{}, {}) {}
  ir::Program Make();

 private:
  using Type = ir::Type;
  using ValueId = ir::ValueId;
  using Shape = ir::Shape;
  using Dim = ir::Dim;

  // tensor_graph.cpp: whole tensors
  void AddParams();
  void Statement(int depth);
  void Map();
  void Reduce();
  void Multiply();
  void Boundary();
  void Wide();
  Dim SomeSize();
  Type Tensor(const Shape& shape) { return Type::Tensor(element_, b_.AddShape(shape)); }
  Shape ShapeOf(ValueId tensor) { return b_.function().shape(b_.TypeOf(tensor)); }
  ValueId Some();
  // Of the same shape, made so by broadcasting where there is none.
  ValueId Fitting(const Shape& shape);
  ValueId Combine(ValueId a, ValueId b);
  ir::ReduceKind SomeKind();
  std::pair<uint64_t, uint64_t> SomeTree(bool innermost);  // chains, block
  void Add(ir::Op op, const Shape& shape, std::initializer_list<ValueId> operands,
           const std::vector<uint64_t>& words = {});

  // tensor_graph_moves.cpp: elements from one place to another
  void Move();
  void Transpose(ValueId tensor);
  void Slice(ValueId tensor);
  void Reshape(ValueId tensor);
  void Concat(ValueId tensor);
  void Gather(ValueId tensor);

  // tensor_graph_elements.cpp: by index
  void Elements();
  void Rows();
  void ScalarOf();
  ValueId SizeOf(Dim dim);
  // An index of the axis that is near another one, and inside wherever the axis has an element.
  ValueId Near(ValueId index, Dim dim);
  ValueId ElementAt(ValueId tensor, std::span<const ValueId> indices);
  ValueId FoldRow(ValueId tensor, const ir::Values& before);

  TensorGraphOptions options_;
  exec::Random random_;
  ir::Program program_;
  ir::FunctionBuilder b_;
  Type element_;
  std::vector<uint32_t> symbols_;
  Dim rows_, columns_;
  std::vector<ValueId> tensors_;
  std::vector<ValueId> scalars_;
  ValueId seed_;
};

}  // namespace frazil::generator
