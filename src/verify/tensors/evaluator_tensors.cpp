// What each tensor op's result holds at given indices. All of them are within its sizes, which fit: whoever asks has seen to
// it, and what does not fit has trapped.
#include <fmt/format.h>

#include <algorithm>

#include "verify/tensors/evaluator.h"

namespace frazil::verify::tensors {

using namespace ir::names;

namespace {

constexpr uint32_t MostDepth = 2000;

}  // namespace

FormId Evaluator::Element(ScopeId from, ValueId tensor, Indices at) {
  if (!failure_.empty()) return Nothing();
  const ScopeId scope = HomeOf(from, tensor);
  const Function& f = function(scope);
  const InstId def = f.values[tensor.index].def;
  if (!def.valid()) {
    if (scope == entry()) return world_.forms.Element(tensor.index - f.param(0).index, at);
    const auto alias = aliases_.find(KeyOf(scope, tensor));
    if (alias != aliases_.end()) return Element(alias->second.scope, alias->second.value, at);
    Fail("a tensor that is carried has no normal form");
    return Nothing();
  }
  std::vector<uint32_t> key = {scope, tensor.index};
  key.insert(key.end(), at.begin(), at.end());
  if (const auto known = elements_.find(key); known != elements_.end()) return known->second;
  if (world_.forms.is_exhausted() || depth_ >= MostDepth) {
    Fail("the programs are too large for a normal form");
    return Nothing();
  }
  ++depth_;
  const ir::Inst& inst = f.inst(def);
  const FormId form = ElementOf(scope, inst, tensor.index - inst.results.begin, at);
  --depth_;
  elements_.emplace(std::move(key), form);
  return form;
}

FormId Evaluator::ElementOf(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at) {
  const Function& f = function(scope);
  switch (inst.op) {
    case Op::Map: return Mapped(scope, inst, at);
    case Op::Generate: return Generated(scope, inst, result, at);
    case Op::Reduce: return Reduced(scope, inst, at);
    case Op::Matmul:
    case Op::MatmulFast: return Multiplied(scope, inst, at);
    case Op::Reshape: return Reshaped(scope, inst, at);
    case Op::Transpose: return Transposed(scope, inst, at);
    case Op::Broadcast: return Broadcast(scope, inst, at);
    case Op::Slice: return Sliced(scope, inst, at);
    case Op::Concat: return Concatenated(scope, inst, at);
    case Op::Gather: return Gathered(scope, inst, at);
    case Op::Iota: {
      // What `cast` makes of the position.
      const FormId position = at[static_cast<size_t>(f.word(inst, 0))];
      return world_.forms.Apply(Op::Cast, inst.type.element(), ir::Scalar::Index, {},
                                std::span(&position, 1));
    }
    case Op::TensorUniform:
    case Op::TensorNormal: return Drawn(scope, inst, at);
    case Op::Conv:
    case Op::Scan:
    case Op::Sort:
    case Op::Scatter:
    case Op::MatmulQ: return KernelElement(scope, inst, result, at);
    case Op::If: {
      const FormId condition = Value(scope, f.operand(inst, 0));
      FormId arms[2] = {};
      for (uint32_t side = 0; side < 2; ++side) {
        const ScopeId arm = Inside(scope, Function::region_of(inst, side), {});
        arms[side] = Element(arm, f.operand(TerminatorOf(arm), result), at);
      }
      const Type type = f.type(Function::result_of(inst, result)).element();
      return world_.forms.Select(type, condition, arms[0], arms[1]);
    }
    case Op::Call: {
      const ScopeId body = Called(scope, inst);
      if (!failure_.empty()) return Nothing();
      return Element(body, function(body).operand(TerminatorOf(body), result), at);
    }
    default:
      Fail(fmt::format("'{}' has no normal form of elements", ir::Info(inst.op).mnemonic));
      return Nothing();
  }
}

// --- regions ----------------------------------------------------------------------------------------------------
FormId Evaluator::Mapped(ScopeId scope, const ir::Inst& inst, Indices at) {
  std::vector<FormId> elements;
  for (const ValueId operand : function(scope).operands_of(inst))
    elements.push_back(Element(scope, operand, at));
  if (!failure_.empty()) return Nothing();
  const ScopeId turn = Inside(scope, Function::region_of(inst, 0), elements);
  return Value(turn, function(scope).operand(TerminatorOf(turn), 0));
}

FormId Evaluator::Generated(ScopeId scope, const ir::Inst& inst, uint32_t result, Indices at) {
  const Function& f = function(scope);
  const RegionId region = Function::region_of(inst, 0);
  const size_t rank = f.region(region).params.count;
  const ScopeId turn = Inside(scope, region, at.first(rank));
  const ValueId yielded = f.operand(TerminatorOf(turn), result);
  if (f.type(yielded).is_scalar()) return Value(turn, yielded);
  return Element(turn, yielded, at.subspan(rank));
}

// The same node as of a `fold`: both widen f16 and bf16, fold the same tree, and round once.
FormId Evaluator::Reduced(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  Forms& forms = world_.forms;
  const ValueId operand = f.operand(inst, 0);
  const auto words = f.words_of(inst);
  const size_t axis = words[1];
  const FormId count = SizesOf(scope, f.type(operand))[axis];
  const FormId index = forms.Open(count);
  std::vector<FormId> inner(at.begin(), at.end());
  inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(axis), index);
  const FormId element = Element(scope, operand, inner);
  forms.Close(index);
  return forms.Bind({.kind = Kind::Fold,
                     .op = Op::Fold,
                     .type = inst.type.element(),
                     .words = {words[0], words[2], words[3]},
                     .children = {count, element}},
                    1, index);
}

