// Characters of a .tri file -> tokens, one at a time: a lexer is small enough to copy, which is how the parser looks
// ahead. Comments are set aside; a token knows whether a new line came before it, because lines end statements.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

enum class Tok : uint8_t {
  End,
  Name,
  Integer,
#define FRAZIL_WORD(name, text) name,
#define FRAZIL_SIGN(name, text) name,
#include "frontends/trident/syntax/tokens.def"
#undef FRAZIL_WORD
#undef FRAZIL_SIGN
  Bad,
};

struct Token {
  Tok kind = Tok::End;
  bool new_line = false;  // it is the first of its line
  Location location;
  std::string_view text;
  uint64_t number = 0;  // Integer
};

constexpr size_t MostErrors = 100;  // of one text; more help nobody

class Lexer {
 public:
  // Errors and comments go where these point, or nowhere.
  Lexer(std::string_view text, const Limits& limits, std::vector<Error>* errors,
        std::vector<Comment>* comments)
      : text_(text), limits_(&limits), errors_(errors), comments_(comments) {}

  Token Next();
  // A copy that reports nothing.
  Lexer Ahead() const;
  // The text up to the brace that closes the one just read, which is then behind us; false: there is none.
  bool RawBody(std::string* body);
  Location Here() const { return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)}; }
  Location LastEnd() const { return last_end_; }  // just after the last token

 private:
  char PeekChar() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  bool SkipSpace();
  void TakeComment(bool trailing);
  void SkipBlockComment();
  void NewLine();
  Token Word(Token token);
  Token Number(Token token);
  Token Sign(Token token);
  void Complain(Diag diag, Location location, std::string message, std::string hint = {});

  std::string_view text_;
  const Limits* limits_;
  std::vector<Error>* errors_;
  std::vector<Comment>* comments_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  uint32_t last_token_line_ = 0;
  Location last_end_ = {1, 1};
};

std::string_view TokenText(Tok kind);  // "`->`", "a name", ...

}  // namespace frazil::frontends::trident
