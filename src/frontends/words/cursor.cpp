#include "frontends/words/cursor.h"

#include <fmt/format.h>

namespace frazil::frontends::words {

size_t MatchPhrase(std::span<const Token> tokens, size_t at, std::string_view phrase) {
  size_t count = 0;
  while (!phrase.empty()) {
    const size_t space = phrase.find(' ');
    const std::string_view word = phrase.substr(0, space);
    if (at + count >= tokens.size() || !tokens[at + count].Is(word)) return 0;
    ++count;
    phrase.remove_prefix(space == std::string_view::npos ? phrase.size() : space + 1);
  }
  return count;
}

namespace {

// What a refusal quotes: the words from a place on, up to the next number or mark.
std::string QuoteFrom(std::span<const Token> tokens, size_t at) {
  constexpr size_t MostWords = 4;
  size_t last = at;
  if (tokens[at].IsWord())
    while (last + 1 < tokens.size() && tokens[last + 1].IsWord() && last + 1 - at < MostWords)
      ++last;
  const char* begin = tokens[at].source.data();
  const char* end = tokens[last].source.data() + tokens[last].source.size();
  return std::string(begin, end);
}

// The refusal of the text from a place on.
Error NotUnderstoodAt(std::span<const Token> tokens, size_t at, std::string_view expected) {
  const Token& token = tokens[at];
  const std::string wanted = expected.empty() ? "" : fmt::format("; expected {}", expected);
  std::string message;
  if (token.kind == TokenKind::End && at == 0) {
    message = "the text is empty";
  } else if (token.kind == TokenKind::End) {
    message = fmt::format("the text ends after \"{}\"{}", tokens[at - 1].source, wanted);
  } else {
    message = fmt::format("\"{}\" is not understood{}", QuoteFrom(tokens, at), wanted);
  }
  return Error{Diag::NotUnderstood, std::move(message), token.location};
}

}  // namespace

bool Cursor::AtAny(Phrases phrases) const {
  for (std::string_view phrase : phrases)
    if (At(phrase)) return true;
  return false;
}

bool Cursor::Eat(std::string_view phrase) {
  const size_t count = MatchPhrase(tokens_, at_, phrase);
  at_ += count;
  return count != 0;
}

bool Cursor::EatAny(Phrases phrases) {
  for (std::string_view phrase : phrases)
    if (Eat(phrase)) return true;
  return false;
}

bool Cursor::Eat(Symbol symbol) {
  if (!Peek().Is(symbol)) return false;
  ++at_;
  return true;
}

Error Cursor::RefuseAt(size_t at, std::string_view expected) {
  if (best_ && at < furthest_) return *best_;
  furthest_ = at;
  best_ = NotUnderstoodAt(tokens_, at, expected);
  return *best_;
}

}  // namespace frazil::frontends::words
