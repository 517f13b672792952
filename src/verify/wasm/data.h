// What lies in a module's memory from the beginning, against what the program says. Samples read few entries of a large table,
// so data is read, not run.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "verify/wasm/module.h"

namespace frazil::verify::wasm {

// Of a program as targets see it (ir/lower/lower.h). The tables that its functions look up lie one behind the other, each in a
// segment of its own and at a multiple of 16, the first at 16; behind them, in one segment, constants of int<k>.
Result<void> CheckData(const Module& module, const ir::Program& lowered);

}  // namespace frazil::verify::wasm
