// One statement as an instruction: its row, its modifiers, its operands by the shape of the row.
#include "machines/simt/assembler_state.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include <fmt/format.h>

#include "machines/simt/text.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {

std::vector<std::string> Assembler::Split(std::string_view word) {
  std::vector<std::string> parts;
  while (true) {
    size_t dot = std::min(word.find('.'), word.size());
    parts.emplace_back(word.substr(0, dot));
    if (dot == word.size()) return parts;
    word.remove_prefix(dot + 1);
  }
}

const InstructionInfo* Assembler::Row(std::string_view mnemonic, std::optional<Type> type) {
  const InstructionInfo* any = nullptr;
  for (const InstructionInfo& info : AllInstructions()) {
    if (info.mnemonic != mnemonic) continue;
    if (!type || info.types == 0 || ir::Contains(info.types, *type)) return &info;
    any = &info;
  }
  return any;
}

Result<Assembler::Named> Assembler::FindRow(const Statement& statement) {
  std::vector<std::string> parts = Split(Lower(statement.word.text));
  Named named;
  std::vector<Type> types;
  // Types come last: one, or destination and source of a conversion. "idx" may also be a kind of shuffle.
  while (parts.size() > 1 && types.size() < 2 && TypeNamed(parts.back()) &&
         !(types.size() == 1 && parts[0] == "shfl")) {
    types.insert(types.begin(), *TypeNamed(parts.back()));
    parts.pop_back();
  }
  std::optional<Type> type = types.empty() ? std::nullopt : std::optional(types[0]);
  if (parts[0].size() > 3 && parts[0].starts_with("set")) {
    std::string condition = parts[0].substr(3);
    if (condition == "cc" && statement.operands.size() == 4)
      condition = Lower(statement.operands[3].text);
    for (int c = 0; c < ConditionCount; ++c)
      if (ConditionName(static_cast<Condition>(c)) == condition) {
        named.info = &Info(Opcode::Set);
        named.inst.aux = static_cast<uint8_t>(c);
        parts.erase(parts.begin());
      }
  }
  for (size_t count = parts.size(); named.info == nullptr && count > 0; --count) {
    std::string mnemonic = fmt::format(
        "{}", fmt::join(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(count), "."));
    named.info = Row(mnemonic, type);
    if (named.info != nullptr)
      parts.erase(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(count));
  }
  if (named.info == nullptr)
    return Wrong(statement.word, fmt::format("there is no instruction '{}'", statement.word.text));
  named.modifiers = std::move(parts);
  named.inst.op = named.info->opcode;
  named.inst.guard = statement.guard;
  if (named.info->types != 0) {
    if (!HasWrittenType(*named.info))
      named.inst.type = OnlyType(*named.info);
    else
      named.inst.type = type.value_or(
          ir::Contains(named.info->types, Type::U32) ? Type::U32 : OnlyType(*named.info));
    if (type && !ir::Contains(named.info->types, *type))
      return Wrong(statement.word,
                   fmt::format("'{}' does not work on {}", named.info->mnemonic, TypeName(*type)));
  } else if (type) {
    return Wrong(statement.word, fmt::format("'{}' has no type", named.info->mnemonic));
  }
  bool convert = named.info->shape == Shape::Convert;
  if (convert != (types.size() == 2))
    return Wrong(statement.word, convert ? "a conversion names two types, to and from: cvt.f32.i32"
                                         : "only a conversion names two types");
  if (convert) named.inst.aux = static_cast<uint8_t>(types[1]);
  return named;
}

Result<void> Assembler::ReadModifiers(const Statement& statement, Named& named) {
  std::vector<std::string>& words = named.modifiers;
  auto take = [&](const auto& table, uint8_t shift) {
    if (words.empty()) return false;
    std::string word = words[0] == "sum" ? "add" : words[0] == "product" ? "mul" : words[0];
    std::optional<uint8_t> number = WordNumber(table, word);
    if (!number) return false;
    named.inst.aux |= static_cast<uint8_t>(*number << shift);
    words.erase(words.begin());
    return true;
  };
  bool fine = true;
  switch (named.info->shape) {
    case Shape::Atomic:
      fine = take(AtomicWords, 4);
      if (fine && !words.empty() && words[0] == "unordered") {
        named.inst.aux |= 0x80;
        words.erase(words.begin());
      }
      break;
    case Shape::Fence: fine = take(FenceWords, 0); break;
    case Shape::Shuffle: fine = take(ShuffleWords, 0); break;
    case Shape::Vote: fine = take(VoteWords, 0); break;
    case Shape::LaneReduce:
    case Shape::RegReduce:
    case Shape::RangeReduce:
      fine = take(ReduceWords, 0);
      if (fine && named.inst.op == Opcode::LaneScan && !words.empty() && words[0] == "exclusive") {
        named.inst.aux |= 16;
        words.erase(words.begin());
      }
      break;
    case Shape::Label: {
      if (words.empty()) break;
      bool negated = words[0].starts_with('!');
      std::optional<uint8_t> predicate =
          Numbered(std::string_view(words[0]).substr(negated), 'p', Predicates);
      fine = predicate.has_value() && named.inst.guard == 0;
      if (fine) named.inst.guard = static_cast<uint8_t>(0x80 | (negated ? 0x40 : 0) | *predicate);
      words.erase(words.begin());
      break;
    }
    default: break;
  }
  if (!fine || !words.empty())
    return Wrong(statement.word,
                 fmt::format("'{}' is no form of '{}'", statement.word.text, named.info->mnemonic));
  return {};
}

