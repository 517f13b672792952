// Warnings about imports that a file does not need.
#pragma once

#include <vector>

#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

void WarnUnusedImports(const Module& module, std::vector<Error>* warnings);

}  // namespace frazil::frontends::trident
