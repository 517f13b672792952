// The closed part of the story language: verbs by what they do to an amount, and the words that can
// be neither a name nor a thing. Names, things and adjectives are open: any other word.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontends/words/token.h"

namespace frazil::frontends::words {

enum class Deed : uint8_t {
  Own,    // has, holds, contains
  Gain,   // gets, finds, bakes
  Lose,   // loses, sells, gives away: one's own
  Use,    // eats, breaks, removes: one's own or what there is
  Go,     // without an object: 75 leak out, 3 birds fly away
  Come,   // without an object: 4 more join
  Stay,   // without an object: 20 birds sit on a fence
  Do,     // so much in a time: travels 60 miles per hour
  Buy,    // gains things, loses money
  Pay,    // loses money: spends, pays
  Cost,   // what one of a thing costs
  Split,  // into equal parts
  Put,    // so many into each
};

struct VerbMatch {
  Deed deed;
  size_t length;          // in tokens, with its particle
  std::string_view base;  // its dictionary form
};

// A verb in any of its forms at a place. `passive`: after "are" or "were", where "eaten" loses.
std::optional<VerbMatch> MatchVerb(std::span<const Token> tokens, size_t at, bool passive = false);

// Neither a name nor a thing: articles, prepositions, numbers, hedges ("about", "some", "not").
bool IsClosedWord(const Token& token);
// the, a, his, her ...
bool IsDeterminer(const Token& token);
bool IsMoneyWord(const Token& token);
// "dollar" for "$", "dollars" and "bucks"; empty for what is no money.
std::string_view CurrencyOf(const Token& token);
// Is an apple a fruit? Anything is a thing.
bool IsKindOf(std::string_view thing, std::string_view kind);

// A verb of gaining what was there before: takes, borrows.
bool IsTaking(std::string_view base);
// A verb of gaining what was not there before: bakes, plants, adds.
bool IsMaking(std::string_view base);
// A verb whose passive does not say which way things went: "5 were borrowed", "5 were picked".
bool IsTwoWay(std::string_view base);
// Liters, miles, hours: amounts that may have parts.
bool IsMeasure(std::string_view noun);

// "boxes" -> "box", "children" -> "child"
std::string Singular(std::string_view word);

}  // namespace frazil::frontends::words
