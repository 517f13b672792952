// One decoded instruction and where control goes behind it.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace frazil::verify::x86 {

enum class Flow : uint8_t { On, Jump, Branch, Call, End };

struct Instruction {
  uint32_t next = 0;  // the place behind it
  Flow flow = Flow::On;
  std::optional<uint32_t> target;
  std::optional<uint8_t> condition;  // of a branch on flags
};
using Instructions = std::map<uint32_t, Instruction>;  // by place

// With its operands, those that are not written included.
struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};
inline bool IsWritten(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

// An address that is only computed is none.
inline bool IsMemory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}
inline int64_t BytesOf(const ZydisDecodedOperand& operand) { return (operand.size + 7) / 8; }

// Fails (Unsupported): "+0x1f0 writes its arguments".
std::unexpected<Error> Refuse(uint32_t place, std::string_view what);

constexpr size_t GeneralRegisters = 16;
bool IsGeneral(ZydisRegister reg);   // or a part of one
size_t NumberOf(ZydisRegister reg);  // of a general one: rax is 0
bool IsKeptByCalls(size_t number);   // by the calling convention, but for rsp

class Decoder {
 public:
  explicit Decoder(std::string_view code);
  Result<Instruction> At(uint32_t place) const;
  bool IsNop(uint32_t place) const;
  // Only of a place that At has read.
  bool Decode(uint32_t place, Decoded& decoded) const;

 private:
  std::string_view code_;
  ZydisDecoder decoder_;
};

}  // namespace frazil::verify::x86
