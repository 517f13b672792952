// Expressions as text: in one line where they fit into 100 columns and no comment stands inside, else broken at their
// outermost list or operator. Parentheses are written where the tree needs them and nowhere else.
#include <algorithm>

#include "frontends/trident/syntax/printer.h"

namespace frazil::frontends::trident {
namespace {

constexpr size_t Width = 100;
constexpr int Tightest = 100;

struct Sign {
  std::string_view text;
  int level;
};

Sign SignOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::Eq: return {"==", 3};
    case BinaryOp::Lt: return {"<", 4};
    case BinaryOp::Add: return {"+", 5};
    case BinaryOp::Mul: return {"*", 6};
    case BinaryOp::Scale: return {"*.", 6};
    case BinaryOp::And: return {"&", 7};
    case BinaryOp::Xor: return {"^", 7};
    case BinaryOp::DivMod: return {"/%", 8};
  }
  return {};
}

Sign InfixSign(std::string_view call) {
  constexpr std::pair<std::string_view, Sign> rows[] = {
      {"or", {"||", 1}}, {"and", {"&&", 2}}, {"ne", {"!=", 3}}, {"gt", {">", 4}},
      {"le", {"<=", 4}}, {"ge", {">=", 4}},  {"sub", {"-", 5}}, {"div", {"/", 6}},
  };
  for (const auto& [name, sign] : rows) {
    if (name == call) return sign;
  }
  return {"!", 9};  // not, in front of its operand
}

bool IsInfix(const Expr& expr) {
  return expr.kind == Expr::Kind::Binary ||
         (expr.kind == Expr::Kind::Call && expr.infix && expr.operands.size() == 2);
}
bool IsPrefix(const Expr& expr) {
  return expr.kind == Expr::Kind::Call && expr.infix && expr.operands.size() == 1;
}

Sign SignOf(const Expr& expr) {
  if (expr.kind == Expr::Kind::Binary) return SignOf(expr.op);
  if (IsInfix(expr)) return InfixSign(expr.path.parts.back());
  return IsPrefix(expr) ? Sign{expr.path.parts.back() == "neg" ? "-" : "!", 9} : Sign{"", Tightest};
}

// Parentheses that the tree does not need but a reader does: around comparisons that are compared, and around bits and
// divisions, which bind tighter here than readers of other languages expect.
bool Clarify(const Expr& parent, const Expr& child) {
  if (!IsInfix(parent) || !IsInfix(child)) return false;
  const Sign outer = SignOf(parent), inner = SignOf(child);
  const auto compares = [](Sign sign) { return sign.level == 3 || sign.level == 4; };
  if (compares(outer) && compares(inner)) return true;
  return inner.level >= 7 && inner.text != outer.text && outer.level > 2;
}

int LevelOf(const Expr& parent, size_t operand) {
  if (Clarify(parent, *parent.operands[operand])) return Tightest;
  return SignOf(parent).level + static_cast<int>(operand);
}

const Expr& Leftmost(const Expr& expr) {
  const Expr* at = &expr;
  while (IsInfix(*at) || at->kind == Expr::Kind::Index || at->kind == Expr::Kind::Member)
    at = at->operands[0].get();
  return *at;
}

// A few names begin a statement that exists elsewhere; in parentheses they are only names.
bool NeedsGuard(const Expr& expr) {
  constexpr std::string_view words[] = {"while",  "loop", "break", "continue", "do",
                                        "switch", "var",  "try",   "throw",    "proof_block"};
  const Expr& first = Leftmost(expr);
  const bool named = (first.kind == Expr::Kind::Name || first.kind == Expr::Kind::Call ||
                      first.kind == Expr::Kind::Struct) &&
                     !first.path.parts.empty();
  return named && std::ranges::find(words, first.path.parts[0]) != std::end(words);
}

}  // namespace

std::string Printer::TypeText(const TypeExpr& type) const {
  switch (type.kind) {
    case TypeExpr::Kind::Named: return type.name.ToString();
    case TypeExpr::Kind::Array:
      return "[" + TypeText(type.parts[0]) + "; " + Flat(*type.size, 0) + "]";
    case TypeExpr::Kind::Tuple: break;
  }
  std::string text = "(";
  for (size_t i = 0; i < type.parts.size(); ++i)
    text += (i == 0 ? "" : ", ") + TypeText(type.parts[i]);
  return text + (type.parts.size() == 1 ? ",)" : ")");
}