Result<void> Assembler::Need(const Statement& statement, size_t count, std::string_view form) {
  if (statement.operands.size() == count) return {};
  return Wrong(statement.word,
               fmt::format("'{}' takes {} operands: {}", statement.word.text, count, form));
}

void Assembler::Emit(const Instruction& inst, const Piece& place) {
  LineRow row{static_cast<uint32_t>(parts_.code.size()), place.where.line, place.where.column};
  bool same = !text_lines_.empty() && text_lines_.back().line == row.line &&
              text_lines_.back().column == row.column;
  if (!same) text_lines_.push_back(row);
  parts_.code.push_back(inst);
  if (IsOpener(inst.op)) ++depth_;
  if (inst.op == Opcode::End && depth_ > 0) --depth_;
}

Result<void> Assembler::Assemble(Statement& statement) {
  if (IsPseudo(statement)) return AssemblePseudo(statement);
  return AssembleReal(statement);
}

Result<void> Assembler::AssemblePseudo(const Statement& statement) {
  ExpansionContext context{parts_.mode, depth_, class_, {}, {}};
  for (int r = PhaseRegister - 1; r >= 0; --r)
    if (!used_registers_[static_cast<size_t>(r)])
      context.free_registers.push_back(static_cast<uint8_t>(r));
  for (int p = Predicates - 1; p >= 0; --p)
    if (!used_predicates_[static_cast<size_t>(p)])
      context.free_predicates.push_back(static_cast<uint8_t>(p));
  return Include(statement, TRY(ExpandPseudo(statement, context)));
}

Result<void> Assembler::AssembleReal(Statement& statement) {
  Named named = TRY(FindRow(statement));
  TRY_VOID(ReadModifiers(statement, named));
  if (named.inst.op == Opcode::Set && Lower(statement.word.text).starts_with("setcc"))
    statement.operands.pop_back();
  // mov rX, #5 is mov_imm.
  if (named.inst.op == Opcode::Mov && statement.operands.size() == 2 &&
      statement.operands[1].text.starts_with('#')) {
    named.inst.op = Opcode::MovImm;
    named.info = &Info(Opcode::MovImm);
  }
  // bra label, p0 is bra.p0 label.
  if (named.inst.op == Opcode::Bra && statement.operands.size() == 2 && named.inst.guard == 0) {
    named.inst.guard = static_cast<uint8_t>(0x80 | TRY(Predicate(statement.operands[1])));
    statement.operands.pop_back();
  }
  // alloc b0, r1, iota: what a trap names.
  std::optional<uint64_t> source;
  if ((named.inst.op == Opcode::Alloc || named.inst.op == Opcode::Assert ||
       named.inst.op == Opcode::Ldg) &&
      statement.operands.size() > 1) {
    const std::optional<ir::Op> op = ir::OpNamed(Lower(statement.operands.back().text));
    if (op) source = NumberOfSource(*op);
    if (source) statement.operands.pop_back();
  }
  TRY_VOID(ReadShape(statement, named.inst));
  if (source && !CanStandFor(named.inst))
    return Wrong(statement.word,
                 fmt::format("'{}' stands for no operation of a source", statement.word.text));
  if (source) named.inst.imm = *source;
  Emit(named.inst, statement.word);
  return {};
}

Result<void> Assembler::Include(const Statement& statement, const Expansion& expansion) {
  if (++expanding_ > 8) return Wrong(statement.word, "expands too deeply");
  for (const ModuleParts::Table& table : expansion.tables) {
    bool known =
        std::ranges::any_of(parts_.tables, [&](const auto& t) { return t.name == table.name; });
    if (!known) parts_.tables.push_back(table);
  }
  uses_phase_ |= expansion.uses_phase;
  if (statement.guard != 0)
    return Wrong(statement.word, "a pseudo-instruction cannot have a guard");
  TRY_VOID(ReadText(expansion.text, &statement.word.where));
  --expanding_;
  return {};
}

