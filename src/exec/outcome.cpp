// Traps as sentences.
#include "exec/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::exec {

std::string_view TrapInfo::KindName() const { return timeout_ms ? "time-out" : ir::TrapName(kind); }

std::string TrapInfo::ToString() const {
  std::string text(KindName());
  if (timeout_ms) text += fmt::format(" after {} ms", *timeout_ms);
  text += fmt::format(" in {}", ir::Info(op).mnemonic);
  if (index >= 0) text += fmt::format(" (parallel iteration {})", index);
  return text;
}

bool SameTrapLowered(const ir::Program& program, const std::optional<TrapInfo>& a,
                     const std::optional<TrapInfo>& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->index != b->index) return false;
  return std::ranges::any_of(program.functions, [](const ir::Function& function) {
    return std::ranges::any_of(function.values,
                               [](const ir::ValueInfo& value) { return value.type.is_tensor(); });
  });
}

TrapInfo RunContext::Ended(ir::Op op, int64_t index) const {
  TrapInfo trap{ir::Trap::Fuel, op, index};
  if (!IsStopped()) trap.timeout_ms = limits.run_ms;
  return trap;
}

}  // namespace frazil::exec
