// The assembler: statements one after the other, labels patched at the end, everything judged by the verifier. A
// pseudo-instruction is text again (pseudo.cpp) and goes the same way, at the place of its statement.
#include "machines/simt/assembler.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "machines/simt/assembler_state.h"
#include "machines/simt/text.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {

Result<Module> Assembler::Run() {
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

void Assembler::FindUsedNames() {
  for (size_t i = 0; i < text_.size(); ++i) {
    bool starts =
        i == 0 || (!std::isalnum(static_cast<unsigned char>(text_[i - 1])) && text_[i - 1] != '_');
    if (!starts) continue;
    size_t end = i + 1;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]))) ++end;
    if (std::optional<uint8_t> r = Numbered(text_.substr(i, end - i), 'r', Registers))
      used_registers_.set(*r);
    if (std::optional<uint8_t> p = Numbered(text_.substr(i, end - i), 'p', Predicates))
      used_predicates_.set(*p);
  }
}

Result<void> Assembler::ReadText(std::string_view text, const Location* at) {
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

void Assembler::Skip(std::string_view& text, Location& where, bool fixed) {
  while (!text.empty() && IsSpace(text.front())) {
    text.remove_prefix(1);
    if (!fixed) ++where.column;
  }
}

void Assembler::Drop(std::string_view& text, size_t count, Location& where, bool fixed) {
  text.remove_prefix(count);
  if (!fixed) where.column += static_cast<uint32_t>(count);
}

size_t Assembler::WordEnd(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && !IsSpace(text[end])) ++end;
  return end;
}

Result<void> Assembler::ReadStatement(std::string_view text, Location where, bool fixed) {
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

void Assembler::ReadOperands(std::string_view text, Location where, bool fixed,
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

std::vector<std::string> Assembler::Words(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = Trim(text)).empty()) {
    size_t end = WordEnd(text);
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

Result<void> Assembler::Directive(const Piece& name, std::string_view rest) {
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
    parts_.lines.push_back({static_cast<uint32_t>(parts_.code.size()), static_cast<uint32_t>(*line),
                            static_cast<uint32_t>(*column)});
  } else {
    return Wrong(name, fmt::format("'{}' is no directive of this form (.kernel .launch .param "
                                   ".scratch .result .table .class .loc)",
                                   name.text));
  }
  return {};
}

Result<void> Assembler::ParamDirective(const Piece& name, const std::vector<std::string>& words) {
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

Result<Module> Assemble(std::string_view text) { return Assembler(text).Run(); }

}  // namespace frazil::machines::simt
