// Folds, before code is made of them. One of floats in 64 chains whose elements fit lanes becomes a `for` that carries one value
// and says that it stands for a fold (IsTree of vectors/loop_plan.h): vectors/vector_tree.h makes the defined tree of it,
// and nobody else may touch it. One of integers becomes a plain loop, because any order gives the same bits. The others
// become loops over scratch (ir::ExpandFolds).
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "targets/native/native.h"

namespace frazil::targets::native {

Result<void> PlaceFolds(ir::Program& lowered, const NativeOptions& options);

}  // namespace frazil::targets::native
