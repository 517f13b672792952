// Expressions by precedence climbing. Tighter from top to bottom:
//   ||   &&   (predicates only)
//   ==   !=   (!= in predicates only)
//   <    > <= >=   (predicates only but <)
//   +    -   (- in predicates only)
//   *    *.
//   &    ^
//   /%
// A sign that the place does not allow is reported and then read as what it would mean, so that reading goes on. A
// statement never begins with an operator, so an operator may begin a line; an opening bracket may not.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/trident/syntax/parser.h"

namespace frazil::frontends::trident {
namespace {

constexpr int AddLevel = 5;

struct OpRow {
  Tok token;
  int level;
  std::optional<BinaryOp> op;  // none: predicates only
  std::string_view call;       // its name as a call
  std::string_view hint;       // elsewhere
};

constexpr OpRow Ops[] = {
    {Tok::OrOr, 1, {}, "or", "there is no '||': nest two ifs, or add the two as field elements"},
    {Tok::AndAnd, 2, {}, "and", "there is no '&&': nest two ifs, or assert both"},
    {Tok::EqEq, 3, BinaryOp::Eq, {}, {}},
    {Tok::NotEq, 3, {}, "ne", "there is no '!=': write 'if a == b { } else { ... }'"},
    {Tok::Less, 4, BinaryOp::Lt, {}, {}},
    {Tok::Greater, 4, {}, "gt", "there is no '>': write b < a"},
    {Tok::LessEq, 4, {}, "le", "there is no '<=': for U32 values a <= b is 'b < a' being false"},
    {Tok::GreaterEq, 4, {}, "ge", "there is no '>=': for U32 values a >= b is 'a < b' being false"},
    {Tok::Plus, AddLevel, BinaryOp::Add, {}, {}},
    {Tok::Minus, AddLevel, {}, "sub", "there is no '-': use sub(a, b)"},
    {Tok::Star, 6, BinaryOp::Mul, {}, {}},
    {Tok::StarDot, 6, BinaryOp::Scale, {}, {}},
    {Tok::Slash,
     6,
     {},
     "div",
     "there is no '/': in the field use a * inv(b), for U32 values 'let (q, r) = a /% b'"},
    {Tok::Amp, 7, BinaryOp::And, {}, {}},
    {Tok::Caret, 7, BinaryOp::Xor, {}, {}},
    {Tok::SlashPercent, 8, BinaryOp::DivMod, {}, {}},
};

const OpRow* RowOf(Tok token) {
  for (const OpRow& row : Ops) {
    if (row.token == token) return &row;
  }
  return nullptr;
}

}  // namespace

ExprPtr Parser::New(Expr::Kind kind, Location location) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->location = location;
  return expr;
}

ExprPtr Parser::Finish(ExprPtr expr) {
  uint32_t height = 0;
  for (const ExprPtr& part : expr->operands) height = std::max(height, part->height);
  for (const ExprPtr& part : expr->sizes) height = std::max(height, part->height);
  for (const FieldInit& field : expr->fields) {
    if (field.value) height = std::max(height, field.value->height);
  }
  if (expr->block) height = std::max(height, expr->block->height);
  expr->height = height + 1;
  expr->end = last_end_;
  if (expr->height <= 5 * limits_.nesting) return expr;
  Complain(expr->location,
           fmt::format("the expression is more than {} operations deep", 5 * limits_.nesting),
           "name parts of it with let", Diag::LimitReached);
  return nullptr;
}

ExprPtr Parser::Expression() {
  const bool no_struct = std::exchange(no_struct_, false);
  ExprPtr expr = Binary(1);
  no_struct_ = no_struct;
  return expr;
}

ExprPtr Parser::Condition() {
  const bool no_struct = std::exchange(no_struct_, true);
  ExprPtr expr = Binary(1);
  no_struct_ = no_struct;
  return expr;
}

ExprPtr Parser::Predicate() {
  const bool before = std::exchange(in_predicate_, true);
  ExprPtr expr = Expression();
  in_predicate_ = before;
  return expr;
}

