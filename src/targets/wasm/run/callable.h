// A loaded artifact: compiled once, with an instance that runs reuse.
#pragma once

#include <memory>

#include "exec/target.h"

namespace frazil::targets::wasm {

Result<std::unique_ptr<exec::Callable>> LoadArtifact(const exec::Artifact& artifact);

}  // namespace frazil::targets::wasm
