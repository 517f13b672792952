// Moves what is the same in every turn of a loop out of it, so that the analyses of loops see bounds, strides and scales
// as values that are known before. Nothing that can trap moves. Internal to this folder.
#pragma once

#include "ir/program.h"

namespace frazil::targets::native {

void HoistInvariants(ir::Program& lowered);

}  // namespace frazil::targets::native
