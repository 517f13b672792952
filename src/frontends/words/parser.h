// The grammar of sentences about numbers: formulas, operations in words, commands, chains of steps,
// loops and comparisons. Recursive descent over tokens; one production is one function. Files by
// topic: parser (nodes), numbers, expressions, phrases (nouns such as "the sum of"),
// ranges, commands (verbs, chains), questions (comparisons, what a sentence may begin and end
// with).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/words/cursor.h"
#include "frontends/words/expr.h"

namespace frazil::frontends::words {

// A number in the text. `part`: a fraction or percentage, which may take "of" what.
struct NumberRead {
  Rational value;
  bool percent = false;
  bool part = false;
};

// Reads a number in digits or words at `at` and moves `at` behind it. Shared with the story
// grammar.
std::optional<NumberRead> ReadNumber(std::span<const Token> tokens, size_t& at, Choices& choices);
// "3rd", "third", "twenty-first".
std::optional<Big> ReadOrdinal(std::span<const Token> tokens, size_t& at);

class Parser : private Cursor {
 public:
  Parser(std::span<const Token> tokens, Choices& choices, const Limits& limits)
      : Cursor(tokens, choices, limits) {}

  // The whole text as one sentence about numbers.
  Result<Tree> ParseSentence();
  // How far the text was understood: the token that the refusal names.
  size_t furthest() const { return furthest_; }

 private:
  struct Range {
    ExprId from, to;
    int64_t step = 1;
    SeriesTerm term = SeriesTerm::Itself;
  };
  struct Nesting;  // counts depth while it lives
  // "5 less than 12" is 7 in a sum and a claim in a question: what "than" means here.
  enum class Than : uint8_t { Ask, Arithmetic, Relation };

  // --- nodes, and the refusal of a sentence that was read to its end (parser.cpp)
  Error NoAnswer(std::string message, Location location);
  ExprId Number(Rational value, Location location, bool percent = false);
  ExprId Make(Kind kind, ExprId a, ExprId b = {});
  ExprId MakeCompare(Relation relation, ExprId a, ExprId b);
  ExprId MakeRange(Kind kind, const Range& range);
  ExprId Fold(Kind kind, const std::vector<ExprId>& items);
  const Node& NodeOf(ExprId id) const { return tree_.at(id); }
  std::optional<int64_t> Literal(ExprId id) const;
  bool IsClaim(ExprId id) const {
    return NodeOf(id).kind == Kind::Compare || NodeOf(id).kind == Kind::Both;
  }

  // --- expressions.cpp
  Result<ExprId> Additive();
  Result<ExprId> Multiplicative();
  Result<ExprId> Unary();
  Result<ExprId> Raised();
  Result<ExprId> Postfix();
  Result<ExprId> Primary();
  Result<ExprId> Formula();  // symbols only: a written formula is one unit between words
  Result<ExprId> Operand();  // a formula, or more: asks where words could bind either way
  ExprId PercentChange(ExprId base, ExprId percent, Kind kind);
  bool IsPercent(ExprId id) const { return NodeOf(id).kind == Kind::Number && NodeOf(id).percent; }
  // base + amount or base - amount; a percentage beside a plain number has two meanings.
  ExprId Change(Kind kind, ExprId base, ExprId amount);
  Result<ExprId> EllipsisSeries(Kind kind, const std::vector<ExprId>& terms);
  bool AtWordOperator() const;
  bool AtOperandStart();
  std::optional<Kind> EatAdditive();
  std::optional<Kind> EatMultiplicative();
  Result<std::optional<ExprId>> Reversed(ExprId left);
  Result<ExprId> Bracketed(Symbol close);
  Result<ExprId> NumberOrPart(const NumberRead& number, Location location);

  // --- phrases.cpp
  Result<std::optional<ExprId>> NounPhrase();
  Result<std::optional<ExprId>> Call();
  bool AtCall() const;
  Result<std::vector<ExprId>> List();
  Result<void> ListItem(std::vector<ExprId>& items);
  Result<std::vector<ExprId>> Pair();
  Result<ExprId> ListOf(Kind kind);
  Result<ExprId> DifferenceOf(bool absolute);
  Result<ExprId> RemainderOf();
  Result<ExprId> Average(const std::vector<ExprId>& items);
  Result<ExprId> OrdinalPhrase(const Big& ordinal);
  Result<ExprId> CallNamed(std::string_view name, Location location);
  Result<ExprId> SumCall(const std::vector<ExprId>& items);
  ExprId Modulo(ExprId a, ExprId b);
  ExprId Quotient(ExprId a, ExprId b);
  ExprId Combine(Kind kind, ExprId a, ExprId b);

  // --- ranges.cpp
  struct RangeNoun {
    int parity = -1;     // 0 even, 1 odd
    bool named = false;  // a word said that a range follows
    SeriesTerm term = SeriesTerm::Itself;
  };
  // `bare_to`: "1 to 10" is a range without the word "numbers" ("add 1 to 10" is not).
  Result<std::optional<Range>> TryRange(bool bare_to = true);
  RangeNoun EatRangeNoun();
  bool EatUpTo();
  Result<Range> BoundedRange(const RangeNoun& noun);
  Result<Range> UpToRange(const RangeNoun& noun);
  Result<std::optional<Range>> FirstMany(SeriesTerm term);
  Result<Range> Align(Range range, int parity);
  Result<ExprId> Shift(ExprId bound, int64_t by);
  Result<ExprId> CountCommand();

  // --- commands.cpp
  Result<ExprId> Statement();
  Result<std::optional<ExprId>> Command();
  Result<ExprId> AfterCommand(ExprId value);
  Result<ExprId> AddCommand();
  Result<ExprId> SubtractCommand();
  Result<ExprId> MultiplyCommand();
  Result<ExprId> DivideCommand();
  Result<ExprId> ChangeCommand(Kind kind);
  Result<ExprId> RaiseCommand();
  Result<ExprId> Chain(ExprId first);
  bool EatStepSeparator();
  bool AtStep();
  Result<ExprId> Step(ExprId before);
  Result<ExprId> StepOperation(ExprId before, Kind kind);
  bool EatPronoun();

  // --- questions.cpp
  void EatLead();
  Result<void> Tail();
  Result<std::optional<ExprId>> Question();
  Result<ExprId> Predicate(ExprId subject);
  ExprId PercentOf(ExprId part, ExprId whole);
  Result<std::optional<ExprId>> RelationTail(ExprId subject, bool bare_words);
  std::optional<Relation> EatRelation(bool bare_words);

  uint32_t depth_ = 0;
  uint32_t list_depth_ = 0;
  bool symbols_only_ = false;
  Than than_ = Than::Ask;
  bool whole_ = false;  // the text asks for whole numbers
  bool in_command_ = false;
  ExprId previous_;  // what "it" means
  Tree tree_;
};

}  // namespace frazil::frontends::words