ExprPtr Parser::Join(Tok op, Location place, ExprPtr left, ExprPtr right) {
  const OpRow& row = *RowOf(op);
  ExprPtr joined = New(row.op ? Expr::Kind::Binary : Expr::Kind::Call, left->location);
  if (row.op) {
    joined->op = *row.op;
  } else {
    joined->infix = true;
    joined->path.location = place;
    joined->path.parts.emplace_back(row.call);
  }
  joined->operands.push_back(std::move(left));
  joined->operands.push_back(std::move(right));
  return Finish(std::move(joined));
}

ExprPtr Parser::Binary(int level) {
  if (!Enter()) return nullptr;
  ExprPtr left = Unary();
  while (left) {
    const OpRow* row = RowOf(tok_.kind);
    if (row == nullptr || row->level < level) break;
    if (PeekKind() == Tok::Assign && tok_.kind != Tok::EqEq)
      break;  // `x += 1`: the statement says it better
    const Token op = Advance();
    if (!row->op && (!in_predicate_ || op.kind == Tok::Slash)) {
      Complain(op.location, fmt::format("'{}' does not exist here", op.text),
               std::string(row->hint), Diag::NotTrident);
    }
    ExprPtr right = Binary(row->level + 1);
    if (!right) {
      left = nullptr;
      break;
    }
    left = Join(op.kind, op.location, std::move(left), std::move(right));
  }
  Leave();
  return left;
}

ExprPtr Parser::Unary() {
  if (!At(Tok::Bang) && !At(Tok::Minus)) return Postfix();
  const Token op = Advance();
  if (op.kind == Tok::Minus) {
    Complain(op.location, "'-' does not exist here", "use neg(a), or sub(a, b)", Diag::NotTrident);
  } else if (!in_predicate_) {
    Complain(op.location, "'!' does not exist here", "write 'if a { } else { ... }', or a == false",
             Diag::NotTrident);
  }
  if (!Enter()) return nullptr;
  ExprPtr operand = Unary();
  Leave();
  if (!operand) return nullptr;
  ExprPtr call = New(Expr::Kind::Call, op.location);
  call->infix = true;
  call->path.location = op.location;
  call->path.parts.emplace_back(op.kind == Tok::Bang ? "not" : "neg");
  call->operands.push_back(std::move(operand));
  return Finish(std::move(call));
}

ExprPtr Parser::Postfix() {
  ExprPtr expr = Primary();
  while (expr) {
    const Location location = expr->location;
    if (At(Tok::LBracket) && !tok_.new_line) {
      Advance();
      ExprPtr index = Expression();
      if (!index || !Expect(Tok::RBracket, "after the index")) return nullptr;
      ExprPtr whole = New(Expr::Kind::Index, location);
      whole->operands.push_back(std::move(expr));
      whole->operands.push_back(std::move(index));
      expr = Finish(std::move(whole));
    } else if (At(Tok::Dot)) {
      Advance();
      if (At(Tok::Integer)) {
        Complain(tok_.location, "tuple members have no numbers",
                 "take the tuple apart: let (a, b) = t", Diag::NotTrident);
        return nullptr;
      }
      if (expr->kind == Expr::Kind::Name) {  // (a).b is a.b
        expr->path.parts.emplace_back();
        if (!ExpectName(&expr->path.parts.back(), "a field")) return nullptr;
        continue;
      }
      ExprPtr whole = New(Expr::Kind::Member, location);
      if (!ExpectName(&whole->path.parts.emplace_back(), "a field")) return nullptr;
      if (At(Tok::LParen) && !tok_.new_line) {
        Complain(tok_.location, "there are no methods",
                 fmt::format("write {}(value, ...)", whole->path.parts[0]), Diag::NotTrident);
        return nullptr;
      }
      whole->operands.push_back(std::move(expr));
      expr = Finish(std::move(whole));
    } else if (At(Tok::LParen) && !tok_.new_line) {
      Complain(tok_.location, "only functions are called, by their name");
      return nullptr;
    } else if (AtWord("as") && !tok_.new_line) {
      Complain(tok_.location, "there is no 'as'",
               "use as_u32(x), which checks the range, or as_field(x)", Diag::NotTrident);
      return nullptr;
    } else {
      break;
    }
  }
  return expr;
}

