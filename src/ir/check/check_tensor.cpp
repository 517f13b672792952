// Tensor ops: shapes that are known must fit exactly; where symbols leave a question open, the op checks at
// run time, as its row says.
#include <algorithm>

#include "ir/check/check_internal.h"

namespace frazil::ir {
namespace {

// Product of the constant dimensions if all are constant.
std::optional<int64_t> ConstantSize(const Shape& shape) {
  int64_t size = 1;
  for (Dim dim : shape)
    if (dim.is_symbol() || __builtin_mul_overflow(size, dim.value, &size)) return std::nullopt;
  return size;
}

}  // namespace

Result<void> FunctionChecker::CheckTensorOp(const Inst& inst) {
  bool tensor_type = inst.op != Op::Extract;
  if (tensor_type != inst.type.is_tensor())
    return Wrong(inst, Diag::WrongType, "its type must be a {}", tensor_type ? "tensor" : "scalar");
  if (inst.results.count == 1 && function_.type(Function::result_of(inst)) != inst.type)
    return Wrong(inst, Diag::WrongType, "its result is not {}", Show(inst.type));
  // Which operands must be tensors: the first (and for some all).
  size_t tensors = 0;
  switch (inst.op) {
    case Op::Map:
    case Op::Concat: tensors = inst.operands.count; break;
    case Op::Matmul:
    case Op::MatmulFast:
    case Op::Conv:
    case Op::Gather: tensors = 2; break;
    case Op::Scatter: tensors = 3; break;
    case Op::MatmulQ: tensors = 4; break;
    case Op::Reduce:
    case Op::Scan:
    case Op::Sort:
    case Op::Reshape:
    case Op::Transpose:
    case Op::Slice:
    case Op::Extract: tensors = 1; break;
    default: break;
  }
  if (tensors > inst.operands.count) return NeedOperands(inst, tensors);
  for (uint32_t i = 0; i < tensors; ++i)
    if (!OperandType(inst, i).is_tensor())
      return Wrong(inst, Diag::WrongType, "operand {} is {}, not a tensor", i + 1,
                   Show(OperandType(inst, i)));
  // All but map, quantized products, indices and the generators work within one element type.
  bool first_element = tensors > 0 && inst.op != Op::Map && inst.op != Op::MatmulQ;
  if (first_element && OperandType(inst, 0).element() != inst.type.element())
    return Wrong(inst, Diag::WrongType, "operand 1 is {}, not of {}", Show(OperandType(inst, 0)),
                 Show(inst.type.element()));
  switch (inst.op) {
    case Op::Map: return CheckMap(inst);
    case Op::Reduce: return CheckReduce(inst);
    case Op::Matmul:
    case Op::MatmulFast: return CheckMatmul(inst);
    case Op::Reshape: return CheckReshape(inst);
    case Op::Transpose: return CheckTranspose(inst);
    case Op::Broadcast: return CheckBroadcast(inst);
    case Op::Slice: return CheckSlice(inst);
    case Op::Concat: return CheckConcat(inst);
    case Op::Gather: return CheckGather(inst);
    case Op::Conv: return CheckConv(inst);
    case Op::Scan: return CheckScan(inst);
    case Op::Sort: return CheckSort(inst);
    case Op::Scatter: return CheckScatter(inst);
    case Op::MatmulQ: return CheckMatmulQ(inst);
    case Op::Iota:
      TRY_VOID(NeedOperands(inst, 0));
      return NeedAxis(inst, function_.word(inst, 0), function_.shape(inst.type));
    case Op::TensorUniform:
    case Op::TensorNormal:
      TRY_VOID(NeedOperands(inst, 2));
      TRY_VOID(NeedType(inst, 0, types::U64));
      return NeedType(inst, 1, types::U64);
    case Op::Extract:
      TRY_VOID(NeedOperands(inst, 1 + ShapeOf(inst, 0).size()));
      for (uint32_t i = 1; i < inst.operands.count; ++i) TRY_VOID(NeedType(inst, i, types::Index));
      return {};
    case Op::TensorLoad:
    case Op::TensorStore: {
      bool load = inst.op == Op::TensorLoad;
      TRY_VOID(NeedOperands(inst, load ? 1 : 2));
      Type buffer = OperandType(inst, 0);
      if (!buffer.is_buffer() || buffer.element() != inst.type.element())
        return Wrong(inst, Diag::WrongType, "operand 1 must be a buffer<{}>",
                     Show(inst.type.element()));
      if (buffer.access == (load ? Access::Out : Access::In))
        return Wrong(inst, Diag::BadAccess, "the buffer is {} only", load ? "written" : "read");
      if (!load) return NeedType(inst, 1, inst.type);
      return {};
    }
    default: return Wrong(inst, Diag::UnknownOp, "has no rule");
  }
}

Result<void> FunctionChecker::CheckMap(const Inst& inst) {
  const Region& region = function_.region(Function::region_of(inst, 0));
  if (region.params.count != inst.operands.count)
    return Wrong(inst, Diag::BadRegion, "its region takes one scalar for each operand");
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    if (ShapeOf(inst, i) != function_.shape(inst.type))
      return Wrong(inst, Diag::BadShape, "operand {} is {}, not of the shape of {}", i + 1,
                   Show(OperandType(inst, i)), Show(inst.type));
    if (function_.type(Function::param_of(region, i)) != OperandType(inst, i).element())
      return Wrong(inst, Diag::WrongType, "region parameter {} has another type", i + 1);
  }
  if (inst.operands.count == 0)
    return Wrong(inst, Diag::WrongOperandCount, "needs at least one tensor");
  Type element = inst.type.element();
  return CheckEffectless(inst, Inside::Pure, std::span(&element, 1));
}

