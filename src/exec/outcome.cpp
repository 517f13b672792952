// Traps as sentences.
#include "exec/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::exec {

std::string TrapInfo::ToString() const {
  std::string text = fmt::format("{} in {}", ir::TrapName(kind), ir::Info(op).mnemonic);
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

}  // namespace frazil::exec
