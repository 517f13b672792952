// The bytes of a `.frzb` file, little-endian. Reached through module.h.
//
//   FileHeader | names | params | buffers | results | code | tables | words | extents | lines
// Each section begins at a multiple of 8, right behind the one before; padding is 0. `names` begins with the kernel's
// name. The checksum is SHA-256 of everything but itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machines/simt/module.h"

namespace frazil::machines::simt {

constexpr char Magic[4] = {'F', 'R', 'Z', 'B'};
constexpr uint32_t FormatVersion = 1;

enum class SectionKind : uint8_t {
  Names,
  Params,
  Buffers,
  Results,
  Code,
  Tables,
  Words,
  Extents,
  Lines
};
constexpr size_t SectionCount = 9;
constexpr const char* SectionNames[SectionCount] = {
    "names", "params", "buffers", "results", "code", "tables", "words", "extents", "lines"};
constexpr size_t SectionSizes[SectionCount] = {
    1, sizeof(ParamRow), sizeof(BufferRow), 1, sizeof(Instruction), sizeof(TableRow), 8,
    4, sizeof(LineRow)};
static_assert(sizeof(ParamRow) == 24 && sizeof(BufferRow) == 8 && sizeof(TableRow) == 32 &&
              sizeof(LineRow) == 12);

struct SectionRow {
  uint64_t offset, count;
};

struct FileHeader {
  char magic[4];
  uint32_t version;
  uint32_t features;  // enum Feature
  uint32_t mode;      // enum class Mode
  uint64_t size;      // of the file
  uint32_t name_size, reserved;
  SectionRow sections[SectionCount];
  uint8_t checksum[32];
};
static_assert(sizeof(FileHeader) % 8 == 0 &&
              offsetof(FileHeader, checksum) == sizeof(FileHeader) - 32);

}  // namespace frazil::machines::simt
