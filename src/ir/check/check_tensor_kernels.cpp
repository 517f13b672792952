// Convolution, scan, sort, scatter and products of quantized weights. As in check_tensor.cpp, sizes that are known must
// fit; what symbols leave open is tested when it runs.
#include "ir/check/check_internal.h"
#include "ir/conv.h"

namespace frazil::ir {

Result<void> FunctionChecker::CheckConv(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 2));
  if (OperandType(inst, 1).element() != inst.type.element())
    return Wrong(inst, Diag::WrongType, "operand 2 is of another type");
  if (inst.attributes.count != ConvSpec::WordCount)
    return Wrong(inst, Diag::BadAttribute, "each list has one entry for rows, one for columns");
  const ConvSpec spec = ConvSpec::Of(function_.words_of(inst));
  if (!spec.IsSound())
    return Wrong(inst, Diag::BadAttribute,
                 "groups, strides and dilations are at least 1, zeros around at least 0, all below "
                 "2^31");
  const Shape& x = ShapeOf(inst, 0);
  const Shape& w = ShapeOf(inst, 1);
  const Shape& y = function_.shape(inst.type);
  bool good = x.size() == 4 && w.size() == 4 && y.size() == 4 && x[0] == y[0] && w[0] == y[1];
  if (good && !x[1].is_symbol() && !w[1].is_symbol())
    good = x[1].value % spec.groups == 0 && x[1].value / spec.groups == w[1].value;
  else if (good && spec.groups == 1)
    good = x[1] == w[1];
  if (good && !y[1].is_symbol()) good = y[1].value % spec.groups == 0;
  for (uint32_t i = 0; good && i < 2; ++i) {
    const Dim sizes[] = {x[2 + i], w[2 + i], y[2 + i]};
    bool known = true;
    for (Dim size : {x[2 + i], w[2 + i]}) {
      known = known && !size.is_symbol();
      good = good && (size.is_symbol() || size.value < ConvSpec::Limit);
    }
    good = good && sizes[1] != Dim::Constant(0);
    if (good && known && !sizes[2].is_symbol())
      good = spec.OutputSize(i, sizes[0].value, sizes[1].value) == sizes[2].value;
  }
  if (!good)
    return Wrong(inst, Diag::BadShape, "{} with weights {} is not {}", Show(OperandType(inst, 0)),
                 Show(OperandType(inst, 1)), Show(inst.type));
  return {};
}

Result<void> FunctionChecker::CheckScan(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  TRY_VOID(CheckKind(inst, static_cast<ReduceKind>(function_.word(inst, 0))));
  TRY_VOID(NeedAxis(inst, function_.word(inst, 1), ShapeOf(inst, 0)));
  return NeedType(inst, 0, inst.type);
}

Result<void> FunctionChecker::CheckSort(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  TRY_VOID(NeedType(inst, 0, inst.type));
  TRY_VOID(NeedAxis(inst, function_.word(inst, 0), ShapeOf(inst, 0)));
  const bool good =
      inst.results.count == 2 && function_.type(Function::result_of(inst)) == inst.type &&
      function_.type(Function::result_of(inst, 1)) == Type::Tensor(types::Index, inst.type.shape);
  if (!good) return Wrong(inst, Diag::WrongType, "its results have the wrong types");
  return {};
}

Result<void> FunctionChecker::CheckScatter(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 3));
  TRY_VOID(NeedType(inst, 0, inst.type));
  const auto kind = static_cast<ScatterKind>(function_.word(inst, 0));
  if (kind != ScatterKind::Set)
    TRY_VOID(CheckKind(inst, static_cast<ReduceKind>(static_cast<int>(kind) - 1)));
  if (OperandType(inst, 1).element() != types::Index)
    return Wrong(inst, Diag::WrongType, "operand 2 must be a tensor of index");
  if (OperandType(inst, 2).element() != inst.type.element())
    return Wrong(inst, Diag::WrongType, "operand 3 is of another type");
  const Shape& base = function_.shape(inst.type);
  const Shape& picks = ShapeOf(inst, 1);
  const int64_t axis = function_.word(inst, 1);
  TRY_VOID(NeedAxis(inst, axis, base));
  Shape updates(base.begin(), base.begin() + axis);
  updates.insert(updates.end(), picks.begin(), picks.end());
  updates.insert(updates.end(), base.begin() + axis + 1, base.end());
  if (updates != ShapeOf(inst, 2))
    return Wrong(inst, Diag::BadShape, "operand 3 is {}, which does not fit",
                 Show(OperandType(inst, 2)));
  return {};
}

Result<void> FunctionChecker::CheckMatmulQ(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 4));
  const int64_t bits = function_.word(inst, 0);
  if (bits != 8 && bits != 4) return Wrong(inst, Diag::BadAttribute, "bits are 8 or 4");
  const Type elements[] = {types::I8, types::F32, bits == 8 ? types::I8 : types::U8, types::F32};
  for (uint32_t i = 0; i < 4; ++i)
    if (OperandType(inst, i).element() != elements[i])
      return Wrong(inst, Diag::WrongType, "operand {} is not of {}", i + 1, Show(elements[i]));
  const Shape& a = ShapeOf(inst, 0);
  const Shape& a_scales = ShapeOf(inst, 1);
  const Shape& w = ShapeOf(inst, 2);
  const Shape& w_scales = ShapeOf(inst, 3);
  const Shape& y = function_.shape(inst.type);
  bool good = a.size() == 2 && a_scales.size() == 2 && w.size() == 2 && w_scales.size() == 2 &&
              y.size() == 2;
  good = good && a[0] == y[0] && a_scales[0] == y[0] && w[0] == y[1] && w_scales[0] == y[1] &&
         a_scales[1] == w_scales[1];
  if (good && bits == 8) good = a[1] == w[1];
  // What is known of k, of the bytes of a row of weights and of the groups.
  if (good && !a[1].is_symbol()) {
    good = a[1].value % QuantizedGroup == 0;
    good = good && (a_scales[1].is_symbol() || a_scales[1].value == a[1].value / QuantizedGroup);
    good = good && (bits == 8 || w[1].is_symbol() || w[1].value == a[1].value / 2);
  }
  if (!good)
    return Wrong(inst, Diag::BadShape, "{} times {} with scales {} and {} is not {}",
                 Show(OperandType(inst, 0)), Show(OperandType(inst, 2)), Show(OperandType(inst, 1)),
                 Show(OperandType(inst, 3)), Show(inst.type));
  return {};
}

}  // namespace frazil::ir
