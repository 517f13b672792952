// The grammar of short stories: clauses of somebody, a verb and an amount, and a question. It
// speaks of any names and things; the verbs are a table (lexicon). Every number of the text must
// end up in the answer, or the story is refused: a number that plays no part was not understood.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontends/words/cursor.h"
#include "frontends/words/lexicon.h"
#include "frontends/words/world.h"

namespace frazil::frontends::words {

// A number and a word that can start or carry a clause: worth trying.
bool LooksLikeStory(std::span<const Token> tokens);

class Story : private Cursor {
 public:
  Story(std::span<const Token> tokens, Choices& choices, const Limits& limits)
      : Cursor(tokens, choices, limits), world_(tree_) {}

  Result<Tree> ParseSentence();
  // A command ("Add bananas") is no story: what the sentence grammar says of it stands.
  size_t furthest() const { return numbers_.empty() && MatchVerb(tokens_, 0) ? 0 : furthest_; }

 private:
  struct Quantity {
    ExprId amount;
    size_t at = 0;  // its token
    Noun noun;
    bool more = false;  // "7 more"
    bool part = false;  // "half of them": amount is a factor
    bool each = false;  // "2 dollars each"
    bool per = false;   // "in each bag": container says of what
    Noun container;
  };
  struct Objects {
    std::vector<Quantity> items;
    std::vector<std::string> to;  // for each item, "" if nobody
    std::string from;
    std::optional<Quantity> price;
    size_t at = 0;
  };
  struct Query {
    size_t at = 0;
    Noun noun, part;
    std::string actor, other;
    bool each = false, total = false, more = false, money = false, spent = false;
    bool counted = false;         // "how many": of things that are whole
    std::optional<size_t> rests;  // the word that asks what remains: "left", "change"
    std::optional<size_t> event;  // the verb that asks what happened: "did she get"
    std::vector<Quantity> counts;
  };

  // --- where a clause stands (story.cpp)
  bool EatStop();
  bool AtClauseEnd() const;
  bool AtNumber() const;
  bool AtVerb() const { return MatchVerb(tokens_, at_).has_value(); }
  bool AtQuestion() const;
  std::unexpected<Error> Refuse(std::string_view expected = {}) {
    return std::unexpected(Cursor::Refuse(expected));
  }
  std::unexpected<Error> RefuseAt(size_t at, std::string_view expected = {}) {
    return std::unexpected(Cursor::RefuseAt(at, expected));
  }

  // --- parts of a clause (story.cpp)
  bool IsOpen(size_t at, bool object) const;
  Noun ReadNoun(bool object);
  Result<Quantity> ReadQuantity(bool object);
  void ReadOf(Quantity& quantity);
  Result<void> ReadPer(Quantity& quantity);
  Result<std::string> ReadActor();
  Result<std::string> ReadOtherActor();
  bool EatPronoun();
  void SkipAdverbs();

  // --- clauses (clauses.cpp)
  Result<void> Sentence();
  Result<void> Clause();
  Result<void> EachClause();
  Result<void> QuantityClause();
  Result<void> EachOfThem(const Quantity& many, const VerbMatch& verb);
  Result<void> PassiveClause(const Quantity& subject);
  Result<void> VerbPhrase(const std::string& actor, const Noun& subject);
  Result<void> OwnPhrase(const std::string& actor, const Noun& subject);
  Result<bool> Comparative(const std::string& actor);
  Result<void> CostPhrase(const Noun& subject, std::optional<Quantity> many);
  Result<void> SplitPhrase(const std::string& actor, std::optional<Quantity> what);
  Result<void> PutPhrase(const std::string& actor);
  Result<void> TimedPhrase(const VerbMatch& verb, const Quantity& what);
  Result<Objects> ReadObjects(Deed deed);
  Result<void> ReadPhrasesBehind(Objects& objects);
  Result<void> Apply(Deed deed, const std::string& actor, const Objects& objects);
  Result<void> Gain(const std::string& actor, const Quantity& what);
  Result<void> Give(const std::string& actor, const std::string& to, const Quantity& what);
  // `anyone`: what is there may be another's.
  Result<void> Lose(const std::string& actor, const Quantity& what, bool anyone = false);
  Result<void> Spend(const std::string& actor, const Quantity& what, ExprId amount);
  Result<void> Own(const std::string& actor, const Quantity& what);
  Quantity Total(const Quantity& many, const Quantity& each);

  // --- the question (query.cpp)
  Result<void> Question();
  Result<Query> ReadQuery();
  Result<bool> ReadQueryWord(Query& query);
  Result<void> ReadQueryNoun(Query& query);
  Result<ExprId> Answer(const Query& query);
  Result<ExprId> AnswerNoun(const Query& query);
  Result<ExprId> AnswerMoney(const Query& query);
  Result<ExprId> Default();

  // --- what a reading must not be, however well it parses (sense.cpp)
  std::unexpected<Error> Doubt(size_t at, std::string_view why);
  Result<void> CheckAllUsed();
  Result<void> CheckAmounts();
  Result<void> CheckRests(const Query& query);
  Result<void> CheckWhole(const Query& query);
  Result<void> CheckEvent(const Query& query, const std::vector<size_t>& counted);
  Result<void> CheckSource(const std::string& actor, const Quantity& what, bool is_new);

  Tree tree_;
  World world_;
  std::string actor_;              // whom "she" means
  std::string before_;             // whom "her" means: the actor of the clause before
  std::optional<VerbMatch> verb_;  // what a bare "3 to Bob" repeats
  std::vector<std::pair<ExprId, size_t>> numbers_;
  std::optional<Query> asked_;
  std::vector<ExprId> taken_;           // amounts from which something went
  std::vector<std::string> things_;     // actors with an article: "the jar", not "Tom"
  std::vector<Noun> parts_;             // what things were split among
  std::vector<std::string_view> done_;  // verbs of so much per time: a question may use them again
  std::vector<std::string> places_;     // "on the fence": where, which changes no amount
};

}  // namespace frazil::frontends::words
