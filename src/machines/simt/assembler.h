// The assembler's inside: statements of a text, operands of a statement. Reached through text.h.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machines/simt/module.h"

namespace frazil::machines::simt {

// A piece of the text with its place.
struct Piece {
  std::string text;
  Location where;
};

struct Statement {
  Piece word;  // as written, guard and label removed
  std::vector<Piece> operands;
  uint8_t guard = 0;
};

// What a pseudo-instruction is expanded in.
struct ExpansionContext {
  Mode mode;
  size_t depth;  // open structures
  uint32_t current_class;
  // Registers and predicates that the text names nowhere.
  std::vector<uint8_t> free_registers, free_predicates;
};

// The text of a pseudo-instruction's expansion, one statement a line, and what it needs besides.
struct Expansion {
  std::string text;
  std::vector<ModuleParts::Table> tables;
  bool uses_phase = false;
};
bool IsPseudo(const Statement& statement);
Result<Expansion> ExpandPseudo(const Statement& statement, const ExpansionContext& context);

constexpr uint8_t PhaseRegister = 251;

}  // namespace frazil::machines::simt
