#include "verify/x86/compare.h"

namespace frazil::verify::x86 {
namespace {

// 0 to 15 as the instruction set numbers them; nothing for others, and for the second bytes of the old ones.
std::optional<uint8_t> NumberOf(ZydisRegister reg) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
  if (kind != ZYDIS_REGCLASS_GPR8 && kind != ZYDIS_REGCLASS_GPR16 && kind != ZYDIS_REGCLASS_GPR32 &&
      kind != ZYDIS_REGCLASS_GPR64)
    return std::nullopt;
  if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) return std::nullopt;
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return static_cast<uint8_t>(ZydisRegisterGetId(whole));
}

std::optional<CodeOperand> OperandOf(const ZydisDecodedOperand& operand) {
  CodeOperand result;
  switch (operand.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: result.base = NumberOf(operand.reg.value); break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE: result.number = operand.imm.value.s; return result;
    case ZYDIS_OPERAND_TYPE_MEMORY:
      if (operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS)
        return std::nullopt;
      result.is_memory = true;
      result.base = NumberOf(operand.mem.base);
      result.number = operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
      if (operand.mem.index != ZYDIS_REGISTER_NONE) {
        result.index = NumberOf(operand.mem.index);
        result.scale = operand.mem.scale;
        if (!result.index) return std::nullopt;
      }
      break;
    default: return std::nullopt;
  }
  if (!result.base) return std::nullopt;
  return result;
}

}  // namespace

std::optional<CodeCompare> ReadCompare(const Decoder& decoder, uint32_t place) {
  Decoded decoded;
  if (!decoder.Decode(place, decoded)) return std::nullopt;
  const auto& [instruction, operands] = decoded;
  const std::optional<CodeOperand> left = OperandOf(operands[0]);
  if (!left) return std::nullopt;
  CodeCompare compare{*left, {}, static_cast<uint8_t>(operands[0].size)};
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CMP: {
      const std::optional<CodeOperand> right = OperandOf(operands[1]);
      if (!right) return std::nullopt;
      compare.right = *right;
      return compare;
    }
    // These have left their result, which is compared with 0, in the first operand.
    case ZYDIS_MNEMONIC_TEST:
      if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
          operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
          operands[0].reg.value != operands[1].reg.value)
        return std::nullopt;
      return compare;
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_SHR: return compare;
    default: return std::nullopt;
  }
}

}  // namespace frazil::verify::x86
