// All readings of a text, compared. The sentence grammar goes first; a text that is no sentence
// about numbers may be a story. Every combination of the grammar's choices is parsed; readings that
// come to the same value are one, and two that do not are an ambiguity.
#include "frontends/words/words.h"

#include <fmt/format.h>

#include "frontends/words/lexicon.h"
#include "frontends/words/parser.h"
#include "frontends/words/story.h"

namespace frazil::frontends::words {
namespace {

// Readings of one text, and nodes of all of them together: comparing takes time for each.
constexpr size_t MaxReadings = 512;
constexpr size_t MaxNodes = 20'000;

struct Candidate {
  Tree tree;
  Worth worth;
  std::string canonical;
};

bool SameValue(const Candidate& a, const Candidate& b) {
  if (a.worth.number && b.worth.number) return *a.worth.number == *b.worth.number;
  if (a.worth.truth && b.worth.truth) return *a.worth.truth == *b.worth.truth;
  return a.canonical == b.canonical;
}

// One grammar over all its choices.
class Reader {
 public:
  Reader(std::span<const Token> tokens, const Limits& limits) : tokens_(tokens), limits_(limits) {}

  // A grammar parses once: it gives a tree, or an error and how far it came.
  template <typename Grammar>
  Result<void> ReadAll() {
    Choices choices;
    size_t count = 0, nodes = 0;
    do {
      if (++count > MaxReadings || (count > 4 && nodes > MaxNodes))
        return Fail(Diag::LimitReached, "the text has too many possible readings to compare");
      Grammar grammar(tokens_, choices, limits_);
      Result<Tree> tree = grammar.ParseSentence();
      if (!tree && ClassOf(tree.error().diag) == ErrorClass::Limit)
        return std::unexpected(tree.error());
      if (tree) {
        nodes += tree->nodes.size();
        TRY_VOID(Consider(std::move(*tree), choices.Parting()));
      } else {
        Remember(tree.error(), grammar.furthest());
      }
    } while (choices.Advance());
    return {};
  }

  bool found() const { return !candidates_.empty(); }
  const std::optional<Error>& refusal() const { return refusal_; }

  Result<Candidate> Take() {
    if (candidates_.size() == 1) return std::move(candidates_[0]);
    return Fail(Diag::Ambiguous,
                fmt::format("this can mean \"{}\" or \"{}\"", candidates_[0].canonical,
                            candidates_[1].canonical),
                parting_);
  }

 private:
  Result<void> Consider(Tree tree, Location parting) {
    const Result<Worth> worth = Assess(tree);
    if (!worth) {
      // Reads well but means nothing ("the factorial of a half"): that outranks any misreading.
      Remember(worth.error(), tokens_.size() + 1);
      return {};
    }
    Candidate candidate{std::move(tree), *worth, {}};
    candidate.canonical = TRY(PrintCanonical(candidate.tree, candidate.tree.root));
    for (const Candidate& other : candidates_)
      if (SameValue(candidate, other)) return {};
    if (candidates_.size() == 1) parting_ = parting;
    candidates_.push_back(std::move(candidate));
    return {};
  }

  void Remember(const Error& error, size_t furthest) {
    if (refusal_ && furthest <= furthest_) return;
    refusal_ = error;
    furthest_ = furthest;
  }

  std::span<const Token> tokens_;
  const Limits& limits_;
  std::vector<Candidate> candidates_;
  Location parting_;
  std::optional<Error> refusal_;
  size_t furthest_ = 0;
};

// Amounts in two currencies have no sum. Cents are one of their own: nobody said how many make a dollar.
Result<void> CheckCurrencies(std::span<const Token> tokens) {
  std::string_view first;
  for (const Token& token : tokens) {
    const std::string_view currency = CurrencyOf(token);
    if (currency.empty() || currency == first) continue;
    if (!first.empty())
      return Fail(Diag::NotUnderstood,
                  fmt::format("\"{}\" is another currency than {}: amounts in both are not added "
                              "or compared",
                              token.source, first),
                  token.location);
    first = currency;
  }
  return {};
}

// "0x10", "10abc": digits and letters that are one word to whoever wrote it. "5x3" is a product.
Result<void> CheckGlued(std::span<const Token> tokens) {
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const Token& number = tokens[i - 1];
    const Token& word = tokens[i];
    if (!number.IsNumber() || !word.IsWord() || word.spaced) continue;
    const Token& next = tokens[i + 1];
    const bool product =
        word.word == "x" && number.source != "0" && (next.IsNumber() || next.Is(Symbol::Open));
    if (product) continue;
    const Token& last = next.IsNumber() && !next.spaced ? next : word;
    const char* end = last.source.data() + last.source.size();
    return Fail(Diag::NotUnderstood,
                fmt::format("\"{}\" has letters right behind digits: write numbers in decimal, and "
                            "a blank before a word",
                            std::string_view(number.source.data(), end)),
                number.location);
  }
  return {};
}

}  // namespace

Result<Reading> Parse(std::string_view text, const Limits& limits) {
  const std::vector<Token> tokens = TRY(Tokenize(text, limits));
  Reader reader(tokens, limits);
  TRY_VOID(reader.ReadAll<Parser>());
  if (!reader.found() && LooksLikeStory(tokens)) TRY_VOID(reader.ReadAll<Story>());
  if (!reader.found()) return std::unexpected(*reader.refusal());
  TRY_VOID(CheckGlued(tokens));
  TRY_VOID(CheckCurrencies(tokens));
  Candidate candidate = TRY(reader.Take());
  candidate.tree.UnshareNumbers();
  Reading reading;
  Lowered lowered = TRY(Lower(candidate.tree, candidate.tree.root));
  reading.canonical = std::move(candidate.canonical) + " = ";
  reading.operation = PrintOperations(candidate.tree);
  reading.answer_kind = lowered.kind;
  reading.program = std::move(lowered.program);
  reading.tree = std::move(candidate.tree);
  return reading;
}

}  // namespace frazil::frontends::words
