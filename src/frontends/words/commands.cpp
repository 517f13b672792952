// Commands ("Subtract 49 from 69") and chains: a value, then steps that each work on the one
// before. A step must use the previous value; what would drop it is refused.
#include <utility>

#include "frontends/words/parser.h"

namespace frazil::frontends::words {

bool Parser::EatPronoun() {
  const size_t start = at_;
  if (EatAny({"it", "that", "this", "itself", "the result", "the answer", "that result",
              "the outcome", "what you get", "the number", "that number", "the total", "the sum",
              "the product", "the difference", "the quotient"})) {
    // "the sum of 3 and 4" and "the number 5" are others.
    if (!AtAny({"of", "between"}) && !Peek().IsNumber()) return true;
    at_ = start;
  }
  return false;
}

Result<std::optional<ExprId>> Parser::Command() {
  const Location place = Peek().location;
  if (EatAny({"add up", "add together", "add", "adding"})) return TRY(AddCommand());
  if (EatAny({"subtract", "subtracting", "deduct", "take away", "taking away"}))
    return TRY(SubtractCommand());
  if (EatAny({"multiply", "multiplying"})) return TRY(MultiplyCommand());
  if (EatAny({"divide", "dividing", "split", "share"})) return TRY(DivideCommand());
  if (EatAny({"increase", "increasing"})) return TRY(ChangeCommand(Kind::Add));
  if (EatAny({"decrease", "reduce", "lower", "decreasing", "reducing"}))
    return TRY(ChangeCommand(Kind::Subtract));
  if (EatAny({"raise", "raising", "exponentiate"})) return TRY(RaiseCommand());
  if (EatAny({"count", "counting"})) return At("collatz") ? TRY(Unary()) : TRY(CountCommand());
  const bool noun = Peek(1).Is("root") || Peek(1).Is("of");
  if (!noun && EatAny({"square", "squaring"}))
    return Make(Kind::Power, TRY(Operand()), Number({2, 1}, place));
  if (!noun && EatAny({"cube", "cubing"}))
    return Make(Kind::Power, TRY(Operand()), Number({3, 1}, place));
  if (EatAny({"halve", "halving"}))
    return Make(Kind::Divide, TRY(Operand()), Number({2, 1}, place));
  if (EatAny({"negate"})) return Make(Kind::Negate, TRY(Operand()));
  const bool start =
      EatAny({"start with", "start at", "start from", "starting with", "starting from",
              "starting at", "begin with", "beginning with", "take", "from"});
  if (!start) return std::nullopt;
  const ExprId value = TRY(Operand());
  if (tokens_[at_ - 1].Is("from") || EatAny({"away from", "from"}))
    return Change(Kind::Subtract, TRY(Operand()), value);
  if (!AtStep()) return std::unexpected(Refuse("what to do with it"));
  return value;
}

// "Add 4 and 5 times 2", read as (4 + 5) * 2; Operand() offers the other reading.
Result<ExprId> Parser::AfterCommand(ExprId value) {
  while (AtWordOperator()) {
    if (const std::optional<Kind> kind = EatAdditive()) {
      value = Change(*kind, value, TRY(Multiplicative()));
    } else {
      const Kind factor = *EatMultiplicative();
      value = Combine(factor, value, TRY(Unary()));
    }
  }
  return value;
}

Result<ExprId> Parser::AddCommand() {
  if (const std::optional<Range> range = TRY(TryRange(false))) return MakeRange(Kind::Sum, *range);
  std::vector<ExprId> items = TRY(List());
  if (Eat("to")) {
    const ExprId base = TRY(Operand());
    // What 10% is taken of must stand first.
    const bool percent = items.size() == 1 && IsPercent(items[0]);
    items.insert(percent ? items.begin() : items.end(), base);
  } else if (items.size() < 2) {
    return std::unexpected(Refuse("\"and\" and a second number"));
  }
  Eat("together");
  return Fold(Kind::Add, items);
}

Result<ExprId> Parser::SubtractCommand() {
  const std::vector<ExprId> items = TRY(List());
  if (!EatAny({"away from", "from"})) return std::unexpected(Refuse("\"from\" and a number"));
  ExprId result = TRY(Operand());
  for (ExprId item : items) result = Change(Kind::Subtract, result, item);
  return result;
}

Result<ExprId> Parser::MultiplyCommand() {
  if (const std::optional<Range> range = TRY(TryRange())) return MakeRange(Kind::Product, *range);
  std::vector<ExprId> items = TRY(List());
  if (items.size() == 1) {
    if (!EatAny({"by", "with"})) return std::unexpected(Refuse("\"by\" and a number"));
    items.push_back(TRY(Operand()));
  }
  Eat("together");
  return Fold(Kind::Multiply, items);
}

Result<ExprId> Parser::DivideCommand() {
  const ExprId dividend = TRY(Operand());
  EatAny({"evenly", "equally"});
  if (Eat("by")) return Make(Kind::Divide, dividend, TRY(Operand()));
  // "Divide 6 into 48" goes the other way in old textbooks: only with a word for the parts.
  if (EatAny({"into", "between", "among"})) {
    const ExprId divisor = TRY(Operand());
    EatAny({"equal"});
    if (EatAny({"groups", "parts", "pieces", "piles", "sets", "shares", "portions", "teams",
                "people"}))
      return Make(Kind::Divide, dividend, divisor);
    return std::unexpected(Refuse("\"groups\", \"parts\" or the like"));
  }
  return std::unexpected(Refuse("\"by\" and a number"));
}

// "increase 200 by 15%", "reduce 50 by 8"
Result<ExprId> Parser::ChangeCommand(Kind kind) {
  const ExprId base = TRY(Operand());
  if (!Eat("by")) return std::unexpected(Refuse("\"by\" and a number"));
  const ExprId amount = TRY(Operand());
  const Node& node = NodeOf(amount);
  if (node.kind == Kind::Number && node.percent) return PercentChange(base, amount, kind);
  return Make(kind, base, amount);
}

Result<ExprId> Parser::RaiseCommand() {
  const ExprId base = TRY(Operand());
  // "raise 2 to the power of 10": the operand took the whole phrase.
  if (NodeOf(base).kind == Kind::Power) return base;
  if (!EatAny({"to", "by"})) return std::unexpected(Refuse("\"to the power of\""));
  return Make(Kind::Power, base, TRY(Operand()));
}

namespace {
constexpr std::string_view StepVerbs[] = {
    "add",    "subtract", "take away",     "remove",       "deduct", "multiply",
    "divide", "double",   "triple",        "halve",        "square", "cube",
    "negate", "raise",    "increase",      "decrease",     "reduce", "split",
    "is it",  "is that",  "is the result", "is the answer"};
constexpr std::string_view StepOperators[] = {
    "plus",         "minus",     "times",        "multiplied by", "divided by",
    "over",         "mod",       "modulo",       "squared",       "cubed",
    "to the power", "raised to", "increased by", "decreased by",  "reduced by"};
}  // namespace

// Punctuation or "then" between steps; only if a step really follows.
bool Parser::EatStepSeparator() {
  const size_t start = at_;
  const bool mark = Eat(Symbol::Comma) || Eat(Symbol::Semicolon) || Eat(Symbol::Stop);
  const bool joined = EatAny({"and", "but"});
  const bool then =
      EatAny({"then", "next", "after that", "afterwards", "finally", "lastly", "now"});
  if (then) Eat(Symbol::Comma);
  if (mark || joined || then) {
    for (std::string_view verb : StepVerbs)
      if (At(verb)) return true;
    if (mark || then) {
      for (std::string_view word : StepOperators)
        if (At(word)) return true;
      const Symbol symbol = Peek().symbol;
      if (then && Peek().kind == TokenKind::Symbol &&
          (symbol == Symbol::Plus || symbol == Symbol::Minus || symbol == Symbol::Times ||
           symbol == Symbol::Slash))
        return true;
    }
  }
  at_ = start;
  return false;
}

bool Parser::AtStep() {
  const size_t start = at_;
  const bool step = EatStepSeparator();
  at_ = start;
  return step;
}

Result<ExprId> Parser::Chain(ExprId first) {
  ExprId value = first;
  while (EatStepSeparator()) {
    previous_ = value;
    value = TRY(Step(value));
  }
  previous_ = {};
  return value;
}

Result<ExprId> Parser::Step(ExprId before) {
  const Location place = Peek().location;
  if (EatAny({"is it", "is that", "is the result", "is the answer"})) return Predicate(before);
  if (Eat("add")) return StepOperation(before, Kind::Add);
  if (EatAny({"subtract", "take away", "remove", "deduct"}))
    return StepOperation(before, Kind::Subtract);
  if (Eat("multiply")) return StepOperation(before, Kind::Multiply);
  if (EatAny({"divide", "split"})) return StepOperation(before, Kind::Divide);
  if (Eat("raise")) {
    EatPronoun();
    if (!EatAny({"to the power of", "to the power", "to"}))
      return std::unexpected(Refuse("\"to the power of\""));
    return Make(Kind::Power, before, TRY(Operand()));
  }
  const bool up = Eat("increase"), down = !up && EatAny({"decrease", "reduce"});
  if (up || down) {
    EatPronoun();
    if (!Eat("by")) return std::unexpected(Refuse("\"by\" and a number"));
    const ExprId amount = TRY(Operand());
    const Kind kind = up ? Kind::Add : Kind::Subtract;
    if (NodeOf(amount).percent) return PercentChange(before, amount, kind);
    return Make(kind, before, amount);
  }
  std::optional<ExprId> single;
  if (Eat("double")) single = Make(Kind::Multiply, before, Number({2, 1}, place));
  if (!single && Eat("triple")) single = Make(Kind::Multiply, before, Number({3, 1}, place));
  if (!single && Eat("halve")) single = Make(Kind::Divide, before, Number({2, 1}, place));
  if (!single && EatAny({"square", "squared"}))
    single = Make(Kind::Power, before, Number({2, 1}, place));
  if (!single && EatAny({"cube", "cubed"}))
    single = Make(Kind::Power, before, Number({3, 1}, place));
  if (!single && Eat("negate")) single = Make(Kind::Negate, before);
  if (single) {
    EatPronoun();
    return *single;
  }
  if (EatAny({"to the power of", "to the power", "raised to the power of", "raised to"}))
    return Make(Kind::Power, before, TRY(Operand()));
  std::optional<Kind> kind = EatAdditive();
  if (!kind) kind = EatMultiplicative();
  if (!kind) return std::unexpected(Refuse("a step"));
  const ExprId operand = TRY(Operand());
  return Combine(*kind, before, operand);
}

// "multiply by 5", "multiply it by 5", "subtract it from 100", "divide 100 by the result"
Result<ExprId> Parser::StepOperation(ExprId before, Kind kind) {
  const bool by = kind == Kind::Multiply || kind == Kind::Divide;
  if (EatPronoun()) {
    EatAny({"evenly", "equally"});
    if (kind == Kind::Subtract && Eat("from")) return Make(kind, TRY(Operand()), before);
    if (!(by ? EatAny({"by", "into"}) : Eat("to")))
      return std::unexpected(
          Refuse(by ? "\"by\" and a number" : "\"from\" or \"to\" and a number"));
    return Make(kind, before, TRY(Operand()));
  }
  if (by && Eat("by")) return Make(kind, before, TRY(Operand()));
  std::vector<ExprId> items = by ? std::vector{TRY(Operand())} : TRY(List());
  if (by) {
    if (!Eat("by") || !EatPronoun()) return std::unexpected(Refuse("\"by\" before the number"));
    return Make(kind, items[0], before);
  }
  if (EatAny({"to", "from"}) && !EatPronoun())
    return std::unexpected(Refuse("\"it\" or \"the result\""));
  ExprId value = before;
  for (ExprId item : items) value = Change(kind, value, item);
  return value;
}

}  // namespace frazil::frontends::words
