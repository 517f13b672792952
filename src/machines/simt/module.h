// A module: one kernel with its parameters, code, tables and source lines. It is its `.frzb` file in memory: every member
// is a view into those bytes, verified once, then used in place. Nothing is deserialized.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/kernel.h"
#include "machines/simt/isa.h"

namespace frazil::machines::simt {

enum class Mode : uint8_t { Program, Launch };

// What a module uses beyond the core; a reader that lacks one refuses it by name.
enum Feature : uint32_t {
  UsesPhi = 1,
  UsesShared = 2,
  UsesPools = 4,
  UsesLabels = 8,
  UsesGuards = 16,
  UsesLaneOps = 32,
  UsesBarrier = 64,
  UsesAtomics = 128,
  UsesHalf = 256,
  UsesMath = 512,
  UsesHandles = 1024,
  UsesPar = 2048,
  UsesAlloc = 4096,
  UsesLaunch = 8192,
};
constexpr uint32_t AllFeatures = 16383;

// Rows of the file's sections.
struct ParamRow {
  uint32_t name_offset, name_size;        // into names
  uint32_t extents_begin, extents_count;  // into extents: ordinals of parameters
  Type type;                              // of the scalar, or of the buffer's elements
  uint8_t is_buffer;
  ir::Access access;  // buffers; InOut otherwise
  ir::ParamRole role;
  uint32_t buffer;  // its number bN; 0 for scalars
};
struct BufferRow {
  Type type;
  uint8_t is_scratch;
  ir::Access access;
  uint8_t reserved;
  uint32_t param;  // ordinal of the parameter; 0 for scratch
};
struct TableRow {
  uint32_t name_offset, name_size;
  Type type;
  uint8_t reserved[7];
  uint64_t begin, length;  // into words
};
struct LineRow {
  uint32_t instruction, line, column;  // from this instruction on, up to the next row's
};

struct Module {
  std::shared_ptr<const void> storage;  // what keeps the bytes alive
  std::string_view bytes;               // the whole file
  Mode mode = Mode::Program;
  uint32_t features = 0;
  std::string_view name, names;
  std::span<const ParamRow> params;
  std::span<const BufferRow> buffers;  // parameters first, in their order, then scratch
  std::span<const Type> results;
  std::span<const Instruction> code;
  std::span<const TableRow> tables;
  std::span<const uint64_t> words;  // of the tables, one for each element, as exec/value.h
  std::span<const uint32_t> extents;
  std::span<const LineRow> lines;

  std::string_view param_name(uint32_t i) const {
    return names.substr(params[i].name_offset, params[i].name_size);
  }
  std::string_view table_name(uint32_t i) const {
    return names.substr(tables[i].name_offset, tables[i].name_size);
  }
  std::span<const uint64_t> table(uint32_t i) const {
    return words.subspan(tables[i].begin, tables[i].length);
  }
  Location location(uint32_t instruction) const;  // in the kernel's source; line 0: unknown
  ir::KernelSignature Signature() const;
};
using MappedModule = Module;

// What a module is made of, before it is one.
struct ModuleParts {
  Mode mode = Mode::Program;
  std::string name;
  struct Param {
    std::string name;
    Type type;
    bool is_buffer = false;
    ir::Access access = ir::Access::InOut;
    ir::ParamRole role = ir::ParamRole::Value;
    std::vector<uint32_t> extents;
  };
  struct Table {
    std::string name;
    Type type;
    std::vector<uint64_t> words;
  };
  std::vector<Param> params;
  std::vector<Type> scratch;  // element types of b<number of buffer parameters> ..
  std::vector<Type> results;
  std::vector<Instruction> code;
  std::vector<Table> tables;
  std::vector<LineRow> lines;
};

// Lays the parts out as a file and verifies it as LoadModule does (BadIsaProgram, with the instruction's source line).
Result<Module> Seal(const ModuleParts& parts);
// Checks magic, version, features, sections and checksum (BadArtifact), then verifies (BadIsaProgram). Uses the bytes in
// place (copies them only if they do not lie at a multiple of 8); `storage` keeps them alive, null where they live anyway.
Result<Module> LoadModule(std::shared_ptr<const void> storage, std::string_view bytes);
// The same for a copy of the bytes.
Result<Module> LoadModule(std::string_view bytes);
// The file, mapped read-only.
Result<MappedModule> Map(const std::string& path);

}  // namespace frazil::machines::simt
