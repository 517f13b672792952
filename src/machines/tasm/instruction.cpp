// The rows of instructions.def as constants, and the way back from a mnemonic.
#include "machines/tasm/instruction.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace frazil::machines::tasm {
namespace {

enum class In : uint8_t { Both, Dot, Horner };

constexpr OpcodeInfo Row(std::string_view mnemonic, uint8_t opcode, Argument argument, int8_t delta,
                         uint8_t ram_rows, uint8_t permutations, In profiles) {
  return {
      mnemonic,           opcode, argument, delta, ram_rows, permutations, profiles != In::Horner,
      profiles != In::Dot};
}

constexpr std::array Rows = {
#define FRAZIL_TASM(name, mnemonic, opcode, argument, delta, ram_rows, permutations, profiles) \
  Row(mnemonic, opcode, Argument::argument, delta, ram_rows, permutations, In::profiles),
#include "machines/tasm/instructions.def"
#undef FRAZIL_TASM
};

}  // namespace

std::string_view ProfileName(Profile profile) { return profile == Profile::Dot ? "dot" : "horner"; }

const OpcodeInfo& Info(Opcode opcode) { return Rows[static_cast<size_t>(opcode)]; }

std::optional<Opcode> FindMnemonic(std::string_view mnemonic) {
  static const auto table = [] {
    std::unordered_map<std::string_view, Opcode> map;
    for (size_t i = 0; i < Rows.size(); ++i) map.emplace(Rows[i].mnemonic, static_cast<Opcode>(i));
    return map;
  }();
  const auto found = table.find(mnemonic);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

}  // namespace frazil::machines::tasm
