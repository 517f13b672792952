// docs/isa.md as text.
#pragma once

#include <string>

namespace frazil {

std::string IsaManual();

}  // namespace frazil