std::string Printer::FlatList(const List<ExprPtr>& parts) const {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + Flat(*parts[i], 0);
  return text;
}

std::string Printer::FlatFields(const List<FieldInit>& fields) const {
  if (fields.empty()) return "{ }";
  std::string text = "{ ";
  for (size_t i = 0; i < fields.size(); ++i) {
    text += (i == 0 ? "" : ", ") + fields[i].name;
    if (fields[i].value) text += ": " + Flat(*fields[i].value, 0);
  }
  return text + " }";
}

std::string Printer::Flat(const Expr& expr, int level) const {
  const bool wrap = SignOf(expr).level < level || (no_struct_ && expr.kind == Expr::Kind::Struct);
  if (!wrap) return FlatInner(expr);
  const bool no_struct = std::exchange(no_struct_, false);
  std::string text = "(" + FlatInner(expr) + ")";
  no_struct_ = no_struct;
  return text;
}

std::string Printer::FlatInner(const Expr& expr) const {
  if (IsInfix(expr)) {
    const Sign sign = SignOf(expr);
    std::string text = Flat(*expr.operands[0], LevelOf(expr, 0));
    ((text += ' ') += sign.text) += ' ';
    return text + Flat(*expr.operands[1], LevelOf(expr, 1));
  }
  if (IsPrefix(expr)) return std::string(SignOf(expr).text) + Flat(*expr.operands[0], 9);
  const bool no_struct = no_struct_;
  std::string head;
  if (expr.kind == Expr::Kind::Index || expr.kind == Expr::Kind::Member)
    head = Flat(*expr.operands[0], Tightest);
  no_struct_ = false;
  std::string text;
  switch (expr.kind) {
    case Expr::Kind::Integer: text = std::to_string(expr.number); break;
    case Expr::Kind::Bool: text = expr.number != 0 ? "true" : "false"; break;
    case Expr::Kind::Name: text = expr.path.ToString(); break;
    case Expr::Kind::Member: text = head + "." + expr.path.parts[0]; break;
    case Expr::Kind::Index: text = head + "[" + Flat(*expr.operands[1], 0) + "]"; break;
    case Expr::Kind::Call:
      text = expr.path.ToString();
      if (!expr.sizes.empty()) {
        text += '<';
        for (size_t i = 0; i < expr.sizes.size(); ++i)
          text += (i == 0 ? "" : ", ") + Flat(*expr.sizes[i], 5);
        text += '>';
      }
      text += "(" + FlatList(expr.operands) + ")";
      break;
    case Expr::Kind::Struct: text = expr.path.ToString() + " " + FlatFields(expr.fields); break;
    case Expr::Kind::Array:
      text = "[" + FlatList(expr.operands) +
             (expr.sizes.empty() ? "]" : "; " + Flat(*expr.sizes[0], 0) + "]");
      break;
    case Expr::Kind::Tuple: text = "(" + FlatList(expr.operands) + ")"; break;
    case Expr::Kind::Block:
      text = !expr.block->tail               ? "{ }"
             : NeedsGuard(*expr.block->tail) ? "{ (" + Flat(*expr.block->tail, 0) + ") }"
                                             : "{ " + Flat(*expr.block->tail, 0) + " }";
      break;
    case Expr::Kind::Binary: break;
  }
  no_struct_ = no_struct;
  return text;
}

// A block with statements has no one-line form.
bool Printer::IsFlat(const Expr& expr) const {
  if (expr.kind == Expr::Kind::Block &&
      !(expr.block->stmts.empty() && (!expr.block->tail || IsFlat(*expr.block->tail))))
    return false;
  const auto flat = [&](const ExprPtr& part) { return !part || IsFlat(*part); };
  return std::ranges::all_of(expr.operands, flat) && std::ranges::all_of(expr.sizes, flat) &&
         std::ranges::all_of(expr.fields,
                             [&](const FieldInit& field) { return flat(field.value); });
}

