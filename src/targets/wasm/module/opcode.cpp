// A flat table indexed by code: the first page directly, the 0xfc page behind it.
#include "targets/wasm/module/opcode.h"

#include <array>

namespace frazil::targets::wasm {
namespace {

constexpr OpcodeInfo Rows[] = {
#define FRAZIL_WASM_OP(name, text, code, immediate) {Opcode::name, text, Immediate::immediate},
#include "targets/wasm/module/opcodes.def"
#undef FRAZIL_WASM_OP
};

constexpr uint16_t SecondPage = 0xfc00;
constexpr size_t PageSize = 256;

constexpr std::array<uint8_t, 2 * PageSize> MakeIndex() {
  std::array<uint8_t, 2 * PageSize> index{};
  uint8_t row = 0;
  for (const OpcodeInfo& info : Rows) {
    uint16_t code = static_cast<uint16_t>(info.code);
    index[code >= SecondPage ? PageSize + (code - SecondPage) : code] = ++row;
  }
  return index;
}
constexpr auto Index = MakeIndex();

}  // namespace

const OpcodeInfo* FindOpcode(uint16_t code) {
  size_t slot = code >= SecondPage ? PageSize + (code - SecondPage) : code;
  if (code >= PageSize && code < SecondPage) return nullptr;
  if (slot >= Index.size() || Index[slot] == 0) return nullptr;
  return &Rows[Index[slot] - 1];
}

std::string_view ValTypeName(ValType type) {
  switch (type) {
    case ValType::I32: return "i32";
    case ValType::I64: return "i64";
    case ValType::F32: return "f32";
    case ValType::F64: return "f64";
  }
  return "?";
}

}  // namespace frazil::targets::wasm
