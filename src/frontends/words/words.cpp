// All readings of a text, compared. The sentence grammar goes first; a text that is no sentence
// about numbers may be a story. Every combination of the grammar's choices is parsed; readings that
// come to the same value are one, and two that do not are an ambiguity.
#include "frontends/words/words.h"

#include <fmt/format.h>

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

}  // namespace

Result<Reading> Parse(std::string_view text, const Limits& limits) {
  const std::vector<Token> tokens = TRY(Tokenize(text, limits));
  Reader reader(tokens, limits);
  TRY_VOID(reader.ReadAll<Parser>());
  if (!reader.found() && LooksLikeStory(tokens)) TRY_VOID(reader.ReadAll<Story>());
  if (!reader.found()) return std::unexpected(*reader.refusal());
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
