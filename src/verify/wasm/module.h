// Reads the bytes of a WASM module: a reader of its own, that shares nothing with the emitter's. It knows what our modules
// are made of and refuses the rest (imports, tables, computed calls, types of values and instructions that compiled programs
// have no use for), so that no byte means something else to an engine than here. Whether types fit is the engine's to check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::verify::wasm {

// Those that the judge looks at. Bytes of the specification; 0xfcXX: a prefix and a second number.
enum : uint16_t {
  Unreachable = 0x00,
  Nop = 0x01,
  Block = 0x02,
  Loop = 0x03,
  If = 0x04,
  Else = 0x05,
  End = 0x0b,
  Br = 0x0c,
  BrIf = 0x0d,
  BrTable = 0x0e,
  Return = 0x0f,
  Call = 0x10,
  Drop = 0x1a,
  Select = 0x1b,
  LocalGet = 0x20,
  LocalTee = 0x22,
  GlobalGet = 0x23,
  GlobalSet = 0x24,
  I64Load = 0x29,
  I64Store = 0x37,
  I32Store8 = 0x3a,
  I32Const = 0x41,
  I64Const = 0x42,
  I32Eqz = 0x45,
  I32Eq = 0x46,
  I32GeU = 0x4f,
  I64Eqz = 0x50,
  I64Eq = 0x51,
  I64LtU = 0x54,
  I64GtS = 0x55,
  I64GeU = 0x5a,
  I32Add = 0x6a,
  I64Add = 0x7c,
  I64Sub = 0x7d,
  I64ExtendI32S = 0xac,
  I64ExtendI32U = 0xad,
};

struct Instruction {
  uint32_t place = 0, next = 0;  // bytes of the module
  uint16_t code = 0;
  int64_t number = 0;            // label, index, or integer constant
  std::vector<uint32_t> labels;  // of a br_table, the default last
};

struct Function {
  uint32_t begin = 0;  // of its locals
  uint32_t end = 0;    // behind its last `end`
  std::vector<Instruction> code;
};

enum SectionId : uint8_t {
  Types = 1,
  Functions = 3,
  Memories = 5,
  Globals = 6,
  Exports = 7,
  Code = 10,
  Data = 11
};

struct Section {
  uint8_t id = 0;
  uint32_t begin = 0, end = 0;  // what stands behind its length
};

struct Export {
  std::string_view name;
  uint8_t kind = 0;  // 0 function, 2 memory, 3 global
  uint32_t index = 0;
};

// What lies in the memory from the beginning.
struct Segment {
  uint32_t place = 0;  // byte of the module
  uint32_t address = 0;
  std::string_view bytes;
};

struct Module {
  std::vector<Section> sections;
  uint32_t types = 0, memories = 0, globals = 0;  // how many
  std::vector<Function> functions;
  std::vector<Export> exports;
  std::vector<std::string_view> global_names;  // of each that is exported; empty: it is not
  std::vector<Segment> data;

  std::string_view GlobalName(int64_t index) const;
};

// The views are of these bytes.
Result<Module> ReadModule(std::string_view bytes);

// Numbers as modules have them.
void AppendUnsigned(std::string& out, uint64_t value);
void AppendSigned(std::string& out, int64_t value);
// The count at the beginning of a section that is a list, and where the list begins.
struct ListHead {
  uint32_t count = 0, begin = 0;
};
Result<ListHead> ReadListHead(std::string_view bytes, const Section& section);

}  // namespace frazil::verify::wasm
