// A kernel that is ready to run: a program of any door on a target, or a module of the portable machine as it lies in
// its file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli.h"
#include "exec/kernel_launch.h"
#include "exec/outcome.h"
#include "ir/kernel.h"
#include "ir/program.h"

namespace frazil::cli {

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

// `shape` matters to modules in launch mode, whose lanes are no parameters.
Result<LoadedKernel> LoadKernel(const std::string& file, const std::string& target,
                                const exec::LaunchShape& shape, const Limits& limits);

// Run so often, or until it traps; the time of the quickest run.
struct TimedRun {
  exec::Outcome outcome;
  double best_ns = 0;
};
Result<TimedRun> RunTimed(const LoadedKernel& kernel, LoadedKernel::Arguments arguments,
                          const exec::RunContext& context, int repeat);

// kernel_run.cpp
void AddKernelRun(CLI::App& kernel, Session& session);

}  // namespace frazil::cli
