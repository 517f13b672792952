// Assembly in a program owns its operands and what it puts above them. What lies below is the schedule's, which has no
// place for it in any order: code that goes there is refused, and this is where that is seen.
#include "targets/tasm/assembly/asm_reach.h"

#include <algorithm>

namespace frazil::targets::tasm {

namespace mt = machines::tasm;

uint32_t Touches(const mt::Instruction& instruction) {
  using mt::Opcode;
  const uint32_t n = static_cast<uint32_t>(instruction.argument);
  switch (instruction.op) {
    case Opcode::Pop:
    case Opcode::WriteIo: return n;
    case Opcode::WriteMem: return n + 1;
    case Opcode::Pick:
    case Opcode::Place:
    case Opcode::Dup:
    case Opcode::Swap: return n + 1;
    case Opcode::Push:
    case Opcode::Divine:
    case Opcode::ReadIo:
    case Opcode::Halt:
    case Opcode::Nop:
    case Opcode::Call:
    case Opcode::Return:
    case Opcode::Recurse:
    case Opcode::SpongeInit:
    case Opcode::SpongeSqueeze: return 0;
    case Opcode::Skiz:
    case Opcode::Assert:
    case Opcode::ReadMem:
    case Opcode::AddI:
    case Opcode::Invert:
    case Opcode::Split:
    case Opcode::Log2Floor:
    case Opcode::PopCount: return 1;
    case Opcode::Add:
    case Opcode::Mul:
    case Opcode::Eq:
    case Opcode::Lt:
    case Opcode::And:
    case Opcode::Xor:
    case Opcode::Pow:
    case Opcode::DivMod: return 2;
    case Opcode::XInvert: return 3;
    case Opcode::XbMul: return 4;
    case Opcode::SpongeAbsorbMem:
    case Opcode::XxDotStep:
    case Opcode::XbDotStep: return 5;
    case Opcode::XxAdd:
    case Opcode::XxMul:
    case Opcode::MerkleStep: return 6;
    case Opcode::RecurseOrReturn: return 7;
    case Opcode::MerkleStepMem: return 8;
    case Opcode::Hash:
    case Opcode::AssertVector:
    case Opcode::SpongeAbsorb:
    case Opcode::BHornerStep:
    case Opcode::XHornerStep: return 10;
  }
  return 16;
}

uint32_t ReachOf(const mt::Program& program) {
  int64_t height = 0, reach = 0;
  for (const mt::Instruction& instruction : program.code) {
    reach = std::max<int64_t>(reach, Touches(instruction) - height);
    const mt::OpcodeInfo& info = mt::Info(instruction.op);
    height += info.argument == mt::Argument::Count
                  ? info.delta * static_cast<int64_t>(instruction.argument)
                  : info.delta;
  }
  return static_cast<uint32_t>(reach);
}

}  // namespace frazil::targets::tasm
