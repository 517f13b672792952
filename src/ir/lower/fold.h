// A reduction as loops, in the defined tree of [tensor.reduce]: what LowerTensors makes of `reduce`, and what ir/lanes/fold_match.h
// compares with.
#pragma once

#include <functional>

#include "ir/builder.h"

namespace frazil::ir {

// The fold of element(0) .. element(length - 1); the identity if there are none. `length` is an index, not negative.
// `element` is called several times: it builds the same code in several loops, each element once, in ascending order.
ValueId EmitFold(FunctionBuilder& builder, ReduceKind kind, Type type, ValueId length,
                 const std::function<ValueId(ValueId index)>& element);

// What a fold of no elements is.
ValueId FoldIdentity(FunctionBuilder& builder, ReduceKind kind, Type type);

}  // namespace frazil::ir
