// Reads the bytes of a module: sections, functions, instructions. It accepts any module made of the
// sections and instructions that Frazil emits; everything else is an error that says where.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "targets/wasm/module/bytes.h"
#include "targets/wasm/module/module_writer.h"
#include "targets/wasm/module/opcode.h"

namespace frazil::targets::wasm {

struct ModuleView {
  struct Function {
    uint32_t type = 0;
    std::string_view name;                             // from the name section; may be empty
    std::vector<std::pair<uint32_t, ValType>> locals;  // runs
    uint32_t local_count = 0;                          // parameters included
    std::string_view code;                             // instructions, the final end included
    size_t offset = 0;                                 // of code in the module
  };
  struct Global {
    ValType type;
    bool is_mutable;
    uint64_t initial;  // bits
  };
  struct Export {
    std::string_view name;
    uint8_t kind;  // 0 function, 2 memory, 3 global
    uint32_t index;
  };
  struct Data {
    uint32_t address;
    std::string_view bytes;
  };
  std::vector<FuncType> types;
  std::vector<Function> functions;
  uint32_t memories = 0;
  std::optional<uint32_t> memory_pages;  // of the first
  std::optional<uint32_t> memory_maximum;
  std::vector<Global> globals;
  std::vector<Export> exports;
  std::vector<Data> data;
};

Result<ModuleView> ReadModule(std::string_view bytes);

// One instruction with its immediates, as the reader of a body meets them.
struct Instruction {
  const OpcodeInfo* info = nullptr;
  uint64_t a = 0;  // index, label, constant bits, or alignment
  uint64_t b = 0;  // memory offset
  std::optional<ValType> block_result;
  std::optional<uint32_t> block_type;
  std::vector<uint32_t> table;  // br_table labels, the default last
};

// Reads the next instruction and checks its indices against the module and the function.
// `depth` is the number of open blocks, the function's own included.
Result<Instruction> ReadInstruction(ByteReader& reader, const ModuleView& module,
                                    const ModuleView::Function& function, uint32_t depth);

}  // namespace frazil::targets::wasm
