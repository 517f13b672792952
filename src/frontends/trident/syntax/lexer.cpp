// Tokens by hand: one pass, no tables but the list of words. A sign that Trident lacks becomes a token all the same, so
// that the parser can say what to write instead.
#include "frontends/trident/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "base/number/goldilocks.h"
#include "base/utf8.h"

namespace frazil::frontends::trident {
namespace {

constexpr Named<Tok> Words[] = {
#define FRAZIL_WORD(name, text) {text, Tok::name},
#define FRAZIL_SIGN(name, text)
#include "frontends/trident/syntax/tokens.def"
#undef FRAZIL_WORD
#undef FRAZIL_SIGN
};

constexpr Named<Tok> Signs[] = {
#define FRAZIL_WORD(name, text)
#define FRAZIL_SIGN(name, text) {text, Tok::name},
#include "frontends/trident/syntax/tokens.def"
#undef FRAZIL_WORD
#undef FRAZIL_SIGN
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

}  // namespace

std::string_view TokenText(Tok kind) {
  switch (kind) {
    case Tok::End: return "the end of the text";
    case Tok::Name: return "a name";
    case Tok::Integer: return "an integer";
    case Tok::Bad: return "a character";
    default: break;
  }
  const std::string_view word = NameOf(Words, kind), sign = NameOf(Signs, kind);
  return !word.empty() ? word : !sign.empty() ? sign : "a token";
}

Lexer Lexer::Ahead() const {
  Lexer copy = *this;
  copy.errors_ = nullptr;
  copy.comments_ = nullptr;
  return copy;
}

void Lexer::Complain(Diag diag, Location location, std::string message, std::string hint) {
  if (errors_ != nullptr && errors_->size() < MostErrors)
    errors_->push_back({diag, Printable(message), location, {}, std::move(hint)});
}

void Lexer::NewLine() {
  ++at_;
  ++line_;
  line_start_ = at_;
}

void Lexer::TakeComment(bool trailing) {
  const Location location = Here();
  size_t end = text_.find('\n', at_);
  if (end == std::string_view::npos) end = text_.size();
  std::string_view comment = text_.substr(at_, end - at_);
  while (!comment.empty() &&
         (comment.back() == ' ' || comment.back() == '\t' || comment.back() == '\r'))
    comment.remove_suffix(1);
  if (comments_ != nullptr) comments_->push_back({std::string(comment), location, trailing});
  at_ = end;
}

void Lexer::SkipBlockComment() {
  Complain(Diag::NotTrident, Here(), "there are no block comments", "begin each line with //");
  at_ += 2;
  while (at_ < text_.size()) {
    if (text_.substr(at_, 2) == "*/") {
      at_ += 2;
      return;
    }
    if (text_[at_] == '\n')
      NewLine();
    else
      ++at_;
  }
}

// To the next token; says whether a new line was passed.
bool Lexer::SkipSpace() {
  bool passed = last_token_line_ == 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      NewLine();
      passed = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && PeekChar() == '/') {
      TakeComment(last_token_line_ == line_);
    } else if (c == '/' && PeekChar() == '*') {
      SkipBlockComment();
    } else {
      break;
    }
  }
  return passed;
}

Token Lexer::Word(Token token) {
  const size_t start = at_;
  while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
  token.kind = Tok::Name;
  token.text = text_.substr(start, at_ - start);
  if (token.text.size() > limits_->literal_chars) {
    Complain(Diag::LimitReached, token.location,
             fmt::format("a name of {} characters is longer than {}", token.text.size(),
                         limits_->literal_chars));
  }
  if (token.text.size() <= 7) {
    if (const std::optional<Tok> word = FindNamed(Words, token.text)) token.kind = *word;
  }
  return token;
}

Token Lexer::Number(Token token) {
  const size_t start = at_;
  bool too_large = false;
  token.kind = Tok::Integer;
  for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
    const unsigned __int128 next =
        static_cast<unsigned __int128>(token.number) * 10 + static_cast<uint64_t>(text_[at_] - '0');
    if (next >= goldilocks::P)
      too_large = true;
    else
      token.number = static_cast<uint64_t>(next);
  }
  const bool joined = at_ < text_.size() && IsNameStart(text_[at_]);
  while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
  token.text = text_.substr(start, at_ - start);
  const std::string_view shown = token.text.substr(0, 40);
  if (joined) {
    Complain(Diag::BadTrident, token.location,
             fmt::format("'{}' is neither a number nor a name", shown),
             "integers are written in decimal digits alone");
  } else if (too_large) {
    Complain(Diag::BadLiteral, token.location,
             fmt::format("{}{} is not an element of the field", shown,
                         shown.size() < token.text.size() ? "..." : ""),
             fmt::format("the largest is {}", goldilocks::P - 1));
  }
  return token;
}

Token Lexer::Sign(Token token) {
  for (const size_t length : {size_t{2}, size_t{1}}) {
    token.text = text_.substr(at_, length);
    const std::optional<Tok> sign = FindNamed(Signs, token.text);
    if (!sign) continue;
    token.kind = *sign;
    at_ += token.text.size();
    return token;
  }
  token.kind = Tok::Bad;
  const unsigned char c = static_cast<unsigned char>(text_[at_]);
  size_t length = 1;
  if (c >= 0xC0) {
    while (at_ + length < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + length]) & 0xC0) == 0x80)
      ++length;
  }
  token.text = text_.substr(at_, length);
  at_ += length;
  if (c == '"' || c == '\'') {
    Complain(Diag::NotTrident, token.location, "there are no strings or characters",
             "every value is made of field elements");
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != static_cast<char>(c)) ++at_;
    if (at_ < text_.size() && text_[at_] != '\n') ++at_;
  } else if (c < 0x20 || c == 0x7F) {
    Complain(Diag::BadTrident, token.location,
             fmt::format("a control character, {}, stands here", token.text));
  } else {
    Complain(Diag::BadTrident, token.location, fmt::format("'{}' has no meaning here", token.text));
  }
  return token;
}

Token Lexer::Next() {
  last_end_ = Here();
  Token token;
  token.new_line = SkipSpace();
  token.location = Here();
  last_token_line_ = line_;
  if (at_ >= text_.size()) return token;
  const char c = text_[at_];
  if (IsNameStart(c)) return Word(token);
  if (IsDigit(c)) return Number(token);
  return Sign(token);
}

bool Lexer::RawBody(std::string* body) {
  const size_t start = at_;
  for (int depth = 1; at_ < text_.size();) {
    const char c = text_[at_];
    if (c == '\n') {
      NewLine();
      continue;
    }
    if (c == '/' && PeekChar() == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    }
    ++at_;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) {
      *body = text_.substr(start, at_ - start - 1);
      last_token_line_ = line_;
      return true;
    }
  }
  return false;
}

}  // namespace frazil::frontends::trident
