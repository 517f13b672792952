#include "exec/meaning/trap_place.h"

#include <algorithm>
#include <optional>

namespace frazil::exec {
namespace {

// The name of the buffer that an instruction accesses.
std::string BufferOf(const ir::Function& function, const ir::Inst& inst) {
  if (inst.operands.count == 0) return {};
  const ir::ValueId operand = function.operand(inst, 0);
  if (!function.type(operand).is_buffer() || operand.index >= function.value_names.size())
    return {};
  return function.value_names[operand.index];
}

}  // namespace

TrapPlace FindTrapPlace(const ir::Program& source, const Outcome& outcome) {
  TrapPlace place;
  // A clock that ran out is noticed anywhere.
  if (outcome.trap->timeout_ms && outcome.trap_at.line == 0) return place;
  std::optional<std::string> buffer;
  for (const ir::Function& function : source.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.trap_op() != outcome.trap->op) continue;
      const Location at = inst.location;
      const bool is_other = outcome.trap_at.line != 0 && (at.line != outcome.trap_at.line ||
                                                          at.column != outcome.trap_at.column);
      if (is_other) continue;
      if (at.line != 0) place.lines.push_back(at.line);
      const std::string name = BufferOf(function, inst);
      buffer = !buffer || *buffer == name ? name : std::string();
    }
  }
  std::ranges::sort(place.lines);
  place.lines.erase(std::unique(place.lines.begin(), place.lines.end()), place.lines.end());
  place.buffer = buffer.value_or("");
  return place;
}

}  // namespace frazil::exec
