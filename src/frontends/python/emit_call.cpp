// Calls of the rows of functions.def.
#include <fmt/format.h>

#include "base/check.h"
#include "frontends/python/emit.h"

namespace frazil::frontends::python {

using ir::Op;
using ir::Scalar;

ir::ValueId Emitter::Call(Expr* e, Scalar type) {
  const FunctionRow& row = *e->function;
  switch (row.kind) {
    case FunctionKind::Id: return IdValue(e);
    case FunctionKind::Atomic: return Atomic(e);
    case FunctionKind::Random: return Random(e);
    case FunctionKind::Bitcast: {
      ValueId value = Own(e->args[0]);
      builder_.SetLocation(e->location);
      if (builder_.TypeOf(value).scalar == e->to) return value;
      return builder_.Cast(Op::Bitcast, value, ir::Type::Of(e->to));
    }
    case FunctionKind::Select: {
      ValueId condition = Condition(e->args[0]);
      ValueId a = As(e->args[1], type);
      ValueId b = As(e->args[2], type);
      builder_.SetLocation(e->location);
      return builder_.Select(condition, a, b);
    }
    case FunctionKind::Abs: {
      ValueId value = As(e->args[0], type);
      bool has_sign = ir::IsSigned(type) || ir::IsFloat(type);
      builder_.SetLocation(e->location);
      return has_sign ? builder_.Unary(Op::Abs, value) : value;
    }
    case FunctionKind::MinMax:
    case FunctionKind::Float:
    case FunctionKind::Wide:
    case FunctionKind::Fast:
    case FunctionKind::Int: break;
    case FunctionKind::Barrier:
    case FunctionKind::Length: CHECK(!"these are no calls in the tree");
  }
  Values operands;
  for (Expr* arg : e->args) operands.push_back(As(arg, type));
  builder_.SetLocation(e->location);
  if (row.kind == FunctionKind::MinMax) {
    ValueId result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i)
      result = builder_.Binary(row.op, result, operands[i]);
    return result;
  }
  // A literal in unsigned code is its own absolute value.
  if (row.op == Op::AbsChecked && !ir::IsSigned(type)) return operands[0];
  ir::Type ir_type = ir::Type::Of(type);
  return builder_.Emit(row.op, ir_type, operands, std::span(&ir_type, 1))[0];
}

ir::ValueId Emitter::Random(Expr* e) {
  Values operands;
  for (Expr* arg : e->args) operands.push_back(As(arg, Scalar::U64));
  ir::Type type = ir::Type::Of(e->type.scalar);
  builder_.SetLocation(e->location);
  return builder_.Emit(e->function->op, type, operands, std::span(&type, 1))[0];
}

ir::ValueId Emitter::Atomic(Expr* e) {
  const FunctionRow& row = *e->function;
  Scalar element = tree_.arrays[e->id].element;
  if (ir::IsFloat(element) && !e->unordered) {
    errors_.Add(
        e->location,
        fmt::format("'{}' on floats depends on the order of lanes, and this one is no reduction",
                    row.name),
        "pass unordered=True, or use one element for all lanes of a kernel guarded by 'if i < n' "
        "and do not use the old value",
        Diag::NotUnordered);
    return Zero(ir::Type::Of(element));
  }
  ValueId address = As(e->args[0], Scalar::Index);
  Values operands = {arrays_[e->id], address};
  for (size_t i = 1; i < e->args.size(); ++i) operands.push_back(As(e->args[i], element));
  ir::Type type = ir::Type::Of(element);
  builder_.SetLocation(e->location);
  uint64_t words[] = {row.detail, ir::IsFloat(element)};
  std::span<const uint64_t> attributes;
  if (row.op == Op::AtomicRmw) attributes = words;
  return builder_.Emit(row.op, type, operands, std::span(&type, 1), attributes)[0];
}

}  // namespace frazil::frontends::python
