// Convolution, scan, sort, scatter and quantized products: nodes of their own over the lines and tensors that one element
// of the result reads. Two of them are equal where these and the attributes are.
#include <algorithm>

#include "verify/tensors/evaluator.h"

namespace frazil::verify::tensors {

using namespace ir::names;

// A tensor's elements as one form: those axes that have an index are at it, the others are bound.
FormId Evaluator::Elements(ScopeId scope, ValueId tensor, std::span<const FormId> at) {
  const std::vector<FormId> sizes = SizesOf(scope, function(scope).type(tensor));
  std::vector<FormId> indices(at.begin(), at.end());
  std::vector<size_t> bound;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != NoForm) continue;
    indices[i] = world_.forms.Open(sizes[i]);
    bound.push_back(i);
  }
  FormId form = Element(scope, tensor, indices);
  for (size_t i = bound.size(); i-- > 0;) {
    const size_t axis = bound[i];
    world_.forms.Close(indices[axis]);
    form = world_.forms.Bind({.kind = Kind::Chain,
                              .op = Op::Generate,
                              .type = function(scope).type(tensor).element(),
                              .children = {sizes[axis], form}},
                             1, indices[axis]);
  }
  return form;
}

FormId Evaluator::KernelElement(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at) {
  const Function& f = function(scope);
  const auto words = f.words_of(inst);
  Node node{.kind = Kind::Apply, .op = inst.op, .type = inst.type.element()};
  node.words.assign(words.begin(), words.end());
  node.words.push_back(result);
  const auto add = [&](uint32_t operand, std::vector<FormId> indices) {
    node.children.push_back(Elements(scope, f.operand(inst, operand), indices));
  };
  std::vector<FormId> line(at.begin(), at.end());
  switch (inst.op) {
    case Op::Conv: {
      // The channels of a group are told by the output's number and by how many there are of both.
      const std::vector<FormId> sizes = SizesOf(scope, inst.type);
      node.children = {at[2], at[3]};
      if (words[0] != 1) node.children.insert(node.children.end(), {at[1], sizes[1]});
      add(0, {at[0], NoForm, NoForm, NoForm});
      add(1, {at[1], NoForm, NoForm, NoForm});
      break;
    }
    case Op::Scan:
    case Op::Sort: {
      const size_t axis = words[inst.op == Op::Scan ? 1 : 0];
      node.children = {at[axis]};
      // Which axis it is does not matter to a line.
      node.words[inst.op == Op::Scan ? 1 : 0] = 0;
      line[axis] = NoForm;
      add(0, line);
      break;
    }
    case Op::Scatter: {
      const size_t axis = words[1];
      const size_t rank = f.shape(f.type(f.operand(inst, 1))).size();
      node.children = {at[axis], SizesOf(scope, inst.type)[axis]};
      node.words[1] = rank;
      add(0, line);
      add(1, std::vector<FormId>(rank, NoForm));
      line[axis] = NoForm;
      if (rank == 0) line.erase(line.begin() + static_cast<std::ptrdiff_t>(axis));
      for (size_t i = 1; i < rank; ++i)
        line.insert(line.begin() + static_cast<std::ptrdiff_t>(axis), NoForm);
      add(2, line);
      break;
    }
    default:
      for (uint32_t i = 0; i < 4; ++i) add(i, {at[i < 2 ? 0 : 1], NoForm});
      break;
  }
  return failure_.empty() ? world_.forms.Intern(std::move(node)) : Nothing();
}

}  // namespace frazil::verify::tensors
