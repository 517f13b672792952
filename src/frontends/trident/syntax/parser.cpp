// The parser's hands: tokens, messages, limits. What is common to items, statements and expressions.
#include "frontends/trident/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace frazil::frontends::trident {
Parser::Parser(std::string_view text, std::string_view file, const Limits& limits)
    : file_(file),
      limits_(limits),
      lexer_(text, limits_, &result_.errors, &result_.module.comments) {
  result_.module.file = file_;
  tok_ = lexer_.Next();
}

Token Parser::Advance() {
  if (At(Tok::LBrace)) ++braces_;
  if (At(Tok::RBrace)) --braces_;
  if (At(Tok::LParen) || At(Tok::LBracket)) ++brackets_;
  if (At(Tok::RParen) || At(Tok::RBracket)) --brackets_;
  const Token old = tok_;
  tok_ = lexer_.Next();
  last_end_ = lexer_.LastEnd();
  return old;
}

bool Parser::Accept(Tok kind) {
  if (!At(kind)) return false;
  Advance();
  return true;
}

bool Parser::Expect(Tok kind, std::string_view where) {
  if (Accept(kind)) return true;
  return Unexpected(fmt::format("'{}' {}", TokenText(kind), where));
}

bool Parser::ExpectName(std::string* name, std::string_view what) {
  if (At(Tok::Name)) {
    *name = Advance().text;
    return true;
  }
  if (!At(Tok::End) && tok_.kind >= Tok::Program && tok_.kind <= Tok::False) {
    return Complain(tok_.location, fmt::format("'{}' is a word of the language and cannot name {}",
                                               tok_.text, what));
  }
  return Unexpected(what);
}

Tok Parser::PeekKind() const {
  Lexer ahead = lexer_.Ahead();
  return ahead.Next().kind;
}

bool Parser::Complain(Location location, std::string message, std::string hint, Diag diag) {
  if (result_.errors.size() < MostErrors)
    result_.errors.push_back({diag, Printable(message), location, {}, std::move(hint)});
  return false;
}

std::string Parser::Shown() const {
  if (At(Tok::End)) return "the text ends";
  return fmt::format("'{}' stands", CutUtf8(tok_.text, 40));
}

bool Parser::NotTrident(std::string_view hint) {
  return Complain(tok_.location, fmt::format("'{}' does not exist in Trident", tok_.text),
                  std::string(hint), Diag::NotTrident);
}

bool Parser::Unexpected(std::string_view wanted) {
  return Complain(tok_.location, fmt::format("{} here where {} is expected", Shown(), wanted));
}

bool Parser::Enough() const { return result_.errors.size() >= MostErrors; }

bool Parser::Enter() {
  if (++depth_ <= limits_.nesting) return true;
  return Complain(tok_.location, fmt::format("nested more than {} deep", limits_.nesting),
                  "name parts with let, or make functions of them", Diag::LimitReached);
}

ReadResult Parser::Run() {
  Header();
  Uses();
  while (!At(Tok::End) && !Enough()) {
    const Location start = tok_.location;
    if (Item()) continue;
    if (tok_.location.line == start.line && tok_.location.column == start.column) Advance();
    SkipToItem();
  }
  // The lexer is a token ahead of the parser, so its errors may come one too early.
  const auto before = [](const Error& a, const Error& b) {
    return std::pair(a.location.line, a.location.column) <
           std::pair(b.location.line, b.location.column);
  };
  for (size_t i = 1; i < result_.errors.size(); ++i) {
    for (size_t j = i; j > 0 && before(result_.errors[j], result_.errors[j - 1]); --j)
      std::swap(result_.errors[j], result_.errors[j - 1]);
  }
  for (Error& error : result_.errors) error.file = file_;
  for (Error& warning : result_.warnings) warning.file = file_;
  return std::move(result_);
}

ReadResult Read(std::string_view text, std::string_view file, const Limits& limits) {
  const auto refuse = [&](Diag diag, std::string message, Location location) {
    ReadResult result;
    result.module.file = file;
    result.errors.push_back({diag, std::move(message), location, std::string(file), {}});
    return result;
  };
  if (text.size() > limits.source_bytes) {
    return refuse(
        Diag::LimitReached,
        fmt::format("a text of {} bytes is longer than {}", text.size(), limits.source_bytes), {});
  }
  if (std::optional<Error> bad = Utf8Error(text)) {
    ReadResult result = refuse(bad->diag, std::move(bad->message), bad->location);
    result.errors[0].hint = std::move(bad->hint);
    return result;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a mark that some editors write
  return Parser(text, file, limits).Run();
}

}  // namespace frazil::frontends::trident