Result<void> FunctionChecker::CheckReduce(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  TRY_VOID(CheckTree(inst, function_.word(inst, 2), function_.word(inst, 3)));
  int64_t axis = function_.word(inst, 1);
  Shape shape = ShapeOf(inst, 0);
  TRY_VOID(NeedAxis(inst, axis, shape));
  shape.erase(shape.begin() + axis);
  if (shape != function_.shape(inst.type))
    return Wrong(inst, Diag::BadShape, "its result must be the operand without axis {}", axis);
  return {};
}

Result<void> FunctionChecker::NeedAxis(const Inst& inst, int64_t axis, const Shape& shape) const {
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    return Wrong(inst, Diag::BadAttribute, "there is no axis {}", axis);
  return {};
}

Result<void> FunctionChecker::CheckKind(const Inst& inst, ReduceKind kind) const {
  Scalar scalar = inst.type.scalar;
  bool bits = kind == ReduceKind::And || kind == ReduceKind::Or || kind == ReduceKind::Xor;
  bool propagates = kind == ReduceKind::Minimum || kind == ReduceKind::Maximum;
  bool orders = kind == ReduceKind::Min || kind == ReduceKind::Max;
  bool good = bits         ? Contains(sets::Fixed | sets::Bool, scalar)
              : propagates ? IsFloat(scalar)
              : orders     ? Contains(sets::Fixed | sets::Float, scalar)
                           : Contains(sets::Fixed | sets::Float | sets::Fields, scalar);
  if (!good)
    return Wrong(inst, Diag::WrongType, "this kind does not work on {}", Show(inst.type.element()));
  return {};
}

// The kind fits the type, and there is such a tree.
Result<void> FunctionChecker::CheckTree(const Inst& inst, int64_t chains, int64_t block) const {
  TRY_VOID(CheckKind(inst, static_cast<ReduceKind>(function_.word(inst, 0))));
  if (chains < 1 || chains > 4096 || (chains & (chains - 1)) != 0 || block < chains ||
      block % chains != 0)
    return Wrong(inst, Diag::BadAttribute,
                 "chains must be a power of two up to 4096, and block a multiple of it");
  return {};
}

