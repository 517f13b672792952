// Ranges of numbers, for sums, products and counting: "1 to 10", "the even numbers up to 20", "the
// first 5 odd numbers", "the squares of the numbers from 1 to 4".
#include "frontends/words/parser.h"

namespace frazil::frontends::words {

Parser::RangeNoun Parser::EatRangeNoun() {
  RangeNoun noun;
  EatAny({"all of the", "all the", "all", "every", "the"});
  if (EatAny({"squares of all the", "squares of the", "squares of all", "squares of"})) {
    noun.term = SeriesTerm::Square;
  } else if (EatAny({"cubes of all the", "cubes of the", "cubes of all", "cubes of"})) {
    noun.term = SeriesTerm::Cube;
  }
  EatAny({"consecutive", "positive", "natural", "whole"});
  if (EatAny({"even", "evens"})) noun.parity = 0;
  if (EatAny({"odd", "odds"})) noun.parity = 1;
  const bool word = EatAny({"whole numbers", "natural numbers", "numbers", "integers", "values"});
  noun.named = word || noun.parity >= 0;
  return noun;
}

bool Parser::EatUpTo() { return EatAny({"up to", "through", "thru", "to"}); }

Result<std::optional<Parser::Range>> Parser::TryRange(bool bare_to) {
  const size_t start = at_;
  RangeNoun noun = EatRangeNoun();
  if (Eat("first")) {
    if (std::optional<Range> range = TRY(FirstMany(noun.term))) return range;
    at_ = start;
    return std::nullopt;
  }
  noun.named = noun.named || AtAny({"from", "between"});
  if (noun.named && (AtAny({"below", "under", "less than"}) || EatUpTo()))
    return TRY(UpToRange(noun));
  if (noun.named) return TRY(BoundedRange(noun));
  // Nothing says yet whether this is "1 to 10" or "1 and 10".
  const size_t first = noun.term == SeriesTerm::Itself ? start : at_;
  at_ = first;
  TRY(Operand());
  const bool range =
      (bare_to && At("to")) || AtAny({"through", "thru", "up to"}) || Peek().Is(Symbol::Ellipsis);
  at_ = range ? first : start;
  if (!range) return std::nullopt;
  return TRY(BoundedRange(noun));
}

Result<Parser::Range> Parser::BoundedRange(const RangeNoun& noun) {
  const bool between = Eat("between");
  if (!between) Eat("from");
  Range range;
  range.term = noun.term;
  range.from = TRY(Operand());
  const Location place = Peek().location;
  if (!(between ? Eat("and") : EatUpTo() || Eat(Symbol::Ellipsis)))
    return std::unexpected(Refuse(between ? "\"and\"" : "\"to\""));
  range.to = TRY(Operand());
  if (EatAny({"step", "in steps of"})) {
    const size_t step_at = at_;
    const std::optional<int64_t> step = Literal(TRY(Unary()));
    if (!step || *step < 1 || noun.parity >= 0)
      return std::unexpected(RefuseAt(step_at, "a step of at least 1"));
    range.step = *step;
  }
  const bool inclusive = Eat("inclusive"), exclusive = !inclusive && Eat("exclusive");
  // "Between 1 and 10" may or may not count its ends.
  if (exclusive || (between && !inclusive && choices_.Ask(2, place) == 1)) {
    range.from = TRY(Shift(range.from, 1));
    range.to = TRY(Shift(range.to, -1));
  }
  return Align(range, noun.parity);
}

// Only the end is given: numbers start at 1, even ones at 2.
Result<Parser::Range> Parser::UpToRange(const RangeNoun& noun) {
  const Location place = Peek().location;
  const bool below = EatAny({"below", "under", "less than"});
  Range range;
  range.term = noun.term;
  range.from = Number({noun.parity == 0 ? 2 : 1, 1}, place);
  range.to = TRY(Operand());
  if (below) range.to = TRY(Shift(range.to, -1));
  if (noun.parity >= 0) range.step = 2;
  return range;
}

// After "first": "10 odd numbers", "5 squares".
Result<std::optional<Parser::Range>> Parser::FirstMany(SeriesTerm term) {
  const Location place = Peek().location;
  const std::optional<NumberRead> count = ReadNumber(tokens_, at_, choices_);
  if (!count || !count->value.whole() || count->value.num.sign() < 0) return std::nullopt;
  EatAny({"positive", "natural", "whole", "consecutive"});
  const bool even = Eat("even"), odd = !even && Eat("odd");
  Range range;
  range.term = term;
  if (!even && !odd && EatAny({"squares", "perfect squares", "square numbers"})) {
    range.term = SeriesTerm::Square;
  } else if (!even && !odd && EatAny({"cubes", "perfect cubes", "cube numbers"})) {
    range.term = SeriesTerm::Cube;
  } else if (!EatAny({"numbers", "integers"})) {
    return std::unexpected(Refuse("\"numbers\""));
  }
  const Big n = count->value.num;
  range.from = Number({even ? 2 : 1, 1}, place);
  range.to = Number({even ? n * 2 : odd ? n * 2 - 1 : n, 1}, place);
  range.step = even || odd ? 2 : 1;
  return range;
}

// A bound moved by a constant; only written numbers, so that the canonical form stays readable.
Result<ExprId> Parser::Shift(ExprId bound, int64_t by) {
  const Node& node = NodeOf(bound);
  if (node.kind != Kind::Number || !node.value.whole())
    return std::unexpected(NoAnswer("the ends of this range must be whole numbers", node.location));
  const Location place = node.location;
  return Number({node.value.num + by, 1}, place);
}

Result<Parser::Range> Parser::Align(Range range, int parity) {
  if (parity < 0) return range;
  const std::optional<int64_t> from = Literal(range.from);
  if (!from)
    return std::unexpected(NoAnswer("even or odd numbers need a whole number to start at",
                                    NodeOf(range.from).location));
  if ((*from & 1) != parity) range.from = TRY(Shift(range.from, 1));
  range.step = 2;
  return range;
}

// "Count from 3 to 8", "count down from 10", "count to 5": the value is where the counter stops.
Result<ExprId> Parser::CountCommand() {
  const Location place = Peek().location;
  const bool down = EatAny({"down", "backwards", "backward"});
  const bool up = !down && EatAny({"up", "forward", "forwards"});
  ExprId from, to;
  if (Eat("from")) {
    from = TRY(Operand());
    const bool down_to = Eat("down to");
    if (down_to || Eat("up to") || Eat("to")) to = TRY(Operand());
  } else if (Eat("to")) {
    from = Number({1, 1}, place);
    to = TRY(Operand());
  } else {
    return std::unexpected(Refuse("\"from\" and a number"));
  }
  if (!to.valid()) {
    if (!down) return std::unexpected(Refuse("\"to\" and a number"));
    to = Number({0, 1}, place);
  }
  const std::optional<int64_t> a = Literal(from), b = Literal(to);
  if (a && b && ((down && *a < *b) || (up && *a > *b)))
    return std::unexpected(
        NoAnswer("this counts away from its end and never stops", NodeOf(to).location));
  return MakeRange(Kind::CountTo, {from, to, 1, SeriesTerm::Itself});
}

}  // namespace frazil::frontends::words
