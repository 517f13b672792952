// Statements: lines end them, a last expression is the block's value.
#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "frontends/trident/syntax/parser.h"

namespace frazil::frontends::trident {
namespace {

// Words of other languages, each with what to write instead.
constexpr Named<std::string_view> ForeignStatements[] = {
    {"while", "loops have a bound: write 'for i in 0..n bounded 64 { ... }'"},
    {"loop", "loops have a bound: write 'for i in 0..n bounded 64 { ... }'"},
    {"break", "a loop runs to its end: keep a flag and test it, or 'return' from a function"},
    {"continue", "put the rest of the body into an if"},
    {"do", "loops have a bound: write 'for i in 0..n bounded 64 { ... }'"},
    {"switch", "write 'match value { 0 => { ... } _ => { ... } }'"},
    {"var", "write 'let mut x: Field = 0'"},
    {"try", "there are no exceptions: assert(...) ends the program"},
    {"throw", "there are no exceptions: assert(...) ends the program"},
};

// `place`: where the text begins.
void TrimLines(std::string_view text, Location place, Assembly* assembly) {
  std::string& lines = assembly->text;
  for (size_t at = 0; at <= text.size(); ++place.line, place.column = 1) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    for (; !line.empty() && space(line.front()); ++place.column) line.remove_prefix(1);
    while (!line.empty() && space(line.back())) line.remove_suffix(1);
    if (!line.empty()) {
      if (!lines.empty()) lines += '\n';
      lines += line;
      assembly->places.push_back(place);
    }
    at = end + 1;
  }
}

bool StartsStatement(Tok kind) {
  return kind >= Tok::Let && kind <= Tok::Asm && kind != Tok::Mut && kind != Tok::In &&
         kind != Tok::Else;
}

}  // namespace

BlockPtr Parser::ReadBlock(std::string_view where) {
  if (!At(Tok::LBrace)) {
    Unexpected(fmt::format("'{{' {}", where));
    return nullptr;
  }
  if (!Enter()) return nullptr;
  auto block = std::make_unique<Block>();
  block->location = tok_.location;
  const bool no_struct = std::exchange(no_struct_, false);
  const bool in_predicate = std::exchange(in_predicate_, false);
  Advance();
  Statements(block.get());
  no_struct_ = no_struct;
  in_predicate_ = in_predicate;
  Leave();
  block->end = tok_.location;
  if (!At(Tok::RBrace)) {
    Complain(tok_.location, fmt::format("{} here where '}}' {} is expected", Shown(), where),
             fmt::format("its '{{' stands in line {}", block->location.line));
    return nullptr;
  }
  Advance();
  return block;
}

void Parser::Statements(Block* block) {
  const int braces = braces_;
  while (!At(Tok::RBrace) && !At(Tok::End) && !Enough()) {
    if (Accept(Tok::Semicolon)) continue;
    // An item at the very left: a brace is missing before it.
    if (tok_.new_line && tok_.location.column == 1 &&
        (At(Tok::Fn) || At(Tok::Pub) || At(Tok::Hash) || At(Tok::Const) || At(Tok::Struct)))
      break;
    const size_t before = block->stmts.size();
    const Location start = tok_.location;
    const uint64_t depth = depth_;
    const int brackets = brackets_;
    if (!Statement(block) || (!At(Tok::RBrace) && !Separated())) {
      depth_ = depth;
      no_struct_ = false;
      if (tok_.location.line == start.line && tok_.location.column == start.column &&
          !At(Tok::RBrace))
        Advance();
      SkipStatement(braces);
      brackets_ = brackets;
    }
    if (block->stmts.size() > before)
      block->height = std::max(block->height, HeightOf(block->stmts.back()) + 1);
    if (block->tail) block->height = std::max(block->height, block->tail->height + 1);
    if (block->height > 5 * limits_.nesting) {
      Complain(start, "the statement is nested too deep",
               "name parts with let, or make functions of them", Diag::LimitReached);
      block->stmts.clear();
      block->tail = nullptr;
      block->height = 1;
    }
  }
}

