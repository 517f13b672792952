// A kernel that is ready to run: a program of any door on a target, or a module of the portable machine as it is.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/kernel_launch.h"
#include "exec/outcome.h"
#include "ir/kernel.h"
#include "ir/program.h"
#include "machines/simt/module.h"

namespace frazil::registry {

struct LoadedKernel {
  ir::KernelSignature signature;
  ir::Program types;  // its entry has the kernel's parameters
  const ir::Function& entry() const { return types.entry_function(); }

  using Arguments = std::span<const exec::Value>;
  std::function<Result<exec::Outcome>(Arguments, const exec::RunContext&)> run;
  // A sentence for each finding.
  std::function<Result<std::vector<std::string>>(Arguments, const exec::RunContext&)> sanitize;
  std::string target;  // where it runs
  std::string note;    // if that is not where it was asked to
};

Result<LoadedKernel> LoadKernel(ir::Program program, std::string_view target_name,
                                const Limits& limits);
// On "isa" the module itself, elsewhere the program that it is. `shape` matters to modules in launch mode, whose lanes are no
// parameters. Errors call it by `name`.
Result<LoadedKernel> LoadKernel(const machines::simt::Module& module, std::string_view name,
                                std::string_view target_name, const exec::LaunchShape& shape,
                                const Limits& limits);

// Run so often, or until it traps; the time of the quickest run.
struct TimedRun {
  exec::Outcome outcome;
  double best_ns = 0;
};
Result<TimedRun> RunTimed(const LoadedKernel& kernel, LoadedKernel::Arguments arguments,
                          const exec::RunContext& context, int repeat);

}  // namespace frazil::registry
