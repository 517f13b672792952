// The parts of a clause: amounts with their nouns, and who does something. Open words end where a
// word of the closed language, a verb or a number begins.
#include "frontends/words/story.h"

#include <algorithm>

#include "frontends/words/parser.h"

namespace frazil::frontends::words {

bool LooksLikeStory(std::span<const Token> tokens) {
  bool number = false, clause = false;
  Choices probe;
  for (size_t i = 0; i < tokens.size(); ++i) {
    size_t at = i;
    number = number || ReadNumber(tokens, at, probe).has_value();
    clause = clause || MatchVerb(tokens, i) || tokens[i].Is("each") || tokens[i].Is("there") ||
             tokens[i].Is("per");
  }
  return number && clause;
}

bool Story::EatStop() {
  const size_t start = at_;
  while (Peek().Is(Symbol::Stop) || Peek().Is(Symbol::Question) || Peek().Is(Symbol::Bang) ||
         Peek().Is(Symbol::Semicolon))
    ++at_;
  return at_ != start;
}

bool Story::AtClauseEnd() const {
  const Token& token = Peek();
  return token.kind == TokenKind::End || token.Is(Symbol::Stop) || token.Is(Symbol::Question) ||
         token.Is(Symbol::Bang) || token.Is(Symbol::Semicolon) || token.Is(Symbol::Comma) ||
         token.Is("and") || token.Is("but") || token.Is("then");
}

bool Story::AtNumber() const {
  Choices probe;
  size_t at = at_;
  return ReadNumber(tokens_, at, probe).has_value();
}

// May this word be part of a name or a thing? Behind a verb even a verb's form may ("5 plants").
bool Story::IsOpen(size_t at, bool object) const {
  const Token& token = tokens_[at];
  if (!token.IsWord() || IsClosedWord(token)) return false;
  Choices probe;
  size_t end = at;
  if (ReadNumber(tokens_, end, probe)) return false;
  if (!MatchVerb(tokens_, at)) return true;
  const Token& next = tokens_[std::min(at + 1, tokens_.size() - 1)];
  return object || next.Is("of") ||
         (at + 1 < tokens_.size() && MatchVerb(tokens_, at + 1).has_value());
}

Noun Story::ReadNoun(bool object) {
  Noun noun;
  while (IsDeterminer(Peek())) ++at_;
  std::vector<std::string> words;
  while (IsOpen(at_, object && words.empty())) {
    noun.money = IsMoneyWord(Peek());
    words.push_back(Singular(Peek().word));
    ++at_;
    if (noun.money) break;
  }
  if (words.empty()) return noun;
  noun.head = words.back();
  words.pop_back();
  noun.adjectives = std::move(words);
  return noun;
}

// "of them", "of the apples" (the same thing) or "of desks" (what it is made of)
void Story::ReadOf(Quantity& quantity) {
  if (!Peek().Is("of")) return;
  if (Peek(1).Is("them") || Peek(1).Is("it")) {
    at_ += 2;
    return;
  }
  const size_t start = at_++;
  const bool same = IsDeterminer(Peek());
  if (!IsOpen(same ? at_ + 1 : at_, true)) {
    at_ = start;
    return;
  }
  const Noun inner = ReadNoun(true);
  if (quantity.noun.empty()) {
    quantity.noun = inner;
  } else {
    quantity.noun.of = inner.head;
  }
}

Result<Story::Quantity> Story::ReadQuantity(bool object) {
  Quantity quantity;
  quantity.at = at_;
  const Location place = Peek().location;
  const bool money = Peek().Is(Symbol::Currency);
  const std::optional<NumberRead> number = ReadNumber(tokens_, at_, choices_);
  if (!number) return Refuse("a number");
  Node node{Kind::Number};
  node.value = number->value;
  node.percent = number->percent;
  node.location = place;
  quantity.amount = tree_.Push(std::move(node));
  quantity.part = number->part;
  numbers_.emplace_back(quantity.amount, quantity.at);
  quantity.more = EatAny({"more", "additional", "extra", "other"});
  if (money) quantity.noun = {"dollar", "", {}, true};
  if (!money && !number->part) quantity.noun = ReadNoun(object);
  if (quantity.noun.money) quantity.noun.head = "dollar";
  ReadOf(quantity);
  if (number->part && quantity.noun.empty() && tokens_[at_ - 1].IsWord() &&
      !tokens_[at_ - 1].Is("them"))
    quantity.noun = ReadNoun(object);
  quantity.more = EatAny({"more"}) || quantity.more;
  TRY_VOID(ReadPer(quantity));
  return quantity;
}

// "each", "in each bag", "per box", "a ticket"
Result<void> Story::ReadPer(Quantity& quantity) {
  const size_t start = at_;
  const bool in = EatAny({"in", "on", "for", "to", "into"});
  if (EatAny({"each", "every", "per"})) {
    Eat("of");
    if (IsDeterminer(Peek()) || IsOpen(at_, false)) {
      quantity.per = true;
      quantity.container = ReadNoun(false);
    } else if (in || tokens_[at_ - 1].Is("per")) {
      quantity.per = true;
      Eat("one");
    } else {
      quantity.each = true;
    }
    return {};
  }
  if (!in && Eat("apiece")) {
    quantity.each = true;
    return {};
  }
  if (!in && quantity.noun.money && (Peek().Is("a") || Peek().Is("an")) && IsOpen(at_ + 1, true)) {
    quantity.per = true;
    quantity.container = ReadNoun(true);
    return {};
  }
  at_ = start;
  return {};
}

bool Story::EatPronoun() { return EatAny({"he", "she", "it", "they"}); }

// A subject: a name, a thing, or whom a pronoun means.
Result<std::string> Story::ReadActor() {
  if (EatAny({"i", "we", "you"})) return tokens_[at_ - 1].word;
  if (EatPronoun()) {
    if (actor_.empty() && world_.last()) return world_.at(*world_.last()).actor;
    if (actor_.empty()) return RefuseAt(at_ - 1, "a name before it");
    return actor_;
  }
  const size_t start = at_;
  const Noun noun = ReadNoun(false);
  if (noun.empty()) {
    at_ = start;
    return Refuse("a name and a verb");
  }
  return noun.head;
}

// Behind "to", "from", "than", "as": "Tom", "her brother", "him".
Result<std::string> Story::ReadOtherActor() {
  if (Eat("me")) return std::string("i");
  if (Eat("us")) return std::string("we");
  if (Eat("you")) return std::string("you");
  const bool pronoun =
      EatAny({"him", "them", "it"}) || (Peek().Is("her") && !IsOpen(at_ + 1, false) && Eat("her"));
  if (pronoun) return before_.empty() ? actor_ : before_;
  const Noun noun = ReadNoun(false);
  if (noun.empty()) return Refuse("a name");
  return noun.head;
}

// Words of time and order that change nothing.
void Story::SkipAdverbs() {
  while (EatAny({"then", "now", "later", "also", "next", "today", "yesterday", "again",
                 "after that", "the next day", "in total", "altogether", "all together"}))
    if (Peek().Is(Symbol::Comma)) ++at_;
}

Result<Tree> Story::ParseSentence() {
  while (Peek().kind != TokenKind::End) {
    if (AtQuestion()) {
      TRY_VOID(Question());
      EatStop();
      if (Peek().kind != TokenKind::End) return Refuse("nothing after the question");
    } else {
      TRY_VOID(Sentence());
    }
  }
  if (!tree_.root.valid()) tree_.root = TRY(Default());
  TRY_VOID(CheckAllUsed());
  TRY_VOID(CheckAmounts());
  if (asked_) {
    TRY_VOID(CheckRests(*asked_));
    TRY_VOID(CheckWhole(*asked_));
  }
  return std::move(tree_);
}

}  // namespace frazil::frontends::words
