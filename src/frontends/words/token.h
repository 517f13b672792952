// The text as tokens with places. Numbers written in digits are values already; number words stay
// words, because "two hundred and five" may be one number or two, which only the grammar can tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "frontends/words/big.h"

namespace frazil::frontends::words {

enum class TokenKind : uint8_t { Number, Ordinal, Word, Symbol, End };

enum class Symbol : uint8_t {
  None,
  Plus,
  Minus,
  Times,
  Slash,
  WholeSlash,
  Power,
  Percent,
  Bang,
  Root,
  Superscript,
  Open,
  Close,
  Bar,
  Comma,
  Semicolon,
  Colon,
  Stop,
  Question,
  Ellipsis,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Currency,
};

struct Token {
  TokenKind kind = TokenKind::End;
  Symbol symbol = Symbol::None;
  std::string word;         // lower case, for words
  std::string_view source;  // as written
  Rational value;           // numbers, ordinals and superscripts
  Location location;
  bool spaced = true;    // white space before it
  bool joined = false;   // by a hyphen to the word before it
  bool capital = false;  // the word starts with a capital letter
  bool money = false;    // a number right after a currency sign
  bool grouped = false;  // a number whose digits stand in groups: 1,000 or 1 000

  bool Is(Symbol s) const { return kind == TokenKind::Symbol && symbol == s; }
  bool Is(std::string_view w) const { return kind == TokenKind::Word && word == w; }
  bool IsNumber() const { return kind == TokenKind::Number; }
  bool IsWord() const { return kind == TokenKind::Word; }
};

// The last token is End. `text` must outlive the tokens.
Result<std::vector<Token>> Tokenize(std::string_view text, const Limits& limits);

}  // namespace frazil::frontends::words
