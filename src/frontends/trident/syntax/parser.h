// Tokens -> tree, by recursive descent. A function that fails has said why and gives null or false; statements and items
// then skip to where the next one begins, so that one reading finds every mistake.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontends/trident/syntax/lexer.h"
#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file, const Limits& limits);
  ReadResult Run();

 private:
  // --- tokens (parser.cpp)
  bool At(Tok kind) const { return tok_.kind == kind; }
  bool AtWord(std::string_view word) const { return At(Tok::Name) && tok_.text == word; }
  Token Advance();
  bool Accept(Tok kind);
  bool Expect(Tok kind, std::string_view where);
  bool ExpectName(std::string* name, std::string_view what);
  Tok PeekKind() const;  // of the token after this one
  bool Complain(Location location, std::string message, std::string hint = {},
                Diag diag = Diag::BadTrident);
  bool Unexpected(std::string_view wanted);
  bool NotTrident(std::string_view hint);  // this token is a word of other languages
  std::string Shown() const;               // the token as a message names it
  bool Enough() const;                     // so many errors that reading on helps nobody
  bool Enter();                            // one level deeper, or the limit's error
  void Leave() { --depth_; }

  // --- items (parser_items.cpp)
  void Header();
  void Uses();
  bool Use();
  bool Item();
  void SkipToItem();
  bool ForeignItem();
  bool ReadPath(Path* path, std::string_view what);
  bool Type(TypeExpr* type);
  bool TypeInside(TypeExpr* type);
  bool Attributes(std::vector<Attribute>* attributes);
  bool OneAttribute(Attribute* attribute);
  bool Io(Location location, bool is_pub);
  bool RamSlots(IoDecl* io);
  bool Const(ConstDecl* decl);
  bool Struct(StructDecl* decl);
  bool Event(EventDecl* decl);
  bool Members(std::vector<MemberDecl>* members, bool with_pub);
  bool Function(FunctionDecl* decl);
  bool Params(FunctionDecl* decl);

  // --- statements (parser_stmts.cpp)
  BlockPtr ReadBlock(std::string_view where);
  void Statements(Block* block);
  void SkipStatement(int braces);
  bool Statement(Block* block);
  bool Separated();
  bool ForeignStatement();
  bool Let(Stmt* stmt);
  bool If(Stmt* stmt);
  bool ElseIf(Stmt* stmt);
  bool For(Stmt* stmt);
  bool Match(Stmt* stmt);
  bool ReadPattern(Pattern* pattern, bool inner);
  bool StructPattern(Pattern* pattern);
  bool EventOut(Stmt* stmt);
  bool Asm(Stmt* stmt);
  bool AsmNote(Stmt* stmt);
  bool Return(Stmt* stmt);
  bool ProofBlock(Stmt* stmt);
  bool ExprStatement(Block* block, Stmt stmt);
  bool IsPlace(const Expr& expr) const;
  static uint32_t HeightOf(const Stmt& stmt);

  // --- expressions (parser_exprs.cpp)
  ExprPtr Expression();  // struct literals allowed
  ExprPtr Condition();   // not at its top: a `{` begins a block
  ExprPtr Predicate();   // inside requires and ensures
  ExprPtr Binary(int level);
  ExprPtr Unary();
  ExprPtr Postfix();
  ExprPtr Primary();
  ExprPtr NameOrCall();
  ExprPtr Parenthesized();
  ExprPtr ArrayLiteral();
  ExprPtr BlockExpr();
  ExprPtr Foreign();
  ExprPtr Size(int level);  // integers and names with + and *
  bool SizesFollow() const;
  bool Sizes(List<ExprPtr>* sizes);
  bool Operands(List<ExprPtr>* operands, Tok close, std::string_view where);
  bool FieldInits(List<FieldInit>* fields);
  ExprPtr New(Expr::Kind kind, Location location) const;
  ExprPtr Finish(ExprPtr expr);  // its end and height
  ExprPtr Join(Tok op, Location place, ExprPtr left, ExprPtr right);

  std::string file_;
  Limits limits_;
  ReadResult result_;
  Lexer lexer_;
  Token tok_;
  Location last_end_;
  uint64_t depth_ = 0;
  int braces_ = 0;    // open ones
  int brackets_ = 0;  // open ( and [
  bool in_predicate_ = false;
  bool no_struct_ = false;
};

}  // namespace frazil::frontends::trident
