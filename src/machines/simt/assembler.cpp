// The assembler: statements one after the other, labels patched at the end, everything judged by the verifier. A
// pseudo-instruction is text again (pseudo.cpp) and goes the same way, at the place of its statement.
#include "machines/simt/assembler.h"

#include <algorithm>
#include <bitset>
#include <cctype>

#include <fmt/format.h>

#include "machines/simt/assembler_operands.h"
#include "machines/simt/text.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {
namespace {

class Assembler : OperandReader {
 public:
  explicit Assembler(std::string_view text) : text_(text) {}

  Result<Module> Run() {
    parts_.name = "kernel";
    FindUsedNames();
    TRY_VOID(ReadText(text_, nullptr));
    if (uses_phase_) {
      Instruction start{.op = Opcode::MovImm, .type = Type::U32, .dst = PhaseRegister};
      parts_.code.insert(parts_.code.begin(), start);
      for (LineRow& row : text_lines_) row.instruction += 1;
      for (LineRow& row : parts_.lines) row.instruction += 1;
      for (Fixup& fixup : fixups_) fixup.instruction += 1;
      for (auto& [name, label] : labels_) label += 1;
    }
    for (const Fixup& fixup : fixups_) {
      auto label = labels_.find(fixup.label.text);
      if (label == labels_.end())
        return Wrong(fixup.label, fmt::format("there is no label '{}'", fixup.label.text));
      parts_.code[fixup.instruction].imm = label->second;
    }
    std::vector<LineRow> given = std::exchange(parts_.lines, text_lines_);
    Module module = TRY(Seal(parts_));
    if (!has_lines_) return module;
    parts_.lines = std::move(given);
    return Seal(parts_);
  }

 private:
  struct Fixup {
    size_t instruction;
    Piece label;
  };

  // --- statements ---------------------------------------------------------------------------------------------

