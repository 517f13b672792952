// What a story has said so far: who has how many of what, and how many of one thing go to one of
// another. Amounts are nodes of the story's tree; nothing is computed here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/words/expr.h"

namespace frazil::frontends::words {

// A thing by its head noun, singular: "5 red marbles" is marble (red), "5 rows of desks" row of
// desk.
struct Noun {
  std::string head;
  std::string of;
  std::vector<std::string> adjectives;
  bool money = false;
  bool empty() const { return head.empty(); }
};

// Does a mention ("marbles", "them") mean this thing? An adjective that is given must be there.
bool Means(const Noun& mention, const Noun& thing);

struct Holding {
  std::string actor;  // "" where the story names nobody
  Noun noun;
  ExprId amount;
  bool spent = false;  // money that went out, counted up
  bool share = false;  // what each part of a split holds
  bool owned = false;  // it was there when the story began: "has", "holds", "there are"
};

// So much of `content` for each `container`: 8 items to a box, 15 dollars to a ticket.
struct Rate {
  Noun container;
  Noun content;
  ExprId amount;
};

class World {
 public:
  explicit World(Tree& tree) : tree_(tree) {}

  size_t Add(Holding holding);
  void Change(size_t index, Kind kind, ExprId amount);
  void Touch(size_t index) { last_ = index; }  // the story is about this one again
  void AddRate(Rate rate) { rates_.push_back(std::move(rate)); }

  // The holding that a mention means, the latest first; an empty actor or noun fits all. Shares and
  // money spent are asked for by name.
  std::optional<size_t> Find(const std::string& actor, const Noun& noun) const;
  // The same; so many boxes with so much in each become a holding of what is in them.
  std::optional<size_t> FindOrDerive(const std::string& actor, const Noun& noun);
  std::optional<size_t> FindSpent(const std::string& actor) const;
  std::optional<size_t> FindShare() const;
  std::vector<size_t> FindAll(const std::string& actor, const Noun& noun) const;
  const Rate* RateFor(const Noun& container) const;  // an empty noun fits a single rate
  const Rate* RateOf(const Noun& content) const;
  bool KnowsActor(const std::string& actor) const;
  bool KnowsNoun(const Noun& noun) const;
  // Whether all that is held, at least two things, falls under one word ("pets").
  bool AllAre(std::string_view kind) const;

  const Holding& at(size_t index) const { return holdings_[index]; }
  const std::vector<Rate>& rates() const { return rates_; }
  std::optional<size_t> last() const { return last_; }
  ExprId SumOf(const std::vector<size_t>& indices);
  ExprId Make(Kind kind, ExprId a, ExprId b);
  // A product in the order in which its numbers stand in the text.
  ExprId Product(ExprId a, ExprId b);

 private:
  Tree& tree_;
  std::vector<Holding> holdings_;
  std::vector<Rate> rates_;
  std::optional<size_t> last_;
};

}  // namespace frazil::frontends::words