bool Printer::Takes(const Expr& expr) const {
  if (!CommentBefore(expr.end)) return false;
  switch (expr.kind) {
    case Expr::Kind::Integer:
    case Expr::Kind::Bool:
    case Expr::Kind::Name: return false;
    case Expr::Kind::Struct: return !expr.fields.empty() && CommentIn(expr.location, expr.end);
    case Expr::Kind::Block:
    case Expr::Kind::Tuple: return CommentIn(expr.location, expr.end);
    case Expr::Kind::Array:
      if (expr.sizes.empty()) return !expr.operands.empty() && CommentIn(expr.location, expr.end);
      break;
    case Expr::Kind::Call:
      if (!expr.infix) return !expr.operands.empty() && CommentIn(expr.location, expr.end);
      break;
    default: break;
  }
  return std::ranges::any_of(expr.operands, [&](const ExprPtr& part) { return Takes(*part); });
}

std::string Printer::Text(const Expr& expr, int level, size_t column) {
  if (IsFlat(expr) && !Takes(expr)) {
    std::string flat = Flat(expr, level);
    const bool atom = expr.kind == Expr::Kind::Integer || expr.kind == Expr::Kind::Bool ||
                      expr.kind == Expr::Kind::Name;
    if (atom || column + flat.size() <= Width) return flat;
  }
  const bool wrap = SignOf(expr).level < level || (no_struct_ && expr.kind == Expr::Kind::Struct);
  if (!wrap) return Broken(expr, column);
  const bool no_struct = std::exchange(no_struct_, false);
  std::string text = "(" + Broken(expr, column + 1) + ")";
  no_struct_ = no_struct;
  return text;
}

std::string Printer::Broken(const Expr& expr, size_t column) {
  if (IsInfix(expr)) {
    if (IsFlat(expr) && column + Flat(expr, 0).size() > Width)
      return BrokenChain(expr, SignOf(expr).level);
    const Sign sign = SignOf(expr);
    std::string text =
        Text(*expr.operands[0], LevelOf(expr, 0), column) + " " + std::string(sign.text) + " ";
    return text + Text(*expr.operands[1], LevelOf(expr, 1), column);
  }
  if (IsPrefix(expr))
    return std::string(SignOf(expr).text) + Text(*expr.operands[0], 9, column + 1);
  std::string head;
  if (expr.kind == Expr::Kind::Index || expr.kind == Expr::Kind::Member)
    head = Text(*expr.operands[0], Tightest, column);
  const bool no_struct = std::exchange(no_struct_, false);
  std::string text;
  switch (expr.kind) {
    case Expr::Kind::Member: text = head + "." + expr.path.parts[0]; break;
    case Expr::Kind::Index: text = head + "[" + Text(*expr.operands[1], 0, column) + "]"; break;
    case Expr::Kind::Call: {
      std::string name = expr.path.ToString();
      for (size_t i = 0; i < expr.sizes.size(); ++i)
        name += (i == 0 ? "<" : ", ") + Flat(*expr.sizes[i], 5);
      if (!expr.sizes.empty()) name += '>';
      text = expr.operands.empty() ? name + "()"
                                   : BrokenList(name + "(", expr.operands, ")", expr.end);
      break;
    }
    case Expr::Kind::Struct:
      text = BrokenFields(expr.path.ToString(), expr.fields, expr.end);
      break;
    case Expr::Kind::Array:
      if (!expr.sizes.empty())
        text = "[" + Text(*expr.operands[0], 0, column + 1) + "; " + Flat(*expr.sizes[0], 0) + "]";
      else if (expr.operands.empty())
        text = "[]";
      else
        text = Takes(expr) ? BrokenList("[", expr.operands, "]", expr.end) : Filled(expr);
      break;
    case Expr::Kind::Tuple: text = BrokenList("(", expr.operands, ")", expr.end); break;
    case Expr::Kind::Block: text = BlockText(*expr.block); break;
    default: text = FlatInner(expr); break;
  }
  no_struct_ = no_struct;
  return text;
}

