// What the files of this folder share; not installed for others to use.
#pragma once

#include <optional>
#include <span>

#include "exec/value.h"
#include "kernel/backend.h"
#include "kernel/launch_config.h"

namespace frazil::kernel::internal {

// Completes and checks the arguments, then runs.
Result<void> LaunchValues(const LoadedKernel& kernel, const LaunchConfig& config,
                          std::span<const std::optional<exec::Value>> given);

}  // namespace frazil::kernel::internal
