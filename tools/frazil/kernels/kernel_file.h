// What `frazil kernel run` and `frazil kernel show` share.
#pragma once

#include "cli.h"
#include "registry/kernels.h"

namespace frazil::cli {

// A .frzb or .isa file is a module; everything else is what `frazil run` takes.
Result<registry::LoadedKernel> LoadKernelFile(const std::string& file, const std::string& target,
                                              const exec::LaunchShape& shape, const Limits& limits);

// kernel_run.cpp
void AddKernelRun(CLI::App& kernel, Session& session);

}  // namespace frazil::cli
