// The instruction set of Triton VM as data (instructions.def).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace frazil::machines::tasm {

enum class Opcode : uint8_t {
#define FRAZIL_TASM(name, ...) name,
#include "machines/tasm/instructions.def"
#undef FRAZIL_TASM
};
constexpr int OpcodeCount = 0
#define FRAZIL_TASM(...) +1
#include "machines/tasm/instructions.def"
#undef FRAZIL_TASM
    ;

// Which of the two published instruction sets: they differ in two instructions that share their opcodes.
enum class Profile : uint8_t { Dot, Horner };
std::string_view ProfileName(Profile profile);  // "dot", "horner"

enum class Argument : uint8_t { None, Element, Count, Place, Target };

struct OpcodeInfo {
  std::string_view mnemonic;
  uint8_t opcode;  // the machine's number
  Argument argument;
  int8_t delta;          // of the stack; times the argument if it is a Count
  uint8_t ram_rows;      // likewise
  uint8_t permutations;  // of Tip5
  bool in_dot, in_horner;
  std::string_view effect, crashes;  // for the manual

  int words() const { return argument == Argument::None ? 1 : 2; }
  bool In(Profile profile) const { return profile == Profile::Dot ? in_dot : in_horner; }
};
const OpcodeInfo& Info(Opcode opcode);
std::optional<Opcode> FindMnemonic(std::string_view mnemonic);
// Whether the argument is in the range of the instruction's kind of argument; a Target may be any 32-bit number.
bool ArgumentFits(Opcode opcode, uint64_t argument);

}  // namespace frazil::machines::tasm
