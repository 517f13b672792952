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
    case CrashKind::AssertionFailed: return "assertion failed";
    case CrashKind::VectorAssertionFailed: return "vector assertion failed";
    case CrashKind::InverseOfZero: return "inverse of zero";
    case CrashKind::DivisionByZero: return "division by zero";
    case CrashKind::LogarithmOfZero: return "logarithm of zero";
    case CrashKind::NotU32: return "operand is not a 32-bit integer";
    case CrashKind::SpongeNotInitialized: return "sponge not initialized";
    case CrashKind::InputEmpty: return "public input used up";
    case CrashKind::SecretEmpty: return "secret input used up";
    case CrashKind::DigestsEmpty: return "secret digests used up";
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
