// Every way to run a program that must give the same bits: the interpreter on the program as it is, on
// what comes back from the printer and from each pass, and the targets.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "support/run_line.h"

namespace frazil::tests {

using Prepared = Result<std::unique_ptr<exec::Callable>>;

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  // One callable, or the reason why not, for each program. Programs handed over together are compiled
  // together where that saves time. `metered`: runs may have a fuel limit.
  virtual std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs,
                                        bool metered) = 0;
  virtual TrapDetail trap_detail(const ir::Program&) const { return TrapDetail::All; }
  // Whether memory is there to be looked at after a trap; if not, buffers are as they were.
  virtual bool leaves_memory() const { return true; }
  // Not every program is its business (the batch interpreter); what it refuses is no failure.
  virtual bool may_refuse() const { return false; }
};

// The names that MakeEngine knows, in the order in which they are worth running.
std::vector<std::string> EngineNames();
Result<std::unique_ptr<Engine>> MakeEngine(std::string_view name);

}  // namespace frazil::tests
