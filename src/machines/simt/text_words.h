// Words of the text form that printer and assembler share. Reached through text.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "machines/simt/isa.h"

namespace frazil::machines::simt {

// By ir::ReduceKind, ir::AtomicKind, ShuffleKind, FenceScope.
constexpr std::array<std::string_view, 9> ReduceWords = {"add",     "mul", "min", "max", "minimum",
                                                         "maximum", "and", "or",  "xor"};
constexpr std::array<std::string_view, 7> AtomicWords = {"add", "min", "max",     "and",
                                                         "or",  "xor", "exchange"};
constexpr std::array<std::string_view, 4> ShuffleWords = {"idx", "up", "down", "xor"};
constexpr std::array<std::string_view, 4> FenceWords = {"thread", "block", "device", "system"};
constexpr std::array<std::string_view, 2> VoteWords = {"any", "all"};

template <size_t N>
std::optional<uint8_t> WordNumber(const std::array<std::string_view, N>& words,
                                  std::string_view word) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<uint8_t>(i);
  return std::nullopt;
}

// Rows whose type follows from the operation: it is not written.
constexpr bool HasWrittenType(const InstructionInfo& info) {
  return info.types != 0 && info.shape != Shape::PredToReg && info.shape != Shape::RegToPred &&
         info.shape != Shape::Vote && info.shape != Shape::PoolAlloc &&
         info.shape != Shape::PoolFree && info.shape != Shape::Loop &&
         info.shape != Shape::Ballot && info.opcode != Opcode::Par;
}
// The only type of such a row.
constexpr Type OnlyType(const InstructionInfo& info) {
  int type = 0;
  while (type + 1 < TypeCount && !ir::Contains(info.types, static_cast<Type>(type))) ++type;
  return static_cast<Type>(type);
}

}  // namespace frazil::machines::simt
