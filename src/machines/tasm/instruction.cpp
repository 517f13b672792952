// The rows of instructions.def as constants, and the way back from a mnemonic.
#include "machines/tasm/instruction.h"

#include <array>
#include <string_view>

#include "base/names.h"

namespace frazil::machines::tasm {
namespace {

enum class In : uint8_t { Both, Dot, Horner };

constexpr OpcodeInfo Row(std::string_view mnemonic, uint8_t opcode, Argument argument, int8_t delta,
                         uint8_t ram_rows, uint8_t permutations, In profiles,
                         std::string_view effect, std::string_view crashes) {
  return {mnemonic,
          opcode,
          argument,
          delta,
          ram_rows,
          permutations,
          profiles != In::Horner,
          profiles != In::Dot,
          effect,
          crashes};
}

constexpr std::array Rows = {
#define FRAZIL_TASM(name, mnemonic, opcode, argument, delta, ram_rows, permutations, profiles, \
                    effect, crashes)                                                                            \
  Row(mnemonic, opcode, Argument::argument, delta, ram_rows, permutations, In::profiles, effect, crashes),
#include "machines/tasm/instructions.def"
#undef FRAZIL_TASM
};

}  // namespace

std::string_view ProfileName(Profile profile) { return profile == Profile::Dot ? "dot" : "horner"; }

const OpcodeInfo& Info(Opcode opcode) { return Rows[static_cast<size_t>(opcode)]; }

std::optional<Opcode> FindMnemonic(std::string_view mnemonic) {
  static const NameIndex<Opcode> index(Rows, &OpcodeInfo::mnemonic);
  return index.Find(mnemonic);
}

}  // namespace frazil::machines::tasm