FormId Evaluator::Multiplied(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  Forms& forms = world_.forms;
  const ValueId a = f.operand(inst, 0), b = f.operand(inst, 1);
  const FormId depth = SizesOf(scope, f.type(a)).back();
  const FormId index = forms.Open(depth);
  std::vector<FormId> left(at.begin(), at.end()), right(at.begin(), at.end());
  left[at.size() - 1] = index;
  right[at.size() - 2] = index;
  const FormId x = Element(scope, a, left), y = Element(scope, b, right);
  forms.Close(index);
  return forms.Bind(
      {.kind = Kind::Chain, .op = inst.op, .type = inst.type.element(), .children = {depth, x, y}},
      1, index);
}

// --- indices ----------------------------------------------------------------------------------------------------
FormId Evaluator::Plus(FormId a, FormId b, int64_t factor) {
  const auto sum = world_.forms.PolynomialOf(a).Plus(world_.forms.PolynomialOf(b), factor);
  if (!sum) Fail("an index expression is too large");
  return sum ? world_.forms.OfPolynomial(*sum) : Nothing();
}

FormId Evaluator::Times(FormId a, FormId b) {
  const auto product = world_.forms.PolynomialOf(a).Times(world_.forms.PolynomialOf(b));
  if (!product) Fail("an index expression is too large");
  return product ? world_.forms.OfPolynomial(*product) : Nothing();
}

FormId Evaluator::LinearOf(std::span<const FormId> sizes, Indices at) {
  FormId linear = world_.forms.Number(0);
  for (size_t i = 0; i < sizes.size(); ++i) linear = Plus(Times(linear, sizes[i]), at[i]);
  return linear;
}

// Index k is floor(n / stride k) mod size k, and mod by a size is less so many times the next quotient.
FormId Evaluator::Reshaped(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  const ValueId operand = f.operand(inst, 0);
  const std::vector<FormId> to = SizesOf(scope, f.type(operand));
  const std::vector<FormId> from = SizesOf(scope, inst.type);
  std::vector<FormId> indices(to.size());
  if (to == from) {
    indices.assign(at.begin(), at.end());
    return Element(scope, operand, indices);
  }
  const FormId linear = LinearOf(from, at);
  // Quotients by the strides, the last of which is 1.
  std::vector<FormId> quotients(to.size());
  FormId stride = world_.forms.Number(1);
  for (size_t i = to.size(); i-- > 0 && failure_.empty();) {
    quotients[i] = i + 1 == to.size() ? linear : world_.bounds.Quotient(linear, stride);
    stride = Times(stride, to[i]);
  }
  if (!failure_.empty()) return Nothing();
  for (size_t i = 0; i < to.size(); ++i)
    indices[i] = i == 0 ? quotients[0] : Plus(quotients[i], Times(to[i], quotients[i - 1]), -1);
  return Element(scope, operand, indices);
}

FormId Evaluator::Transposed(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  std::vector<FormId> indices(at.size());
  for (size_t i = 0; i < at.size(); ++i) indices[f.words_of(inst)[i]] = at[i];
  return Element(scope, f.operand(inst, 0), indices);
}

