// Traps as sentences.
#include "exec/outcome.h"

#include <fmt/format.h>

namespace frazil::exec {

std::string_view TrapInfo::KindName() const { return timeout_ms ? "time-out" : ir::TrapName(kind); }

std::string TrapInfo::ToString() const {
  std::string text(KindName());
  if (timeout_ms) text += fmt::format(" after {} ms", *timeout_ms);
  text += fmt::format(" in {}", ir::Info(op).mnemonic);
  if (index >= 0) text += fmt::format(" (parallel iteration {})", index);
  return text;
}

TrapInfo RunContext::Ended(ir::Op op, int64_t index) const {
  TrapInfo trap{ir::Trap::Fuel, op, index};
  if (!IsStopped()) trap.timeout_ms = limits.run_ms;
  return trap;
}

}  // namespace frazil::exec
