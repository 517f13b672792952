// The assembler at work. Internal to this folder.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machines/simt/assembler_operands.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {

class Assembler : OperandReader {
 public:
  explicit Assembler(std::string_view text) : text_(text) {}

  Result<Module> Run();

 private:
  struct Fixup {
    size_t instruction;
    Piece label;
  };

  // --- statements ---------------------------------------------------------------------------------------------

  void FindUsedNames();

  // `at`: the place of every statement of an expansion.
  Result<void> ReadText(std::string_view text, const Location* at);
  static void Skip(std::string_view& text, Location& where, bool fixed);
  static void Drop(std::string_view& text, size_t count, Location& where, bool fixed);
  static size_t WordEnd(std::string_view text);
  Result<void> ReadStatement(std::string_view text, Location where, bool fixed);
  static void ReadOperands(std::string_view text, Location where, bool fixed, Statement& statement);

  // --- directives -----------------------------------------------------------------------------------------------

  static std::vector<std::string> Words(std::string_view text);
  Result<void> Directive(const Piece& name, std::string_view rest);
  Result<void> ParamDirective(const Piece& name, const std::vector<std::string>& words);

  // --- instructions -------------------------------------------------------------------------------------------------

  struct Named {
    const InstructionInfo* info = nullptr;
    Instruction inst;
    std::vector<std::string> modifiers;
    bool typed = false;
  };
  static std::vector<std::string> Split(std::string_view word);

  // The row for a mnemonic that has this type, or that has no type to choose by.
  static const InstructionInfo* Row(std::string_view mnemonic, std::optional<Type> type);
  Result<Named> FindRow(const Statement& statement);
  Result<void> ReadModifiers(const Statement& statement, Named& named);
  Result<void> Need(const Statement& statement, size_t count, std::string_view form);
  void Emit(const Instruction& inst, const Piece& place);
  Result<void> Assemble(Statement& statement);
  Result<void> AssemblePseudo(const Statement& statement);
  Result<void> AssembleReal(Statement& statement);
  Result<void> Include(const Statement& statement, const Expansion& expansion);

  // Numbers come first: a name that looks like one cannot take its place.
  Result<uint64_t> TableNumber(const Piece& piece);
  Result<void> ReadOperandB(const Piece& piece, Instruction& inst);
  Result<void> AddLabel(const Piece& piece);
  struct Slot;
  Result<uint64_t> ReadSlot(const Slot& slot, const Piece& piece, const Instruction& inst);
  Result<void> ReadSlots(const Statement& statement, Instruction& inst,
                         std::initializer_list<Slot> slots);
  Result<void> ReadShape(const Statement& s, Instruction& i);
  Result<void> ReadImmediate(const Statement& s, Instruction& i);
  Result<void> ReadSpecial(const Statement& s, Instruction& i);

  std::string_view text_;
  std::vector<LineRow> text_lines_;
  bool has_lines_ = false, uses_phase_ = false;
  size_t depth_ = 0;
  int expanding_ = 0;
  uint32_t class_ = 0;
  std::map<std::string, uint32_t, std::less<>> labels_;
  std::vector<Fixup> fixups_;
  std::bitset<Registers> used_registers_;
  std::bitset<Predicates> used_predicates_;
};

}  // namespace frazil::machines::simt
