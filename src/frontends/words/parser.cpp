// The cursor of the sentence grammar and its refusals. A refusal keeps the furthest place that any
// production reached: that is the part of the text that was not understood.
#include "frontends/words/parser.h"

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

const Token& Parser::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool Parser::AtAny(Phrases phrases) const {
  for (std::string_view phrase : phrases)
    if (At(phrase)) return true;
  return false;
}

bool Parser::Eat(std::string_view phrase) {
  const size_t count = MatchPhrase(tokens_, at_, phrase);
  at_ += count;
  return count != 0;
}

bool Parser::EatAny(Phrases phrases) {
  for (std::string_view phrase : phrases)
    if (Eat(phrase)) return true;
  return false;
}

bool Parser::Eat(Symbol symbol) {
  if (!Peek().Is(symbol)) return false;
  ++at_;
  return true;
}

Error Parser::Refuse(std::string_view expected) { return RefuseAt(at_, expected); }

Error Parser::RefuseAt(size_t at, std::string_view expected) {
  if (best_ && at < furthest_) return *best_;
  furthest_ = at;
  best_ = NotUnderstoodAt(tokens_, at, expected);
  return *best_;
}

Error Parser::NoAnswer(std::string message, Location location) {
  // A sentence that was read to its end but makes no sense outranks any place in the middle.
  furthest_ = tokens_.size();
  best_ = Error{Diag::NoAnswer, std::move(message), location};
  return *best_;
}

ExprId Parser::Number(Rational value, Location location, bool percent) {
  Node node{Kind::Number};
  node.value = std::move(value);
  node.percent = percent;
  node.location = location;
  return tree_.Push(std::move(node));
}

ExprId Parser::Make(Kind kind, ExprId a, ExprId b) {
  // A sign before a literal belongs to it: "-3" is one constant.
  if (kind == Kind::Negate && NodeOf(a).kind == Kind::Number) {
    Node literal = NodeOf(a);
    literal.value.num = -literal.value.num;
    return tree_.Push(std::move(literal));
  }
  Node node{kind, a, b};
  node.location = NodeOf(a).location;
  return tree_.Push(std::move(node));
}

ExprId Parser::MakeCompare(Relation relation, ExprId a, ExprId b) {
  const ExprId id = Make(Kind::Compare, a, b);
  tree_.nodes[id.index].relation = relation;
  return id;
}

ExprId Parser::MakeRange(Kind kind, const Range& range) {
  const ExprId id = Make(kind, range.from, range.to);
  tree_.nodes[id.index].step = range.step;
  tree_.nodes[id.index].term = range.term;
  return id;
}

ExprId Parser::Fold(Kind kind, const std::vector<ExprId>& items) {
  ExprId result = items[0];
  for (size_t i = 1; i < items.size(); ++i)
    result = kind == Kind::Add ? Change(kind, result, items[i]) : Make(kind, result, items[i]);
  return result;
}

std::optional<int64_t> Parser::Literal(ExprId id) const {
  const Node& node = NodeOf(id);
  if (node.kind != Kind::Number || !node.value.whole()) return std::nullopt;
  return node.value.num.ToInt64();
}

}  // namespace frazil::frontends::words
