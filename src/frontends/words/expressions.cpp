// Formulas and operations in words, by precedence: + and -, then * and /, then signs, then powers.
// Words and symbols share the levels ("10 plus 5 * 2" is 20); the difference is only in Operand(),
// where a word operator after a phrase ("the sum of 4 and 5 times 2") can bind inside or outside of
// it.
#include <utility>

#include "frontends/words/nesting.h"
#include "frontends/words/parser.h"

namespace frazil::frontends::words {

std::optional<Kind> Parser::EatAdditive() {
  if (Eat(Symbol::Plus)) return Kind::Add;
  if (Eat(Symbol::Minus)) return Kind::Subtract;
  if (symbols_only_) return std::nullopt;
  if (EatAny({"plus", "increased by"})) return Kind::Add;
  if (EatAny({"minus", "take away", "decreased by", "reduced by", "diminished by"}))
    return Kind::Subtract;
  return std::nullopt;
}

std::optional<Kind> Parser::EatMultiplicative() {
  if (Eat(Symbol::Times)) return Kind::Multiply;
  if (Eat(Symbol::Slash)) return Kind::Divide;
  if (Eat(Symbol::WholeSlash)) return Kind::WholeDivide;
  if (Eat(Symbol::Percent)) return Kind::Remainder;
  if (At("x") && (Peek(1).IsNumber() || Peek(1).Is(Symbol::Open))) {
    ++at_;
    return Kind::Multiply;
  }
  if (symbols_only_) return std::nullopt;
  if (EatAny({"times", "multiplied by"})) return Kind::Multiply;
  if (EatAny({"divided evenly by", "divided by", "over"})) return Kind::Divide;
  if (EatAny({"integer divided by", "div"})) return Kind::WholeDivide;
  if (EatAny({"modulo", "mod"})) return Kind::Remainder;
  return std::nullopt;
}

bool Parser::AtWordOperator() const {
  if (!Peek().IsWord()) return false;
  return AtAny({"plus", "minus", "take away", "times", "multiplied by", "divided by",
                "divided evenly by", "over", "mod", "modulo", "div", "increased by", "decreased by",
                "reduced by", "integer divided by"});
}

Result<ExprId> Parser::Additive() {
  Nesting nesting(*this);
  TRY_VOID(nesting.Check());
  ExprId left = TRY(Multiplicative());
  std::vector<ExprId> terms{left};
  while (true) {
    const std::optional<ExprId> reversed = TRY(Reversed(left));
    if (reversed) {
      left = *reversed;
      terms.clear();
      continue;
    }
    const std::optional<Kind> kind = EatAdditive();
    if (!kind) return left;
    if (Peek().Is(Symbol::Ellipsis)) return EllipsisSeries(*kind, terms);
    const ExprId right = TRY(Multiplicative());
    left = Change(*kind, left, right);
    if (*kind == Kind::Add && !terms.empty()) {
      terms.push_back(right);
    } else {
      terms.clear();
    }
  }
}

// "5 subtracted from 20", "3 more than 7": the operand on the right comes first.
Result<std::optional<ExprId>> Parser::Reversed(ExprId left) {
  if (symbols_only_) return std::nullopt;
  std::optional<Kind> kind;
  if (EatAny({"subtracted from", "taken away from", "taken from"})) kind = Kind::Subtract;
  if (!kind && Eat("added to")) {
    const ExprId base = TRY(Multiplicative());
    return IsPercent(left) ? Change(Kind::Add, base, left) : Make(Kind::Add, left, base);
  }
  if (!kind && than_ != Than::Relation && AtAny({"less than", "fewer than", "more than"})) {
    if (than_ == Than::Ask && choices_.Ask(2, Peek().location) == 1) return std::nullopt;
    kind = At("more than") ? Kind::Add : Kind::Subtract;
    at_ += 2;
  }
  if (!kind) return std::nullopt;
  const ExprId base = TRY(Multiplicative());
  return Change(*kind, base, left);
}

// "200 + 15%" as people mean it; the other reading adds 0.15.
ExprId Parser::PercentChange(ExprId base, ExprId percent, Kind kind) {
  return Make(kind, base, Make(Kind::Multiply, percent, base));
}

ExprId Parser::Change(Kind kind, ExprId base, ExprId amount) {
  const bool two = IsPercent(amount) && !IsPercent(base);
  if (two && choices_.Ask(2, NodeOf(amount).location) == 0)
    return PercentChange(base, amount, kind);
  return Make(kind, base, amount);
}

Result<ExprId> Parser::Multiplicative() {
  ExprId left = TRY(Unary());
  std::vector<ExprId> terms{left};
  while (true) {
    const Location place = Peek().location;
    const std::optional<Kind> kind = EatMultiplicative();
    if (!kind) return left;
    if (Peek().Is(Symbol::Ellipsis)) return EllipsisSeries(*kind, terms);
    const ExprId right = TRY(Unary());
    left = Combine(*kind, left, right);
    tree_.nodes[left.index].location = place;
    // "3/4 of 20"
    const bool fraction = *kind == Kind::Divide && Literal(NodeOf(left).a) && Literal(right);
    if (fraction && Eat("of")) left = Make(Kind::Multiply, left, TRY(Unary()));
    if (*kind == Kind::Multiply && !terms.empty()) {
      terms.push_back(right);
    } else {
      terms.clear();
    }
  }
}

// 1 + 2 + ... + 10, 5 * 4 * ... * 1, 2 + 4 + ... up to 11
Result<ExprId> Parser::EllipsisSeries(Kind kind, const std::vector<ExprId>& terms) {
  const bool sum = kind == Kind::Add;
  if ((!sum && kind != Kind::Multiply) || terms.empty()) return std::unexpected(Refuse());
  std::vector<int64_t> known;
  for (ExprId term : terms) {
    const std::optional<int64_t> value = Literal(term);
    if (!value) return std::unexpected(Refuse("whole numbers before the dots"));
    known.push_back(*value);
  }
  const size_t dots = at_++;
  const bool exact = Eat(sum ? Symbol::Plus : Symbol::Times);
  if (!exact && !EatAny({"up to", "to"})) return std::unexpected(Refuse("the last term"));
  const ExprId last_id = TRY(sum ? Multiplicative() : Unary());
  const std::optional<int64_t> last = Literal(last_id);
  if (!last) return std::unexpected(RefuseAt(dots, "a whole number after the dots"));
  int64_t step = known.size() > 1 ? known[1] - known[0] : *last < known[0] ? -1 : 1;
  for (size_t i = 1; i < known.size(); ++i)
    if (known[i] - known[i - 1] != step) step = 0;
  const bool reached =
      step != 0 && (*last - known[0]) % step == 0 && (*last - known[0]) / step >= 0;
  if (step == 0 || (exact && !reached) || (!exact && step < 0))
    return std::unexpected(RefuseAt(dots, "terms that go up or down by the same amount"));
  Range range{terms[0], last_id, step, SeriesTerm::Itself};
  if (step < 0) range = {last_id, terms[0], -step, SeriesTerm::Itself};
  return MakeRange(sum ? Kind::Sum : Kind::Product, range);
}

Result<ExprId> Parser::Unary() {
  bool negative = false;
  while (true) {
    if (Eat(Symbol::Minus) || EatAny({"minus", "negative"})) {
      negative = !negative;
    } else if (!Eat(Symbol::Plus)) {
      break;
    }
  }
  const ExprId operand = TRY(Raised());
  return negative ? Make(Kind::Negate, operand) : operand;
}

Result<ExprId> Parser::Raised() {
  Nesting nesting(*this);
  TRY_VOID(nesting.Check());
  ExprId base = TRY(Postfix());
  while (true) {
    const Location place = Peek().location;
    if (Peek().Is(Symbol::Superscript)) {
      const ExprId exponent = Number(Peek().value, place);
      ++at_;
      base = Make(Kind::Power, base, exponent);
    } else if (Eat("squared")) {
      base = Make(Kind::Power, base, Number({2, 1}, place));
    } else if (Eat("cubed")) {
      base = Make(Kind::Power, base, Number({3, 1}, place));
    } else if (Eat(Symbol::Power) || EatAny({"to the power of", "to the power",
                                             "raised to the power of", "raised to the power"})) {
      return Make(Kind::Power, base, TRY(Unary()));
    } else if (AtAny({"raised to", "to the"})) {
      const size_t start = at_;
      const bool raised = Eat("raised to");
      if (!raised) Eat("to the");
      Eat("the");
      if (const std::optional<Big> ordinal = ReadOrdinal(tokens_, at_)) {
        Eat("power");
        base = Make(Kind::Power, base, Number({*ordinal, 1}, place));
      } else if (raised) {
        return Make(Kind::Power, base, TRY(Unary()));
      } else {
        at_ = start;
        return base;
      }
    } else {
      return base;
    }
  }
}

Result<ExprId> Parser::Postfix() {
  ExprId operand = TRY(Primary());
  while (true) {
    if (Eat("factorial")) {
      operand = Make(Kind::Factorial, operand);
    } else if (Peek().Is(Symbol::Bang)) {
      // "Add 5 and 3!" may be excited; "12!" is not.
      const bool last = Peek(1).kind == TokenKind::End;
      if (in_command_ && last && choices_.Ask(2, Peek().location) == 1) return operand;
      ++at_;
      // 5!! is another function, or enthusiasm.
      if (Peek().Is(Symbol::Bang)) return std::unexpected(Refuse());
      operand = Make(Kind::Factorial, operand);
    } else {
      return operand;
    }
  }
}

Result<ExprId> Parser::Bracketed(Symbol close) {
  const bool symbols_only = std::exchange(symbols_only_, false);
  const Than than = std::exchange(than_, Than::Arithmetic);
  const bool in_command = std::exchange(in_command_, false);
  const ExprId inner = TRY(Additive());
  symbols_only_ = symbols_only;
  than_ = than;
  in_command_ = in_command;
  if (!Eat(close)) return std::unexpected(Refuse(close == Symbol::Bar ? "\"|\"" : "\")\""));
  return inner;
}

Result<ExprId> Parser::NumberOrPart(const NumberRead& number, Location location) {
  const ExprId id = Number(number.value, location, number.percent);
  if (!number.part) return id;
  const bool half_the = number.value == Rational{1, 2} && At("the");
  if (!half_the && !Eat("of")) return id;
  return Make(Kind::Multiply, id, TRY(Unary()));
}

Result<ExprId> Parser::Primary() {
  const Location place = Peek().location;
  if (!choices_.Spend())
    return Fail(Diag::LimitReached, "the text has too many possible readings to compare", place);
  if (Eat(Symbol::Open)) return Bracketed(Symbol::Close);
  if (Eat(Symbol::Bar)) return Make(Kind::Absolute, TRY(Bracketed(Symbol::Bar)));
  if (Eat(Symbol::Root)) {
    Nesting nesting(*this);
    TRY_VOID(nesting.Check());
    return Make(Kind::SquareRoot, TRY(Postfix()));
  }
  if (const std::optional<ExprId> call = TRY(Call())) return *call;
  if (const std::optional<ExprId> phrase = TRY(NounPhrase())) return *phrase;
  EatAny({"the number", "the value of", "the result of", "the value"});
  if (const std::optional<NumberRead> number = ReadNumber(tokens_, at_, choices_)) {
    if (number->value.num.huge())
      return Fail(Diag::LimitReached, "a number needs more than 4096 bits", place);
    return NumberOrPart(*number, place);
  }
  if (previous_.valid() && EatPronoun()) return previous_;
  return std::unexpected(Refuse("a number"));
}

Result<ExprId> Parser::Formula() {
  const bool symbols_only = std::exchange(symbols_only_, true);
  Result<ExprId> formula = Additive();
  symbols_only_ = symbols_only;
  return formula;
}

Result<ExprId> Parser::Operand() {
  const size_t start = at_;
  const ExprId formula = TRY(Formula());
  if (!AtWordOperator()) return formula;
  const size_t formula_end = at_;
  at_ = start;
  const bool symbols_only = std::exchange(symbols_only_, false);
  const ExprId full = TRY(Additive());
  symbols_only_ = symbols_only;
  // Something of the same phrase follows ("2 times 3 and 4"): the words can only bind inside.
  const bool goes_on =
      AtAny({"and", "to", "from", "by", "through", "or"}) || Peek().Is(Symbol::Comma);
  if (goes_on && !AtStep()) return full;
  if (choices_.Ask(2, tokens_[formula_end].location) == 1) return full;
  at_ = formula_end;
  return formula;
}

}  // namespace frazil::frontends::words
