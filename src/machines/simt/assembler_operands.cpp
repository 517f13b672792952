// Operands of the text form: registers, numbers, literals, addresses.
#include "machines/simt/assembler_operands.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "ir/text/text.h"

namespace frazil::machines::simt {

std::unexpected<Error> Wrong(const Piece& piece, std::string what) {
  return Fail(Diag::BadAssembly, std::move(what), piece.where);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> Number(std::string_view text) {
  text = Trim(text);
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? uint64_t{0} - value : value;
}

// "r12" with this letter: 12.
std::optional<uint8_t> Numbered(std::string_view text, char letter, uint64_t count) {
  text = Trim(text);
  if (text.size() < 2 || text.size() > 4 ||
      std::tolower(static_cast<unsigned char>(text[0])) != letter)
    return std::nullopt;
  if (!std::ranges::all_of(text.substr(1), [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  std::optional<uint64_t> value = Number(text.substr(1));
  if (!value || *value >= count) return std::nullopt;
  return static_cast<uint8_t>(*value);
}

Result<uint64_t> OperandReader::Literal(Type type, const Piece& piece) {
  std::string_view text = piece.text;
  if (text.starts_with('#')) text.remove_prefix(1);
  bool hex = text.starts_with("0x") || text.starts_with("0X");
  std::string spelled(text);
  if (hex) {
    std::optional<uint64_t> bits = Number(text);
    if (!bits) return Wrong(piece, fmt::format("'{}' is no number", piece.text));
    if (ir::IsFloat(type) || type == Type::Bool)
      return *bits;  // a pattern; the verifier knows whether it fits
    if (!ir::IsSigned(type) || *bits <= INT64_MAX)
      spelled = fmt::format("{}", *bits);
    else
      spelled = fmt::format("{}", static_cast<int64_t>(*bits));
  }
  if (type == Type::Bool && (spelled == "0" || spelled == "1")) return spelled == "1";
  Result<std::vector<uint64_t>> words = ir::ParseLiteral(ir::Type::Of(type), spelled);
  if (!words) return Wrong(piece, fmt::format("'{}' is no {}", piece.text, TypeName(type)));
  return (*words)[0];
}

Result<uint8_t> OperandReader::Register(const Piece& piece) {
  if (std::optional<uint8_t> number = Numbered(piece.text, 'r', Registers)) return *number;
  return Wrong(piece, fmt::format("expected a register r0 to r255, not '{}'", piece.text));
}
Result<uint8_t> OperandReader::Predicate(const Piece& piece) {
  if (std::optional<uint8_t> number = Numbered(piece.text, 'p', Predicates)) return *number;
  return Wrong(piece, fmt::format("expected a predicate p0 to p15, not '{}'", piece.text));
}
Result<uint8_t> OperandReader::Operand(Type type, const Piece& piece) {
  return type == Type::Bool ? Predicate(piece) : Register(piece);
}

std::optional<uint8_t> OperandReader::BufferNumber(std::string_view text) const {
  text = Trim(text);
  std::string spelled =
      text.starts_with("buf") ? "b" + std::string(text.substr(3)) : std::string(text);
  if (std::optional<uint8_t> number = Numbered(spelled, 'b', MaxBuffers)) return number;
  uint8_t number = 0;
  for (const ModuleParts::Param& param : parts_.params) {
    if (!param.is_buffer) continue;
    if (param.name == text) return number;
    ++number;
  }
  return std::nullopt;
}
Result<uint8_t> OperandReader::Buffer(const Piece& piece) {
  if (std::optional<uint8_t> number = BufferNumber(piece.text)) return *number;
  return Wrong(piece,
               fmt::format("expected a buffer b0 to b255 or a buffer parameter's name, not '{}'",
                           piece.text));
}
Result<uint64_t> OperandReader::Count(const Piece& piece) {
  std::string_view text = piece.text;
  if (text.starts_with('#')) text.remove_prefix(1);
  if (std::optional<uint64_t> number = Number(text)) return *number;
  return Wrong(piece, fmt::format("expected a number, not '{}'", piece.text));
}

Result<void> OperandReader::PhiAddress(const Piece& piece, std::string_view inside,
                                       Instruction& inst) {
  size_t open = inside.find('('), close = inside.rfind(')');
  uint64_t values[3];
  bool fine = open != inside.npos && close == inside.size() - 1;
  std::string_view list = fine ? inside.substr(open + 1, close - open - 1) : std::string_view{};
  for (int i = 0; i < 3 && fine; ++i) {
    size_t end = std::min(list.find(','), list.size());
    std::optional<uint64_t> value = Number(list.substr(0, end));
    fine = value.has_value() && (i == 2) == (end == list.size());
    values[i] = value.value_or(0);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (!fine || values[0] >= PhiClasses || values[1] >= PhiPages || values[2] >= PhiPageBytes)
    return Wrong(piece, "Φ(class, page, byte) has class below 96, page below 48, byte below 256");
  inst.aux |= static_cast<uint8_t>(Address::Phi);
  inst.imm = values[0] * PhiClassBytes + values[1] * PhiPageBytes + values[2];
  return {};
}

// [base + index + offset], [base + index*size], [Φ(..)].
Result<void> OperandReader::ReadAddress(const Piece& piece, Instruction& inst) {
  std::string_view text = Trim(piece.text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']')
    return Wrong(piece, fmt::format("expected an address [..], not '{}'", piece.text));
  std::string_view inside = Trim(text.substr(1, text.size() - 2));
  if (inside.starts_with("Φ") || inside.starts_with("phi")) return PhiAddress(piece, inside, inst);
  bool shared = inst.op == Opcode::Lds || inst.op == Opcode::Sts;
  std::vector<std::string> terms;
  uint64_t offset = 0;
  std::string term;
  bool negative = false;
  auto finish = [&]() -> Result<void> {
    std::string_view trimmed = Trim(term);
    if (trimmed.empty()) return Wrong(piece, fmt::format("'{}' is no address", piece.text));
    if (std::optional<uint64_t> value = Number(trimmed))
      offset += negative ? uint64_t{0} - *value : *value;
    else if (negative)
      return Wrong(piece, "only a number can be subtracted in an address");
    else
      terms.emplace_back(trimmed);
    term.clear();
    return {};
  };
  for (size_t i = 0; i < inside.size(); ++i) {
    bool sign = inside[i] == '+' || inside[i] == '-';
    if (!sign) {
      term += inside[i];
      continue;
    }
    if (Trim(term).empty() && inside[i] == '-' && i == 0) {
      negative = true;
      continue;
    }
    TRY_VOID(finish());
    negative = inside[i] == '-';
  }
  TRY_VOID(finish());
  return shared ? SharedAddress(piece, terms, offset, inst)
                : GlobalAddress(piece, terms, offset, inst);
}

// "r3*4": register 3 and true.
std::optional<std::pair<uint8_t, bool>> OperandReader::Index(const std::string& term,
                                                             Type type) const {
  size_t star = term.find('*');
  std::optional<uint8_t> number = Numbered(std::string_view(term).substr(0, star), 'r', Registers);
  if (!number) return std::nullopt;
  if (star == term.npos) return std::pair(*number, false);
  std::string_view size = Trim(std::string_view(term).substr(star + 1));
  if (size != "size" && Number(size) != ir::BytesOf(ir::Type::Of(type))) return std::nullopt;
  return std::pair(*number, true);
}

Result<void> OperandReader::SetIndex(const Piece& piece, const std::string& term, uint64_t offset,
                                     Instruction& inst) {
  auto index = Index(term, inst.type);
  if (!index)
    return Wrong(piece, fmt::format("'{}' is no index: rN, or rN*{} for elements", term,
                                    ir::BytesOf(ir::Type::Of(inst.type))));
  if (index->second && offset != 0)
    return Wrong(piece, "an element's address has no offset besides");
  inst.b = index->first;
  inst.imm |= offset;
  inst.aux |= static_cast<uint8_t>(index->second ? Address::Elements : Address::Bytes);
  return {};
}

Result<void> OperandReader::SharedAddress(const Piece& piece, const std::vector<std::string>& terms,
                                          uint64_t offset, Instruction& inst) {
  if (terms.size() > 1)
    return Wrong(piece, "shared memory is addressed by [rM], [imm] or [rM*size]");
  if (terms.size() == 1) return SetIndex(piece, terms[0], offset, inst);
  inst.imm = offset;
  return {};
}

Result<void> OperandReader::GlobalAddress(const Piece& piece, const std::vector<std::string>& terms,
                                          uint64_t offset, Instruction& inst) {
  if (terms.empty() || terms.size() > 2)
    return Wrong(
        piece,
        fmt::format("'{}' is no address: [b0 + r1*4], [b0 + r1], [b0 + 16], [r1 + r2] or [Φ(..)]",
                    piece.text));
  if (std::optional<uint8_t> handle = Numbered(terms[0], 'r', Registers)) {
    inst.a = *handle;
    if (terms.size() == 1) {
      inst.aux |= static_cast<uint8_t>(Address::Handle);
      inst.imm = offset;
      return {};
    }
    std::optional<uint8_t> second = Numbered(terms[1], 'r', Registers);
    if (!second || offset != 0)
      return Wrong(piece, "a handle takes one register or one number: [r1 + r2], [r1 + 16]");
    inst.b = *second;
    inst.aux |= static_cast<uint8_t>(Address::HandleBytes);
    return {};
  }
  inst.a = TRY(Buffer({terms[0], piece.where}));
  if (terms.size() == 2) return SetIndex(piece, terms[1], offset, inst);
  inst.imm |= offset;
  return {};
}

}  // namespace frazil::machines::simt
