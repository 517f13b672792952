// The passes between a program and a target, in this order:
//   1. LowerTensors    tensor values become scratch buffers and loops; tensor parameters become `in`
//                      buffers, tensor results become `out` buffers appended to the parameters; folds become loops
//   2. ExpandPrelude   math ops become calls of the functions in ir/prelude/*.frz; the sponge becomes a buffer,
//                      Merkle steps become hints and hashes; assembly (`tasm`) is refused
//   3. SplitBarriers   a `parallel` with barriers becomes one parallel per phase
// Each takes a checked program and gives a checked program.
#pragma once

#include <functional>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

// Folds become loops too, unless the target has a form of its own for them. KeepRows: and one for vectors and caches, so that
// those down columns become loops over rows (column_folds.h); where columns are threads they stay.
enum class Folds : uint8_t { Expand, Keep, KeepRows };
Result<Program> LowerTensors(const Program& program, Folds folds = Folds::Expand);
// Those of a function that `expands` says; all where it is empty.
using WhichFolds = std::function<bool(const Function& function, const Inst& fold)>;
Result<Program> ExpandFolds(const Program& program, const WhichFolds& expands = {});
bool HasFolds(const Program& program);
bool HasTensors(const Program& program);  // or folds; false: LowerTensors gives a copy
Result<Program> ExpandPrelude(const Program& program);
Result<Program> SplitBarriers(const Program& program);

// A structure around a barrier is a boundary of phases too ([order.barrier]): this writes those boundaries
// down as barriers, for whoever executes barriers one by one. SplitBarriers does not need it.
Result<Program> ExplicitBarriers(const Program& program);

// All three, then a check of the size limit.
Result<Program> LowerForTarget(const Program& program, const Limits& limits = {},
                               Folds folds = Folds::Expand);
// The reason of a target that takes whatever can be lowered; empty: it can be.
std::string WhyNotLowered(const Program& program);

}  // namespace frazil::ir
