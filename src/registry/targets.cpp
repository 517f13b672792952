#include "registry/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "exec/meaning/interpreter.h"
#include "targets/c/c.h"
#include "targets/tasm/tasm.h"
#include "targets/tiles/tile.h"
#include "targets/wasm/wasm.h"

namespace frazil::registry {
namespace {

struct Registered {
  TargetEntry entry;
  std::unique_ptr<exec::Target> target;  // null until it is asked for
};

struct Registry {
  std::mutex mutex;
  std::vector<Registered> targets;

  Registry() {
    const TargetEntry Standard[] = {
        {"interp", [] { return exec::MakeInterpreterTarget(); }},
        {"isa", [] { return targets::tiles::MakeIsaTarget(); }},
        {"wasm", [] { return targets::wasm::MakeWasmTarget(); }},
        {"c", [] { return targets::c::MakeCTarget(); }},
        {"tasm", [] { return targets::tasm::MakeTarget(); }},
    };
    for (const TargetEntry& entry : Standard) targets.push_back({entry, nullptr});
  }

  // Never destroyed: threads may still run what a target made when the program ends.
  static Registry& Get() {
    static auto* registry = new Registry;
    return *registry;
  }

  std::vector<Registered>::iterator Find(std::string_view name) {
    return std::ranges::find(targets, name,
                             [](const Registered& r) { return std::string_view(r.entry.name); });
  }
};

const exec::Target* Made(Registered& registered) {
  if (!registered.target) registered.target = registered.entry.make();
  return registered.target.get();
}

}  // namespace

bool RegisterTarget(TargetEntry entry) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  if (registry.Find(entry.name) != registry.targets.end()) return false;
  const auto place = registry.Find(entry.before);
  registry.targets.insert(place, {std::move(entry), nullptr});
  return true;
}

std::vector<std::string> TargetNames() {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const Registered& registered : registry.targets) names.push_back(registered.entry.name);
  return names;
}

std::vector<const exec::Target*> AllTargets() {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  std::vector<const exec::Target*> targets;
  for (Registered& registered : registry.targets) targets.push_back(Made(registered));
  return targets;
}

Result<const exec::Target*> FindTarget(std::string_view name) {
  {
    Registry& registry = Registry::Get();
    const std::lock_guard lock(registry.mutex);
    if (const auto found = registry.Find(name); found != registry.targets.end())
      return Made(*found);
  }
  return Fail(Diag::UnknownTarget, fmt::format("there is no target '{}'; there are {}", name,
                                               fmt::join(TargetNames(), ", ")));
}

Result<void> CheckAccepts(const exec::Target& target, const ir::Program& program) {
  if (const std::string why = target.Refuses(program); !why.empty())
    return Fail(Diag::Unsupported, fmt::format("the target {} refuses: {}", target.name(), why));
  return {};
}

Result<std::unique_ptr<exec::Callable>> Load(const exec::Target& target, const ir::Program& program,
                                             const Limits& limits) {
  TRY_VOID(CheckAccepts(target, program));
  exec::EmitOptions options;
  options.metered = limits.fuel != Limits().fuel;
  return target.Load(TRY(target.Emit(program, options)));
}

Result<LoadedProgram> LoadOn(const exec::Target& target, const ir::Program& program,
                             const Limits& limits) {
  Result<std::unique_ptr<exec::Callable>> callable = Load(target, program, limits);
  if (callable) return LoadedProgram{std::move(*callable), std::string(target.name()), ""};
  if (callable.error().diag != Diag::NoDevice) return std::unexpected(std::move(callable.error()));
  // Compiled code where this program has a compiler, tiles else.
  const Result<const exec::Target*> native = FindTarget("native");
  const exec::Target& cpu = native ? **native : *TRY(FindTarget("isa"));
  return LoadedProgram{TRY(Load(cpu, program, limits)), std::string(cpu.name()),
                       callable.error().message + "; the CPU answers"};
}

Result<exec::Outcome> RunOn(const exec::Target& target, const ir::Program& program,
                            std::span<const exec::Value> arguments,
                            const exec::RunContext& context) {
  return TRY(Load(target, program, context.limits))->Run(arguments, context);
}

}  // namespace frazil::registry