ExprPtr Parser::Foreign() {
  switch (tok_.kind) {
    case Tok::If:
      Complain(tok_.location, "'if' is a statement, not a value",
               "let mut x, and assign it in both branches; or make a function that ends in the if");
      break;
    case Tok::Match:
      Complain(tok_.location, "'match' is a statement, not a value",
               "let mut x, and assign it in every case; or make a function that ends in the match");
      break;
    case Tok::Bar:
    case Tok::OrOr:
      Complain(tok_.location, "there are no closures", "write a function", Diag::NotTrident);
      break;
    case Tok::Amp:
    case Tok::Star:
      Complain(tok_.location, "there are no references and no pointers",
               "values are copied; ram_read(address) reads RAM", Diag::NotTrident);
      break;
    case Tok::Bad: break;  // the lexer has said it
    default: Unexpected("an expression"); break;
  }
  return nullptr;
}

ExprPtr Parser::Primary() {
  const Location location = tok_.location;
  switch (tok_.kind) {
    case Tok::Integer: {
      ExprPtr expr = New(Expr::Kind::Integer, location);
      expr->number = Advance().number;
      return Finish(std::move(expr));
    }
    case Tok::True:
    case Tok::False: {
      ExprPtr expr = New(Expr::Kind::Bool, location);
      expr->number = Advance().kind == Tok::True ? 1 : 0;
      return Finish(std::move(expr));
    }
    case Tok::Name: return NameOrCall();
    case Tok::LParen: return Parenthesized();
    case Tok::LBracket: return ArrayLiteral();
    case Tok::LBrace: return BlockExpr();
    default: return Foreign();
  }
}

// After a name: does `<` begin sizes, as in f<3>(x)? It does if only what sizes are made of stands before `>` and `(`.
bool Parser::SizesFollow() const {
  if (!At(Tok::Less)) return false;
  // In a predicate `>` may also compare; there the sizes touch the name.
  if (in_predicate_ &&
      (tok_.location.line != last_end_.line || tok_.location.column != last_end_.column))
    return false;
  Lexer ahead = lexer_.Ahead();
  for (int count = 0; count < 64; ++count) {
    switch (ahead.Next().kind) {
      case Tok::Name:
      case Tok::Integer:
      case Tok::Plus:
      case Tok::Star:
      case Tok::Comma:
      case Tok::Dot: continue;
      case Tok::Greater: return count > 0 && ahead.Next().kind == Tok::LParen;
      default: return false;
    }
  }
  return false;
}

ExprPtr Parser::Size(int level) {
  ExprPtr size = Binary(level);
  if (!size) return nullptr;
  const auto fits = [](const Expr& expr, const auto& self) -> bool {
    if (expr.kind == Expr::Kind::Integer || expr.kind == Expr::Kind::Name) return true;
    return expr.kind == Expr::Kind::Binary &&
           (expr.op == BinaryOp::Add || expr.op == BinaryOp::Mul) &&
           self(*expr.operands[0], self) && self(*expr.operands[1], self);
  };
  if (fits(*size, fits)) return size;
  Complain(size->location, "a size is made of integers and constants with + and *");
  return nullptr;
}

bool Parser::Sizes(List<ExprPtr>* sizes) {
  Advance();
  do {
    sizes->push_back(Size(AddLevel));
    if (!sizes->back()) return false;
  } while (Accept(Tok::Comma));
  return Expect(Tok::Greater, "after the sizes");
}

bool Parser::Operands(List<ExprPtr>* operands, Tok close, std::string_view where) {
  while (!At(close)) {
    ExprPtr operand = Expression();
    if (!operand) return false;
    operands->push_back(std::move(operand));
    if (Accept(Tok::Comma)) continue;
    if (At(close)) break;
    return Unexpected(fmt::format("',' or '{}' {}", TokenText(close), where));
  }
  return Expect(close, where);
}

