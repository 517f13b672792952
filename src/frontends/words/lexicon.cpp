// Tables. A regular verb stands once, by its base form; irregular forms stand beside it.
#include "frontends/words/lexicon.h"

#include <algorithm>

#include "frontends/words/parser.h"

namespace frazil::frontends::words {
namespace {

struct Verb {
  std::string_view base;
  std::string_view irregular;  // further forms, parted by spaces
  Deed deed;
};

constexpr Verb Verbs[] = {
    {"have", "has had", Deed::Own},
    {"own", "", Deed::Own},
    {"hold", "held", Deed::Own},
    {"contain", "", Deed::Own},
    {"carry", "", Deed::Own},
    {"start with", "starts with started with begins with began with", Deed::Own},
    {"get", "got gotten", Deed::Gain},
    {"receive", "", Deed::Gain},
    {"find", "found", Deed::Gain},
    {"earn", "", Deed::Gain},
    {"collect", "", Deed::Gain},
    {"gather", "", Deed::Gain},
    {"pick", "", Deed::Gain},
    {"gain", "", Deed::Gain},
    {"win", "won", Deed::Gain},
    {"make", "made", Deed::Gain},
    {"bake", "", Deed::Gain},
    {"catch", "caught", Deed::Gain},
    {"save", "", Deed::Gain},
    {"add", "", Deed::Gain},
    {"take", "took taken", Deed::Gain},
    {"plant", "", Deed::Gain},
    {"borrow", "", Deed::Gain},
    {"score", "", Deed::Gain},
    {"buy", "bought", Deed::Buy},
    {"purchase", "", Deed::Buy},
    {"give", "gave given", Deed::Lose},
    {"hand", "", Deed::Lose},
    {"lose", "lost", Deed::Lose},
    {"eat", "ate eaten", Deed::Use},
    {"drink", "drank drunk", Deed::Use},
    {"use", "", Deed::Use},
    {"drop", "", Deed::Lose},
    {"break", "broke broken", Deed::Use},
    {"throw", "threw thrown", Deed::Use},
    {"donate", "", Deed::Lose},
    {"remove", "", Deed::Use},
    {"sell", "sold", Deed::Lose},
    {"lend", "lent", Deed::Lose},
    {"send", "sent", Deed::Lose},
    {"return", "", Deed::Lose},
    {"waste", "", Deed::Use},
    {"discard", "", Deed::Use},
    {"spend", "spent", Deed::Pay},
    {"pay", "paid", Deed::Pay},
    {"leak", "", Deed::Go},
    {"leave", "left", Deed::Go},
    {"fly", "flew", Deed::Go},
    {"die", "", Deed::Go},
    {"escape", "", Deed::Go},
    {"melt", "", Deed::Go},
    {"fall", "fell", Deed::Go},
    {"run", "ran", Deed::Go},
    {"walk", "", Deed::Go},
    {"swim", "swam", Deed::Go},
    {"drain", "", Deed::Go},
    {"spill", "", Deed::Go},
    {"evaporate", "", Deed::Go},
    {"disappear", "", Deed::Go},
    {"pop", "", Deed::Go},
    {"burst", "", Deed::Go},
    {"arrive", "", Deed::Come},
    {"join", "", Deed::Come},
    {"come", "came", Deed::Come},
    {"enter", "", Deed::Come},
    {"land", "", Deed::Come},
    {"sit", "sat", Deed::Stay},
    {"stand", "stood", Deed::Stay},
    {"wait", "", Deed::Stay},
    {"live", "", Deed::Stay},
    {"play", "", Deed::Stay},
    {"travel", "", Deed::Do},
    {"drive", "drove driven", Deed::Do},
    {"go", "goes went", Deed::Do},
    {"read", "", Deed::Do},
    {"write", "wrote written", Deed::Do},
    {"type", "", Deed::Do},
    {"print", "", Deed::Do},
    {"produce", "", Deed::Do},
    {"pump", "", Deed::Do},
    {"cost", "", Deed::Cost},
    {"split", "", Deed::Split},
    {"share", "", Deed::Split},
    {"divide", "", Deed::Split},
    {"distribute", "", Deed::Split},
    {"arrange", "", Deed::Split},
    {"cut", "", Deed::Split},
    {"put", "", Deed::Put},
    {"pack", "", Deed::Put},
    {"place", "", Deed::Put},
};

constexpr std::string_view Particles[] = {"away", "out", "off", "up", "back", "down", "in"};

// Words that are not names or things; verbs are judged by MatchVerb.
constexpr std::string_view Closed[] = {
    "a",          "about",     "additional", "after",   "all",     "almost",  "already", "also",
    "altogether", "am",        "among",      "an",      "and",     "another", "any",     "apiece",
    "are",        "around",    "as",         "at",      "back",    "be",      "because", "been",
    "before",     "between",   "both",       "but",     "by",      "can",     "could",   "did",
    "do",         "does",      "down",       "each",    "either",  "enough",  "equal",   "equally",
    "even",       "evenly",    "every",      "except",  "extra",   "fewer",   "few",     "for",
    "from",       "had",       "half",       "has",     "have",    "he",      "her",     "him",
    "his",        "how",       "i",          "if",      "in",      "instead", "into",    "is",
    "it",         "its",       "itself",     "just",    "later",   "least",   "left",    "less",
    "many",       "may",       "maybe",      "me",      "might",   "more",    "most",    "much",
    "must",       "my",        "nearly",     "neither", "never",   "no",      "none",    "nor",
    "not",        "now",       "of",         "off",     "on",      "only",    "or",      "other",
    "others",     "our",       "out",        "over",    "per",     "plus",    "minus",   "times",
    "remain",     "remaining", "remains",    "roughly", "same",    "several", "she",     "should",
    "so",         "some",      "still",      "than",    "that",    "the",     "their",   "them",
    "then",       "there",     "these",      "they",    "this",    "those",   "through", "to",
    "together",   "too",       "total",      "twice",   "under",   "unless",  "until",   "up",
    "us",         "was",       "we",         "were",    "what",    "when",    "where",   "which",
    "while",      "who",       "will",       "with",    "without", "would",   "you",     "your"};

bool IsFormOf(std::string_view word, std::string_view base) {
  if (!word.starts_with(base.substr(0, base.size() - 1))) return false;
  const std::string_view rest = word.substr(std::min(base.size(), word.size()));
  const bool whole = word.starts_with(base);
  if (whole && (rest.empty() || rest == "s" || rest == "es" || rest == "ed")) return true;
  if (whole && base.ends_with('e') && rest == "d") return true;
  if (base.ends_with('y')) {
    const std::string_view ending = word.substr(base.size() - 1);
    return ending == "ies" || ending == "ied";
  }
  // dropped, popped
  return whole && rest.size() == 3 && rest[0] == base.back() && rest.ends_with("ed");
}

bool IsListed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t space = list.find(' ');
    if (list.substr(0, space) == word) return true;
    list.remove_prefix(space == std::string_view::npos ? list.size() : space + 1);
  }
  return false;
}

