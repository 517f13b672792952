// Warnings about imports that a file does not need.
#pragma once

#include <vector>

#include "frontends/field/ast.h"

namespace frazil::frontends::field {

void WarnUnusedImports(const Module& module, std::vector<Error>* warnings);

}  // namespace frazil::frontends::field
