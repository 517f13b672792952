// A kernel that is run as large launches run it, seen as a callable: cut into pieces, which run in another order. The
// judge compares it with the program like any other code. Where the conditions do not hold the ranged form runs with all
// iterations as its range, so that the judge sees all of that form's code at work, and no other.
#pragma once

#include <memory>

#include "exec/native/native_callable.h"
#include "ir/lanes/independence.h"

namespace frazil::aot {

struct PiecesCode {
  std::shared_ptr<const exec::NativeCode> ranged;
  std::shared_ptr<const exec::NativeCode> trips;  // null: `trips_word` says it
  uint16_t trips_word = 0;
  ir::Independence conditions;
};

std::unique_ptr<exec::Callable> MakePiecesCallable(PiecesCode code,
                                                   std::shared_ptr<const ir::Program> program);

// The ranged form with all iterations as its range: what stands in for the plain form of a large kernel.
std::unique_ptr<exec::Callable> MakeWholeCallable(std::shared_ptr<const exec::NativeCode> ranged,
                                                  std::shared_ptr<const ir::Program> program);

}  // namespace frazil::aot