// The length of the verb's form at a place; base forms of two words match word by word.
size_t FormLength(const Verb& verb, std::span<const Token> tokens, size_t at) {
  const size_t space = verb.base.find(' ');
  if (space == std::string_view::npos)
    return IsFormOf(tokens[at].word, verb.base) || IsListed(verb.irregular, tokens[at].word) ? 1
                                                                                             : 0;
  const std::string_view second = verb.base.substr(space + 1);
  if (at + 1 >= tokens.size() || !tokens[at + 1].Is(second)) return 0;
  return IsFormOf(tokens[at].word, verb.base.substr(0, space)) ||
                 IsListed(verb.irregular, tokens[at].word)
             ? 2
             : 0;
}

}  // namespace

std::optional<VerbMatch> MatchVerb(std::span<const Token> tokens, size_t at, bool passive) {
  if (!tokens[at].IsWord()) return std::nullopt;
  for (const Verb& verb : Verbs) {
    size_t length = FormLength(verb, tokens, at);
    if (length == 0) continue;
    Deed deed = verb.deed;
    const Token& next = tokens[std::min(at + length, tokens.size() - 1)];
    const bool particle = next.IsWord() &&
                          std::ranges::find(Particles, next.word) != std::end(Particles) &&
                          !tokens[std::min(at + length + 1, tokens.size() - 1)].Is("each");
    const bool away = next.Is("away") || next.Is("out") || next.Is("off");
    if (verb.base == "take" && (away || passive)) deed = Deed::Use;
    if (verb.base == "get" && next.Is("off")) deed = Deed::Go;
    if (verb.base == "get" && next.Is("on")) return VerbMatch{Deed::Come, length + 1, verb.base};
    if (particle) ++length;
    return VerbMatch{deed, length, verb.base};
  }
  return std::nullopt;
}

