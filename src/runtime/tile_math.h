// Gives the tile interpreter the machine code of the standard kernels for exp, tanh and others: the same bits as the
// prelude's functions that it would interpret otherwise, by the verdict under which they were embedded.
#pragma once

namespace frazil::runtime::internal {

// Once; further calls do nothing. Functions without code for this machine stay interpreted.
void InstallTileMath();

}  // namespace frazil::runtime::internal
