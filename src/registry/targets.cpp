#include "registry/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "exec/meaning/interpreter.h"
#include "targets/c/c.h"
#include "targets/cuda/driver/target.h"
#include "targets/tasm/tasm.h"
#include "targets/tiles/tile.h"
#include "targets/wasm/wasm.h"

namespace frazil::registry {
namespace {

struct Registered {
  TargetEntry entry;
  std::shared_ptr<const exec::Target> target;  // null until it is asked for
};

// Asks for the target only where there is something to judge.
class JudgeOfTarget final : public verify::TargetJudge {
 public:
  explicit JudgeOfTarget(std::string name) : name_(std::move(name)) {}
  Result<verify::Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                                const ir::Guard& guard,
                                const verify::VerifyOptions& options) const override;

 private:
  std::string name_;
};

struct Registry {
  std::mutex mutex;
  std::vector<Registered> targets;
  std::vector<std::shared_ptr<const exec::Target>> replaced;  // somebody may have asked for them

  Registry() {
    const TargetEntry Standard[] = {
        {"interp", [] { return exec::MakeInterpreterTarget(); }, verify::LiftingJudge},
        {"isa", [] { return targets::tiles::MakeIsaTarget(); }, verify::LiftingJudge},
        {"wasm", [] { return targets::wasm::MakeWasmTarget(); }, verify::ModuleJudge},
        {"c", [] { return targets::c::MakeCTarget(); }, verify::RunsJudge},
        {"cuda", [] { return targets::cuda::MakeDriverTarget(); }, verify::RunsJudge, "", true},
        {"tasm", [] { return targets::tasm::MakeTarget(); }},
    };
    for (const TargetEntry& entry : Standard) Add(targets.end(), entry);
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

  void Add(std::vector<Registered>::iterator place, TargetEntry entry) {
    if (entry.judge)
      verify::RegisterJudge(entry.name, std::make_shared<const JudgeOfTarget>(entry.name));
    targets.insert(place, {std::move(entry), nullptr});
  }
};

const std::shared_ptr<const exec::Target>& Made(Registered& registered) {
  if (!registered.target) registered.target = registered.entry.make();
  return registered.target;
}

Result<verify::Verdict> JudgeOfTarget::Judge(const ir::Program& program,
                                             const exec::CompiledForm& form, const ir::Guard& guard,
                                             const verify::VerifyOptions& options) const {
  std::shared_ptr<const verify::TargetJudge> judge;
  {
    Registry& registry = Registry::Get();
    const std::lock_guard lock(registry.mutex);
    Registered& registered = *registry.Find(name_);
    if (registered.entry.judge) judge = registered.entry.judge(Made(registered));
  }
  if (judge == nullptr)  // it gave way to one without
    return verify::Unknown{fmt::format("forms of target '{}' cannot be judged", name_)};
  return judge->Judge(program, form, guard, options);
}

}  // namespace

bool RegisterTarget(TargetEntry entry) {
  Registry& registry = Registry::Get();
  const std::lock_guard lock(registry.mutex);
  if (const auto taken = registry.Find(entry.name); taken != registry.targets.end()) {
    if (!taken->entry.only_loads) return false;
    if (taken->target) registry.replaced.push_back(std::move(taken->target));
    registry.targets.erase(taken);
  }
  registry.Add(registry.Find(entry.before), std::move(entry));
  return true;
}

void RegisterJudges() { Registry::Get(); }

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
  for (Registered& registered : registry.targets) targets.push_back(Made(registered).get());
  return targets;
}

Result<const exec::Target*> FindTarget(std::string_view name) {
  {
    Registry& registry = Registry::Get();
    const std::lock_guard lock(registry.mutex);
    if (const auto found = registry.Find(name); found != registry.targets.end())
      return Made(*found).get();
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
