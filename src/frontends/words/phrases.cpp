// Nouns that name an operation ("the sum of", "the 20th Fibonacci number") and calls such as
// gcd(48, 18), as one table of heads; what follows a head is decided by its shape.
#include <span>
#include <utility>

#include "frontends/words/parser.h"

namespace frazil::frontends::words {
namespace {

enum class Shape : uint8_t {
  Series,  // a list or a range: "3, 4 and 5", "1 to 10"
  Range,   // a range only: "the sum from 1 to 5"
  List,    // at least two
  Pair,    // exactly two, "and" or "to"
  Difference,
  Distance,
  Remainder,
  Average,
  One,    // one operand
  Whole,  // one operand as long as it goes: "the absolute value of 5 minus 12"
  Twice,
  Thrice,
  Square,
  Cube,
};

// What a phrase or a function of that name says, and how its operands stand.
struct Phrase {
  std::string_view text;
  Shape shape;
  Kind kind;
};

constexpr Phrase Heads[] = {
    {"sum of", Shape::Series, Kind::Add},
    {"sum", Shape::Series, Kind::Add},
    {"total of", Shape::Series, Kind::Add},
    {"product of", Shape::Series, Kind::Multiply},
    {"product", Shape::Range, Kind::Multiply},
    {"average of", Shape::Average, Kind::Divide},
    {"mean of", Shape::Average, Kind::Divide},
    {"absolute difference of", Shape::Distance, Kind::Absolute},
    {"absolute difference between", Shape::Distance, Kind::Absolute},
    {"distance between", Shape::Distance, Kind::Absolute},
    {"difference of", Shape::Difference, Kind::Subtract},
    {"difference between", Shape::Difference, Kind::Subtract},
    {"quotient of", Shape::Pair, Kind::Divide},
    {"ratio of", Shape::Pair, Kind::Divide},
    {"remainder", Shape::Remainder, Kind::Remainder},
    {"maximum of", Shape::List, Kind::Maximum},
    {"max of", Shape::List, Kind::Maximum},
    {"larger of", Shape::List, Kind::Maximum},
    {"largest of", Shape::List, Kind::Maximum},
    {"greater of", Shape::List, Kind::Maximum},
    {"greatest of", Shape::List, Kind::Maximum},
    {"bigger of", Shape::List, Kind::Maximum},
    {"biggest of", Shape::List, Kind::Maximum},
    {"highest of", Shape::List, Kind::Maximum},
    {"minimum of", Shape::List, Kind::Minimum},
    {"min of", Shape::List, Kind::Minimum},
    {"smaller of", Shape::List, Kind::Minimum},
    {"smallest of", Shape::List, Kind::Minimum},
    {"lesser of", Shape::List, Kind::Minimum},
    {"least of", Shape::List, Kind::Minimum},
    {"lowest of", Shape::List, Kind::Minimum},
    {"greatest common divisor of", Shape::List, Kind::Gcd},
    {"greatest common factor of", Shape::List, Kind::Gcd},
    {"highest common factor of", Shape::List, Kind::Gcd},
    {"gcd of", Shape::List, Kind::Gcd},
    {"gcf of", Shape::List, Kind::Gcd},
    {"hcf of", Shape::List, Kind::Gcd},
    {"least common multiple of", Shape::List, Kind::Lcm},
    {"lowest common multiple of", Shape::List, Kind::Lcm},
    {"lcm of", Shape::List, Kind::Lcm},
    {"factorial of", Shape::One, Kind::Factorial},
    {"square root of", Shape::One, Kind::SquareRoot},
    {"absolute value of", Shape::Whole, Kind::Absolute},
    {"opposite of", Shape::One, Kind::Negate},
    {"square of", Shape::Square, Kind::Power},
    {"cube of", Shape::Cube, Kind::Power},
    {"double", Shape::Twice, Kind::Multiply},
    {"twice", Shape::Twice, Kind::Multiply},
    {"triple", Shape::Thrice, Kind::Multiply},
    {"fibonacci of", Shape::One, Kind::Fibonacci},
    {"fibonacci number", Shape::One, Kind::Fibonacci},
    {"fib of", Shape::One, Kind::Fibonacci},
    {"collatz length of", Shape::One, Kind::Collatz},
    {"collatz length for", Shape::One, Kind::Collatz},
    {"collatz steps for", Shape::One, Kind::Collatz},
    {"collatz steps of", Shape::One, Kind::Collatz},
    {"collatz steps from", Shape::One, Kind::Collatz},
    {"collatz iterations for", Shape::One, Kind::Collatz},
    {"collatz sequence length starting at", Shape::One, Kind::Collatz},
    {"length of the collatz sequence for", Shape::One, Kind::Collatz},
    {"length of the collatz sequence starting at", Shape::One, Kind::Collatz},
    {"number of collatz steps for", Shape::One, Kind::Collatz},
    {"number of collatz steps from", Shape::One, Kind::Collatz},
};

// Shape::Series here means "fold at least one", Pair "exactly two".
constexpr Phrase Calls[] = {
    {"add", Shape::List, Kind::Add},
    {"plus", Shape::List, Kind::Add},
    {"sub", Shape::Pair, Kind::Subtract},
    {"subtract", Shape::Pair, Kind::Subtract},
    {"minus", Shape::Pair, Kind::Subtract},
    {"mul", Shape::List, Kind::Multiply},
    {"multiply", Shape::List, Kind::Multiply},
    {"times", Shape::List, Kind::Multiply},
    {"div", Shape::Pair, Kind::Divide},
    {"divide", Shape::Pair, Kind::Divide},
    {"rem", Shape::Pair, Kind::Remainder},
    {"mod", Shape::Remainder, Kind::Remainder},
    {"quot", Shape::Pair, Kind::WholeDivide},
    {"pow", Shape::Pair, Kind::Power},
    {"power", Shape::Pair, Kind::Power},
    {"max", Shape::List, Kind::Maximum},
    {"min", Shape::List, Kind::Minimum},
    {"gcd", Shape::List, Kind::Gcd},
    {"lcm", Shape::List, Kind::Lcm},
    {"abs", Shape::One, Kind::Absolute},
    {"sqrt", Shape::One, Kind::SquareRoot},
    {"fact", Shape::One, Kind::Factorial},
    {"factorial", Shape::One, Kind::Factorial},
    {"fib", Shape::One, Kind::Fibonacci},
    {"fibonacci", Shape::One, Kind::Fibonacci},
    {"collatz", Shape::One, Kind::Collatz},
    {"is_prime", Shape::One, Kind::IsPrime},
    {"isprime", Shape::One, Kind::IsPrime},
    {"square", Shape::Square, Kind::Power},
    {"cube", Shape::Cube, Kind::Power},
    {"double", Shape::Twice, Kind::Multiply},
    {"average", Shape::Average, Kind::Divide},
    {"avg", Shape::Average, Kind::Divide},
    {"mean", Shape::Average, Kind::Divide},
    {"sum", Shape::Series, Kind::Sum},
    {"product", Shape::Series, Kind::Product},
    {"count", Shape::Range, Kind::CountTo},
};

const Phrase* FindCall(std::string_view name) {
  for (const Phrase& call : Calls)
    if (call.text == name) return &call;
  return nullptr;
}

}  // namespace

bool Parser::AtOperandStart() {
  const Token& token = Peek();
  if (token.IsNumber() || token.Is(Symbol::Currency) || token.Is(Symbol::Open) ||
      token.Is(Symbol::Bar) || token.Is(Symbol::Root) || token.Is(Symbol::Minus))
    return true;
  if (!token.IsWord()) return false;
  if (token.Is("the") || token.Is("negative")) return true;
  if (Peek(1).Is(Symbol::Open) && FindCall(token.word)) return true;
  Choices probe;
  size_t at = at_;
  if (ReadNumber(tokens_, at, probe)) return true;
  for (const Phrase& head : Heads)
    if (At(head.text)) return true;
  return previous_.valid() && AtAny({"it", "that", "itself"});
}

Result<std::optional<ExprId>> Parser::NounPhrase() {
  const size_t start = at_;
  Eat("the");
  const size_t head_at = at_;
  if (const std::optional<Big> ordinal = ReadOrdinal(tokens_, at_)) {
    if (AtAny({"fibonacci", "power of", "triangular number"})) return TRY(OrdinalPhrase(*ordinal));
    at_ = head_at;
  }
  for (const Phrase& head : Heads) {
    if (!Eat(head.text)) continue;
    const Location place = tokens_[head_at].location;
    switch (head.shape) {
      case Shape::Range:
      case Shape::Series: {
        const std::optional<Range> range = TRY(TryRange());
        if (range) return MakeRange(head.kind == Kind::Add ? Kind::Sum : Kind::Product, *range);
        if (head.shape == Shape::Range) return std::unexpected(Refuse("a range of numbers"));
        return TRY(ListOf(head.kind));
      }
      case Shape::List: return TRY(ListOf(head.kind));
      case Shape::Pair: {
        const std::vector<ExprId> pair = TRY(Pair());
        return Make(head.kind, pair[0], pair[1]);
      }
      case Shape::Difference: return TRY(DifferenceOf(false));
      case Shape::Distance: return TRY(DifferenceOf(true));
      case Shape::Remainder: return TRY(RemainderOf());
      case Shape::Average: return TRY(Average(TRY(List())));
      case Shape::One: return Make(head.kind, TRY(Operand()));
      case Shape::Whole: {
        const bool symbols_only = std::exchange(symbols_only_, false);
        const ExprId operand = TRY(Additive());
        symbols_only_ = symbols_only;
        return Make(head.kind, operand);
      }
      case Shape::Twice: return Make(Kind::Multiply, Number({2, 1}, place), TRY(Unary()));
      case Shape::Thrice: return Make(Kind::Multiply, Number({3, 1}, place), TRY(Unary()));
      case Shape::Square: return Make(Kind::Power, TRY(Operand()), Number({2, 1}, place));
      case Shape::Cube: return Make(Kind::Power, TRY(Operand()), Number({3, 1}, place));
    }
  }
  at_ = start;
  return std::nullopt;
}

// "20th Fibonacci number", "10th power of 2"
Result<ExprId> Parser::OrdinalPhrase(const Big& ordinal) {
  const Location place = tokens_[at_ - 1].location;
  const ExprId number = Number({ordinal, 1}, place);
  if (Eat("power of")) return Make(Kind::Power, TRY(Unary()), number);
  if (Eat("triangular number"))
    return MakeRange(Kind::Sum, {Number({1, 1}, place), number, 1, SeriesTerm::Itself});
  Eat("fibonacci");
  Eat("number");
  return Make(Kind::Fibonacci, number);
}

Result<std::vector<ExprId>> Parser::List() {
  ++list_depth_;
  std::vector<ExprId> items;
  TRY_VOID(ListItem(items));
  while (!AtStep()) {
    const size_t start = at_;
    const bool comma = Eat(Symbol::Comma);
    const bool joined = EatAny({"and", "or", "with"});
    if ((!comma && !joined) || !AtOperandStart()) {
      at_ = start;
      break;
    }
    // "the sum of the product of 2 and 3 and 4": the inner list may end here.
    if (list_depth_ > 1 && items.size() > 1 && choices_.Ask(2, tokens_[start].location) == 1) {
      at_ = start;
      break;
    }
    TRY_VOID(ListItem(items));
  }
  --list_depth_;
  return items;
}

// "100,200,300" is one number or three. Only where the list shows another way to part its items is it surely one: in
// "1,200 and 3" a comma groups.
Result<void> Parser::ListItem(std::vector<ExprId>& items) {
  const Token& token = Peek();
  const bool digits = token.source.find_first_not_of("0123456789, ") == std::string_view::npos;
  if (token.grouped && digits && !token.money) {
    const bool before = !items.empty() && token.spaced;
    const bool behind = Peek(1).Is("and") || Peek(1).Is("or") || Peek(1).Is("with") ||
                        (Peek(1).Is(Symbol::Comma) && Peek(2).spaced);
    const bool short_first = token.source.find_first_not_of("0123456789") < 3;
    const bool groups = short_first && (before || behind);
    if (!groups && choices_.Ask(2, token.location) == 1) {
      ++at_;
      for (std::string_view rest = token.source; !rest.empty();) {
        const size_t end = std::min(rest.find_first_of(", "), rest.size());
        items.push_back(Number({Big::FromDigits(rest.substr(0, end)), 1}, token.location));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      return {};
    }
  }
  items.push_back(TRY(Operand()));
  return {};
}

Result<std::vector<ExprId>> Parser::Pair() {
  std::vector<ExprId> items{TRY(Operand())};
  Eat(Symbol::Comma);
  if (!EatAny({"and", "to", "by"})) return std::unexpected(Refuse("\"and\" and a second number"));
  items.push_back(TRY(Operand()));
  return items;
}

Result<ExprId> Parser::ListOf(Kind kind) {
  const Location place = Peek().location;
  const bool squares = EatAny({"the squares of", "squares of"});
  const bool cubes = !squares && EatAny({"the cubes of", "cubes of"});
  std::vector<ExprId> items = TRY(List());
  if (items.size() < 2) return std::unexpected(Refuse("\"and\" and a second number"));
  if (squares || cubes)
    for (ExprId& item : items) item = Make(Kind::Power, item, Number({squares ? 2 : 3, 1}, place));
  return Fold(kind, items);
}

Result<ExprId> Parser::Average(const std::vector<ExprId>& items) {
  const Rational count{static_cast<int64_t>(items.size()), 1};
  return Make(Kind::Divide, Fold(Kind::Add, items), Number(count, NodeOf(items[0]).location));
}

Result<ExprId> Parser::DifferenceOf(bool absolute) {
  const Location place = Peek().location;
  const std::vector<ExprId> pair = TRY(Pair());
  const ExprId forward = Make(Kind::Subtract, pair[0], pair[1]);
  if (absolute) return Make(Kind::Absolute, forward);
  // "The difference of 3 and 10" is -7 to some and 7 to others.
  if (choices_.Ask(2, place) == 0) return forward;
  return Make(Kind::Absolute, forward);
}

// A remainder has the dividend's sign, "mod" in mathematics the divisor's: they part below zero.
ExprId Parser::Modulo(ExprId a, ExprId b) {
  const ExprId remainder = Make(Kind::Remainder, a, b);
  const std::optional<int64_t> x = Literal(a), y = Literal(b);
  if ((x && y && *x >= 0 && *y >= 0) || choices_.Ask(2, NodeOf(a).location) == 0) return remainder;
  return Make(Kind::Remainder, Make(Kind::Add, remainder, b), b);
}

// A whole-number quotient goes towards zero to some and down to others: they part below zero, too.
ExprId Parser::Quotient(ExprId a, ExprId b) {
  const ExprId quotient = Make(Kind::WholeDivide, a, b);
  const std::optional<int64_t> x = Literal(a), y = Literal(b);
  if ((x && y && *x >= 0 && *y >= 0) || choices_.Ask(2, NodeOf(a).location) == 0) return quotient;
  const ExprId remainder = Make(Kind::Remainder, a, b);
  const ExprId modulo = Make(Kind::Remainder, Make(Kind::Add, remainder, b), b);
  return Make(Kind::WholeDivide, Make(Kind::Subtract, a, modulo), b);
}

// An infix operation, with the ones that have two meanings.
ExprId Parser::Combine(Kind kind, ExprId a, ExprId b) {
  if (kind == Kind::Remainder) return Modulo(a, b);
  if (kind == Kind::WholeDivide) return Quotient(a, b);
  if (kind == Kind::Add || kind == Kind::Subtract) return Change(kind, a, b);
  return Make(kind, a, b);
}

// "the remainder of 17 divided by 5", "... when 17 is divided by 5", "... of dividing 17 by 5"
Result<ExprId> Parser::RemainderOf() {
  EatAny({"of", "when", "after", "if"});
  const bool dividing = EatAny({"dividing", "you divide"});
  const ExprId a = TRY(Unary());
  EatAny({"is"});
  if (!(dividing ? Eat("by") : EatAny({"divided by", "and"})))
    return std::unexpected(Refuse("\"divided by\""));
  return Make(Kind::Remainder, a, TRY(Unary()));
}

// "add(5, 3)". With a space, "add (5 + 3) and 2" is a verb before a bracket and "add (5, 3)" a
// call.
bool Parser::AtCall() const {
  if (!Peek().IsWord() || !Peek(1).Is(Symbol::Open) || !FindCall(Peek().word)) return false;
  if (!Peek(1).spaced) return true;
  size_t depth = 0;
  for (size_t i = at_ + 1; i < tokens_.size(); ++i) {
    if (tokens_[i].Is(Symbol::Open)) ++depth;
    if (tokens_[i].Is(Symbol::Close) && --depth == 0) return false;
    if (tokens_[i].Is(Symbol::Comma) && depth == 1) return true;
  }
  return false;
}

Result<std::optional<ExprId>> Parser::Call() {
  if (!AtCall()) return std::nullopt;
  const std::string_view name = Peek().word;
  const Location place = Peek().location;
  at_ += 2;
  return TRY(CallNamed(name, place));
}

Result<ExprId> Parser::CallNamed(std::string_view name, Location place) {
  const Phrase& call = *FindCall(name);
  const bool symbols_only = std::exchange(symbols_only_, false);
  const Than than = std::exchange(than_, Than::Arithmetic);
  const bool in_command = std::exchange(in_command_, false);
  Range range;
  if (call.shape == Shape::Series && (Eat("squares") || Eat("cubes"))) {
    range.term = tokens_[at_ - 1].Is("squares") ? SeriesTerm::Square : SeriesTerm::Cube;
    if (!Eat(Symbol::Comma)) return std::unexpected(Refuse("\",\""));
  }
  std::vector<ExprId> items{TRY(Additive())};
  const bool dots =
      (call.shape == Shape::Series || call.shape == Shape::Range) && Eat(Symbol::Ellipsis);
  while (dots ? items.size() < 2 : Eat(Symbol::Comma)) items.push_back(TRY(Additive()));
  if (dots && Eat("step")) {
    const std::optional<int64_t> step = Literal(TRY(Unary()));
    if (!step || *step < 1) return std::unexpected(Refuse("a step of at least 1"));
    range.step = *step;
  }
  if (!Eat(Symbol::Close)) return std::unexpected(Refuse("\")\""));
  symbols_only_ = symbols_only;
  than_ = than;
  in_command_ = in_command;
  const bool one = call.shape == Shape::One || call.shape == Shape::Square ||
                   call.shape == Shape::Cube || call.shape == Shape::Twice;
  const bool two =
      call.shape == Shape::Pair || call.shape == Shape::Remainder || call.shape == Shape::Range;
  const bool fits = one ? items.size() == 1 : two ? items.size() == 2 : items.size() >= 2;
  if (!fits && !(call.shape == Shape::Average || call.shape == Shape::Series))
    return std::unexpected(RefuseAt(at_ - 1, one ? "one number" : "two numbers"));
  if (dots) {
    range.from = items[0];
    range.to = items[1];
    return MakeRange(call.kind, range);
  }
  switch (call.shape) {
    case Shape::Series:
      return call.kind == Kind::Sum ? SumCall(items) : Fold(Kind::Multiply, items);
    case Shape::Average: return Average(items);
    case Shape::Remainder: return Modulo(items[0], items[1]);
    case Shape::Range: return Make(call.kind, items[0], items[1]);
    case Shape::Square: return Make(Kind::Power, items[0], Number({2, 1}, place));
    case Shape::Cube: return Make(Kind::Power, items[0], Number({3, 1}, place));
    case Shape::Twice: return Make(Kind::Multiply, Number({2, 1}, place), items[0]);
    default: return one ? Make(call.kind, items[0]) : Fold(call.kind, items);
  }
}

// sum(1, 10) is 11 as a list and 55 as a range.
Result<ExprId> Parser::SumCall(const std::vector<ExprId>& items) {
  if (items.size() == 2 && choices_.Ask(2, NodeOf(items[0]).location) == 1)
    return MakeRange(Kind::Sum, {items[0], items[1], 1, SeriesTerm::Itself});
  return Fold(Kind::Add, items);
}

}  // namespace frazil::frontends::words
