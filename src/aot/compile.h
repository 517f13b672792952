// One kernel, from its program to everything that is embedded of it.
#pragma once

#include "aot/unit.h"
#include "sources/sources.h"
#include "store/store.h"

namespace frazil::aot {

using SourceKernel = sources::Source;

// Never fails: what could not be made is in the report with its reason.
// The store says which candidates were caught being wrong, `banned` which were in this build. Where code is refuted the work
// ends: it may have written anywhere (BuiltKernel::refuted).
BuiltKernel CompileKernel(const SourceKernel& source, const BuildOptions& options,
                          store::Store& store, const std::vector<std::string>& banned);

}  // namespace frazil::aot
