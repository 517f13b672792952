// The one place where targets are registered, in the order in which they are listed.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/deadline.h"
#include "cli.h"
#include "exec/interpreter.h"
#include "targets/c/c.h"
#include "targets/cuda/cuda.h"
#include "targets/isa/isa.h"
#include "targets/native/native.h"
#include "targets/tasm/tasm.h"
#include "targets/wasm/wasm.h"

namespace frazil::cli {

const std::vector<std::unique_ptr<exec::Target>>& AllTargets() {
  static const auto* targets = [] {
    auto* all = new std::vector<std::unique_ptr<exec::Target>>;
    all->push_back(exec::MakeInterpreterTarget());
    all->push_back(targets::isa::MakeIsaTarget());
    all->push_back(targets::wasm::MakeWasmTarget());
    all->push_back(targets::c::MakeCTarget());
    all->push_back(targets::native::MakeNativeTarget());
    all->push_back(targets::cuda::MakeCudaTarget());
    all->push_back(targets::tasm::MakeTarget());
    return all;
  }();
  return *targets;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const auto& target : AllTargets()) names.emplace_back(target->name());
  return names;
}

Result<const exec::Target*> FindTarget(std::string_view name) {
  for (const auto& target : AllTargets()) {
    if (target->name() == name) return target.get();
  }
  return Fail(Diag::UnknownTarget, fmt::format("there is no target '{}'; there are {}", name,
                                               fmt::join(TargetNames(), ", ")));
}

Result<LoadedProgram> LoadOn(const exec::Target& target, const ir::Program& program,
                             const Limits& limits) {
  if (std::string why = target.Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, fmt::format("the target {} refuses: {}", target.name(), why));
  exec::EmitOptions options;
  options.metered = limits.fuel != Limits().fuel;
  Result<std::unique_ptr<exec::Callable>> callable =
      target.Load(TRY(target.Emit(program, options)));
  if (callable) return LoadedProgram{std::move(*callable), std::string(target.name()), ""};
  if (callable.error().diag != Diag::NoDevice) return std::unexpected(std::move(callable.error()));
  LoadedProgram loaded = TRY(LoadOn(*TRY(FindTarget("native")), program, limits));
  loaded.note = callable.error().message + "; the CPU answers";
  return loaded;
}

Result<exec::Outcome> RunWatched(const Session& session, exec::Callable& callable,
                                 std::span<const exec::Value> arguments,
                                 const exec::RunContext& context) {
  // What can be interrupted ends by itself before.
  constexpr std::chrono::milliseconds Grace(1000);
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    const auto end = Deadline::After(context.limits.run_ms).at() + Grace;
    if (wake.wait_until(lock, end, [&] { return done; })) return;
    const auto failed =
        Fail(Diag::LimitReached,
             fmt::format("time-out: the run took longer than {} ms and was ended (--timeout-ms)",
                         context.limits.run_ms));
    const int code = Report(session, failed.error());
    std::fflush(nullptr);
    std::_Exit(code);
  });
  Result<exec::Outcome> outcome = callable.Run(arguments, context);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  watch.join();
  return outcome;
}

Result<exec::Outcome> RunOn(const exec::Target& target, const ir::Program& program,
                            std::span<const exec::Value> arguments,
                            const exec::RunContext& context) {
  if (std::string why = target.Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, fmt::format("the target {} refuses: {}", target.name(), why));
  exec::EmitOptions options;
  options.metered = context.limits.fuel != Limits().fuel;
  exec::Artifact artifact = TRY(target.Emit(program, options));
  std::unique_ptr<exec::Callable> callable = TRY(target.Load(artifact));
  return callable->Run(arguments, context);
}

}  // namespace frazil::cli
