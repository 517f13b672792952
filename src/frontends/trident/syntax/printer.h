// Tree -> text in the one layout. Comments are taken in order by a cursor: each is written where the next thing that
// stood after it is written, or at the end of the line that it stood on; none is ever lost.
#pragma once

#include <string>
#include <string_view>

#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}
  std::string Run();

 private:
  enum class Gap {
    None,
    Keep,
    Force
  };  // an empty line before the next line: never, as in the source, always

  // --- lines and comments (format.cpp)
  void Flush(Location before);
  void Line(const std::string& text, Location start, Location end, Location limit);
  void Begin(Location start);
  std::string Trailing(Location start, Location end, Location limit);
  bool CommentBefore(Location place) const;
  bool CommentIn(Location first, Location last) const;
  std::string Indent(int levels) const { return std::string(static_cast<size_t>(levels) * 4, ' '); }

  // --- items and statements (format.cpp)
  void Uses(Location limit);
  void Item(size_t index, Location limit);
  Location ItemStart(size_t index) const;
  void Attributes(const std::vector<Attribute>& attributes, Location start);
  void Function(const FunctionDecl& decl, Location limit);
  std::string Signature(const FunctionDecl& decl);
  void Members(std::string_view word, const Decl& decl, const std::vector<MemberDecl>& members,
               Location limit);
  std::string Io(const IoDecl& io) const;
  void Body(const Block& block);
  void Statement(const Stmt& stmt, Location limit);
  void If(const Stmt& stmt, Location limit);
  void Match(const Stmt& stmt, Location limit);
  void Asm(const Stmt& stmt, Location limit);
  std::string LetHead(const Stmt& stmt) const;
  void Open(const std::string& head, Location start, const Block& block);
  void Close(const std::string& text, Location place, Location limit);

  // --- expressions (format_exprs.cpp)
  std::string Text(const Expr& expr, int level, size_t column);
  std::string Broken(const Expr& expr, size_t column);
  std::string BrokenChain(const Expr& expr, int level);
  std::string BrokenFields(const std::string& head, const List<FieldInit>& fields, Location end);
  std::string BrokenList(const std::string& open, const List<ExprPtr>& parts,
                         const std::string& close, Location end);
  std::string Filled(const Expr& expr);
  std::string BlockText(const Block& block);
  std::string Guarded(const Expr& expr, size_t column);  // as a statement of its own
  std::string Flat(const Expr& expr, int level) const;
  std::string FlatInner(const Expr& expr) const;
  std::string FlatList(const List<ExprPtr>& parts) const;
  std::string FlatFields(const List<FieldInit>& fields) const;
  std::string TypeText(const TypeExpr& type) const;
  bool IsFlat(const Expr& expr) const;
  bool Takes(const Expr& expr) const;  // does a comment stand in one of its lists?
  std::string CommentLines(Location before);
  std::string ListTrailing(Location start, Location limit);

  const Module& module_;
  std::string out_;
  int indent_ = 0;
  size_t comment_ = 0;
  uint32_t last_line_ = 0;
  Gap gap_ = Gap::None;
  mutable bool no_struct_ = false;
};

inline bool Before(Location a, Location b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

}  // namespace frazil::frontends::trident
