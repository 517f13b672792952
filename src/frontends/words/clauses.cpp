// Clauses and what they do to the world: owning, gaining, losing, paying, splitting, so many to
// each.
#include <algorithm>

#include "frontends/words/parser.h"
#include "frontends/words/story.h"

namespace frazil::frontends::words {

// Clauses joined by commas, "and", "then"; ends behind the full stop.
Result<void> Story::Sentence() {
  verb_.reset();
  TRY_VOID(Clause());
  while (!EatStop() && Peek().kind != TokenKind::End) {
    const size_t start = at_;
    if (Peek().Is(Symbol::Comma)) ++at_;
    EatAny({"and", "but"});
    EatAny({"then", "later", "after that"});
    if (at_ == start) return Refuse();
    if (AtQuestion()) return {};
    TRY_VOID(Clause());
  }
  return {};
}

Result<void> Story::Clause() {
  SkipAdverbs();
  if (numbers_.empty()) EatAny({"if", "suppose", "say"});
  if (EatAny({"each", "every"})) return EachClause();
  if (Peek().Is("there") &&
      (Peek(1).Is("are") || Peek(1).Is("is") || Peek(1).Is("were") || Peek(1).Is("was"))) {
    at_ += 2;
    return OwnPhrase("", {});
  }
  if (IsDeterminer(Peek()) && Peek(1).IsNumber()) ++at_;
  if (AtNumber()) {
    // "gives 5 to Ann and 3 to Bob": the verb goes on.
    const bool repeats =
        verb_ && (verb_->deed == Deed::Gain || verb_->deed == Deed::Lose ||
                  verb_->deed == Deed::Use || verb_->deed == Deed::Buy || verb_->deed == Deed::Pay);
    if (!repeats) return QuantityClause();
    const Objects objects = TRY(ReadObjects(verb_->deed));
    return Apply(verb_->deed, actor_, objects);
  }
  if (AtVerb()) return VerbPhrase(actor_, {});
  const size_t start = at_;
  const bool thing = Peek().Is("a") || Peek().Is("an") || Peek().Is("the");
  const std::string actor = TRY(ReadActor());
  if (thing) things_.push_back(actor);
  Noun subject;
  subject.head = actor;
  SkipAdverbs();
  if (!AtVerb()) {
    if (Peek().kind == TokenKind::End) return RefuseAt(start, "a verb with an amount");
    return Refuse("a verb");
  }
  // "Tickets cost 15 dollars": a price makes nobody the person of the story.
  if (MatchVerb(tokens_, at_)->deed != Deed::Cost) {
    if (actor != actor_) before_ = actor_;
    actor_ = actor;
  }
  return VerbPhrase(actor, subject);
}

Result<void> Story::VerbPhrase(const std::string& actor, const Noun& subject) {
  const VerbMatch verb = *MatchVerb(tokens_, at_);
  at_ += verb.length;
  verb_ = verb;
  switch (verb.deed) {
    case Deed::Own: return OwnPhrase(actor, subject);
    case Deed::Cost: return CostPhrase(subject, std::nullopt);
    case Deed::Split: return SplitPhrase(actor, std::nullopt);
    case Deed::Put: return PutPhrase(actor);
    case Deed::Come:
    case Deed::Stay: return Refuse("how many");
    default: break;
  }
  if (verb.deed == Deed::Go && !AtNumber()) return Refuse("how many");
  const Objects objects = TRY(ReadObjects(verb.deed));
  if (objects.items[0].per && !objects.items[0].container.empty())
    return TimedPhrase(verb, objects.items[0]);
  if (verb.deed == Deed::Do || verb.deed == Deed::Go)
    return RefuseAt(objects.at, "so much in each hour or the like");
  return Apply(verb.deed, actor, objects);
}

// "travels 60 miles per hour", "bakes 12 pies every day"
Result<void> Story::TimedPhrase(const VerbMatch& verb, const Quantity& what) {
  if (verb.deed != Deed::Do && verb.deed != Deed::Gain && verb.deed != Deed::Use &&
      verb.deed != Deed::Go)
    return RefuseAt(what.at);
  done_.push_back(verb.base);
  world_.AddRate({what.container, what.noun, what.amount});
  return {};
}

// Owning
// ---------------------------------------------------------------------------------------------

Result<void> Story::OwnPhrase(const std::string& actor, const Noun& subject) {
  if (TRY(Comparative(actor))) return {};
  while (true) {
    const Quantity what = TRY(ReadQuantity(true));
    if (what.each && !subject.empty()) {
      world_.AddRate({subject, what.noun, what.amount});
    } else {
      TRY_VOID(Own(actor, what));
    }
    Objects behind;
    TRY_VOID(ReadPhrasesBehind(behind));
    const size_t start = at_;
    if (Peek().Is(Symbol::Comma)) ++at_;
    Eat("and");
    if (at_ == start || !AtNumber()) {
      at_ = start;
      return {};
    }
    // "5 birds and 3 fly away" starts a clause of its own.
    const size_t number = at_;
    Choices probe;
    ReadNumber(tokens_, at_, probe);
    const bool clause = AtVerb() && !IsOpen(at_, false);
    at_ = clause ? start : number;
    if (clause) return {};
  }
}

// Holdings of things, or of what they hold: "6 bags with 4 oranges in each bag".
Result<void> Story::Own(const std::string& actor, const Quantity& what) {
  const size_t start = at_;
  const bool with =
      EatAny({"with", "of", "each with", "each holding", "each containing", "holding", "containing",
              "that each hold", "that each have", "that hold", "which each hold"});
  if (with && AtNumber()) {
    const Quantity inner = TRY(ReadQuantity(true));
    world_.AddRate({what.noun, inner.noun, inner.amount});
    world_.Add({actor, inner.noun, world_.Product(what.amount, inner.amount)});
    return {};
  }
  at_ = start;
  if (what.per) {
    world_.AddRate({what.container, what.noun, what.amount});
    // "There are 6 bags. There are 4 oranges in each bag."
    if (const std::optional<size_t> many = world_.Find("", what.container);
        many && !what.container.empty())
      world_.Add({actor, what.noun, world_.Product(world_.at(*many).amount, what.amount)});
    return {};
  }
  // Saying again how many there are is a riddle about what happened in between.
  const std::vector<size_t> same = world_.FindAll(actor, what.noun);
  if (std::ranges::any_of(same, [&](size_t i) {
        return world_.at(i).actor == actor && Means(world_.at(i).noun, what.noun);
      }))
    return RefuseAt(what.at, "something new");
  Holding holding{actor, what.noun, what.amount};
  holding.owned = true;
  world_.Add(std::move(holding));
  return {};
}

// "twice as many apples as Tom", "3 times as many as Tom", "5 more apples than Tom"
Result<bool> Story::Comparative(const std::string& actor) {
  const size_t start = at_;
  const size_t numbers = numbers_.size();
  std::optional<Kind> kind;
  ExprId amount;
  if (Peek().Is("twice")) {
    Node two{Kind::Number};
    two.value = {2, 1};
    two.location = Peek().location;
    amount = tree_.Push(std::move(two));
    ++at_;
    if (!EatAny({"as many", "as much"})) return Refuse("\"as many\"");
    kind = Kind::Multiply;
  } else if (AtNumber()) {
    Choices probe;
    size_t end = at_;
    ReadNumber(tokens_, end, probe);
    const bool times =
        MatchPhrase(tokens_, end, "times as many") || MatchPhrase(tokens_, end, "times as much");
    const bool more = tokens_[end].Is("more"),
               fewer = tokens_[end].Is("fewer") || tokens_[end].Is("less");
    if (!times && !more && !fewer) return false;
    const Location place = Peek().location;
    const size_t number_at = at_;
    const std::optional<NumberRead> number = ReadNumber(tokens_, at_, choices_);
    at_ += times ? 3 : 1;
    Node node{Kind::Number};
    node.value = number->value;
    node.location = place;
    amount = tree_.Push(std::move(node));
    numbers_.emplace_back(amount, number_at);
    kind = times ? Kind::Multiply : more ? Kind::Add : Kind::Subtract;
  }
  if (!kind) return false;
  const Noun noun = ReadNoun(true);
  if (!Eat(*kind == Kind::Multiply ? "as" : "than")) {
    if (*kind == Kind::Multiply) return Refuse("\"as\" and a name");
    at_ = start;
    numbers_.resize(numbers);
    return false;
  }
  const size_t whom = at_;
  const std::string other = TRY(ReadOtherActor());
  const std::optional<size_t> base = world_.Find(other, noun);
  if (!base) return RefuseAt(whom, "somebody whose amount is known");
  const ExprId basis = world_.at(*base).amount;
  const Noun thing = noun.empty() ? world_.at(*base).noun : noun;
  world_.Add({actor, thing,
              *kind == Kind::Multiply ? world_.Make(*kind, amount, basis)
                                      : world_.Make(*kind, basis, amount)});
  return true;
}

// Gaining and losing
// ------------------------------------------------------------------------------------

Result<Story::Objects> Story::ReadObjects(Deed deed) {
  Objects objects;
  objects.at = at_;
  std::string recipient;
  // "buys a hat for 12 dollars": the price is the only number.
  if (deed == Deed::Buy && (Peek().Is("a") || Peek().Is("an")) && !AtNumber()) {
    Quantity thing;
    thing.at = at_;
    thing.noun = ReadNoun(true);
    objects.items.push_back(std::move(thing));
    objects.to.emplace_back();
    TRY_VOID(ReadPhrasesBehind(objects));
    if (!objects.price) return RefuseAt(objects.at, "a price");
    return objects;
  }
  // "gives Tom 3 apples", "gives her brother 3"
  if (!AtNumber()) {
    const size_t start = at_;
    const Result<std::string> other = ReadOtherActor();
    if (!other || !AtNumber()) return RefuseAt(other ? at_ : start, "how many");
    recipient = *other;
  }
  objects.items.push_back(TRY(ReadQuantity(true)));
  objects.to.push_back(recipient);
  TRY_VOID(ReadPhrasesBehind(objects));
  return objects;
}

// "to Ann", "from the jar", "at 2 dollars each", "for lunch"
Result<void> Story::ReadPhrasesBehind(Objects& objects) {
  while (!AtClauseEnd()) {
    const size_t start = at_;
    SkipAdverbs();
    if (at_ != start) continue;
    if (EatAny({"away", "back", "out", "up", "left over"})) continue;
    if (Eat("to")) {
      const std::string other = TRY(ReadOtherActor());
      if (!objects.to.empty()) objects.to.back() = other;
    } else if (Eat("from")) {
      objects.from = TRY(ReadOtherActor());
    } else if (EatAny({"at", "for", "in", "on", "with", "into", "by", "inside", "during", "after",
                       "of"})) {
      const bool price = (tokens_[start].Is("at") || tokens_[start].Is("for")) && AtNumber();
      if (price) {
        Quantity cost = TRY(ReadQuantity(true));
        if (objects.items.empty() || objects.price) return RefuseAt(start);
        objects.price = std::move(cost);
        continue;
      }
      if (AtNumber() || Peek().Is("each") || Peek().Is("every")) return Refuse();
      if (EatAny({"it", "them"})) continue;
      const size_t whom = at_;
      const Noun noun = ReadNoun(false);
      if (noun.empty()) return Refuse();
      places_.push_back(noun.head);
      // "buys 3 for Ann": then they are hers, which this grammar does not follow.
      const bool person = tokens_[start].Is("for") || tokens_[start].Is("with");
      if (person && world_.KnowsActor(noun.head) && noun.head != actor_) return RefuseAt(whom);
    } else {
      return Refuse();
    }
  }
  return {};
}

Result<void> Story::Apply(Deed deed, const std::string& actor, const Objects& objects) {
  for (size_t i = 0; i < objects.items.size(); ++i) {
    const Quantity& what = objects.items[i];
    if (what.each || what.per) return RefuseAt(what.at, "how many there are");
    if (objects.price && deed == Deed::Buy) {
      const bool each = objects.price->each || objects.price->per;
      if (each && !what.amount.valid()) return RefuseAt(objects.price->at, "how many");
      const ExprId price = objects.price->amount;
      const ExprId cost = each ? world_.Product(what.amount, price) : price;
      if (!each && what.amount.valid())
        world_.AddRate(
            {what.noun, {"dollar", "", {}, true}, world_.Make(Kind::Divide, price, what.amount)});
      TRY_VOID(Spend(actor, *objects.price, cost));
      continue;
    }
    if (objects.price) return RefuseAt(objects.price->at);
    if (deed == Deed::Pay) {
      TRY_VOID(Spend(actor, what, what.amount));
    } else if (!objects.to[i].empty()) {
      if (deed != Deed::Lose && deed != Deed::Gain && deed != Deed::Buy) return RefuseAt(what.at);
      TRY_VOID(Give(deed == Deed::Lose ? actor : "", objects.to[i], what));
    } else if (deed == Deed::Lose || deed == Deed::Use) {
      TRY_VOID(Lose(actor, what, deed == Deed::Use));
    } else {
      if (!objects.from.empty() && world_.Find(objects.from, what.noun))
        TRY_VOID(Lose(objects.from, what));
      const bool taken = !objects.from.empty() && !world_.Find(actor, what.noun);
      if (objects.from.empty()) TRY_VOID(CheckSource(actor, what, false));
      if (!taken) TRY_VOID(Gain(actor, what));
    }
  }
  return {};
}

// From one to another; either may be somebody whose amount the story does not tell, but not both.
Result<void> Story::Give(const std::string& actor, const std::string& to, const Quantity& what) {
  const bool giver = world_.KnowsActor(actor) && world_.FindOrDerive(actor, what.noun);
  const bool taker = world_.KnowsActor(to) && world_.FindOrDerive(to, what.noun);
  if (giver) TRY_VOID(Lose(actor, what));
  const std::optional<size_t> given = world_.last();
  if (taker) TRY_VOID(Gain(to, what));
  if (!giver && !taker) return RefuseAt(what.at, "somebody whose amount is known");
  // The story goes on about the giver.
  if (giver) world_.Touch(*given);
  return {};
}

Result<void> Story::Gain(const std::string& actor, const Quantity& what) {
  const std::optional<size_t> mine = world_.FindOrDerive(actor, what.noun);
  if (what.part) return RefuseAt(what.at, "a number");
  if (mine) {
    world_.Change(*mine, Kind::Add, what.amount);
    return {};
  }
  if (what.noun.empty() && !world_.last()) return RefuseAt(what.at, "what it is");
  world_.Add({actor, what.noun.empty() ? world_.at(*world_.last()).noun : what.noun, what.amount});
  return {};
}

Result<void> Story::Lose(const std::string& actor, const Quantity& what, bool anyone) {
  std::optional<size_t> mine = world_.FindOrDerive(actor, what.noun);
  // "A dog ate 3": it is not the dog who had them.
  if (!mine && anyone && !world_.KnowsActor(actor)) mine = world_.FindOrDerive("", what.noun);
  if (!mine) return RefuseAt(what.at, "something of which the amount is known");
  const ExprId had = world_.at(*mine).amount;
  world_.Change(*mine, Kind::Subtract,
                what.part ? world_.Make(Kind::Multiply, what.amount, had) : what.amount);
  taken_.push_back(world_.at(*mine).amount);
  return {};
}

Result<void> Story::Spend(const std::string& actor, const Quantity& what, ExprId amount) {
  const Noun money{"dollar", "", {}, true};
  const std::optional<size_t> purse = world_.Find(actor, money);
  if (purse) {
    if (what.part) amount = world_.Make(Kind::Multiply, amount, world_.at(*purse).amount);
    world_.Change(*purse, Kind::Subtract, amount);
    taken_.push_back(world_.at(*purse).amount);
  } else if (what.part) {
    return RefuseAt(what.at, "an amount of money");
  }
  if (const std::optional<size_t> spent = world_.FindSpent(actor)) {
    world_.Change(*spent, Kind::Add, amount);
  } else {
    world_.Add({actor, money, amount, true});
  }
  if (purse) world_.Touch(*purse);
  return {};
}

// So many to each
// --------------------------------------------------------------------------------------

Story::Quantity Story::Total(const Quantity& many, const Quantity& each) {
  Quantity total = each;
  total.each = total.per = false;
  total.amount = world_.Product(many.amount, each.amount);
  return total;
}

// "each box holds 8 items", "every ticket costs 5 dollars", "each of the 4 boxes holds 6 pens"
Result<void> Story::EachClause() {
  Eat("of");
  if (IsDeterminer(Peek()) && !Peek().Is("a")) ++at_;
  std::optional<Quantity> many;
  Noun container;
  if (AtNumber()) {
    many = TRY(ReadQuantity(false));
    container = many->noun;
  } else {
    container = ReadNoun(false);
  }
  Eat("one");
  const std::optional<VerbMatch> verb = MatchVerb(tokens_, at_);
  if (!verb) return Refuse("a verb");
  at_ += verb->length;
  if (verb->deed == Deed::Cost) return CostPhrase(container, std::nullopt);
  const Quantity what = TRY(ReadQuantity(true));
  if (many) {
    const Quantity total = Total(*many, what);
    if (verb->deed == Deed::Lose || verb->deed == Deed::Use) return Lose("", total);
    if (verb->deed == Deed::Gain || verb->deed == Deed::Buy) {
      verb_ = verb;
      TRY_VOID(CheckSource("", total, true));
    }
    world_.Add({"", total.noun, total.amount});
    return {};
  }
  if (verb->deed == Deed::Lose || verb->deed == Deed::Use || verb->deed == Deed::Pay) {
    const std::optional<size_t> heads = world_.Find("", container);
    if (!heads || container.empty()) return RefuseAt(what.at, "how many there are");
    Quantity people;
    people.amount = world_.at(*heads).amount;
    return Lose("", Total(people, what));
  }
  world_.AddRate({container, what.noun, what.amount});
  Objects behind;
  return ReadPhrasesBehind(behind);
}

// A clause that starts with an amount: "75 leak out", "3 people each eat 2", "8 boxes with 5 items
// each"
Result<void> Story::QuantityClause() {
  const Quantity many = TRY(ReadQuantity(false));
  const size_t start = at_;
  Eat("each");
  const bool each = many.each || at_ != start;
  if (EatAny({"are", "were", "is", "was"})) return PassiveClause(many);
  const std::optional<VerbMatch> verb = MatchVerb(tokens_, at_);
  if (!verb) {
    at_ = start;
    return Own("", many);
  }
  at_ += verb->length;
  if (each) return EachOfThem(many, *verb);
  switch (verb->deed) {
    case Deed::Go: {
      TRY_VOID(Lose("", many));
      Objects behind;
      return ReadPhrasesBehind(behind);
    }
    case Deed::Come: {
      TRY_VOID(Gain("", many));
      Objects behind;
      return ReadPhrasesBehind(behind);
    }
    case Deed::Stay: {
      TRY_VOID(Own("", many));
      Objects behind;
      return ReadPhrasesBehind(behind);
    }
    case Deed::Split: return SplitPhrase("", many);
    case Deed::Cost: return CostPhrase(many.noun, many);
    default: return EachOfThem(many, *verb);
  }
}

// "3 people each eat 2 slices", "6 bags hold 4 oranges each"
Result<void> Story::EachOfThem(const Quantity& many, const VerbMatch& verb) {
  const bool said = many.each || tokens_[at_ - verb.length - 1].Is("each");
  const Quantity what = TRY(ReadQuantity(true));
  if (!said && !what.each && !what.per) return RefuseAt(what.at, "\"each\"");
  const Quantity total = Total(many, what);
  if (verb.deed == Deed::Lose || verb.deed == Deed::Use || verb.deed == Deed::Go)
    return Lose("", total);
  if (verb.deed == Deed::Gain || verb.deed == Deed::Buy) {
    verb_ = verb;
    TRY_VOID(CheckSource("", total, true));
  }
  if (verb.deed == Deed::Gain && world_.Find("", total.noun)) return Gain("", total);
  world_.Add({"", total.noun, total.amount});
  return {};
}

// "12 candies are split between 3 kids", "15 were sold", "5 more are added"
Result<void> Story::PassiveClause(const Quantity& subject) {
  EatAny({"then", "later", "now"});
  const std::optional<VerbMatch> verb = MatchVerb(tokens_, at_, true);
  if (!verb && (Peek().Is("on") || Peek().Is("in") || Peek().Is("at"))) {
    TRY_VOID(Own("", subject));
    Objects behind;
    return ReadPhrasesBehind(behind);
  }
  if (!verb) return Refuse("a verb");
  if (IsTwoWay(verb->base)) return Refuse("a verb that says which way they went");
  at_ += verb->length;
  if (verb->deed == Deed::Split) return SplitPhrase("", subject);
  if (verb->deed == Deed::Lose || verb->deed == Deed::Use || verb->deed == Deed::Go) {
    TRY_VOID(Lose("", subject));
  } else if (verb->deed == Deed::Gain || verb->deed == Deed::Put) {
    TRY_VOID(Gain("", subject));
  } else {
    return RefuseAt(at_ - verb->length, "a verb");
  }
  Objects behind;
  return ReadPhrasesBehind(behind);
}

// "tickets cost 15 dollars each", "3 pens cost 12 dollars" (then one costs a third of it)
Result<void> Story::CostPhrase(const Noun& subject, std::optional<Quantity> many) {
  const Quantity price = TRY(ReadQuantity(true));
  ExprId amount = price.amount;
  const Noun money{"dollar", "", {}, true};
  if (many && (price.each || price.per)) {
    world_.AddRate({subject, money, amount});
    world_.Add({"", money, world_.Product(many->amount, amount), true});
    return {};
  }
  if (many) amount = world_.Make(Kind::Divide, amount, many->amount);
  Noun container = subject;
  container.head = Singular(container.head);
  world_.AddRate({container, money, amount});
  return {};
}

// "shares them equally among 4 friends", "12 candies split between 3 kids"
Result<void> Story::SplitPhrase(const std::string& actor, std::optional<Quantity> what) {
  if (!what && AtNumber()) what = TRY(ReadQuantity(true));
  Noun thing;
  const size_t thing_at = at_;
  if (!what && !EatAny({"them", "it", "these", "those"})) thing = ReadNoun(true);
  EatAny({"equally", "evenly"});
  if (!EatAny({"between", "among", "into", "in", "with", "to"}))
    return Refuse("\"between\" and how many");
  if (IsDeterminer(Peek())) ++at_;
  const Quantity parts = TRY(ReadQuantity(true));
  EatAny({"equally", "evenly"});
  ExprId whole;
  Noun noun = thing;
  if (what) {
    whole = what->amount;
    noun = what->noun;
  } else {
    const std::optional<size_t> mine = world_.Find(world_.KnowsActor(actor) ? actor : "", thing);
    if (!mine) return RefuseAt(thing_at, "something of which the amount is known");
    whole = world_.at(*mine).amount;
    noun = world_.at(*mine).noun;
  }
  parts_.push_back(parts.noun);
  Holding share{"", noun, world_.Make(Kind::Divide, whole, parts.amount)};
  share.share = true;
  world_.Add(std::move(share));
  return {};
}

// "puts 4 cookies in each bag"; "puts them equally into 3 boxes" is a split
Result<void> Story::PutPhrase(const std::string& actor) {
  if (!AtNumber()) return SplitPhrase(actor, std::nullopt);
  const Quantity what = TRY(ReadQuantity(true));
  if (!what.per) return Refuse("\"in each\" and a thing");
  world_.AddRate({what.container, what.noun, what.amount});
  return {};
}

}  // namespace frazil::frontends::words