uint32_t Parser::HeightOf(const Stmt& stmt) {
  uint32_t height = 0;
  const auto expr = [&](const ExprPtr& e) {
    if (e) height = std::max(height, e->height);
  };
  const auto block = [&](const BlockPtr& b) {
    if (b) height = std::max(height, b->height);
  };
  expr(stmt.value);
  expr(stmt.first);
  expr(stmt.last);
  for (const ExprPtr& place : stmt.places) expr(place);
  for (const FieldInit& field : stmt.fields) expr(field.value);
  for (const MatchArm& arm : stmt.arms) block(arm.body);
  block(stmt.then_block);
  block(stmt.else_block);
  return height;
}

// Is what follows a new statement? Says no where two stand in one line.
bool Parser::Separated() {
  if (tok_.new_line || At(Tok::End) || At(Tok::RBrace) || Accept(Tok::Semicolon)) return true;
  switch (tok_.kind) {
    case Tok::Percent:
      return Complain(tok_.location, "there is no operator '%'", "write 'let (q, r) = a /% b'",
                      Diag::NotTrident);
    case Tok::Assign:
      return Complain(tok_.location,
                      "only a variable, a field or an array element can be assigned to");
    case Tok::Else: return Complain(tok_.location, "'else' stands here without its if");
    case Tok::Bar:
      return Complain(
          tok_.location, "there is no operator '|'",
          "for U32 values a | b is as_u32(sub(as_field(a) + as_field(b), as_field(a & b)))",
          Diag::NotTrident);
    default: break;
  }
  return Complain(tok_.location, fmt::format("{} here where the statement ends", Shown()),
                  "every statement has a line of its own");
}

// To the next line of the same block, or its closing brace. Inside of open brackets a line counts only if it begins
// with a word that begins a statement.
void Parser::SkipStatement(int braces) {
  for (; !At(Tok::End); Advance()) {
    if (braces_ < braces || (braces_ == braces && At(Tok::RBrace))) return;
    if (tok_.new_line && tok_.location.column == 1 &&
        (At(Tok::Fn) || At(Tok::Pub) || At(Tok::Hash)))
      return;
    if (!tok_.new_line || braces_ != braces) continue;
    if (brackets_ <= 0 || StartsStatement(tok_.kind)) return;
  }
}

bool Parser::ForeignStatement() {
  if (!At(Tok::Name)) return false;
  const auto hint = FindNamed(ForeignStatements, tok_.text);
  if (!hint) return false;
  const Tok next = PeekKind();  // the word may still be somebody's variable
  if (next == Tok::Assign || next == Tok::Dot || next == Tok::LBracket || next == Tok::Plus ||
      next == Tok::Star)
    return false;
  if (next == Tok::LParen && tok_.text != "while" && tok_.text != "switch") return false;
  NotTrident(*hint);
  return true;
}

bool Parser::Statement(Block* block) {
  Stmt stmt;
  stmt.location = tok_.location;
  bool ok = true;
  switch (tok_.kind) {
    case Tok::Let: ok = Let(&stmt); break;
    case Tok::If: ok = If(&stmt); break;
    case Tok::For: ok = For(&stmt); break;
    case Tok::Match: ok = Match(&stmt); break;
    case Tok::Reveal:
    case Tok::Seal: ok = EventOut(&stmt); break;
    case Tok::Asm: ok = Asm(&stmt); break;
    case Tok::Return: ok = Return(&stmt); break;
    case Tok::Else:
      return Complain(tok_.location, "'else' stands here without its if",
                      "it follows the closing brace of the if");
    case Tok::Fn:
      return Complain(tok_.location, "functions stand at the outer level",
                      "there are no closures and no inner functions", Diag::NotTrident);
    case Tok::Use:
    case Tok::Const:
    case Tok::Struct:
    case Tok::Event:
    case Tok::Pub:
    case Tok::Sec:
    case Tok::Hash:
      return Complain(tok_.location, fmt::format("'{}' stands inside of a function", tok_.text),
                      "move it to the outer level of the file");
    default:
      if (ForeignStatement()) return false;
      if (AtWord("proof_block") && PeekKind() == Tok::LParen) {
        ok = ProofBlock(&stmt);
        break;
      }
      return ExprStatement(block, std::move(stmt));
  }
  if (!ok) return false;
  stmt.end = last_end_;
  block->stmts.push_back(std::move(stmt));
  return true;
}

