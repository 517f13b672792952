// A lowered program to a module.
#pragma once

#include <string>

#include "exec/target.h"
#include "ir/program.h"

namespace frazil::targets::wasm {

// The program has been through ir::LowerForTarget. Fails where engines have a limit that it
// exceeds.
Result<std::string> EmitModule(const ir::Program& program, const exec::EmitOptions& options);

// Empty, or why no engine takes the program.
std::string RefusalOf(const ir::Program& program);

}  // namespace frazil::targets::wasm