ExprPtr Parser::NameOrCall() {
  ExprPtr expr = New(Expr::Kind::Name, tok_.location);
  expr->path.location = tok_.location;
  expr->path.parts.emplace_back(Advance().text);
  while (At(Tok::Dot) && PeekKind() != Tok::Integer) {
    Advance();
    expr->path.parts.emplace_back();
    if (!ExpectName(&expr->path.parts.back(), "the next part of the name")) return nullptr;
  }
  if (At(Tok::Bang) && PeekKind() == Tok::LParen && !tok_.new_line) {
    Complain(tok_.location, "there are no macros",
             fmt::format("write {}(...)", expr->path.ToString()), Diag::NotTrident);
    return nullptr;
  }
  if (At(Tok::Colon) && PeekKind() == Tok::Colon) {
    Complain(tok_.location, "the parts of a name are joined by '.'", "write module.name",
             Diag::NotTrident);
    return nullptr;
  }
  if (!tok_.new_line && SizesFollow()) {
    expr->kind = Expr::Kind::Call;
    if (!Sizes(&expr->sizes)) return nullptr;
  }
  if (At(Tok::LParen) && !tok_.new_line) {
    expr->kind = Expr::Kind::Call;
    Advance();
    if (!Operands(&expr->operands, Tok::RParen, "after the arguments")) return nullptr;
  } else if (At(Tok::LBrace) && !tok_.new_line && !no_struct_) {
    expr->kind = Expr::Kind::Struct;
    Advance();
    if (!FieldInits(&expr->fields)) return nullptr;
  }
  return Finish(std::move(expr));
}

// After the opening brace.
bool Parser::FieldInits(List<FieldInit>* fields) {
  while (!At(Tok::RBrace)) {
    FieldInit field;
    field.location = tok_.location;
    if (!ExpectName(&field.name, "a field")) return false;
    if (Accept(Tok::Colon)) {
      field.value = Expression();
      if (!field.value) return false;
    } else if (At(Tok::Assign)) {
      return Complain(tok_.location, "a field's value stands after ':'",
                      fmt::format("write {}: value", field.name));
    }
    fields->push_back(std::move(field));
    if (Accept(Tok::Comma)) continue;
    if (At(Tok::RBrace)) break;
    return Unexpected("',' or '}' after the field");
  }
  return Expect(Tok::RBrace, "after the fields");
}

ExprPtr Parser::Parenthesized() {
  ExprPtr tuple = New(Expr::Kind::Tuple, tok_.location);
  Advance();
  bool comma = false;
  while (!At(Tok::RParen)) {
    ExprPtr part = Expression();
    if (!part) return nullptr;
    tuple->operands.push_back(std::move(part));
    if (!Accept(Tok::Comma)) break;
    comma = true;
  }
  if (!Expect(Tok::RParen, "after the expression")) return nullptr;
  if (tuple->operands.empty()) {
    Complain(tuple->location, "there is nothing between the parentheses");
    return nullptr;
  }
  if (tuple->operands.size() == 1) {
    if (comma) {
      Complain(tuple->location, "a tuple has at least two members");
      return nullptr;
    }
    ExprPtr inner = std::move(tuple->operands[0]);  // only grouping
    return inner;
  }
  return Finish(std::move(tuple));
}

ExprPtr Parser::ArrayLiteral() {
  ExprPtr array = New(Expr::Kind::Array, tok_.location);
  Advance();
  if (!At(Tok::RBracket)) {
    ExprPtr first = Expression();
    if (!first) return nullptr;
    array->operands.push_back(std::move(first));
    if (Accept(Tok::Semicolon)) {
      ExprPtr size = Size(AddLevel);
      if (!size) return nullptr;
      array->sizes.push_back(std::move(size));
      if (!Expect(Tok::RBracket, "after the array's size")) return nullptr;
      return Finish(std::move(array));
    }
    if (!At(Tok::RBracket) && !Expect(Tok::Comma, "or ']' after an element")) return nullptr;
  }
  if (!Operands(&array->operands, Tok::RBracket, "after the elements")) return nullptr;
  return Finish(std::move(array));
}

ExprPtr Parser::BlockExpr() {
  ExprPtr expr = New(Expr::Kind::Block, tok_.location);
  expr->block = ReadBlock("of the block");
  if (!expr->block) return nullptr;
  return Finish(std::move(expr));
}

}  // namespace frazil::frontends::trident