// Each result has the indices as its first axes; what is yielded for it is the rest.
Result<void> FunctionChecker::CheckGenerate(const Inst& inst) {
  TRY_VOID(NeedOperands(inst, 0));
  const Region& region = function_.region(Function::region_of(inst, 0));
  const size_t rank = region.params.count;
  for (uint32_t i = 0; i < rank; ++i)
    if (function_.type(Function::param_of(region, i)) != types::Index)
      return Wrong(inst, Diag::BadRegion, "its region takes indices");
  if (inst.results.count == 0) return Wrong(inst, Diag::WrongOperandCount, "has no result");
  std::vector<Type> yields;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const Type type = function_.type(Function::result_of(inst, i));
    if (!type.is_tensor()) return Wrong(inst, Diag::WrongType, "result {} is no tensor", i + 1);
    if (i == 0 && type != inst.type)
      return Wrong(inst, Diag::WrongType, "its result is not {}", Show(inst.type));
    const Shape& shape = function_.shape(type);
    const Shape& first = function_.shape(inst.type);
    if (shape.size() < rank || first.size() < rank ||
        !std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(rank),
                    shape.begin()))
      return Wrong(inst, Diag::BadShape, "result {} does not begin with the {} axes of its indices",
                   i + 1, rank);
    if (shape.size() == rank) {
      yields.push_back(type.element());
      continue;
    }
    const Shape rest(shape.begin() + static_cast<std::ptrdiff_t>(rank), shape.end());
    const auto known = std::ranges::find(function_.shapes, rest);
    if (known == function_.shapes.end())
      return Wrong(inst, Diag::BadShape, "nothing has the shape of the rest of result {}", i + 1);
    yields.push_back(
        Type::Tensor(type.element(), static_cast<uint32_t>(known - function_.shapes.begin())));
  }
  return CheckEffectless(inst, Inside::Pure, yields);
}

Result<void> FunctionChecker::CheckFold(const Inst& inst) {
  TRY_VOID(NeedOperands(inst, 1));
  TRY_VOID(NeedType(inst, 0, types::Index));
  if (!inst.type.is_scalar()) return Wrong(inst, Diag::WrongType, "its type must be a scalar");
  const Region& region = function_.region(Function::region_of(inst, 0));
  if (region.params.count != 1 || function_.type(Function::param_of(region, 0)) != types::Index)
    return Wrong(inst, Diag::BadRegion, "its region takes one index");
  TRY_VOID(CheckTree(inst, function_.word(inst, 1), function_.word(inst, 2)));
  return CheckEffectless(inst, Inside::Reading, std::span(&inst.type, 1));
}

// The one region of an op that may run it in its own way.
Result<void> FunctionChecker::CheckEffectless(const Inst& inst, Inside what,
                                              std::span<const Type> yields) {
  const RegionId region = Function::region_of(inst, 0);
  around_.push_back(&inst);
  const Inside outer = std::exchange(inside_, std::max(inside_, what));
  TRY_VOID(CheckRegion(region, inst.op, yields, inst.location));
  inside_ = outer;
  Forget(function_.region(region));
  around_.pop_back();
  return {};
}

Result<void> FunctionChecker::CheckMatmul(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 2));
  if (OperandType(inst, 1).element() != inst.type.element())
    return Wrong(inst, Diag::WrongType, "operand 2 is of another type");
  const Shape& a = ShapeOf(inst, 0);
  const Shape& b = ShapeOf(inst, 1);
  const Shape& c = function_.shape(inst.type);
  size_t rank = c.size();
  bool good = rank >= 2 && a.size() == rank && b.size() == rank;
  if (good) {
    for (size_t i = 0; i + 2 < rank; ++i) good &= a[i] == c[i] && b[i] == c[i];
    good &= a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1] && a[rank - 1] == b[rank - 2];
  }
  if (!good)
    return Wrong(inst, Diag::BadShape, "{} times {} is not {}", Show(OperandType(inst, 0)),
                 Show(OperandType(inst, 1)), Show(inst.type));
  return {};
}

Result<void> FunctionChecker::CheckReshape(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  std::optional<int64_t> from = ConstantSize(ShapeOf(inst, 0));
  std::optional<int64_t> to = ConstantSize(function_.shape(inst.type));
  if (from && to && *from != *to)
    return Wrong(inst, Diag::BadShape, "{} elements do not become {}", *from, *to);
  return {};
}

Result<void> FunctionChecker::CheckTranspose(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  const Shape& from = ShapeOf(inst, 0);
  const Shape& to = function_.shape(inst.type);
  std::vector<bool> used(from.size(), false);
  bool good = inst.attributes.count == from.size() && to.size() == from.size();
  for (uint32_t i = 0; good && i < from.size(); ++i) {
    int64_t axis = function_.word(inst, i);
    good = axis >= 0 && axis < static_cast<int64_t>(from.size()) &&
           !used[static_cast<size_t>(axis)] && to[i] == from[static_cast<size_t>(axis)];
    if (good) used[static_cast<size_t>(axis)] = true;
  }
  if (!good)
    return Wrong(inst, Diag::BadShape, "perm must name every axis once and fit the result");
  return {};
}

