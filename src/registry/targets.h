// The targets of this program, by name, in the order in which they are listed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/target.h"

namespace frazil::registry {

struct TargetEntry {
  std::string name;
  std::function<std::unique_ptr<exec::Target>()> make;  // called once, when it is first asked for
  std::string before = {};                              // listed before that one; empty: last
};
// For programs that link more than the standard targets, at their start. False where the name is taken.
bool RegisterTarget(TargetEntry entry);

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