// a
//     + b
//     + c
std::string Printer::BrokenChain(const Expr& expr, int level) {
  std::vector<const Expr*> nodes;
  const Expr* at = &expr;
  for (; IsInfix(*at) && SignOf(*at).level == level &&
         (nodes.empty() || !Clarify(*nodes.back(), *at));
       at = at->operands[0].get())
    nodes.push_back(at);
  std::string text = Text(*at, LevelOf(*nodes.back(), 0), static_cast<size_t>(indent_) * 4);
  ++indent_;
  for (size_t i = nodes.size(); i-- > 0;) {
    const std::string lead = "\n" + Indent(indent_) + std::string(SignOf(*nodes[i]).text) + " ";
    text += lead;
    text += Text(*nodes[i]->operands[1], LevelOf(*nodes[i], 1), lead.size() - 1);
  }
  --indent_;
  return text;
}

std::string Printer::CommentLines(Location before) {
  std::string text;
  for (; CommentBefore(before); ++comment_) {
    const Comment& comment = module_.comments[comment_];
    text += "\n" + Indent(indent_) + comment.text;
    last_line_ = std::max(last_line_, comment.location.line);
  }
  return text;
}

// The comment at the end of a list's element.
std::string Printer::ListTrailing(Location start, Location limit) {
  if (!CommentBefore(limit)) return {};
  const Comment& comment = module_.comments[comment_];
  if (!comment.trailing || comment.location.line != start.line) return {};
  ++comment_;
  return " " + comment.text;
}

std::string Printer::BrokenList(const std::string& open, const List<ExprPtr>& parts,
                                const std::string& close, Location end) {
  std::string text = open;
  ++indent_;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Location limit = i + 1 < parts.size() ? parts[i + 1]->location : end;
    text += CommentLines(parts[i]->location);
    text += "\n" + Indent(indent_);
    text += Text(*parts[i], 0, static_cast<size_t>(indent_) * 4 + 1);
    if (i + 1 < parts.size()) text += ',';
    text += ListTrailing(parts[i]->end, limit);
  }
  text += CommentLines(end);
  --indent_;
  return text + "\n" + Indent(indent_) + close;
}

std::string Printer::BrokenFields(const std::string& head, const List<FieldInit>& fields,
                                  Location end) {
  std::string text = head + " {";
  ++indent_;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Location limit = i + 1 < fields.size() ? fields[i + 1].location : end;
    text += CommentLines(fields[i].location);
    text += "\n" + Indent(indent_) + fields[i].name;
    if (fields[i].value)
      text += ": " + Text(*fields[i].value, 0,
                          static_cast<size_t>(indent_) * 4 + fields[i].name.size() + 3);
    text += ',' + ListTrailing(fields[i].value ? fields[i].value->end : fields[i].location, limit);
  }
  text += CommentLines(end);
  --indent_;
  return text + "\n" + Indent(indent_) + "}";
}

// Array elements, as many to a line as fit.
std::string Printer::Filled(const Expr& expr) {
  ++indent_;
  const size_t left = static_cast<size_t>(indent_) * 4;
  std::string text = "[";
  size_t column = Width + 1;
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    std::string part = Text(*expr.operands[i], 0, left + 1);
    const size_t lines = part.rfind('\n');
    if (i + 1 < expr.operands.size()) part += ',';
    if (column + 1 + part.size() > Width || lines != std::string::npos) {
      text += "\n" + Indent(indent_);
      column = left;
    } else {
      text += ' ';
      ++column;
    }
    column = lines == std::string::npos ? column + part.size() : Width + 1;
    text += part;
  }
  --indent_;
  return text + "\n" + Indent(indent_) + "]";
}

std::string Printer::BlockText(const Block& block) {
  std::string outer = std::exchange(out_, {});
  Body(block);
  std::string inner = std::exchange(out_, std::move(outer));
  return "{\n" + inner + Indent(indent_) + "}";
}

std::string Printer::Guarded(const Expr& expr, size_t column) {
  return NeedsGuard(expr) ? "(" + Text(expr, 0, column + 1) + ")" : Text(expr, 0, column);
}

}  // namespace frazil::frontends::trident