FormId Evaluator::Broadcast(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  Forms& forms = world_.forms;
  const ValueId operand = f.operand(inst, 0);
  if (f.type(operand).is_scalar()) return Value(scope, operand);
  const std::vector<FormId> sizes = SizesOf(scope, f.type(operand));
  const std::vector<FormId> result = SizesOf(scope, inst.type);
  std::vector<FormId> indices;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t axis = f.words_of(inst)[i];
    if (sizes[i] == result[axis] || (forms.NumberOf(sizes[i]) && forms.NumberOf(sizes[i]) != 1)) {
      indices.push_back(at[axis]);
      continue;
    }
    // Whether it repeats is known when it runs.
    const FormId one = forms.Number(1), zero = forms.Number(0);
    const FormId both[] = {sizes[i], one};
    const FormId repeats = forms.Apply(Op::Eq, ir::types::Index, ir::Scalar::Index, {}, both);
    indices.push_back(forms.Select(ir::types::Index, repeats, zero, at[axis]));
  }
  return Element(scope, operand, indices);
}

FormId Evaluator::Sliced(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  std::vector<FormId> indices;
  for (uint32_t i = 0; i < at.size(); ++i) {
    const int64_t step = f.word(inst, static_cast<uint32_t>(at.size()) + i);
    indices.push_back(Plus(world_.forms.Number(f.word(inst, i)), at[i], step));
  }
  if (!failure_.empty()) return Nothing();
  return Element(scope, f.operand(inst, 0), indices);
}

FormId Evaluator::Concatenated(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  Forms& forms = world_.forms;
  const size_t axis = f.words_of(inst)[0];
  // Where each part begins; the parts' sizes make the result's, which fits.
  std::vector<FormId> starts = {forms.Number(0)};
  for (const ValueId part : f.operands_of(inst))
    starts.push_back(Plus(starts.back(), SizesOf(scope, f.type(part))[axis]));
  FormId element = NoForm;
  for (uint32_t i = inst.operands.count; i-- > 0 && failure_.empty();) {
    const bool is_earlier = world_.bounds.IsLess(at[axis], starts[i]);
    if (is_earlier && i > 0) continue;
    const auto behind = forms.PolynomialOf(at[axis]).Minus(forms.PolynomialOf(starts[i + 1]));
    if (element != NoForm && behind && world_.bounds.IsNonNegative(*behind)) break;
    std::vector<FormId> indices(at.begin(), at.end());
    indices[axis] = Plus(at[axis], starts[i], -1);
    const FormId own = Element(scope, f.operand(inst, i), indices);
    const FormId both[] = {at[axis], starts[i + 1]};
    if (element == NoForm || world_.bounds.IsLess(both[0], both[1])) {
      element = own;
      continue;
    }
    const FormId is_own = forms.Apply(Op::Lt, ir::types::Index, ir::Scalar::Index, {}, both);
    element = forms.Select(inst.type.element(), is_own, own, element);
  }
  return element == NoForm ? Nothing() : element;
}

FormId Evaluator::Gathered(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  const ValueId from = f.operand(inst, 0), picks = f.operand(inst, 1);
  const size_t axis = f.words_of(inst)[0];
  const size_t rank = f.shape(f.type(picks)).size();
  std::vector<FormId> indices(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis));
  indices.push_back(Element(scope, picks, at.subspan(axis, rank)));
  CheckIndex(indices.back(), SizesOf(scope, f.type(from))[axis]);
  indices.insert(indices.end(), at.begin() + static_cast<std::ptrdiff_t>(axis + rank), at.end());
  if (!failure_.empty()) return Nothing();
  return Element(scope, from, indices);
}

// The op for one element, of the seed, the draw, and the element's number.
FormId Evaluator::Drawn(ScopeId scope, const ir::Inst& inst, Indices at) {
  const Function& f = function(scope);
  const FormId operands[] = {Value(scope, f.operand(inst, 0)), Value(scope, f.operand(inst, 1)),
                             LinearOf(SizesOf(scope, inst.type), at)};
  const Op op = inst.op == Op::TensorUniform ? Op::RandomUniform : Op::RandomNormal;
  return world_.forms.Apply(op, inst.type.element(), ir::Scalar::U64, {}, operands);
}

}  // namespace frazil::verify::tensors
