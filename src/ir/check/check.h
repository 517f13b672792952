// Check: is this program well formed? Everything else in Frazil may rely on what it promises.
//
// Of the program: there is an entry function; names of functions and of data are unique; table words
//   fit their element type (canonical field elements, bools 0 or 1).
// Of every instruction: operand count and types fit the row of ops.def or the op's own rule in
//   check_structure.cpp / check_tensor.cpp; T is one of the row's types; attributes are present,
//   complete and in range; constants are canonical for their type; it has the regions its op needs.
// Of every value: it is defined once, and used only after its definition in its region or in a region
//   nested in it (the body of a `while` counts as nested in its test).
// Of every region: it ends in the terminator that its op demands and has no other terminator; yielded
//   types are the results' types (carried types for loops); parameters have the types they must have.
// Of calls: arguments and results fit the callee with its symbolic dimensions replaced by arguments;
//   a buffer argument grants at least the callee's access.
// Of buffers: `in` is never written, `out` never read; buffers are not carried, yielded or returned.
// Of tensors: rank <= 8; constant dimensions fit exactly; a symbol is an `index` parameter.
// Of barriers: inside a `parallel`, reached through nothing but uniform `for` and `if`
//   (bounds and condition defined outside that `parallel`).
// Of `map` regions: scalar, pure but for traps, no loops over memory, no streams.
//
// Not checked: independence of parallel iterations (that is for whoever reorders them), termination,
//   the values of symbolic dimensions (checked at launch or by the ops that say so).
#pragma once

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

Result<void> Check(const Program& program, const Limits& limits = {});

// Whether the op of this T takes an operand of that type where its row says S: any scalar, but not for any op.
bool TakesOperand(Op op, Type t, Type operand);

}  // namespace frazil::ir