Result<uint64_t> Assembler::TableNumber(const Piece& piece) {
  bool numbered = piece.text.size() > 1 && piece.text[0] == 't' &&
                  std::all_of(piece.text.begin() + 1, piece.text.end(),
                              [](unsigned char c) { return std::isdigit(c); });
  if (std::optional<uint64_t> number = Number(numbered ? piece.text.substr(1) : "")) return *number;
  for (size_t i = 0; i < parts_.tables.size(); ++i)
    if (parts_.tables[i].name == piece.text) return i;
  return Wrong(piece, fmt::format("there is no table '{}'", piece.text));
}

Result<void> Assembler::ReadOperandB(const Piece& piece, Instruction& inst) {
  if (!piece.text.starts_with('#')) {
    inst.b = TRY(Operand(inst.type, piece));
    return {};
  }
  inst.aux |= ImmediateB;
  inst.imm = TRY(Literal(inst.type, piece));
  return {};
}

Result<void> Assembler::AddLabel(const Piece& piece) {
  std::string name = piece.text;
  if (name.starts_with('@')) name.erase(0, 1);
  fixups_.push_back({parts_.code.size(), {name, piece.where}});
  return {};
}

// What an operand is, and where it goes: to its field, to the immediate (no field), or where its kind says.
struct Assembler::Slot {
  enum class Kind : uint8_t {
    Value,   // a register or predicate, by the type of the instruction
    Source,  // by the type that a conversion names second
    Right,   // a value or a literal
    Register,
    Predicate,
    Buffer,
    Number,
    Table,
    Label,
    Address,
  };
  std::string_view name;
  Kind kind = Kind::Value;
  uint8_t Instruction::* field = nullptr;
};

Result<uint64_t> Assembler::ReadSlot(const Slot& slot, const Piece& piece,
                                     const Instruction& inst) {
  switch (slot.kind) {
    case Slot::Kind::Value: return Operand(inst.type, piece);
    case Slot::Kind::Source: return Operand(inst.source(), piece);
    case Slot::Kind::Register: return Register(piece);
    case Slot::Kind::Predicate: return Predicate(piece);
    case Slot::Kind::Buffer: return Buffer(piece);
    case Slot::Kind::Number: return Count(piece);
    case Slot::Kind::Table: return TableNumber(piece);
    case Slot::Kind::Right:
    case Slot::Kind::Label:
    case Slot::Kind::Address: break;
  }
  return 0;
}

Result<void> Assembler::ReadSlots(const Statement& statement, Instruction& inst,
                                  std::initializer_list<Slot> slots) {
  std::string names;
  for (const Slot& slot : slots) names += fmt::format("{}{}", names.empty() ? "" : ", ", slot.name);
  TRY_VOID(Need(statement, slots.size(), names));
  const Piece* address = nullptr;
  for (size_t n = 0; n < slots.size(); ++n) {
    const Slot& slot = slots.begin()[n];
    const Piece& piece = statement.operands[n];
    if (slot.kind == Slot::Kind::Address) {
      address = &piece;
    } else if (slot.kind == Slot::Kind::Label) {
      TRY_VOID(AddLabel(piece));
    } else if (slot.kind == Slot::Kind::Right) {
      TRY_VOID(ReadOperandB(piece, inst));
    } else {
      const uint64_t number = TRY(ReadSlot(slot, piece, inst));
      if (slot.field == nullptr)
        inst.imm = number;
      else
        inst.*slot.field = static_cast<uint8_t>(number);
    }
  }
  // Last: its offset joins what the immediate has.
  if (address != nullptr) TRY_VOID(ReadAddress(*address, inst));
  return {};
}