Result<void> FunctionChecker::CheckBroadcast(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  Type operand = OperandType(inst, 0);
  if (operand.is_buffer() || operand.element() != inst.type.element())
    return Wrong(inst, Diag::WrongType, "operand 1 is {}, not of {}", Show(operand),
                 Show(inst.type.element()));
  Shape from = operand.is_tensor() ? function_.shape(operand) : Shape{};
  const Shape& to = function_.shape(inst.type);
  bool good = inst.attributes.count == from.size();
  int64_t last = -1;
  for (uint32_t i = 0; good && i < from.size(); ++i) {
    int64_t axis = function_.word(inst, i);
    good = axis > last && axis < static_cast<int64_t>(to.size());
    last = axis;
    // A constant other than 1 against another constant can never fit; symbols are checked at run time.
    if (good && from[i] != to[static_cast<size_t>(axis)] && from[i] != Dim::Constant(1))
      good = from[i].is_symbol() || to[static_cast<size_t>(axis)].is_symbol();
  }
  if (!good)
    return Wrong(inst, Diag::BadShape,
                 "axes must ascend, one for each operand axis, of size 1 or equal");
  return {};
}

Result<void> FunctionChecker::CheckSlice(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 1));
  const Shape& from = ShapeOf(inst, 0);
  const Shape& to = function_.shape(inst.type);
  size_t rank = from.size();
  if (to.size() != rank || inst.attributes.count != 2 * rank)
    return Wrong(inst, Diag::BadAttribute, "start and step need one entry for each axis");
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t start = function_.word(inst, i);
    int64_t step = function_.word(inst, static_cast<uint32_t>(rank) + i);
    if (step == 0 || start < 0)
      return Wrong(inst, Diag::BadAttribute, "start >= 0 and step != 0 on axis {}", i);
    if (from[i].is_symbol() || to[i].is_symbol() || to[i].value == 0) continue;
    int64_t last = 0;
    bool good = !__builtin_mul_overflow(to[i].value - 1, step, &last) &&
                !__builtin_add_overflow(last, start, &last) && last >= 0 && last < from[i].value &&
                start < from[i].value;
    if (!good) return Wrong(inst, Diag::BadShape, "axis {} reaches outside of the operand", i);
  }
  return {};
}

Result<void> FunctionChecker::CheckConcat(const Inst& inst) const {
  const Shape& to = function_.shape(inst.type);
  int64_t axis = function_.word(inst, 0);
  if (inst.operands.count == 0) return NeedOperands(inst, 1);
  TRY_VOID(NeedAxis(inst, axis, to));
  int64_t total = 0;
  bool constant = !to[static_cast<size_t>(axis)].is_symbol();
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    if (OperandType(inst, i).element() != inst.type.element())
      return Wrong(inst, Diag::WrongType, "operand {} is of another type", i + 1);
    const Shape& from = ShapeOf(inst, i);
    bool good = from.size() == to.size();
    for (size_t j = 0; good && j < to.size(); ++j)
      good = j == static_cast<size_t>(axis) || from[j] == to[j];
    if (!good)
      return Wrong(inst, Diag::BadShape, "operand {} does not fit beside the others", i + 1);
    constant &= !from[static_cast<size_t>(axis)].is_symbol();
    total += from[static_cast<size_t>(axis)].value;
  }
  if (constant && total != to[static_cast<size_t>(axis)].value)
    return Wrong(inst, Diag::BadShape, "the operands make {} along axis {}", total, axis);
  return {};
}

Result<void> FunctionChecker::CheckGather(const Inst& inst) const {
  TRY_VOID(NeedOperands(inst, 2));
  if (OperandType(inst, 1).element() != types::Index)
    return Wrong(inst, Diag::WrongType, "operand 2 must be a tensor of index");
  const Shape& from = ShapeOf(inst, 0);
  const Shape& picks = ShapeOf(inst, 1);
  int64_t axis = function_.word(inst, 0);
  TRY_VOID(NeedAxis(inst, axis, from));
  Shape to(from.begin(), from.begin() + axis);
  to.insert(to.end(), picks.begin(), picks.end());
  to.insert(to.end(), from.begin() + axis + 1, from.end());
  if (to != function_.shape(inst.type))
    return Wrong(inst, Diag::BadShape, "its result is not {}", Show(inst.type));
  return {};
}

}  // namespace frazil::ir
