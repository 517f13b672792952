#include "verify/x86/instruction.h"

#include <fmt/format.h>

namespace frazil::verify::x86 {
namespace {

Flow FlowOf(const ZydisDecodedInstruction& decoded) {
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return Flow::Branch;
    case ZYDIS_CATEGORY_UNCOND_BR: return Flow::Jump;
    case ZYDIS_CATEGORY_CALL: return Flow::Call;
    case ZYDIS_CATEGORY_RET: return Flow::End;
    default: break;
  }
  return decoded.mnemonic == ZYDIS_MNEMONIC_UD2 ? Flow::End : Flow::On;
}

// What compiled code is made of. Whatever else there is answers differently from call to call (rdrand), from machine to
// machine (cpuid), leaves the process or this code behind our back, or changes how everything after it computes.
bool IsPlain(const ZydisDecodedInstruction& decoded) {
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_BITALG:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_CONFLICT:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_EXPAND:
    case ZYDIS_CATEGORY_FP16:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_IFMA:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SCATTER:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_WIDENOP:
      return decoded.mnemonic != ZYDIS_MNEMONIC_POPF && decoded.mnemonic != ZYDIS_MNEMONIC_POPFQ &&
             decoded.mnemonic != ZYDIS_MNEMONIC_VLDMXCSR;
    case ZYDIS_CATEGORY_COND_BR: return decoded.mnemonic != ZYDIS_MNEMONIC_XBEGIN;
    case ZYDIS_CATEGORY_UNCOND_BR: return decoded.mnemonic == ZYDIS_MNEMONIC_JMP;
    case ZYDIS_CATEGORY_RET: return decoded.opcode == 0xc3;  // near, and takes nothing along
    case ZYDIS_CATEGORY_SSE: return decoded.mnemonic != ZYDIS_MNEMONIC_LDMXCSR;
    case ZYDIS_CATEGORY_FLAGOP:
      return decoded.mnemonic == ZYDIS_MNEMONIC_CLC || decoded.mnemonic == ZYDIS_MNEMONIC_STC ||
             decoded.mnemonic == ZYDIS_MNEMONIC_CMC || decoded.mnemonic == ZYDIS_MNEMONIC_LAHF ||
             decoded.mnemonic == ZYDIS_MNEMONIC_SAHF;
    case ZYDIS_CATEGORY_MISC:
      return decoded.mnemonic == ZYDIS_MNEMONIC_LEA || decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE ||
             decoded.mnemonic == ZYDIS_MNEMONIC_PAUSE || decoded.mnemonic == ZYDIS_MNEMONIC_UD2 ||
             decoded.mnemonic == ZYDIS_MNEMONIC_LFENCE ||
             decoded.mnemonic == ZYDIS_MNEMONIC_MFENCE || decoded.mnemonic == ZYDIS_MNEMONIC_SFENCE;
    default: return false;
  }
}

// Of `jcc`, in its short and its long form; others look at a register.
std::optional<uint8_t> ConditionOf(const ZydisDecodedInstruction& decoded) {
  const bool is_short = decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && decoded.opcode >= 0x70 &&
                        decoded.opcode <= 0x7f;
  const bool is_long =
      decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && decoded.opcode >= 0x80 && decoded.opcode <= 0x8f;
  if (!is_short && !is_long) return std::nullopt;
  return static_cast<uint8_t>(decoded.opcode & 0xf);
}

bool CallsTheSystem(const ZydisDecodedInstruction& decoded) {
  return decoded.meta.category == ZYDIS_CATEGORY_SYSCALL ||
         (decoded.meta.category == ZYDIS_CATEGORY_INTERRUPT &&
          decoded.mnemonic != ZYDIS_MNEMONIC_INT3);
}

}  // namespace

Decoder::Decoder(std::string_view code) : code_(code) {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

Result<Instruction> Decoder::At(uint32_t place) const {
  ZydisDecodedInstruction decoded;
  if (place >= code_.size() ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, code_.data() + place,
                                                  code_.size() - place, &decoded)))
    return Fail(Diag::Unsupported, fmt::format("no instruction at +{:#x}", place));
  if (CallsTheSystem(decoded)) return Refuse(place, "calls the system");
  if (!IsPlain(decoded))
    return Fail(Diag::Unsupported, fmt::format("+{:#x} is '{}', which compiled code has no use for",
                                               place, ZydisMnemonicGetString(decoded.mnemonic)));
  Instruction instruction{place + decoded.length, FlowOf(decoded), {}, {}};
  if (instruction.flow == Flow::On || instruction.flow == Flow::End) return instruction;
  if (decoded.raw.imm[0].is_relative) {
    const int64_t target = int64_t{instruction.next} + decoded.raw.imm[0].value.s;
    if (target < 0 || target >= static_cast<int64_t>(code_.size()))
      return Refuse(place, "leads out of the code");
    instruction.target = static_cast<uint32_t>(target);
    if (instruction.flow == Flow::Branch) instruction.condition = ConditionOf(decoded);
  } else if (instruction.flow != Flow::Call) {
    return Refuse(place, "jumps to a computed place");
  }
  return instruction;
}

bool Decoder::IsNop(uint32_t place) const {
  ZydisDecodedInstruction decoded;
  return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, code_.data() + place,
                                                    code_.size() - place, &decoded)) &&
         decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool Decoder::Decode(uint32_t place, Decoded& decoded) const {
  return place < code_.size() &&
         ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + place, code_.size() - place,
                                             &decoded.instruction, decoded.operands));
}

std::unexpected<Error> Refuse(uint32_t place, std::string_view what) {
  return Fail(Diag::Unsupported, fmt::format("+{:#x} {}", place, what));
}

size_t NumberOf(ZydisRegister reg) {
  return static_cast<size_t>(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) -
                             ZYDIS_REGISTER_RAX);
}

bool IsGeneral(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15;
}

bool IsKeptByCalls(size_t number) {
  constexpr ZydisRegister Kept[] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                    ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
  for (const ZydisRegister reg : Kept)
    if (NumberOf(reg) == number) return true;
  return false;
}

}  // namespace frazil::verify::x86
