// One kernel, from its program to everything that is embedded of it.
#pragma once

#include "aot/unit.h"
#include "sources/sources.h"

namespace frazil::aot {

using SourceKernel = sources::Source;

// Never fails: what could not be made is in the report with its reason.
BuiltKernel CompileKernel(const SourceKernel& source, const BuildOptions& options);

}  // namespace frazil::aot
