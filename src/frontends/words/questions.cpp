// What a sentence about numbers may begin and end with, and questions with a yes or no.
#include "frontends/words/parser.h"

namespace frazil::frontends::words {

void Parser::EatLead() {
  while (true) {
    if (EatAny({"what is", "what are", "how much is", "what does", "whats"})) {
      than_ = Than::Arithmetic;
    } else if (EatAny({"is it true that", "is it the case that"})) {
      than_ = Than::Relation;
    } else if (!EatAny({"please",
                        "can you",
                        "could you",
                        "tell me",
                        "give me",
                        "show me",
                        "find out",
                        "find",
                        "calculate",
                        "compute",
                        "evaluate",
                        "solve",
                        "work out",
                        "figure out",
                        "determine",
                        "simplify",
                        "what do you get when you",
                        "what do you get if you",
                        "what do you get by",
                        "what happens when you",
                        "if you",
                        "when you",
                        "if i",
                        "the answer to",
                        "the result of",
                        "the value of",
                        "the result when you",
                        "the result if you",
                        "so",
                        "now",
                        "first"})) {
      return;
    }
    if (!Eat(Symbol::Colon)) Eat(Symbol::Comma);
  }
}

// The end of the text: "= ?", "is", "equals what", a full stop, a polite word.
Result<void> Parser::Tail() {
  EatAny({"altogether", "in total", "in all"});
  if (EatAny({"as a whole number", "in whole numbers", "ignoring the remainder",
              "ignoring any remainder", "without the remainder", "using integer division",
              "using whole number division"}))
    whole_ = true;
  const size_t start = at_;
  Eat(Symbol::Comma);
  Eat(Symbol::Stop);
  if (!EatAny({"what do you get", "what do i get", "what is the result", "what is the answer",
               "what is left", "what is that", "what is the value", "how much is that", "please"}))
    at_ = start;
  if (Eat(Symbol::Equal) || EatAny({"is equal to", "equals", "equal", "is", "are", "makes"}))
    EatAny({"what", "to what"});
  Eat("please");
  while (Eat(Symbol::Question) || Eat(Symbol::Stop) || Eat(Symbol::Bang) || Eat(Symbol::Colon)) {
  }
  if (!AtEnd()) return std::unexpected(Refuse());
  return {};
}

std::optional<Relation> Parser::EatRelation(bool bare_words) {
  if (Peek().Is(Symbol::Equal)) {
    const Token& next = Peek(1);
    const bool operand = next.IsNumber() || next.IsWord() || next.Is(Symbol::Open) ||
                         next.Is(Symbol::Minus) || next.Is(Symbol::Bar) ||
                         next.Is(Symbol::Currency);
    if (!operand || next.Is("what")) return std::nullopt;
    ++at_;
    return Relation::Equal;
  }
  if (Eat(Symbol::NotEqual)) return Relation::NotEqual;
  if (Eat(Symbol::LessEqual)) return Relation::LessEqual;
  if (Eat(Symbol::GreaterEqual)) return Relation::GreaterEqual;
  if (Eat(Symbol::Less)) return Relation::Less;
  if (Eat(Symbol::Greater)) return Relation::Greater;
  if (!bare_words) return std::nullopt;
  if (EatAny({"greater than or equal to", "more than or equal to", "bigger than or equal to",
              "larger than or equal to", "at least", "no less than", "not less than",
              "no smaller than", "not smaller than", "no fewer than"}))
    return Relation::GreaterEqual;
  if (EatAny({"less than or equal to", "smaller than or equal to", "at most", "no more than",
              "not more than", "no greater than", "not greater than", "no bigger than",
              "not bigger than", "no larger than"}))
    return Relation::LessEqual;
  if (EatAny({"greater than", "more than", "bigger than", "larger than", "higher than", "above",
              "over"}))
    return Relation::Greater;
  if (EatAny({"less than", "smaller than", "lower than", "fewer than", "below", "under"}))
    return Relation::Less;
  if (EatAny({"not equal to", "not the same as", "different from", "different than", "unequal to"}))
    return Relation::NotEqual;
  if (EatAny({"equal to", "the same as", "exactly", "equal"})) return Relation::Equal;
  return std::nullopt;
}

// What "is" says about a subject: a relation, or a property.
Result<ExprId> Parser::Predicate(ExprId subject) {
  const Location place = Peek().location;
  const bool negated = Eat("not");
  auto number = [&](int64_t n) { return Number({n, 1}, place); };
  auto equal = [&](bool wanted, ExprId a, ExprId b) {
    return MakeCompare(wanted != negated ? Relation::Equal : Relation::NotEqual, a, b);
  };
  if (EatAny({"an even number", "even"}))
    return equal(true, Make(Kind::Remainder, subject, number(2)), number(0));
  if (EatAny({"an odd number", "odd"}))
    return equal(false, Make(Kind::Remainder, subject, number(2)), number(0));
  if (EatAny({"divisible by", "evenly divisible by", "a multiple of"}))
    return equal(true, Make(Kind::Remainder, subject, TRY(Operand())), number(0));
  if (EatAny({"a factor of", "a divisor of"}))
    return equal(true, Make(Kind::Remainder, TRY(Operand()), subject), number(0));
  if (!negated && EatAny({"a prime number", "a prime", "prime"}))
    return Make(Kind::IsPrime, subject);
  if (!negated && EatAny({"a positive number", "positive"}))
    return MakeCompare(Relation::Greater, subject, number(0));
  if (!negated && EatAny({"a negative number", "negative"}))
    return MakeCompare(Relation::Less, subject, number(0));
  if (!negated && Eat("between")) {
    const ExprId low = TRY(Operand());
    if (!Eat("and")) return std::unexpected(Refuse("\"and\""));
    const ExprId high = TRY(Operand());
    const bool inclusive = Eat("inclusive"), exclusive = !inclusive && Eat("exclusive");
    const bool ends = inclusive || (!exclusive && choices_.Ask(2, place) == 0);
    return Make(Kind::Both, MakeCompare(ends ? Relation::LessEqual : Relation::Less, low, subject),
                MakeCompare(ends ? Relation::LessEqual : Relation::Less, subject, high));
  }
  if (negated) --at_;
  const std::optional<Relation> relation = EatRelation(true);
  if (!relation) return std::unexpected(Refuse("a comparison"));
  return MakeCompare(*relation, subject, TRY(Additive()));
}

// How many hundredths of a whole a part is.
ExprId Parser::PercentOf(ExprId part, ExprId whole) {
  const ExprId hundred = Number({100, 1}, NodeOf(whole).location);
  return Make(Kind::Multiply, Make(Kind::Divide, part, whole), hundred);
}

// A comparison behind a value: "15 > 10", "1 < 2 < 3", "15 is greater than 10", "2 plus 2 equals
// 4".
Result<std::optional<ExprId>> Parser::RelationTail(ExprId subject, bool bare_words) {
  const size_t start = at_;
  if (EatAny({"is what percent of", "is what percentage of"}))
    return PercentOf(subject, TRY(Additive()));
  if (EatAny({"is", "are"})) {
    const bool says = !AtEnd() &&
                      (Peek().IsWord() || Peek().Is(Symbol::Less) || Peek().Is(Symbol::Greater)) &&
                      !AtAny({"what", "equal to what"});
    if (says) return TRY(Predicate(subject));
    at_ = start;
    return std::nullopt;
  }
  if (EatAny({"equals", "exceeds"})) {
    const Relation relation = tokens_[at_ - 1].Is("equals") ? Relation::Equal : Relation::Greater;
    if (AtOperandStart()) return MakeCompare(relation, subject, TRY(Additive()));
    at_ = start;
    return std::nullopt;
  }
  std::optional<Relation> relation = EatRelation(bare_words);
  if (!relation) return std::nullopt;
  ExprId middle = TRY(Additive());
  ExprId result = MakeCompare(*relation, subject, middle);
  while ((relation = EatRelation(false))) {
    const ExprId right = TRY(Additive());
    result = Make(Kind::Both, result, MakeCompare(*relation, middle, right));
    middle = right;
  }
  return result;
}

Result<std::optional<ExprId>> Parser::Question() {
  const Location place = Peek().location;
  if (EatAny({"is", "are"})) {
    than_ = Than::Relation;
    const ExprId subject = TRY(Additive());
    // "Are 5 and 5 equal?"
    if (Eat("and")) {
      const ExprId other = TRY(Additive());
      if (EatAny({"equal", "the same"})) return MakeCompare(Relation::Equal, subject, other);
      if (EatAny({"different", "unequal"})) return MakeCompare(Relation::NotEqual, subject, other);
      return std::unexpected(Refuse("\"equal\""));
    }
    return TRY(Predicate(subject));
  }
  if (EatAny({"does", "do"})) {
    than_ = Than::Relation;
    const ExprId subject = TRY(Additive());
    if (Eat("equal")) return MakeCompare(Relation::Equal, subject, TRY(Additive()));
    if (Eat("exceed")) return MakeCompare(Relation::Greater, subject, TRY(Additive()));
    if (Eat("divide")) {
      const ExprId rest = Make(Kind::Remainder, TRY(Additive()), subject);
      Eat("evenly");
      return MakeCompare(Relation::Equal, rest, Number({0, 1}, place));
    }
    return std::unexpected(Refuse("\"equal\""));
  }
  if (EatAny({"which number is", "which one is", "which is"})) {
    std::optional<Kind> kind;
    Eat("the");
    if (EatAny({"bigger", "larger", "greater", "higher", "biggest", "largest", "greatest", "more"}))
      kind = Kind::Maximum;
    if (!kind && EatAny({"smaller", "less", "lower", "smallest", "least", "lowest"}))
      kind = Kind::Minimum;
    if (!kind) return std::unexpected(Refuse("\"bigger\" or \"smaller\""));
    if (!Eat(Symbol::Comma)) Eat(Symbol::Colon);
    return TRY(ListOf(*kind));
  }
  if (EatAny({"what percent of", "what percentage of"})) {
    const ExprId whole = TRY(Additive());
    if (!Eat("is")) return std::unexpected(Refuse("\"is\" and a number"));
    return PercentOf(TRY(Additive()), whole);
  }
  if (Eat("how far apart are")) return TRY(DifferenceOf(true));
  if (EatAny({"how far is"})) {
    EatAny({"it from"});
    const std::vector<ExprId> pair = TRY(Pair());
    return Make(Kind::Absolute, Make(Kind::Subtract, pair[0], pair[1]));
  }
  if (EatAny({"how many times does", "how often does", "how many whole times does"})) {
    const bool whole = MatchPhrase(tokens_, at_ - 3, "whole times does") != 0;
    const ExprId divisor = TRY(Additive());
    if (!EatAny({"go into", "fit into", "fit in"})) return std::unexpected(Refuse("\"go into\""));
    return Make(whole ? Kind::WholeDivide : Kind::Divide, TRY(Additive()), divisor);
  }
  if (EatAny({"how many collatz steps for", "how many collatz steps from",
              "how long is the collatz sequence for",
              "how long is the collatz sequence starting at",
              "how many collatz steps does it take from"}))
    return Make(Kind::Collatz, TRY(Operand()));
  if (Eat("steps to reach")) {
    const size_t goal = at_;
    if (Literal(TRY(Unary())) != 1) return std::unexpected(RefuseAt(goal, "1"));
    if (!Eat("from")) return std::unexpected(Refuse("\"from\" and a number"));
    const ExprId start = TRY(Unary());
    if (!EatAny({"via collatz", "by collatz", "in the collatz sequence"}))
      return std::unexpected(Refuse("\"via Collatz\""));
    return Make(Kind::Collatz, start);
  }
  return std::nullopt;
}

Result<ExprId> Parser::Statement() {
  if (const std::optional<ExprId> question = TRY(Question())) return *question;
  in_command_ = true;
  if (!AtCall()) {
    if (const std::optional<ExprId> command = TRY(Command())) return TRY(AfterCommand(*command));
  }
  in_command_ = false;
  const Location place = Peek().location;
  if (At("true") || At("false")) {
    Node truth{Kind::Truth};
    truth.value = {At("true") ? 1 : 0, 1};
    truth.location = place;
    ++at_;
    return tree_.Push(std::move(truth));
  }
  return Additive();
}

Result<Tree> Parser::ParseSentence() {
  EatLead();
  ExprId value = TRY(Statement());
  value = TRY(Chain(value));
  in_command_ = false;
  if (const std::optional<ExprId> relation = TRY(RelationTail(value, than_ != Than::Arithmetic)))
    value = *relation;
  // "5 < 6 and 7 < 8"
  while (IsClaim(value) && Eat("and")) {
    const ExprId subject = TRY(Additive());
    const std::optional<ExprId> claim = TRY(RelationTail(subject, true));
    if (!claim) return std::unexpected(Refuse("a comparison"));
    value = Make(Kind::Both, value, *claim);
  }
  TRY_VOID(Tail());
  if (whole_) {
    if (NodeOf(value).kind != Kind::Divide) return std::unexpected(RefuseAt(0, "a division"));
    tree_.nodes[value.index].kind = Kind::WholeDivide;
  }
  tree_.root = value;
  return std::move(tree_);
}

}  // namespace frazil::frontends::words
