#include "ir/check/call_types.h"

#include <fmt/format.h>

namespace frazil::ir {
namespace {

// A caller's value as a dimension.
Result<Dim> AsDim(const Function& caller, ValueId value) {
  if (value.index < caller.param_count() && caller.type(value) == types::Index)
    return Dim::Symbol(value.index);
  InstId def = caller.values[value.index].def;
  if (def.valid() && caller.inst(def).op == Op::Const && caller.type(value) == types::Index &&
      caller.word(caller.inst(def), 0) >= 0)
    return Dim::Constant(caller.word(caller.inst(def), 0));
  return Fail(Diag::BadSymbolicDim,
              "an argument that sizes a tensor must be an index parameter or an index constant");
}

}  // namespace

Result<Shape> CallShape(const Function& callee, const Function& caller,
                        std::span<const ValueId> arguments, Type tensor) {
  Shape shape;
  for (Dim dim : callee.shape(tensor)) {
    if (!dim.is_symbol())
      shape.push_back(dim);
    else if (dim.param() < arguments.size())
      shape.push_back(TRY(AsDim(caller, arguments[dim.param()])));
    else
      return Fail(Diag::BadSymbolicDim, "a dimension has no argument");
  }
  return shape;
}

Result<std::vector<Type>> CallResultTypes(const Function& callee, Function& caller,
                                          std::span<const ValueId> arguments) {
  if (arguments.size() != callee.param_count())
    return Fail(Diag::BadCall,
                fmt::format("@{} takes {} argument{}, {} given", callee.name, callee.param_count(),
                            callee.param_count() == 1 ? "" : "s", arguments.size()));
  std::vector<Type> types;
  for (Type type : callee.results) {
    if (type.is_tensor())
      type.shape = caller.AddShape(TRY(CallShape(callee, caller, arguments, type)));
    types.push_back(type);
  }
  return types;
}

}  // namespace frazil::ir