  void FindUsedNames() {
    for (size_t i = 0; i < text_.size(); ++i) {
      bool starts = i == 0 || (!std::isalnum(static_cast<unsigned char>(text_[i - 1])) &&
                               text_[i - 1] != '_');
      if (!starts) continue;
      size_t end = i + 1;
      while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]))) ++end;
      if (std::optional<uint8_t> r = Numbered(text_.substr(i, end - i), 'r', Registers))
        used_registers_.set(*r);
      if (std::optional<uint8_t> p = Numbered(text_.substr(i, end - i), 'p', Predicates))
        used_predicates_.set(*p);
    }
  }

  // `at`: the place of every statement of an expansion.
  Result<void> ReadText(std::string_view text, const Location* at) {
    uint32_t line = 0;
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      std::string_view whole = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line;
      std::string_view code = whole.substr(0, std::min(whole.find("//"), whole.size()));
      size_t begin = 0;
      while (begin <= code.size()) {
        size_t stop = std::min(code.find(';', begin), code.size());
        Location where = at ? *at : Location{line, static_cast<uint32_t>(begin + 1)};
        TRY_VOID(ReadStatement(code.substr(begin, stop - begin), where, at != nullptr));
        begin = stop + 1;
      }
    }
    return {};
  }

  static void Skip(std::string_view& text, Location& where, bool fixed) {
    while (!text.empty() && IsSpace(text.front())) {
      text.remove_prefix(1);
      if (!fixed) ++where.column;
    }
  }
  static void Drop(std::string_view& text, size_t count, Location& where, bool fixed) {
    text.remove_prefix(count);
    if (!fixed) where.column += static_cast<uint32_t>(count);
  }
  static size_t WordEnd(std::string_view text) {
    size_t end = 0;
    while (end < text.size() && !IsSpace(text[end])) ++end;
    return end;
  }

  Result<void> ReadStatement(std::string_view text, Location where, bool fixed) {
    Skip(text, where, fixed);
    text = Trim(text);
    size_t end = WordEnd(text);
    if (end > 1 && text[end - 1] == ':' && text[0] != '.') {
      std::string_view name = text.substr(0, end - 1);
      if (name.starts_with('@')) name.remove_prefix(1);
      Piece piece{std::string(name), where};
      if (!labels_.emplace(name, static_cast<uint32_t>(parts_.code.size())).second)
        return Wrong(piece, fmt::format("label '{}' stands twice", name));
      Drop(text, end, where, fixed);
      Skip(text, where, fixed);
      end = WordEnd(text);
    }
    if (text.empty()) return {};
    Statement statement;
    if (text[0] == '@') {
      bool negated = text.starts_with("@!");
      std::optional<uint8_t> predicate =
          Numbered(text.substr(negated ? 2 : 1, end - (negated ? 2 : 1)), 'p', Predicates);
      if (!predicate)
        return Wrong({std::string(text), where}, "a guard is @p0 or @!p0, a label ends with ':'");
      statement.guard = static_cast<uint8_t>(0x80 | (negated ? 0x40 : 0) | *predicate);
      Drop(text, end, where, fixed);
      Skip(text, where, fixed);
      end = WordEnd(text);
      if (text.empty()) return Wrong({"", where}, "a guard stands before an instruction");
    }
    statement.word = {std::string(text.substr(0, end)), where};
    if (statement.word.text[0] == '.') {
      Drop(text, end, where, fixed);
      return Directive(statement.word, text);
    }
    Drop(text, end, where, fixed);
    ReadOperands(text, where, fixed, statement);
    return Assemble(statement);
  }

  static void ReadOperands(std::string_view text, Location where, bool fixed,
                           Statement& statement) {
    while (true) {
      Skip(text, where, fixed);
      if (text.empty()) return;
      int depth = 0;
      size_t end = 0;
      for (; end < text.size() && (text[end] != ',' || depth > 0); ++end)
        depth += text[end] == '[' || text[end] == '('   ? 1
                 : text[end] == ']' || text[end] == ')' ? -1
                                                        : 0;
      statement.operands.push_back({std::string(Trim(text.substr(0, end))), where});
      if (end == text.size()) return;
      Drop(text, end + 1, where, fixed);
      if (text.empty()) statement.operands.push_back({"", where});
    }
  }

  // --- directives -----------------------------------------------------------------------------------------------

  static std::vector<std::string> Words(std::string_view text) {
    std::vector<std::string> words;
    while (!(text = Trim(text)).empty()) {
      size_t end = WordEnd(text);
      words.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return words;
  }

  Result<void> Directive(const Piece& name, std::string_view rest) {
    std::vector<std::string> words = Words(rest);
    auto type = [&](size_t i) { return i < words.size() ? TypeNamed(words[i]) : std::nullopt; };
    if (name.text == ".kernel" && words.size() == 1) {
      parts_.name = words[0];
    } else if (name.text == ".launch" && words.empty()) {
      parts_.mode = Mode::Launch;
    } else if (name.text == ".scratch" && words.size() == 1 && type(0)) {
      parts_.scratch.push_back(*type(0));
    } else if (name.text == ".result" && words.size() == 1 && type(0)) {
      parts_.results.push_back(*type(0));
    } else if (name.text == ".param") {
      return ParamDirective(name, words);
    } else if (name.text == ".table" && words.size() >= 2 && type(0)) {
      ModuleParts::Table table{words[1], *type(0), {}};
      for (size_t i = 2; i < words.size(); ++i)
        table.words.push_back(TRY(Literal(table.type, {words[i], name.where})));
      parts_.tables.push_back(std::move(table));
    } else if (name.text == ".class" && words.size() == 1 && Number(words[0]).value_or(96) < 96) {
      class_ = static_cast<uint32_t>(*Number(words[0]));
    } else if (name.text == ".loc") {
      has_lines_ = true;
      if (words.size() == 1 && words[0] == "none") return {};
      std::optional<uint64_t> line = words.size() == 2 ? Number(words[0]) : std::nullopt;
      std::optional<uint64_t> column = words.size() == 2 ? Number(words[1]) : std::nullopt;
      if (!line || !column || *line > UINT32_MAX || *column > UINT32_MAX)
        return Wrong(name, ".loc takes a line and a column, or none");
      parts_.lines.push_back({static_cast<uint32_t>(parts_.code.size()),
                              static_cast<uint32_t>(*line), static_cast<uint32_t>(*column)});
    } else {
      return Wrong(name, fmt::format("'{}' is no directive of this form (.kernel .launch .param "
                                     ".scratch .result .table .class .loc)",
                                     name.text));
    }
    return {};
  }

  Result<void> ParamDirective(const Piece& name, const std::vector<std::string>& words) {
    ModuleParts::Param param;
    size_t at = 0;
    auto take = [&](std::string_view word) {
      return at < words.size() && words[at] == word ? (++at, true) : false;
    };
    if (take("in"))
      param.access = ir::Access::In;
    else if (take("out"))
      param.access = ir::Access::Out;
    param.is_buffer = take("buffer");
    std::optional<Type> type = at < words.size() ? TypeNamed(words[at]) : std::nullopt;
    if (!type || at + 1 >= words.size() || (!param.is_buffer && param.access != ir::Access::InOut))
      return Wrong(name, ".param [[in|out] buffer] type name [role [buffers]]");
    param.type = *type;
    param.name = words[at + 1];
    param.role = param.is_buffer ? ir::ParamRole::Buffer : ir::ParamRole::Value;
    at += 2;
    if (at < words.size()) {
      int role = 0;
      while (role <= static_cast<int>(ir::ParamRole::BlockZ) &&
             ir::RoleName(static_cast<ir::ParamRole>(role)) != words[at])
        ++role;
      if (role > static_cast<int>(ir::ParamRole::BlockZ))
        return Wrong(name, fmt::format("'{}' is no role of a parameter", words[at]));
      param.role = static_cast<ir::ParamRole>(role);
      ++at;
    }
    for (; at < words.size(); ++at) {
      std::optional<uint64_t> ordinal = Number(words[at]);
      if (!ordinal || *ordinal > UINT32_MAX)
        return Wrong(name, fmt::format("'{}' is no number of a parameter", words[at]));
      param.extents.push_back(static_cast<uint32_t>(*ordinal));
    }
    parts_.params.push_back(std::move(param));
    return {};
  }

  // --- instructions -------------------------------------------------------------------------------------------------

  struct Named {
    const InstructionInfo* info = nullptr;
    Instruction inst;
    std::vector<std::string> modifiers;
    bool typed = false;
  };

  static std::vector<std::string> Split(std::string_view word) {
    std::vector<std::string> parts;
    while (true) {
      size_t dot = std::min(word.find('.'), word.size());
      parts.emplace_back(word.substr(0, dot));
      if (dot == word.size()) return parts;
      word.remove_prefix(dot + 1);
    }
  }

  // The row for a mnemonic that has this type, or that has no type to choose by.
  static const InstructionInfo* Row(std::string_view mnemonic, std::optional<Type> type) {
    const InstructionInfo* any = nullptr;
    for (const InstructionInfo& info : AllInstructions()) {
      if (info.mnemonic != mnemonic) continue;
      if (!type || info.types == 0 || ir::Contains(info.types, *type)) return &info;
      any = &info;
    }
    return any;
  }

  Result<Named> FindRow(const Statement& statement) {
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
      return Wrong(statement.word,
                   fmt::format("there is no instruction '{}'", statement.word.text));
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
        return Wrong(statement.word, fmt::format("'{}' does not work on {}", named.info->mnemonic,
                                                 TypeName(*type)));
    } else if (type) {
      return Wrong(statement.word, fmt::format("'{}' has no type", named.info->mnemonic));
    }
    bool convert = named.info->shape == Shape::Convert;
    if (convert != (types.size() == 2))
      return Wrong(statement.word, convert
                                       ? "a conversion names two types, to and from: cvt.f32.i32"
                                       : "only a conversion names two types");
    if (convert) named.inst.aux = static_cast<uint8_t>(types[1]);
    return named;
  }

  Result<void> ReadModifiers(const Statement& statement, Named& named) {
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
        if (fine && named.inst.op == Opcode::LaneScan && !words.empty() &&
            words[0] == "exclusive") {
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
      return Wrong(statement.word, fmt::format("'{}' is no form of '{}'", statement.word.text,
                                               named.info->mnemonic));
    return {};
  }

  Result<void> Need(const Statement& statement, size_t count, std::string_view form) {
    if (statement.operands.size() == count) return {};
    return Wrong(statement.word,
                 fmt::format("'{}' takes {} operands: {}", statement.word.text, count, form));
  }

  void Emit(const Instruction& inst, const Piece& place) {
    LineRow row{static_cast<uint32_t>(parts_.code.size()), place.where.line, place.where.column};
    bool same = !text_lines_.empty() && text_lines_.back().line == row.line &&
                text_lines_.back().column == row.column;
    if (!same) text_lines_.push_back(row);
    parts_.code.push_back(inst);
    if (IsOpener(inst.op)) ++depth_;
    if (inst.op == Opcode::End && depth_ > 0) --depth_;
  }

  Result<void> Assemble(Statement& statement) {
    if (IsPseudo(statement)) return AssemblePseudo(statement);
    return AssembleReal(statement);
  }

  Result<void> AssemblePseudo(const Statement& statement) {
    ExpansionContext context{parts_.mode, depth_, class_, {}, {}};
    for (int r = PhaseRegister - 1; r >= 0; --r)
      if (!used_registers_[static_cast<size_t>(r)])
        context.free_registers.push_back(static_cast<uint8_t>(r));
    for (int p = Predicates - 1; p >= 0; --p)
      if (!used_predicates_[static_cast<size_t>(p)])
        context.free_predicates.push_back(static_cast<uint8_t>(p));
    return Include(statement, TRY(ExpandPseudo(statement, context)));
  }

  Result<void> AssembleReal(Statement& statement) {
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

  Result<void> Include(const Statement& statement, const Expansion& expansion) {
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

  // Numbers come first: a name that looks like one cannot take its place.
  Result<uint64_t> TableNumber(const Piece& piece) {
    bool numbered = piece.text.size() > 1 && piece.text[0] == 't' &&
                    std::all_of(piece.text.begin() + 1, piece.text.end(),
                                [](unsigned char c) { return std::isdigit(c); });
    if (std::optional<uint64_t> number = Number(numbered ? piece.text.substr(1) : ""))
      return *number;
    for (size_t i = 0; i < parts_.tables.size(); ++i)
      if (parts_.tables[i].name == piece.text) return i;
    return Wrong(piece, fmt::format("there is no table '{}'", piece.text));
  }

  Result<void> ReadOperandB(const Piece& piece, Instruction& inst) {
    if (!piece.text.starts_with('#')) {
      inst.b = TRY(Operand(inst.type, piece));
      return {};
    }
    inst.aux |= ImmediateB;
    inst.imm = TRY(Literal(inst.type, piece));
    return {};
  }

  Result<void> AddLabel(const Piece& piece) {
    std::string name = piece.text;
    if (name.starts_with('@')) name.erase(0, 1);
    fixups_.push_back({parts_.code.size(), {name, piece.where}});
    return {};
  }

  Result<void> ReadShape(const Statement& s, Instruction& i);

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

Result<void> Assembler::ReadShape(const Statement& s, Instruction& i) {
  const std::vector<Piece>& o = s.operands;
  switch (Info(i.op).shape) {
    case Shape::Plain:
    case Shape::Fence: return Need(s, 0, "none");
    case Shape::Imm:
      if (i.op == Opcode::BarSync && o.empty()) return {};
      TRY_VOID(Need(s, 1, "a number"));
      i.imm = TRY(Count(o[0]));
      return {};
    case Shape::Dst:
      TRY_VOID(Need(s, 1, "dst"));
      i.dst = TRY(Operand(i.type, o[0]));
      return {};
    case Shape::DImm:
      TRY_VOID(Need(s, 2, i.op == Opcode::Ldp ? "dst, parameter" : "dst, value"));
      i.dst = TRY(Operand(i.type, o[0]));
      if (i.op == Opcode::MovImm) {
        i.imm = TRY(Literal(i.type, o[1]));
        return {};
      }
      if (std::optional<uint64_t> number = Number(o[1].text))
        return i.imm = *number, Result<void>{};
      for (size_t p = 0; p < parts_.params.size(); ++p)
        if (parts_.params[p].name == o[1].text) return i.imm = p, Result<void>{};
      return Wrong(o[1], fmt::format("there is no parameter '{}'", o[1].text));
    case Shape::DA:
    case Shape::LaneReduce:
      TRY_VOID(Need(s, 2, "dst, a"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      return {};
    case Shape::DAB:
      TRY_VOID(Need(s, 3, "dst, a, b"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      return ReadOperandB(o[2], i);
    case Shape::DABC:
    case Shape::Random:
      TRY_VOID(Need(s, 4, "dst, a, b, c"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      i.b = TRY(Operand(i.type, o[2]));
      i.c = TRY(Operand(i.type, o[3]));
      return {};
    case Shape::Load:
      TRY_VOID(Need(s, 2, "dst, [address]"));
      i.dst = TRY(Operand(i.type, o[0]));
      return ReadAddress(o[1], i);
    case Shape::Store:
      TRY_VOID(Need(s, 2, "[address], value"));
      i.c = TRY(Operand(i.type, o[1]));
      return ReadAddress(o[0], i);
    case Shape::Atomic:
      TRY_VOID(Need(s, 3, "dst, [address], value"));
      i.dst = TRY(Register(o[0]));
      i.c = TRY(Register(o[2]));
      return ReadAddress(o[1], i);
    case Shape::AtomicCas:
      TRY_VOID(Need(s, 4, "dst, [address], expected, new"));
      i.dst = TRY(Register(o[0]));
      i.c = TRY(Register(o[2]));
      i.imm = TRY(Register(o[3]));
      return ReadAddress(o[1], i);
    case Shape::Convert:
      TRY_VOID(Need(s, 2, "dst, a"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Operand(i.source(), o[1]));
      return {};
    case Shape::Length:
      TRY_VOID(Need(s, 2, "dst, buffer"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Buffer(o[1]));
      return {};
    case Shape::Alloc:
      TRY_VOID(Need(s, 2, "buffer, length"));
      i.dst = TRY(Buffer(o[0]));
      i.a = TRY(Register(o[1]));
      return {};
    case Shape::Lookup:
      TRY_VOID(Need(s, 3, "dst, table, index"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.imm = TRY(TableNumber(o[1]));
      i.a = TRY(Register(o[2]));
      return {};
    case Shape::Result:
      TRY_VOID(Need(s, 2, "number, value"));
      i.imm = TRY(Count(o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      return {};
    case Shape::PredToReg:
    case Shape::Ballot:
      TRY_VOID(Need(s, 2, "register, predicate"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Predicate(o[1]));
      return {};
    case Shape::RegToPred:
      TRY_VOID(Need(s, 2, "predicate, register"));
      i.dst = TRY(Predicate(o[0]));
      i.a = TRY(Register(o[1]));
      return {};
    case Shape::Special: {
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
    case Shape::Compare:
      TRY_VOID(Need(s, 3, "predicate, a, b"));
      i.dst = TRY(Predicate(o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      return ReadOperandB(o[2], i);
    case Shape::Select:
      TRY_VOID(Need(s, 4, "dst, predicate, a, b"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Predicate(o[1]));
      i.b = TRY(Operand(i.type, o[2]));
      i.c = TRY(Operand(i.type, o[3]));
      return {};
    case Shape::TestPred:
      TRY_VOID(Need(s, 1, "predicate"));
      i.a = TRY(Predicate(o[0]));
      return {};
    case Shape::For: {
      bool par = i.op == Opcode::Par;
      if (!(o.size() == 3 && !par))
        TRY_VOID(Need(s, par ? 3 : 4, par ? "counter, from, to" : "counter, from, to, step"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Register(o[1]));
      i.b = TRY(Register(o[2]));
      i.imm = o.size() == 4 ? TRY(Count(o[3])) : 1;
      return {};
    }
    case Shape::Switch:
    case Shape::PoolFree:
      TRY_VOID(Need(s, 1, "register"));
      i.a = TRY(Register(o[0]));
      return {};
    case Shape::Label: TRY_VOID(Need(s, 1, "@label")); return AddLabel(o[0]);
    case Shape::Loop:
      TRY_VOID(Need(s, 2, "register, @label"));
      i.a = TRY(Register(o[0]));
      return AddLabel(o[1]);
    case Shape::Shuffle:
      TRY_VOID(Need(s, 3, "dst, a, lane"));
      i.dst = TRY(Operand(i.type, o[0]));
      i.a = TRY(Operand(i.type, o[1]));
      i.b = TRY(Register(o[2]));
      return {};
    case Shape::Vote:
      TRY_VOID(Need(s, 2, "predicate, predicate"));
      i.dst = TRY(Predicate(o[0]));
      i.a = TRY(Predicate(o[1]));
      return {};
    case Shape::RegReduce:
      TRY_VOID(Need(s, 3, "dst, first register, count"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Register(o[1]));
      i.imm = TRY(Count(o[2]));
      return {};
    case Shape::RangeReduce:
      TRY_VOID(Need(s, 4, "dst, buffer, from, count"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Buffer(o[1]));
      i.b = TRY(Register(o[2]));
      i.c = TRY(Register(o[3]));
      return {};
    case Shape::PoolAlloc:
      TRY_VOID(Need(s, 2, "dst, size"));
      i.dst = TRY(Register(o[0]));
      i.a = TRY(Register(o[1]));
      return {};
  }
  return {};
}

}  // namespace

Result<Module> Assemble(std::string_view text) { return Assembler(text).Run(); }

}  // namespace frazil::machines::simt
