#include "ir/text/lexer.h"

#include <array>

namespace frazil::ir {
namespace {

constexpr auto NameTable = [] {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  table['_'] = table['.'] = true;
  return table;
}();

bool IsName(char c) { return NameTable[static_cast<unsigned char>(c)]; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Lexer::SkipSpace() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && position_ + 1 < text_.size() && text_[position_ + 1] == '/') {
      position_ = text_.find('\n', position_);
      if (position_ == std::string_view::npos) position_ = text_.size();
    } else {
      return;
    }
  }
}

void Lexer::Advance() {
  SkipSpace();
  token_start_ = position_;
  token_line_ = line_;
  token_line_start_ = line_start_;
  token_.location = {line_, static_cast<uint32_t>(position_ - line_start_ + 1)};
  if (position_ >= text_.size()) {
    token_ = {Token::Kind::End, {}, token_.location};
    return;
  }
  char c = text_[position_];
  size_t start = position_++;
  auto take_name = [&] {
    while (position_ < text_.size() && IsName(text_[position_])) ++position_;
  };
  if (c == '%' || c == '@') {
    take_name();
    token_.kind = c == '%' ? Token::Kind::Value : Token::Kind::Symbol;
    token_.text = text_.substr(start + 1, position_ - start - 1);
    if (token_.text.empty()) token_ = {Token::Kind::Bad, text_.substr(start, 1), token_.location};
    return;
  }
  bool arrow = c == '-' && position_ < text_.size() && text_[position_] == '>';
  if (arrow) {
    ++position_;
    token_.kind = Token::Kind::Punct;
  } else if (IsDigit(c) || (c == '-' && position_ < text_.size() && IsDigit(text_[position_]))) {
    take_name();
    token_.kind = Token::Kind::Number;
  } else if (IsName(c)) {
    take_name();
    token_.kind = Token::Kind::Word;
  } else {
    bool known = std::string_view("{}()[]<>,:=").find(c) != std::string_view::npos;
    token_.kind = known ? Token::Kind::Punct : Token::Kind::Bad;
  }
  token_.text = text_.substr(start, position_ - start);
}

std::string_view Lexer::TakeRaw(std::string_view stops) {
  size_t start = token_start_;
  position_ = start;
  line_ = token_line_;
  line_start_ = token_line_start_;
  int depth = 0;
  for (; position_ < text_.size(); ++position_) {
    char c = text_[position_];
    if (c == '\n') break;
    if (depth == 0 && stops.find(c) != std::string_view::npos) break;
    depth += (c == '(') - (c == ')');
  }
  std::string_view raw = text_.substr(start, position_ - start);
  while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\t' || raw.back() == '\r'))
    raw.remove_suffix(1);
  Advance();
  return raw;
}

void Lexer::Return(const Mark& mark) {
  position_ = mark.position;
  line_ = mark.line;
  line_start_ = mark.line_start;
  Advance();
}

// Characters, not tokens: a body is skipped once and read once, and lexing it twice cost a quarter of the
// reader's time. Braces can stand nowhere but as punctuation or in comments.
bool Lexer::SkipBraces() {
  int64_t depth = 0;
  position_ = token_start_;
  while (position_ < text_.size()) {
    char c = text_[position_++];
    if (c == '\n') {
      ++line_;
      line_start_ = position_;
    } else if (c == '/' && position_ < text_.size() && text_[position_] == '/') {
      position_ = text_.find('\n', position_);
      if (position_ == std::string_view::npos) position_ = text_.size();
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      Advance();
      return true;
    }
  }
  Advance();
  return false;
}

}  // namespace frazil::ir
