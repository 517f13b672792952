// Characters to tokens: UTF-8 is checked here, the typographic forms of an operator become one
// symbol, and digits with their grouping become one value. Nothing is dropped but white space.
#include <fmt/format.h>

#include <optional>

#include "base/names.h"
#include "base/utf8.h"
#include "frontends/words/token.h"

namespace frazil::frontends::words {
namespace {

struct CodePoint {
  uint32_t value = 0;
  uint32_t length = 1;
};

// The text is known to be UTF-8.
CodePoint Decode(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const uint32_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  uint32_t value = first & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) value = value << 6 | (byte(i) & 0x3Fu);
  return {value, length};
}

bool IsDigit(uint32_t c) { return c >= '0' && c <= '9'; }
bool IsAsciiLetter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters of any script, by exclusion: the blocks of punctuation, symbols and pictures are out.
bool IsLetter(uint32_t c) {
  if (c < 0x80) return IsAsciiLetter(c) || c == '_';
  if (c < 0xC0 || c == 0xD7 || c == 0xF7) return false;
  if (c >= 0x2000 && c < 0x2C00) return false;
  if (c >= 0x3000 && c < 0x3040) return false;
  return !(c >= 0xE000 && c < 0xF900) && !(c >= 0xFE00 && c < 0xFE70) &&
         !(c >= 0xFF00 && c < 0xFF21) && c < 0x1F000;
}

bool IsSpace(uint32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

Symbol SymbolOf(uint32_t c) {
  switch (c) {
    case '+': return Symbol::Plus;
    case '-':
    case 0x2212:
    case 0x2013: return Symbol::Minus;  // − –
    case '*':
    case 0xD7:
    case 0xB7:
    case 0x22C5:
    case 0x2217:
    case 0x2715:  // × · ⋅ ∗ ✕
      return Symbol::Times;
    case '/':
    case 0xF7:
    case 0x2215:
    case 0x2044: return Symbol::Slash;  // ÷ ∕ ⁄
    case '^': return Symbol::Power;
    case '%': return Symbol::Percent;
    case '!': return Symbol::Bang;
    case 0x221A: return Symbol::Root;  // √
    case '(':
    case '[': return Symbol::Open;
    case ')':
    case ']': return Symbol::Close;
    case '|': return Symbol::Bar;
    case ',': return Symbol::Comma;
    case ';': return Symbol::Semicolon;
    case ':': return Symbol::Colon;
    case '.': return Symbol::Stop;
    case '?': return Symbol::Question;
    case 0x2026:
    case 0x22EF: return Symbol::Ellipsis;  // … ⋯
    case '=': return Symbol::Equal;
    case 0x2260: return Symbol::NotEqual;
    case '<': return Symbol::Less;
    case 0x2264: return Symbol::LessEqual;
    case '>': return Symbol::Greater;
    case 0x2265: return Symbol::GreaterEqual;
    case '$':
    case 0x20AC:
    case 0xA3:
    case 0xA5: return Symbol::Currency;
    default: return Symbol::None;
  }
}

// Operators of two or three ASCII characters, longest first.
constexpr Named<Symbol> Compounds[] = {
    {"...", Symbol::Ellipsis},  {"..", Symbol::Ellipsis},  {"**", Symbol::Power},
    {"//", Symbol::WholeSlash}, {"==", Symbol::Equal},     {"!=", Symbol::NotEqual},
    {"<>", Symbol::NotEqual},   {"<=", Symbol::LessEqual}, {">=", Symbol::GreaterEqual},
};

int SuperscriptDigit(uint32_t c) {
  if (c == 0xB9) return 1;
  if (c == 0xB2 || c == 0xB3) return static_cast<int>(c - 0xB0);
  if (c == 0x2070 || (c >= 0x2074 && c <= 0x2079)) return static_cast<int>(c - 0x2070);
  return -1;
}

std::optional<Rational> VulgarFraction(uint32_t c) {
  switch (c) {
    case 0xBC: return Rational::Of(1, 4);
    case 0xBD: return Rational::Of(1, 2);
    case 0xBE: return Rational::Of(3, 4);
    case 0x2153: return Rational::Of(1, 3);
    case 0x2154: return Rational::Of(2, 3);
    case 0x2155: return Rational::Of(1, 5);
    case 0x215B: return Rational::Of(1, 8);
    default: return std::nullopt;
  }
}

class Lexer {
 public:
  Lexer(std::string_view text, const Limits& limits) : text_(text), limits_(limits) {}

  Result<std::vector<Token>> Run() {
    TRY_VOID(CheckText());
    while (true) {
      const bool spaced = SkipSpace() || offset_ == 0;
      Token token;
      token.spaced = spaced;
      token.location = location_;
      if (offset_ == text_.size()) {
        token.source = text_.substr(offset_);
        tokens_.push_back(std::move(token));
        return std::move(tokens_);
      }
      const size_t start = offset_;
      TRY_VOID(Scan(token));
      token.source = text_.substr(start, offset_ - start);
      tokens_.push_back(std::move(token));
      SplitContraction();
    }
  }

 private:
  // Size and encoding first, so that the scanners below may decode without looking back.
  Result<void> CheckText() {
    if (const std::optional<Location> bad = FindBadUtf8(text_))
      return Fail(Diag::BadUtf8, "the text is not UTF-8", *bad);
    uint64_t characters = 0;
    for (char c : text_) characters += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
    if (characters > limits_.words_chars)
      return Fail(
          Diag::LimitReached,
          fmt::format("the text is longer than {} characters (--max-words)", limits_.words_chars));
    return {};
  }

  CodePoint At(size_t offset) const {
    return offset < text_.size() ? Decode(text_.substr(offset)) : CodePoint{0, 1};
  }
  CodePoint Here() const { return At(offset_); }

  void Advance() {
    const CodePoint c = Here();
    offset_ += c.length;
    location_ = c.value == '\n' ? Location{location_.line + 1, 1}
                                : Location{location_.line, location_.column + 1};
  }
  void AdvanceTo(size_t offset) {
    while (offset_ < offset) Advance();
  }

  bool SkipSpace() {
    const size_t start = offset_;
    while (offset_ < text_.size() && IsSpace(Here().value)) Advance();
    return offset_ != start;
  }

  Result<void> Scan(Token& token) {
    const uint32_t c = Here().value;
    const uint32_t next = At(offset_ + Here().length).value;
    if (IsDigit(c)) return ScanNumber(token);
    const bool after_operand =
        !tokens_.empty() && !token.spaced && !tokens_.back().Is(Symbol::Open);
    if (c == '.' && IsDigit(next) && !after_operand) return ScanNumber(token);
    if (auto fraction = VulgarFraction(c)) {
      token.kind = TokenKind::Number;
      token.value = *fraction;
      Advance();
      return {};
    }
    if (IsLetter(c)) return ScanWord(token);
    return ScanSymbol(token);
  }

  Result<void> ScanWord(Token& token) {
    const size_t start = offset_;
    token.kind = TokenKind::Word;
    token.capital = Here().value >= 'A' && Here().value <= 'Z';
    token.joined = joined_;
    joined_ = false;
    while (true) {
      const uint32_t c = Here().value;
      const uint32_t next = At(offset_ + Here().length).value;
      const bool apostrophe = (c == '\'' || c == 0x2019) && IsLetter(next);
      // "5x3" is a product, "x3" a name.
      const bool times =
          token.word == "x" && !token.spaced && !tokens_.empty() && tokens_.back().IsNumber();
      const bool digit = IsDigit(c) && offset_ > start && !times;
      if (!IsLetter(c) && !apostrophe && !digit) break;
      if (apostrophe) {
        token.word.push_back('\'');
      } else if (c < 0x80) {
        token.word.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
      } else {
        token.word.append(text_.substr(offset_, Here().length));
      }
      Advance();
    }
    if (token.word.size() > limits_.literal_chars)
      return Fail(
          Diag::LimitReached,
          fmt::format("a word is longer than {} characters (--max-literal)", limits_.literal_chars),
          token.location);
    // A hyphen between two letters joins words; anywhere else it is a minus sign.
    if (Here().value == '-' && IsAsciiLetter(At(offset_ + 1).value)) {
      Advance();
      joined_ = true;
    }
    return {};
  }

  Result<void> ScanSymbol(Token& token) {
    token.kind = TokenKind::Symbol;
    for (const auto& [text, symbol] : Compounds) {
      if (!text_.substr(offset_).starts_with(text)) continue;
      token.symbol = symbol;
      AdvanceTo(offset_ + text.size());
      return {};
    }
    const bool negative = Here().value == 0x207B;  // ⁻ before superscript digits
    if (SuperscriptDigit(negative ? At(offset_ + 3).value : Here().value) >= 0) {
      if (negative) Advance();
      Big value = 0;
      for (; SuperscriptDigit(Here().value) >= 0; Advance())
        value = value * 10 + SuperscriptDigit(Here().value);
      token.symbol = Symbol::Superscript;
      token.value.num = negative ? -value : value;
      return {};
    }
    token.symbol = SymbolOf(Here().value);
    if (token.symbol == Symbol::None)
      return Fail(Diag::NotUnderstood,
                  fmt::format("\"{}\" is not understood", text_.substr(offset_, Here().length)),
                  location_);
    if (token.symbol == Symbol::Open) calls_.push_back(OpensCall(token));
    if (token.symbol == Symbol::Close && !calls_.empty()) calls_.pop_back();
    Advance();
    return {};
  }

  bool OpensCall(const Token& open) const {
    return !open.spaced && !tokens_.empty() && tokens_.back().IsWord();
  }

  // The length of `digits` from an offset on.
  size_t DigitsAt(size_t offset) const {
    size_t end = offset;
    while (end < text_.size() && IsDigit(static_cast<uint8_t>(text_[end]))) ++end;
    return end - offset;
  }

  // 1,000,000 and 1 000 000: groups of exactly three after a first of one to three. In f(1,200) the
  // comma parts arguments, so commas do not group there.
  uint32_t GroupSeparator(size_t offset) const {
    if (offset >= text_.size()) return 0;
    const CodePoint c = At(offset);
    const bool comma = c.value == ',' && (calls_.empty() || !calls_.back());
    const bool space = c.value == ' ' || c.value == 0xA0 || c.value == 0x202F || c.value == 0x2009;
    if ((!comma && !space) || DigitsAt(offset + c.length) != 3) return 0;
    const size_t after = offset + c.length + 3;
    if (IsLetter(At(after).value)) return 0;
    return c.value;
  }

  // Whether the digits stood in groups.
  bool ScanDigits(std::string& digits) {
    const size_t first = DigitsAt(offset_);
    digits.append(text_.substr(offset_, first));
    const bool may_group = first <= 3 && text_[offset_] != '0';
    AdvanceTo(offset_ + first);
    while (Here().value == '_' && DigitsAt(offset_ + 1) > 0) {
      const size_t more = DigitsAt(offset_ + 1);
      digits.append(text_.substr(offset_ + 1, more));
      AdvanceTo(offset_ + 1 + more);
    }
    if (!may_group) return false;
    const uint32_t separator = GroupSeparator(offset_);
    while (separator != 0 && GroupSeparator(offset_) == separator) {
      Advance();
      digits.append(text_.substr(offset_, 3));
      AdvanceTo(offset_ + 3);
    }
    return separator != 0;
  }

  Result<void> ScanNumber(Token& token) {
    token.kind = TokenKind::Number;
    token.money = !tokens_.empty() && tokens_.back().Is(Symbol::Currency);
    std::string digits;
    int64_t places = 0;
    if (IsDigit(Here().value)) token.grouped = ScanDigits(digits);
    if (Here().value == '.' && DigitsAt(offset_ + 1) > 0) {
      places = static_cast<int64_t>(DigitsAt(offset_ + 1));
      digits.append(text_.substr(offset_ + 1, DigitsAt(offset_ + 1)));
      AdvanceTo(offset_ + 1 + DigitsAt(offset_ + 1));
    }
    if (digits.size() > limits_.literal_chars)
      return Fail(
          Diag::LimitReached,
          fmt::format("a number has more than {} digits (--max-literal)", limits_.literal_chars),
          token.location);
    places -= ScanExponent();
    const Big value = Big::FromDigits(digits);
    const Big scale = Big::Power(10, static_cast<uint64_t>(places < 0 ? -places : places));
    token.value = places < 0 ? Rational{value * scale, 1} : Rational::Of(value, scale);
    if (token.value.num.huge() || token.value.den.huge())
      return Fail(Diag::LimitReached, "a number needs more than 4096 bits", token.location);
    if (auto fraction = VulgarFraction(Here().value); fraction && places == 0) {
      token.value.num = token.value.num * fraction->den + fraction->num;
      token.value.den = fraction->den;
      Advance();
    }
    return ScanOrdinalEnding(token);
  }

  // The x of "1e6"; 0 where none is written.
  int64_t ScanExponent() {
    if (Here().value != 'e' && Here().value != 'E') return 0;
    const char sign = offset_ + 1 < text_.size() ? text_[offset_ + 1] : ' ';
    const size_t digits_at = offset_ + (sign == '-' || sign == '+' ? 2 : 1);
    const size_t count = DigitsAt(digits_at);
    if (count == 0 || count > 4 || IsLetter(At(digits_at + count).value)) return 0;
    int64_t exponent = 0;
    for (size_t i = 0; i < count; ++i) exponent = exponent * 10 + (text_[digits_at + i] - '0');
    AdvanceTo(digits_at + count);
    return sign == '-' ? -exponent : exponent;
  }

  Result<void> ScanOrdinalEnding(Token& token) {
    for (std::string_view ending : {"st", "nd", "rd", "th"}) {
      if (!text_.substr(offset_).starts_with(ending) || IsLetter(At(offset_ + 2).value)) continue;
      if (!token.value.whole()) break;
      token.kind = TokenKind::Ordinal;
      AdvanceTo(offset_ + 2);
    }
    return {};
  }

  // "what's" is "what is"; other words keep their apostrophe ("Ann's", "doesn't").
  void SplitContraction() {
    Token& token = tokens_.back();
    if (!token.IsWord() || !token.word.ends_with("'s")) return;
    const std::string stem = token.word.substr(0, token.word.size() - 2);
    if (stem != "what" && stem != "how" && stem != "that" && stem != "it" && stem != "there")
      return;
    token.word = stem;
    Token is = token;
    is.word = "is";
    tokens_.push_back(std::move(is));
  }

  std::string_view text_;
  const Limits& limits_;
  size_t offset_ = 0;
  Location location_{1, 1};
  bool joined_ = false;
  std::vector<bool> calls_;  // for each open parenthesis: does it hold arguments
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view text, const Limits& limits) {
  return Lexer(text, limits).Run();
}

}  // namespace frazil::frontends::words
