// The targets of this program, by name, in the order in which they are listed; each with who judges its forms.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/target.h"
#include "verify/target_judges.h"

namespace frazil::registry {

// What a target is, in one place: who emits and loads, and who judges what it emits.
struct TargetEntry {
  std::string name;
  std::function<std::unique_ptr<exec::Target>()> make;  // called once, when it is first asked for
  // verify::LiftingJudge, ModuleJudge, RunsJudge, or one of its own. Null: its forms are judged by nobody, and so nothing
  // calls them.
  using JudgeMaker = std::function<std::shared_ptr<const verify::TargetJudge>(
      std::shared_ptr<const exec::Target>)>;
  JudgeMaker judge = {};
  std::string before = {};  // listed before that one; empty: last
  bool only_loads = false;  // it gives way to a target of its name that emits, too
};
// For programs that link more than the standard targets, at their start. False where the name is taken.
bool RegisterTarget(TargetEntry entry);
// Makes the judges of the standard targets known to verify/, which the first call of anything here does, too; those of
// others are when they are registered.
void RegisterJudges();

std::vector<std::string> TargetNames();
// They live as long as the program.
std::vector<const exec::Target*> AllTargets();
Result<const exec::Target*> FindTarget(std::string_view name);

// The refusal as an error, if it is one.
Result<void> CheckAccepts(const exec::Target& target, const ir::Program& program);

// A program emitted and loaded. It is metered when its fuel is limited.
Result<std::unique_ptr<exec::Callable>> Load(const exec::Target& target, const ir::Program& program,
                                             const Limits& limits);
// Where the target's machine is not here, the CPU answers: `target` is then its name, and `note` says why.
struct LoadedProgram {
  std::shared_ptr<exec::Callable> callable;
  std::string target;
  std::string note;
};
Result<LoadedProgram> LoadOn(const exec::Target& target, const ir::Program& program,
                             const Limits& limits);
// Emits, loads and runs in one go, there or not at all.
Result<exec::Outcome> RunOn(const exec::Target& target, const ir::Program& program,
                            std::span<const exec::Value> arguments,
                            const exec::RunContext& context);

}  // namespace frazil::registry
