#include "verify/tasm/runs/ram_use.h"

namespace frazil::verify::tasm {
namespace {

// Above the lines of the prelude's own functions, which a run of the copy goes through too.
constexpr uint32_t FirstLine = 1u << 30;

}  // namespace

RamUse::RamUse(const ir::Program& program, uint32_t ram) : program_(program) {
  for (const ir::Function& function : program.functions)
    may_be_ram_.emplace_back(function.param_count());
  may_be_ram_[program.entry.index][ram] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t f = 0; f < program.functions.size(); ++f) {
      const ir::Function& function = program.functions[f];
      for (const ir::Inst& inst : function.insts) {
        if (inst.op != ir::Op::Call) continue;
        std::vector<bool>& callee = may_be_ram_[static_cast<size_t>(function.word(inst, 0))];
        for (uint32_t i = 0; i < inst.operands.count; ++i) {
          if (callee[i] || !MayBeRam(f, function.operand(inst, i))) continue;
          callee[i] = grew = true;
        }
      }
    }
  }
}

// A buffer that was neither allocated here nor is a parameter came by a way that is not followed.
bool RamUse::MayBeRam(uint32_t f, ir::ValueId value) const {
  const ir::Function& function = program_.functions[f];
  if (!function.type(value).is_buffer()) return false;
  for (uint32_t i = 0; i < function.param_count(); ++i)
    if (function.param(i) == value) return may_be_ram_[f][i];
  for (const ir::Inst& inst : function.insts)
    if (inst.op == ir::Op::Alloc && ir::Function::result_of(inst) == value) return false;
  return true;
}

ir::Program RamUse::WithPlaces(const ir::Program& program) {
  ir::Program copy = program;
  for (uint32_t f = 0; f < copy.functions.size(); ++f)
    for (uint32_t i = 0; i < copy.functions[f].insts.size(); ++i)
      copy.functions[f].insts[i].location = {FirstLine + f, i};
  return copy;
}

bool RamUse::MayTrapThere(const exec::Outcome& outcome) const {
  if (!outcome.trap || outcome.trap->kind != ir::Trap::OutOfBounds) return false;
  const Location at = outcome.trap_at;
  if (at.line < FirstLine || at.line - FirstLine >= program_.functions.size()) return true;
  const uint32_t f = at.line - FirstLine;
  const ir::Function& function = program_.functions[f];
  if (at.column >= function.insts.size() || function.insts[at.column].trap_op() != outcome.trap->op)
    return true;
  const ir::Inst& inst = function.insts[at.column];
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    if (MayBeRam(f, function.operand(inst, i))) return true;
  return false;
}

}  // namespace frazil::verify::tasm