bool IsClosedWord(const Token& token) {
  return !token.IsWord() || std::ranges::find(Closed, token.word) != std::end(Closed);
}

bool IsDeterminer(const Token& token) {
  for (std::string_view word :
       {"the", "a", "an", "his", "her", "their", "its", "my", "our", "your"})
    if (token.Is(word)) return true;
  return false;
}

bool IsMoneyWord(const Token& token) { return token.IsWord() && !CurrencyOf(token).empty(); }

std::string_view CurrencyOf(const Token& token) {
  struct Currency {
    std::string_view name, forms;
  };
  constexpr Currency Currencies[] = {{"dollar", "dollar dollars bucks $"},
                                     {"euro", "euro euros \u20ac"},
                                     {"pound", "pound pounds \u00a3"},
                                     {"yen", "yen \u00a5"},
                                     {"cent", "cent cents"}};
  if (!token.IsWord() && !token.Is(Symbol::Currency)) return {};
  for (const Currency& currency : Currencies)
    if (IsListed(currency.forms, token.IsWord() ? std::string_view(token.word) : token.source))
      return currency.name;
  return {};
}

bool IsKindOf(std::string_view thing, std::string_view kind) {
  struct Family {
    std::string_view kinds, members;
  };
  constexpr Family Families[] = {
      {"child kid student pupil person", "boy girl child kid student pupil"},
      {"person", "man woman adult boy girl child teacher friend player passenger"},
      {"fruit",
       "apple orange pear banana peach plum grape cherry mango lemon lime melon apricot fig"},
      {"vegetable", "carrot potato tomato onion cabbage pepper cucumber bean pea"},
      {"animal",
       "dog cat cow pig sheep hen chicken duck goose horse goat bird rabbit lion tiger fish"},
      {"pet", "dog cat bird rabbit hamster fish parrot"},
      {"flower", "rose tulip lily daisy orchid sunflower"},
      {"vehicle", "car truck bus bike van bicycle motorcycle"},
      {"coin", "penny nickel dime quarter"},
  };
  if (IsListed("item thing object piece", kind)) return true;
  for (const Family& family : Families)
    if (IsListed(family.kinds, kind) && IsListed(family.members, thing)) return true;
  return false;
}

bool IsTaking(std::string_view base) { return IsListed("take borrow", base); }

bool IsMaking(std::string_view base) {
  return IsListed("make bake add plant score earn win save", base);
}

bool IsTwoWay(std::string_view base) {
  return IsListed("borrow return give lend pick catch collect gather get receive find", base);
}

bool IsMeasure(std::string_view noun) {
  return IsListed(
      "liter litre gallon cup ounce mile kilometer kilometre meter metre foot inch yard hour "
      "minute "
      "second day week month year gram kilogram ton dollar degree percent acre",
      noun);
}

std::string Singular(std::string_view word) {
  struct Irregular {
    std::string_view plural, singular;
  };
  constexpr Irregular Irregulars[] = {
      {"children", "child"}, {"people", "person"}, {"men", "man"},      {"women", "woman"},
      {"mice", "mouse"},     {"geese", "goose"},   {"feet", "foot"},    {"teeth", "tooth"},
      {"knives", "knife"},   {"leaves", "leaf"},   {"loaves", "loaf"},  {"shelves", "shelf"},
      {"cookies", "cookie"}, {"pies", "pie"},      {"movies", "movie"}, {"buses", "bus"},
      {"shoes", "shoe"},     {"gas", "gas"},       {"glass", "glass"}};
  for (const Irregular& irregular : Irregulars)
    if (word == irregular.plural) return std::string(irregular.singular);
  if (word.size() > 4 && word.ends_with("ies"))
    return std::string(word.substr(0, word.size() - 3)) + "y";
  for (std::string_view ending : {"ches", "shes", "sses", "xes", "zes", "oes"})
    if (word.ends_with(ending)) return std::string(word.substr(0, word.size() - 2));
  if (word.size() > 2 && word.ends_with('s') && !word.ends_with("ss"))
    return std::string(word.substr(0, word.size() - 1));
  return std::string(word);
}

}  // namespace frazil::frontends::words
