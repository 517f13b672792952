// How assembly calls a function, as the judge reads it: arguments on the stack in order, the last one's on top, each with
// its first word on top; results likewise; what lies below is not touched; `first_on_top`: the first argument and the first
// result lie on top. Written again from the text in targets/tasm/tasm.h. Private to this folder.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "machines/tasm/program.h"

namespace frazil::verify::tasm {

// A whole program that reads arguments as a claim has them, stops at words that are none of their type, calls the function
// and writes its results.
Result<machines::tasm::Program> WithDriver(const ir::Program& program,
                                           const machines::tasm::Program& function,
                                           bool first_on_top);

}  // namespace frazil::verify::tasm