Result<void> Assembler::ReadShape(const Statement& s, Instruction& i) {
  using enum Slot::Kind;
  constexpr auto dst = &Instruction::dst, a = &Instruction::a, b = &Instruction::b,
                 c = &Instruction::c;
  const std::vector<Piece>& o = s.operands;
  switch (Info(i.op).shape) {
    case Shape::Plain:
    case Shape::Fence: return Need(s, 0, "none");
    case Shape::Imm:
      if (i.op == Opcode::BarSync && o.empty()) return {};
      return ReadSlots(s, i, {{"a number", Number}});
    case Shape::Dst: return ReadSlots(s, i, {{"dst", Value, dst}});
    case Shape::DImm: return ReadImmediate(s, i);
    case Shape::DA:
    case Shape::LaneReduce: return ReadSlots(s, i, {{"dst", Value, dst}, {"a", Value, a}});
    case Shape::DAB: return ReadSlots(s, i, {{"dst", Value, dst}, {"a", Value, a}, {"b", Right}});
    case Shape::DABC:
    case Shape::Random:
      return ReadSlots(s, i,
                       {{"dst", Value, dst}, {"a", Value, a}, {"b", Value, b}, {"c", Value, c}});
    case Shape::Load: return ReadSlots(s, i, {{"dst", Value, dst}, {"[address]", Address}});
    case Shape::Store: return ReadSlots(s, i, {{"[address]", Address}, {"value", Value, c}});
    case Shape::Atomic:
      return ReadSlots(s, i,
                       {{"dst", Register, dst}, {"[address]", Address}, {"value", Register, c}});
    case Shape::AtomicCas:
      return ReadSlots(s, i,
                       {{"dst", Register, dst},
                        {"[address]", Address},
                        {"expected", Register, c},
                        {"new", Register}});
    case Shape::Convert: return ReadSlots(s, i, {{"dst", Value, dst}, {"a", Source, a}});
    case Shape::Length: return ReadSlots(s, i, {{"dst", Register, dst}, {"buffer", Buffer, a}});
    case Shape::Alloc: return ReadSlots(s, i, {{"buffer", Buffer, dst}, {"length", Register, a}});
    case Shape::Lookup:
      return ReadSlots(s, i, {{"dst", Value, dst}, {"table", Table}, {"index", Register, a}});
    case Shape::Result: return ReadSlots(s, i, {{"number", Number}, {"value", Value, a}});
    case Shape::PredToReg:
    case Shape::Ballot:
      return ReadSlots(s, i, {{"register", Register, dst}, {"predicate", Predicate, a}});
    case Shape::RegToPred:
      return ReadSlots(s, i, {{"predicate", Predicate, dst}, {"register", Register, a}});
    case Shape::Special: return ReadSpecial(s, i);
    case Shape::Compare:
      return ReadSlots(s, i, {{"predicate", Predicate, dst}, {"a", Value, a}, {"b", Right}});
    case Shape::Select:
      return ReadSlots(
          s, i,
          {{"dst", Value, dst}, {"predicate", Predicate, a}, {"a", Value, b}, {"b", Value, c}});
    case Shape::TestPred: return ReadSlots(s, i, {{"predicate", Predicate, a}});
    case Shape::For: {
      const Slot counter{"counter", Register, dst}, from{"from", Register, a},
          to{"to", Register, b};
      i.imm = 1;  // the step that need not be written
      if (i.op == Opcode::Par || o.size() == 3) return ReadSlots(s, i, {counter, from, to});
      return ReadSlots(s, i, {counter, from, to, {"step", Number}});
    }
    case Shape::Switch:
    case Shape::PoolFree: return ReadSlots(s, i, {{"register", Register, a}});
    case Shape::Label: return ReadSlots(s, i, {{"@label", Label}});
    case Shape::Loop: return ReadSlots(s, i, {{"register", Register, a}, {"@label", Label}});
    case Shape::Shuffle:
      return ReadSlots(s, i, {{"dst", Value, dst}, {"a", Value, a}, {"lane", Register, b}});
    case Shape::Vote:
      return ReadSlots(s, i, {{"predicate", Predicate, dst}, {"predicate", Predicate, a}});
    case Shape::RegReduce:
      return ReadSlots(
          s, i, {{"dst", Register, dst}, {"first register", Register, a}, {"count", Number}});
    case Shape::RangeReduce:
      return ReadSlots(s, i,
                       {{"dst", Register, dst},
                        {"buffer", Buffer, a},
                        {"from", Register, b},
                        {"count", Register, c}});
    case Shape::PoolAlloc: return ReadSlots(s, i, {{"dst", Register, dst}, {"size", Register, a}});
  }
  return {};
}

Result<void> Assembler::ReadImmediate(const Statement& s, Instruction& i) {
  const std::vector<Piece>& o = s.operands;
  TRY_VOID(Need(s, 2, i.op == Opcode::Ldp ? "dst, parameter" : "dst, value"));
  i.dst = TRY(Operand(i.type, o[0]));
  if (i.op == Opcode::MovImm) {
    i.imm = TRY(Literal(i.type, o[1]));
    return {};
  }
  if (std::optional<uint64_t> number = Number(o[1].text)) return i.imm = *number, Result<void>{};
  for (size_t p = 0; p < parts_.params.size(); ++p)
    if (parts_.params[p].name == o[1].text) return i.imm = p, Result<void>{};
  return Wrong(o[1], fmt::format("there is no parameter '{}'", o[1].text));
}

Result<void> Assembler::ReadSpecial(const Statement& s, Instruction& i) {
  const std::vector<Piece>& o = s.operands;
  TRY_VOID(Need(s, 2, "dst, launch register"));
  i.dst = TRY(Register(o[0]));
  std::string name = Lower(o[1].text);
  for (int special = 0; special < SpecialCount; ++special)
    if (SpecialName(static_cast<SpecialRegister>(special)) == name)
      return i.imm = static_cast<uint64_t>(special), Result<void>{};
  return Wrong(
      o[1],
      fmt::format("'{}' is no launch register (lane.x, block.y, blockdim.x, griddim.z, global)",
                  o[1].text));
}

}  // namespace frazil::machines::simt
