// Operands of the text form. Reached through text.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machines/simt/assembler.h"
#include "machines/simt/module.h"

namespace frazil::machines::simt {

std::unexpected<Error> Wrong(const Piece& piece, std::string what);
std::string Lower(std::string_view text);
bool IsSpace(char c);
std::string_view Trim(std::string_view text);
std::optional<uint64_t> Number(std::string_view text);
// "r12" with this letter: 12, if it is below `count`.
std::optional<uint8_t> Numbered(std::string_view text, char letter, uint64_t count);

// Reads operands of instructions of a module that is being assembled; parameters may be named.
class OperandReader {
 protected:
  Result<uint64_t> Literal(Type type, const Piece& piece);
  Result<uint8_t> Register(const Piece& piece);
  Result<uint8_t> Predicate(const Piece& piece);
  Result<uint8_t> Operand(Type type, const Piece& piece);
  std::optional<uint8_t> BufferNumber(std::string_view text) const;
  Result<uint8_t> Buffer(const Piece& piece);
  Result<uint64_t> Count(const Piece& piece);
  Result<void> PhiAddress(const Piece& piece, std::string_view inside, Instruction& inst);
  Result<void> ReadAddress(const Piece& piece, Instruction& inst);
  std::optional<std::pair<uint8_t, bool>> Index(const std::string& term, Type type) const;
  Result<void> SetIndex(const Piece& piece, const std::string& term, uint64_t offset,
                        Instruction& inst);
  Result<void> SharedAddress(const Piece& piece, const std::vector<std::string>& terms,
                             uint64_t offset, Instruction& inst);
  Result<void> GlobalAddress(const Piece& piece, const std::vector<std::string>& terms,
                             uint64_t offset, Instruction& inst);

  ModuleParts parts_;
};

}  // namespace frazil::machines::simt