bool Parser::IsPlace(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::Name: return true;
    case Expr::Kind::Member:
    case Expr::Kind::Index: return IsPlace(*expr.operands[0]);
    default: return false;
  }
}

bool Parser::ExprStatement(Block* block, Stmt stmt) {
  ExprPtr expr = Expression();
  if (!expr) return false;
  const Tok sign = tok_.kind;
  if ((sign == Tok::Plus || sign == Tok::Minus || sign == Tok::Star) && PeekKind() == Tok::Assign) {
    return Complain(tok_.location, fmt::format("there is no operator '{}='", tok_.text),
                    "write 'x = x + 1'", Diag::NotTrident);
  }
  if (sign != Tok::Assign) {
    if (At(Tok::RBrace) || (At(Tok::Semicolon) && PeekKind() == Tok::RBrace)) {
      Accept(Tok::Semicolon);
      block->tail = std::move(expr);
      return true;
    }
    stmt.kind = Stmt::Kind::Expr;
    stmt.end = last_end_;
    stmt.value = std::move(expr);
    block->stmts.push_back(std::move(stmt));
    return true;
  }
  if (expr->kind == Expr::Kind::Tuple) {
    stmt.kind = Stmt::Kind::TupleAssign;
    stmt.places = std::move(expr->operands);
  } else {
    stmt.kind = Stmt::Kind::Assign;
    stmt.places.push_back(std::move(expr));
  }
  for (const ExprPtr& place : stmt.places) {
    if (!IsPlace(*place))
      return Complain(place->location,
                      "only a variable, a field or an array element can be assigned to",
                      "compare with '=='");
  }
  Advance();
  stmt.value = Expression();
  if (!stmt.value) return false;
  stmt.end = last_end_;
  block->stmts.push_back(std::move(stmt));
  return true;
}

bool Parser::Let(Stmt* stmt) {
  stmt->kind = Stmt::Kind::Let;
  Advance();
  const bool is_mut = Accept(Tok::Mut);
  const auto name = [&](std::string_view what) {
    if (At(Tok::Mut))
      return Complain(tok_.location, "'mut' stands before the parentheses",
                      "write 'let mut (a, b) = ...'");
    LetName entry;
    entry.location = tok_.location;
    entry.is_mut = is_mut;
    if (!ExpectName(&entry.name, what)) return false;
    stmt->names.push_back(std::move(entry));
    return true;
  };
  if (Accept(Tok::LParen)) {
    stmt->is_tuple = true;
    while (!At(Tok::RParen)) {
      if (!name("a variable")) return false;
      if (!Accept(Tok::Comma)) break;
    }
    if (!Expect(Tok::RParen, "after the variables")) return false;
    if (stmt->names.empty())
      return Complain(stmt->location, "there is no variable between the parentheses");
  } else if (!name("a variable")) {
    return false;
  }
  if (Accept(Tok::Colon)) {
    stmt->type = std::make_unique<TypeExpr>();
    if (!Type(&*stmt->type)) return false;
  }
  if (!At(Tok::Assign)) {
    if (tok_.new_line || At(Tok::RBrace))
      return Complain(last_end_, "the variable has no value",
                      "a variable has a value from the start");
    return Complain(tok_.location, fmt::format("{} here where '=' is expected", Shown()),
                    "a variable has a value from the start");
  }
  Advance();
  stmt->value = Expression();
  return stmt->value != nullptr;
}

bool Parser::If(Stmt* stmt) {
  stmt->kind = Stmt::Kind::If;
  Advance();
  stmt->value = Condition();
  if (!stmt->value) return false;
  stmt->then_block = ReadBlock("of the if");
  if (!stmt->then_block) return false;
  if (!Accept(Tok::Else)) return true;
  if (At(Tok::If)) return ElseIf(stmt);
  stmt->else_block = ReadBlock("of the else");
  return stmt->else_block != nullptr;
}

