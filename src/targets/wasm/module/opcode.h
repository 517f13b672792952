// The WebAssembly instructions as C++: the enum and one row for each line of opcodes.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil::targets::wasm {

enum class ValType : uint8_t { I32 = 0x7f, I64 = 0x7e, F32 = 0x7d, F64 = 0x7c };

enum class Opcode : uint16_t {
#define FRAZIL_WASM_OP(name, text, code, immediate) name = code,
#include "targets/wasm/module/opcodes.def"
#undef FRAZIL_WASM_OP
};

enum class Immediate : uint8_t {
  None,
  Block,
  Label,
  Table,
  Func,
  Local,
  Global,
  MemArg,
  I32,
  I64,
  F32,
  F64,
  Memory,
  Copy,
};

struct OpcodeInfo {
  Opcode code;
  std::string_view text;
  Immediate immediate;
};

// The row of a code, or null if Frazil does not know it.
const OpcodeInfo* FindOpcode(uint16_t code);

std::string_view ValTypeName(ValType type);

}  // namespace frazil::targets::wasm
