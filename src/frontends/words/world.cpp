// Lookup is by mention, latest first, as in talk: "she gives away 15" means what she was last said
// to have.
#include "frontends/words/world.h"

#include <algorithm>

#include "frontends/words/lexicon.h"

namespace frazil::frontends::words {

bool Means(const Noun& mention, const Noun& thing) {
  if (mention.empty()) return true;
  if (mention.head != thing.head && mention.head != thing.of &&
      (mention.of.empty() || mention.of != thing.head))
    return false;
  return std::ranges::all_of(mention.adjectives, [&](const std::string& adjective) {
    return std::ranges::find(thing.adjectives, adjective) != thing.adjectives.end();
  });
}

size_t World::Add(Holding holding) {
  holdings_.push_back(std::move(holding));
  last_ = holdings_.size() - 1;
  return *last_;
}

void World::Change(size_t index, Kind kind, ExprId amount) {
  holdings_[index].amount = Make(kind, holdings_[index].amount, amount);
  last_ = index;
}

std::optional<size_t> World::Find(const std::string& actor, const Noun& noun) const {
  for (size_t i = holdings_.size(); i-- > 0;) {
    const Holding& holding = holdings_[i];
    if (holding.spent || holding.share || (!actor.empty() && holding.actor != actor)) continue;
    if (Means(noun, holding.noun)) return i;
  }
  return std::nullopt;
}

std::optional<size_t> World::FindOrDerive(const std::string& actor, const Noun& noun) {
  if (const std::optional<size_t> found = Find(actor, noun)) return found;
  const Rate* rate = RateOf(noun);
  if (!rate || rate->container.empty()) return std::nullopt;
  const std::optional<size_t> many = Find(actor, rate->container);
  if (!many) return std::nullopt;
  return Add(
      {holdings_[*many].actor, rate->content, Product(rate->amount, holdings_[*many].amount)});
}

std::optional<size_t> World::FindSpent(const std::string& actor) const {
  for (size_t i = holdings_.size(); i-- > 0;)
    if (holdings_[i].spent && (actor.empty() || holdings_[i].actor == actor)) return i;
  return std::nullopt;
}

std::optional<size_t> World::FindShare() const {
  for (size_t i = holdings_.size(); i-- > 0;)
    if (holdings_[i].share) return i;
  return std::nullopt;
}

std::vector<size_t> World::FindAll(const std::string& actor, const Noun& noun) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < holdings_.size(); ++i) {
    const Holding& holding = holdings_[i];
    if (holding.spent || holding.share || (!actor.empty() && holding.actor != actor)) continue;
    if (Means(noun, holding.noun)) found.push_back(i);
  }
  return found;
}

const Rate* World::RateFor(const Noun& container) const {
  if (container.empty()) return rates_.size() == 1 ? &rates_[0] : nullptr;
  for (const Rate& rate : rates_)
    if (rate.container.empty() || Means(container, rate.container)) return &rate;
  return nullptr;
}

const Rate* World::RateOf(const Noun& content) const {
  for (const Rate& rate : rates_)
    if (!content.empty() && Means(content, rate.content)) return &rate;
  return nullptr;
}

bool World::KnowsActor(const std::string& actor) const {
  return std::ranges::any_of(holdings_, [&](const Holding& h) { return h.actor == actor; });
}

bool World::KnowsNoun(const Noun& noun) const {
  return std::ranges::any_of(holdings_, [&](const Holding& h) { return Means(noun, h.noun); }) ||
         std::ranges::any_of(rates_, [&](const Rate& r) {
           return Means(noun, r.container) || Means(noun, r.content);
         });
}

bool World::AllAre(std::string_view kind) const {
  const std::vector<size_t> all = FindAll("", {});
  return all.size() > 1 &&
         std::ranges::all_of(all, [&](size_t i) { return IsKindOf(holdings_[i].noun.head, kind); });
}

ExprId World::Make(Kind kind, ExprId a, ExprId b) {
  Node node{kind, a, b};
  node.location = tree_.at(b).location;
  return tree_.Push(std::move(node));
}

ExprId World::Product(ExprId a, ExprId b) {
  const Location x = tree_.at(a).location, y = tree_.at(b).location;
  const bool swapped = y.line < x.line || (y.line == x.line && y.column < x.column);
  return swapped ? Make(Kind::Multiply, b, a) : Make(Kind::Multiply, a, b);
}

ExprId World::SumOf(const std::vector<size_t>& indices) {
  ExprId sum = holdings_[indices[0]].amount;
  for (size_t i = 1; i < indices.size(); ++i)
    sum = Make(Kind::Add, sum, holdings_[indices[i]].amount);
  return sum;
}

}  // namespace frazil::frontends::words