// Not in the language, but in much of what is written in it: read as else { if ... } with a warning.
bool Parser::ElseIf(Stmt* stmt) {
  result_.warnings.push_back({Diag::NotTrident,
                              "there is no 'else if'",
                              tok_.location,
                              {},
                              "write else { if ... }; it was read so"});
  if (!Enter()) return false;
  stmt->else_block = std::make_unique<Block>();
  stmt->else_block->location = tok_.location;
  Stmt inner;
  inner.location = tok_.location;
  const bool ok = If(&inner);
  Leave();
  if (!ok) return false;
  inner.end = last_end_;
  stmt->else_block->end = last_end_;
  stmt->else_block->height = HeightOf(inner) + 1;
  stmt->else_block->stmts.push_back(std::move(inner));
  return true;
}

bool Parser::For(Stmt* stmt) {
  stmt->kind = Stmt::Kind::For;
  Advance();
  LetName name;
  name.location = tok_.location;
  if (At(Tok::LParen))
    return Complain(tok_.location, "a loop runs over a range", "write 'for i in 0..n { ... }'");
  if (!ExpectName(&name.name, "the loop's variable")) return false;
  stmt->names.push_back(std::move(name));
  if (!Expect(Tok::In, "after the loop's variable")) return false;
  stmt->first = Condition();
  if (!stmt->first) return false;
  if (!At(Tok::DotDot)) {
    return Complain(tok_.location, fmt::format("{} here where '..' is expected", Shown()),
                    "a loop runs over a range: write 'for i in 0..n { ... }'");
  }
  Advance();
  if (At(Tok::Assign))
    return Complain(tok_.location, "a range excludes its end", "write 'a..b + 1'",
                    Diag::NotTrident);
  stmt->last = Condition();
  if (!stmt->last) return false;
  if (AtWord("bounded")) {
    Advance();
    if (!At(Tok::Integer)) {
      return Complain(tok_.location, fmt::format("{} here where an integer is expected", Shown()),
                      "the bound is written out: bounded 64");
    }
    stmt->bound = Advance().number;
  }
  stmt->then_block = ReadBlock("of the loop");
  return stmt->then_block != nullptr;
}

bool Parser::Match(Stmt* stmt) {
  stmt->kind = Stmt::Kind::Match;
  Advance();
  stmt->value = Condition();
  if (!stmt->value || !Expect(Tok::LBrace, "before the cases of the match")) return false;
  while (!At(Tok::RBrace) && !At(Tok::End)) {
    MatchArm arm;
    if (!ReadPattern(&arm.pattern, false) || !Expect(Tok::FatArrow, "after the pattern"))
      return false;
    if (!At(Tok::LBrace)) {
      return Complain(tok_.location, fmt::format("{} here where '{{' is expected", Shown()),
                      "what a case does stands in braces: 0 => { ... }");
    }
    arm.body = ReadBlock("of the case");
    if (!arm.body) return false;
    stmt->arms.push_back(std::move(arm));
    Accept(Tok::Comma);
  }
  return Expect(Tok::RBrace, "after the cases of the match");
}

bool Parser::ReadPattern(Pattern* pattern, bool inner) {
  pattern->location = tok_.location;
  if (At(Tok::Integer)) {
    pattern->kind = Pattern::Kind::Integer;
    pattern->number = Advance().number;
    return true;
  }
  if (At(Tok::True) || At(Tok::False)) {
    pattern->kind = Pattern::Kind::Bool;
    pattern->number = Advance().kind == Tok::True ? 1 : 0;
    return true;
  }
  if (!At(Tok::Name)) return Unexpected("an integer, true, false, a struct or '_'");
  if (tok_.text == "_") {
    Advance();
    pattern->kind = Pattern::Kind::Wildcard;
    return true;
  }
  pattern->name = Advance().text;
  if (inner) {
    pattern->kind = Pattern::Kind::Bind;
    return true;
  }
  if (At(Tok::Dot)) {
    Advance();
    std::string part;
    if (!ExpectName(&part, "the struct's name")) return false;
    pattern->name += "." + part;
  }
  if (!At(Tok::LBrace)) {
    return Complain(pattern->location, fmt::format("'{}' is no pattern", pattern->name),
                    "a pattern is an integer, true, false, Struct { ... } or '_'");
  }
  return StructPattern(pattern);
}

