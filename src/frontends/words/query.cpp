// Questions: what they ask for is collected word by word, and every word must be one that questions
// use or one that the story has used. Then the world is asked.
#include <algorithm>

#include "frontends/words/parser.h"
#include "frontends/words/story.h"

namespace frazil::frontends::words {

bool Story::AtQuestion() const {
  for (std::string_view phrase :
       {"how many", "how much", "how far", "what is the", "what was the", "what do", "what does",
        "cost for", "cost of", "price for", "price of", "total cost"})
    if (MatchPhrase(tokens_, at_, phrase) != 0) return true;
  return false;
}

Result<void> Story::Question() {
  asked_ = TRY(ReadQuery());
  tree_.root = TRY(Answer(*asked_));
  return {};
}

Result<Story::Query> Story::ReadQuery() {
  Query query;
  query.at = at_;
  if (EatAny({"how many", "how much", "how far"})) {
    query.counted = tokens_[at_ - 1].Is("many");
    query.more = Eat("more");
    if (IsOpen(at_, false) || (IsOpen(at_, true) && !AtVerb())) TRY_VOID(ReadQueryNoun(query));
  } else {
    EatAny({"what is the", "what was the", "what do", "what does"});
    query.total = Eat("total");
    query.money = EatAny({"cost", "price", "total cost"});
  }
  while (!AtClauseEnd() || Peek().Is("and")) {
    if (!TRY(ReadQueryWord(query))) return Refuse();
  }
  return query;
}

Result<bool> Story::ReadQueryWord(Query& query) {
  if (AtNumber()) {
    query.counts.push_back(TRY(ReadQuantity(true)));
    return true;
  }
  const size_t start = at_;
  if (EatAny({"does", "do",  "did",   "will",  "would",   "can",      "is",         "are", "was",
              "were", "be",  "there", "the",   "a",       "an",       "of",         "in",  "for",
              "on",   "at",  "to",    "now",   "have",    "has",      "had",        "own", "it",
              "this", "his", "hold",  "holds", "contain", "contains", "end up with"}))
    return true;
  if (EatAny({"still", "left", "over", "remain", "remains", "remaining"})) {
    query.rests = start;
    return true;
  }
  if (EatAny({"get", "gets", "receive", "receives", "need", "needs", "fill", "fills", "use", "make",
              "take", "takes"})) {
    query.event = start;
    return true;
  }
  if (const std::optional<VerbMatch> verb = MatchVerb(tokens_, at_);
      verb && (std::ranges::find(done_, verb->base) != done_.end() ||
               (verb->base == "go" && !done_.empty()))) {
    at_ += verb->length;
    return true;
  }
  if (EatAny({"altogether", "total", "together", "combined", "all"})) return query.total = true;
  if (EatAny({"cost", "costs"})) return query.money = true;
  if (EatAny({"spend", "spends", "pay", "pays", "paid", "spent"})) return query.spent = true;
  if (EatAny({"each", "every", "per", "apiece"})) {
    query.each = true;
    const Noun part = ReadNoun(false);
    query.part = part;
    const bool known = part.empty() || world_.KnowsNoun(part) ||
                       std::ranges::any_of(parts_, [&](const Noun& p) { return Means(part, p); });
    if (!known && part.head != "one" && part.head != "person")
      return RefuseAt(at_ - 1, "something the story is about");
    return true;
  }
  if (EatAny({"he", "she"})) {
    query.actor = actor_;
    return true;
  }
  if (Eat("they")) return query.total = true;
  if (EatAny({"i", "we", "you"})) {
    query.actor = tokens_[at_ - 1].word;
    return true;
  }
  if (Eat("than")) {
    query.other = TRY(ReadOtherActor());
    return true;
  }
  if (Eat("and")) {
    // "do Tom and Ann have": both were named, so all of it.
    const std::string other = TRY(ReadOtherActor());
    if (!world_.KnowsActor(other)) return RefuseAt(at_ - 1, "somebody the story is about");
    query.actor.clear();
    query.total = true;
    return true;
  }
  if (!IsOpen(at_, false)) return false;
  TRY_VOID(ReadQueryNoun(query));
  return true;
}

// A name or a thing in the question: one that the story knows, or a word for whatever it counts.
Result<void> Story::ReadQueryNoun(Query& query) {
  const size_t start = at_;
  Noun noun = ReadNoun(false);
  if (noun.empty()) return Refuse();
  if (Peek().Is("of") && IsOpen(at_ + 1, true)) {
    ++at_;
    noun.of = ReadNoun(true).head;
  }
  std::string name = noun.head;
  if (world_.KnowsActor(name) && noun.adjectives.empty()) {
    query.actor = name;
    return {};
  }
  if (name == "money" || name == "dollar" || noun.money) {
    query.money = query.noun.empty();
    return {};
  }
  if (name == "change") {
    // What comes back over the counter. "How much did it change?" compares two times, which no reading does.
    const Token& before = tokens_[start - 1];
    if (!before.Is("much") && !before.Is("the") && !before.Is("in")) return RefuseAt(start);
    query.money = true;
    query.rests = start;
    return {};
  }
  if (std::ranges::find(places_, name) != places_.end()) return {};
  if (!world_.KnowsNoun(noun)) {
    if (!world_.AllAre(name)) return RefuseAt(start, "something the story is about");
    query.total = true;
    return {};
  }
  if (query.noun.empty()) query.noun = noun;
  return {};
}

Result<ExprId> Story::Answer(const Query& query) {
  if (query.counts.size() > 1) return RefuseAt(query.counts[1].at);
  if (query.counts.size() == 1 && query.more) return RefuseAt(query.counts[0].at);
  if (query.counts.size() == 1) {
    const Quantity& count = query.counts[0];
    // "How many boxes for 56 items?"
    const Rate* inverse = query.noun.empty() ? nullptr : world_.RateFor(query.noun);
    if (inverse && !count.noun.empty() && Means(count.noun, inverse->content))
      return world_.Make(Kind::Divide, count.amount, inverse->amount);
    if (inverse && !Means(query.noun, inverse->content)) return RefuseAt(count.at);
    const Rate* rate = world_.RateFor(count.noun);
    if (!rate) return RefuseAt(count.at, "so many of something for each");
    return world_.Product(rate->amount, count.amount);
  }
  if (query.more || !query.other.empty()) {
    const std::optional<size_t> one = world_.Find(query.actor, query.noun);
    const std::optional<size_t> two = world_.Find(query.other, query.noun);
    if (!one || !two || query.other.empty() || query.actor.empty())
      return RefuseAt(query.at, "two amounts to compare");
    return world_.Make(Kind::Subtract, world_.at(*one).amount, world_.at(*two).amount);
  }
  // "How much does each pen cost?"
  if (const Rate* price = query.each && query.money ? world_.RateFor(query.part) : nullptr)
    return price->amount;
  if (query.each || (query.noun.empty() && !query.money && !query.spent)) {
    const std::optional<size_t> share = world_.FindShare();
    if (share) return world_.at(*share).amount;
    if (query.each) return RefuseAt(query.at, "something that was split");
  }
  if (query.spent || query.money) return AnswerMoney(query);
  return AnswerNoun(query);
}

Result<ExprId> Story::AnswerMoney(const Query& query) {
  const Noun money{"dollar", "", {}, true};
  const std::optional<size_t> purse = world_.Find(query.actor, money);
  const std::optional<size_t> spent = world_.FindSpent(query.actor);
  if (spent && (query.spent || !purse)) return world_.at(*spent).amount;
  if (!query.spent && purse) {
    const std::vector<size_t> all = world_.FindAll(query.actor, money);
    return query.total ? world_.SumOf(all) : world_.at(*purse).amount;
  }
  // A price each and how many there are.
  for (const Rate& rate : world_.rates()) {
    if (!rate.content.money) continue;
    if (const std::optional<size_t> many = world_.Find(query.actor, rate.container))
      return world_.Product(rate.amount, world_.at(*many).amount);
  }
  return RefuseAt(query.at, "a price and a number of things");
}

Result<ExprId> Story::AnswerNoun(const Query& query) {
  const bool generic = query.noun.empty();
  const Noun& noun = query.noun;
  // "How many bags does he need?": what there is, by how much goes into each.
  if (const Rate* rate = generic ? nullptr : world_.RateFor(noun);
      rate && world_.FindAll("", noun).empty()) {
    if (const std::optional<size_t> whole = world_.Find(query.actor, rate->content))
      return world_.Make(Kind::Divide, world_.at(*whole).amount, rate->amount);
  }
  // "How many items are there?": so many boxes, by how many each holds.
  if (const Rate* rate = generic ? world_.RateFor({}) : world_.RateOf(noun);
      rate && (generic || world_.FindAll("", noun).empty()) && !rate->container.empty()) {
    if (const std::optional<size_t> many = world_.Find(query.actor, rate->container))
      return world_.Product(rate->amount, world_.at(*many).amount);
  }
  const std::vector<size_t> all = world_.FindAll(query.actor, noun);
  if (all.empty()) return RefuseAt(query.at, "something the story tells the amount of");
  if (all.size() == 1) {
    TRY_VOID(CheckEvent(query, all));
    return world_.at(all[0]).amount;
  }
  // Several: the whole of it where the question says so or names the thing, else the one the story
  // ended with.
  if (query.total || !generic) {
    TRY_VOID(CheckEvent(query, all));
    return world_.SumOf(all);
  }
  const size_t last = world_.last() && std::ranges::find(all, *world_.last()) != all.end()
                          ? *world_.last()
                          : all.back();
  TRY_VOID(CheckEvent(query, {last}));
  return world_.at(last).amount;
}

// No question: what the story ended with.
Result<ExprId> Story::Default() {
  if (const std::optional<size_t> share = world_.FindShare()) return world_.at(*share).amount;
  if (world_.rates().size() == 1 && world_.last()) {
    const Rate& rate = world_.rates()[0];
    const std::optional<size_t> many = world_.Find("", rate.container);
    if (many && !rate.container.empty())
      return world_.Product(rate.amount, world_.at(*many).amount);
  }
  if (!world_.last()) return RefuseAt(tokens_.size() - 1, "a question");
  const ExprId amount = world_.at(*world_.last()).amount;
  if (numbers_.size() == 1) return RefuseAt(tokens_.size() - 1, "something that happens");
  return amount;
}

}  // namespace frazil::frontends::words
