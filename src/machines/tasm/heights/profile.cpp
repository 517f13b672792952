// Names, and what nine heights cost.
#include <algorithm>
#include <bit>

#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

std::string_view TableName(Table table) {
  switch (table) {
    case Table::Program: return "program";
    case Table::Processor: return "processor";
    case Table::OpStack: return "op stack";
    case Table::Ram: return "ram";
    case Table::JumpStack: return "jump stack";
    case Table::Hash: return "hash";
    case Table::Cascade: return "cascade";
    case Table::Lookup: return "lookup";
    case Table::U32: return "u32";
  }
  return "";
}

std::string_view CrashName(CrashKind kind) {
  switch (kind) {
    case CrashKind::InstructionPointer: return "ran off the end of the program";
    case CrashKind::OpStackTooShallow: return "stack too shallow";
    case CrashKind::JumpStackEmpty: return "jump stack empty";
#define FRAZIL_CRASH(name, words) \
  case CrashKind::name: return words;
#include "machines/crashes.def"
#undef FRAZIL_CRASH
    case CrashKind::RamPointer: return "bad memory pointer";
    case CrashKind::Cycles: return "limit of cycles reached";
    case CrashKind::Memory: return "limit of memory reached";
  }
  return "";
}

std::array<uint64_t, 6> TableProfile::Visible() const {
  const TableProfile& self = *this;
  return {self[Table::Processor], self[Table::Hash], self[Table::U32],
          self[Table::OpStack],   self[Table::Ram],  self[Table::JumpStack]};
}

uint64_t TableProfile::MaxHeight() const { return *std::ranges::max_element(heights); }

Table TableProfile::Binding() const {
  return static_cast<Table>(std::ranges::max_element(heights) - heights.begin());
}

uint64_t TableProfile::PaddedHeight() const {
  const uint64_t height = MaxHeight();
  // An upper bound may be unbounded.
  if (height > uint64_t{1} << 63) return height;
  return std::max<uint64_t>(256, std::bit_ceil(height));
}

}  // namespace frazil::machines::tasm
