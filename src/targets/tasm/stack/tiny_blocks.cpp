// `call X` is two words and two rows with its return, so that one instruction is never better called. An empty block behind
// skiz leaves only the condition to drop.
#include "targets/tasm/stack/tiny_blocks.h"

#include <vector>

namespace frazil::targets::tasm {
namespace {

namespace mt = machines::tasm;
using mt::Opcode;

bool EndsHere(Opcode op) {
  return op == Opcode::Return || op == Opcode::Halt || op == Opcode::Recurse ||
         op == Opcode::RecurseOrReturn;
}

// Keeps what is marked; calls and labels follow. Labels of code that is gone go too.
void Keep(mt::Program& program, const std::vector<bool>& kept,
          const std::vector<bool>& labels_stay) {
  std::vector<uint32_t> moved(program.code.size() + 1);
  std::vector<mt::Instruction> code;
  for (size_t i = 0; i < program.code.size(); ++i) {
    moved[i] = static_cast<uint32_t>(code.size());
    if (kept[i]) code.push_back(program.code[i]);
  }
  moved[program.code.size()] = static_cast<uint32_t>(code.size());
  for (mt::Instruction& instruction : code) {
    if (instruction.op == Opcode::Call) instruction.argument = moved[instruction.argument];
  }
  std::vector<mt::Label> labels;
  for (mt::Label& label : program.labels) {
    if (label.instruction < labels_stay.size() && !labels_stay[label.instruction]) continue;
    label.instruction = moved[label.instruction];
    labels.push_back(std::move(label));
  }
  program.code = std::move(code);
  program.labels = std::move(labels);
}

std::vector<bool> Reached(const mt::Program& program) {
  std::vector<bool> reached(program.code.size());
  std::vector<size_t> work = {0};
  while (!work.empty()) {
    const size_t i = work.back();
    work.pop_back();
    if (i >= program.code.size() || reached[i]) continue;
    reached[i] = true;
    const mt::Instruction& instruction = program.code[i];
    if (EndsHere(instruction.op)) continue;
    work.push_back(i + 1);
    if (instruction.op == Opcode::Skiz) work.push_back(i + 2);
    if (instruction.op == Opcode::Call) work.push_back(instruction.argument);
  }
  return reached;
}

}  // namespace

bool InlineTinyBlocks(mt::Program& program) {
  bool changed = false;
  std::vector<bool> kept(program.code.size(), true);
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (program.code[i].op != Opcode::Call) continue;
    const size_t target = program.code[i].argument;
    const mt::Instruction first = program.code[target];
    if (first.op == Opcode::Return) {
      changed = true;
      kept[i] = false;
      if (i > 0 && program.code[i - 1].op == Opcode::Skiz)
        program.code[i - 1] = {Opcode::Pop, 1, -1, program.code[i].location};
      continue;
    }
    const bool one = target + 1 < program.code.size() &&
                     program.code[target + 1].op == Opcode::Return && first.op != Opcode::Skiz &&
                     (!EndsHere(first.op) || first.op == Opcode::Halt) && kept[target] &&
                     kept[target + 1];
    if (!one) continue;
    changed = true;
    program.code[i] = first;
  }
  const std::vector<bool> all(program.code.size(), true);
  if (changed) Keep(program, kept, all);
  const std::vector<bool> reached = Reached(program);
  if (reached == std::vector<bool>(program.code.size(), true)) return changed;
  Keep(program, reached, reached);
  return true;
}

}  // namespace frazil::targets::tasm