bool Parser::StructPattern(Pattern* pattern) {
  pattern->kind = Pattern::Kind::Struct;
  Advance();
  while (!At(Tok::RBrace)) {
    std::string name;
    Pattern part;
    part.location = tok_.location;
    if (!ExpectName(&name, "a field")) return false;
    if (Accept(Tok::Colon)) {
      if (!ReadPattern(&part, true)) return false;
    } else {
      part.kind = Pattern::Kind::Bind;
      part.name = name;
    }
    pattern->fields.push_back({std::move(name), std::move(part)});
    if (!Accept(Tok::Comma)) break;
  }
  return Expect(Tok::RBrace, "after the fields of the pattern");
}

bool Parser::EventOut(Stmt* stmt) {
  stmt->kind = At(Tok::Reveal) ? Stmt::Kind::Reveal : Stmt::Kind::Seal;
  Advance();
  return ReadPath(&stmt->event, "an event") && Expect(Tok::LBrace, "before the event's fields") &&
         FieldInits(&stmt->fields);
}

bool Parser::AsmNote(Stmt* stmt) {
  Advance();
  bool first = true;
  do {
    if (At(Tok::Name) && first && stmt->assembly->target.empty()) {
      stmt->assembly->target = Advance().text;
    } else if (At(Tok::Plus) || At(Tok::Minus)) {
      const bool minus = Advance().kind == Tok::Minus;
      if (!At(Tok::Integer)) return Unexpected("how many words");
      const Token count = Advance();
      if (count.number > 1000)
        return Complain(count.location, "the stack never changes by so much");
      stmt->assembly->effect =
          minus ? -static_cast<int32_t>(count.number) : static_cast<int32_t>(count.number);
    } else {
      return Complain(tok_.location,
                      fmt::format("{} here where a target or an effect is expected", Shown()),
                      "write asm(+1) { ... }, asm(triton) { ... } or asm(triton, -2) { ... }");
    }
    first = false;
  } while (Accept(Tok::Comma));
  return Expect(Tok::RParen, "after what asm says");
}

bool Parser::Asm(Stmt* stmt) {
  stmt->kind = Stmt::Kind::Asm;
  stmt->assembly = std::make_unique<Assembly>();
  Advance();
  for (int notes = 0; At(Tok::LParen) && notes < 2; ++notes) {
    if (!AsmNote(stmt)) return false;
  }
  if (!At(Tok::LBrace)) return Unexpected("'{' before the assembly");
  std::string body;
  const Location location = tok_.location;
  if (!lexer_.RawBody(&body)) {
    tok_ = lexer_.Next();
    return Complain(location, "the assembly has no closing brace");
  }
  tok_ = lexer_.Next();
  last_end_ = lexer_.LastEnd();
  TrimLines(body, {location.line, location.column + 1}, stmt->assembly.get());
  return true;
}

bool Parser::Return(Stmt* stmt) {
  stmt->kind = Stmt::Kind::Return;
  Advance();
  if (tok_.new_line || At(Tok::RBrace) || At(Tok::Semicolon) || At(Tok::End)) return true;
  stmt->value = Expression();
  return stmt->value != nullptr;
}

bool Parser::ProofBlock(Stmt* stmt) {
  stmt->kind = Stmt::Kind::ProofBlock;
  Advance();
  if (!Expect(Tok::LParen, "after proof_block")) return false;
  stmt->value = Expression();
  if (!stmt->value || !Expect(Tok::RParen, "after the program's digest")) return false;
  stmt->then_block = ReadBlock("of the proof block");
  return stmt->then_block != nullptr;
}

}  // namespace frazil::frontends::trident
