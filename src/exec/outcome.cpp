// Traps as sentences.
#include "exec/outcome.h"

#include <fmt/format.h>

namespace frazil::exec {

std::string TrapInfo::ToString() const {
  std::string text = fmt::format("{} in {}", ir::TrapName(kind), ir::Info(op).mnemonic);
  if (index >= 0) text += fmt::format(" (parallel iteration {})", index);
  return text;
}

}  // namespace frazil::exec
