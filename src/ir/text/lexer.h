// Tokens of the text form. Hand-written and allocation-free: the reader must pass a million
// instructions a second.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace frazil::ir {

struct Token {
  enum class Kind : uint8_t { End, Word, Value, Symbol, Number, Punct, Bad };
  Kind kind = Kind::End;
  std::string_view text;  // names without their sigil; "->" is one Punct
  Location location;

  bool Is(std::string_view punct_or_word) const {
    return (kind == Kind::Punct || kind == Kind::Word) && text == punct_or_word;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Advance(); }

  const Token& token() const { return token_; }
  void Advance();

  // The raw text from the current token up to (not including) the first of `stops` outside parentheses,
  // trimmed; the current token becomes the one after it. For literals.
  std::string_view TakeRaw(std::string_view stops);

  // Where the current token begins, for a second visit (function bodies are read after all headers).
  struct Mark {
    size_t position;
    uint32_t line;
    size_t line_start;
  };
  Mark mark() const { return {token_start_, token_line_, token_line_start_}; }
  void Return(const Mark& mark);

  // Skips from the current "{" past its matching "}". False at the end of the text.
  bool SkipBraces();

 private:
  void SkipSpace();
  std::string_view text_;
  size_t position_ = 0;
  uint32_t line_ = 1;
  size_t line_start_ = 0;
  Token token_;
  size_t token_start_ = 0;
  uint32_t token_line_ = 1;
  size_t token_line_start_ = 0;
};

}  // namespace frazil::ir
