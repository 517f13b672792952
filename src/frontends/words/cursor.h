// Where a grammar stands in the text, and its refusals. Both grammars have one: sentences (parser.h) and stories (story.h).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "frontends/words/choices.h"
#include "frontends/words/token.h"

namespace frazil::frontends::words {

// The number of tokens of a phrase ("divided by") at a place, 0 if something else stands there.
size_t MatchPhrase(std::span<const Token> tokens, size_t at, std::string_view phrase);

class Cursor {
 protected:
  using Phrases = std::initializer_list<std::string_view>;

  Cursor(std::span<const Token> tokens, Choices& choices, const Limits& limits)
      : tokens_(tokens), choices_(choices), limits_(limits) {}

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool At(std::string_view phrase) const { return MatchPhrase(tokens_, at_, phrase) != 0; }
  bool AtAny(Phrases phrases) const;
  bool Eat(std::string_view phrase);
  bool EatAny(Phrases phrases);
  bool Eat(Symbol symbol);
  bool AtEnd() const { return Peek().kind == TokenKind::End; }

  // A refusal keeps the furthest place that any production reached: that is the part of the text that was not understood.
  Error Refuse(std::string_view expected = {}) { return RefuseAt(at_, expected); }
  Error RefuseAt(size_t at, std::string_view expected = {});

  std::span<const Token> tokens_;
  Choices& choices_;
  const Limits& limits_;
  size_t at_ = 0;
  size_t furthest_ = 0;
  std::optional<Error> best_;
};

}  // namespace frazil::frontends::words
