// The text form of modules: assembler and printer. Assemble(Print(m)) is m, byte for byte. docs/isa.md has the grammar.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "machines/simt/module.h"

namespace frazil::machines::simt {

// Pseudo-instructions are expanded. Errors carry line and column (BadAssembly; BadIsaProgram where the verifier refuses
// an instruction). Without .loc the line table of the module is that of this text.
Result<Module> Assemble(std::string_view text);

std::string Print(const Module& module);
// One instruction without its label: "ldg.f32 r10, [b0 + r1*4]".
std::string PrintInstruction(const Instruction& instruction);

// The pseudo-instructions, for the manual: form and meaning.
struct PseudoInfo {
  std::string_view name, form, meaning;
};
std::span<const PseudoInfo> PseudoInstructions();

// The table of instructions as Markdown, and that of pseudo-instructions: the generated part of docs/isa.md.
std::string InstructionTable();

}  // namespace frazil::machines::simt
