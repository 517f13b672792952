// A Triton VM program: instructions with labels, and its text form.
//
// Text: one or more instructions per line, `label:`, `// comment`, `assert error_id 7`, and the debugger's
// `hint name: type = stack[0..3]` and `break`, which are read and carry no meaning. Printing and reading
// back gives the same program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machines/tasm/inputs.h"
#include "machines/tasm/instruction.h"

namespace frazil::machines::tasm {

struct Instruction {
  Opcode op = Opcode::Nop;
  // Element: canonical field element. Count, Place: the number. Target: index into Program::code; what lies beyond it
  // is its end, where the machine crashes.
  uint64_t argument = 0;
  int64_t error_id = -1;  // of assert and assert_vector; -1 = none
  Location location = {};

  friend bool operator==(const Instruction& a, const Instruction& b) {
    return a.op == b.op && a.argument == b.argument && a.error_id == b.error_id;
  }
};

struct Label {
  std::string name;
  uint32_t instruction = 0;  // index of the instruction it stands before; may be code.size()
};

struct Program {
  std::vector<Instruction> code;
  std::vector<Label> labels;  // in order of position
  Profile profile = Profile::Dot;

  uint64_t Words() const;                   // sum of the instructions' words
  std::vector<uint32_t> Addresses() const;  // word address of each instruction, and of the end
  std::string_view LabelAt(uint32_t instruction) const;  // empty if none
};

// Errors are located: unknown instruction, argument out of range, duplicate or missing label, ...
Result<Program> Parse(std::string_view text, Profile profile = Profile::Dot,
                      std::string_view file = "");
std::string Print(const Program& program);
std::string PrintInstruction(const Program& program, uint32_t instruction);

// The words as the machine sees them (opcodes and arguments), and their Tip5 digest: what a claim names.
std::vector<uint64_t> Encode(const Program& program);
Result<Program> Decode(const std::vector<uint64_t>& words, Profile profile = Profile::Dot);
Digest ProgramDigest(const Program& program);

}  // namespace frazil::machines::tasm
