// Modules are mapped and run in place; everything else goes through a program and a target.
#include "registry/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ir/builder.h"
#include "registry/targets.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"
#include "targets/tiles/tile.h"

namespace frazil::registry {
namespace {

using machines::simt::Module;

Result<std::vector<std::string>> Sentences(Result<targets::tiles::SanitizedRun> run) {
  std::vector<std::string> sentences;
  for (const targets::tiles::Finding& finding : TRY(std::move(run)).findings)
    sentences.push_back(finding.ToString());
  return sentences;
}

// A function with these parameters that does nothing: what arguments are read against.
ir::Program TypesOf(const ir::KernelSignature& signature) {
  ir::Program program;
  std::vector<ir::Type> types;
  for (const ir::KernelParam& param : signature.params) types.push_back(param.type);
  ir::FunctionBuilder builder(program, signature.name, types, {});
  for (uint32_t i = 0; i < types.size(); ++i)
    builder.Name(builder.Param(i), signature.params[i].name);
  builder.Return({});
  builder.Finish();
  return program;
}

// One lane's code runs once where nothing else is said.
Result<targets::isa::LaunchShape> GridOf(const exec::LaunchShape& shape) {
  TRY_VOID(exec::CheckShape(shape));
  targets::isa::LaunchShape launch;
  launch.shared_bytes = shape.shared_bytes;
  for (size_t k = 0; k < 3; ++k) {
    const int64_t blocks = k == 0 ? shape.blocks().value_or(1) : shape.grid[k].value_or(1);
    for (int64_t edge : {blocks, shape.block[k]})
      if (edge > INT32_MAX)
        return Fail(Diag::BadLaunch, fmt::format("{} are too many blocks or lanes of one", edge));
    launch.block[k] = static_cast<uint32_t>(shape.block[k]);
    launch.grid[k] = static_cast<uint32_t>(blocks);
  }
  return launch;
}

Result<LoadedKernel> FromModule(const Module& module, const exec::LaunchShape& shape) {
  LoadedKernel kernel;
  kernel.signature = module.Signature();
  kernel.types = TypesOf(kernel.signature);
  kernel.target = "isa";
  if (module.mode == machines::simt::Mode::Launch) {
    kernel.run = [module, launch = TRY(GridOf(shape))](LoadedKernel::Arguments arguments,
                                                       const exec::RunContext& context) {
      return targets::isa::RunLaneExact(module, arguments, context, launch);
    };
    kernel.sanitize = [](LoadedKernel::Arguments,
                         const exec::RunContext&) -> Result<std::vector<std::string>> {
      return Fail(Diag::Unsupported,
                  "the sanitizing run takes programs; this module is one lane's code");
    };
    return kernel;
  }
  auto plan = TRY(targets::tiles::Prepare(TRY(targets::isa::ProvedModule::Itself(module))));
  kernel.run = [plan](LoadedKernel::Arguments arguments, const exec::RunContext& context) {
    return targets::tiles::Run(*plan, arguments, context);
  };
  kernel.sanitize = [module](LoadedKernel::Arguments arguments, const exec::RunContext& context) {
    return Sentences(targets::tiles::Sanitize(module, arguments, context));
  };
  return kernel;
}

}  // namespace

Result<LoadedKernel> LoadKernel(ir::Program program, std::string_view target_name,
                                const Limits& limits) {
  LoadedProgram loaded = TRY(LoadOn(*TRY(FindTarget(target_name)), program, limits));
  LoadedKernel kernel;
  kernel.signature = ir::SignatureOf(program);
  kernel.target = loaded.target;
  kernel.note = loaded.note;
  kernel.run = [callable = loaded.callable](LoadedKernel::Arguments arguments,
                                            const exec::RunContext& context) {
    return callable->Run(arguments, context);
  };
  kernel.sanitize = [program](LoadedKernel::Arguments arguments, const exec::RunContext& context) {
    return Sentences(targets::tiles::Sanitize(program, arguments, context));
  };
  kernel.types = std::move(program);
  return kernel;
}

Result<LoadedKernel> LoadKernel(const Module& module, std::string_view name,
                                std::string_view target_name, const exec::LaunchShape& shape,
                                const Limits& limits) {
  const bool is_launch = module.mode == machines::simt::Mode::Launch;
  if (is_launch && target_name != "isa" && target_name != "interp")
    return Fail(Diag::Unsupported,
                fmt::format("{} is one lane's code: it runs on the target isa only", name));
  if (is_launch || target_name == "isa") return FromModule(module, shape);
  return LoadKernel(TRY(targets::isa::Lift(module)), target_name, limits);
}

Result<TimedRun> RunTimed(const LoadedKernel& kernel, LoadedKernel::Arguments arguments,
                          const exec::RunContext& context, int repeat) {
  TimedRun run;
  for (int i = 0; i < std::max(repeat, 1) && !run.outcome.trap; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run.outcome = TRY(kernel.run(arguments, context));
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    run.best_ns = i == 0 ? taken.count() : std::min(run.best_ns, taken.count());
  }
  return run;
}

}  // namespace frazil::registry
