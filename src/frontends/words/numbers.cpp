// Numbers in words, alone or mixed with digits ("2.5 million"). The one real question is "and": in
// "two hundred and five" it may part two numbers, so the grammar asks.
#include <array>
#include <span>

#include "frontends/words/parser.h"

namespace frazil::frontends::words {
namespace {

constexpr std::string_view Small[] = {"zero",    "one",     "two",       "three",    "four",
                                      "five",    "six",     "seven",     "eight",    "nine",
                                      "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                      "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::string_view Tens[] = {"twenty", "thirty",  "forty",  "fifty",
                                     "sixty",  "seventy", "eighty", "ninety"};
constexpr std::string_view Scales[] = {"thousand", "million",     "billion",
                                       "trillion", "quadrillion", "quintillion"};
constexpr std::string_view SmallOrdinals[] = {
    "",           "first",     "second",    "third",       "fourth",     "fifth",     "sixth",
    "seventh",    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",   "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
constexpr std::string_view TensOrdinals[] = {"twentieth", "thirtieth",  "fortieth",  "fiftieth",
                                             "sixtieth",  "seventieth", "eightieth", "ninetieth"};

template <size_t N>
int IndexOf(const std::string_view (&table)[N], const Token& token) {
  if (!token.IsWord()) return -1;
  for (size_t i = 0; i < N; ++i)
    if (!table[i].empty() && table[i] == token.word) return static_cast<int>(i);
  return -1;
}

// The n of "halves", "thirds", "quarters" ...; 0 for other words.
int FractionName(const Token& token) {
  if (!token.IsWord()) return 0;
  std::string_view word = token.word;
  if (word == "half" || word == "halves") return 2;
  if (word.ends_with('s')) word.remove_suffix(1);
  if (word == "quarter") return 4;
  if (word == "hundredth") return 100;
  for (int n = 3; n <= 19; ++n)
    if (SmallOrdinals[n] == word) return n;
  return 0;
}

class WordNumber {
 public:
  WordNumber(std::span<const Token> tokens, size_t at, Choices& choices)
      : tokens_(tokens), at_(at), choices_(choices) {}

  size_t end() const { return at_; }

  std::optional<NumberRead> Read() {
    if (auto fraction = Fraction(false)) return fraction;
    std::optional<Rational> value = tokens_[at_].IsNumber() ? Digits() : Cardinal();
    if (!value) return std::nullopt;
    NumberRead result{*value};
    if (value->whole()) {
      if (auto fraction = Numerator(*value)) return fraction;
      PlusFraction(result);
    }
    Percent(result);
    return result;
  }

 private:
  const Token& Here(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }

  // 12, 2.5 million, 3 dozen
  std::optional<Rational> Digits() {
    Rational value = tokens_[at_++].value;
    for (int scale; (scale = IndexOf(Scales, Here())) >= 0 || Here().Is("hundred"); ++at_)
      value = Rational::Of(
          value.num * (scale >= 0 ? Big::Power(1000, static_cast<uint64_t>(scale) + 1) : 100),
          value.den);
    if (Here().Is("dozen")) {
      ++at_;
      value = Rational::Of(value.num * 12, value.den);
    }
    return value;
  }

  // "a third", "half", "a quarter": one part. With `counted` an article is needed.
  std::optional<NumberRead> Fraction(bool counted) {
    const bool article = Here().Is("a") || Here().Is("an") || Here().Is("one");
    const int parts = FractionName(Here(article ? 1 : 0));
    if (parts == 0 || (!article && (counted || parts != 2))) return std::nullopt;
    at_ += article ? 2 : 1;
    if (!counted && parts == 2 && Here().Is("a") && Here(1).Is("dozen")) {
      at_ += 2;
      return NumberRead{Rational{6, 1}};
    }
    return NumberRead{Rational::Of(1, parts), false, true};
  }

  // "two thirds"; the plural, or joined by a hyphen, so that "two third graders" is not one.
  std::optional<NumberRead> Numerator(const Rational& count) {
    const int parts = FractionName(Here());
    if (parts == 0 || Here().Is("half")) return std::nullopt;
    if (!Here().word.ends_with('s') && count.num != Big(1) && !Here().joined) return std::nullopt;
    ++at_;
    return NumberRead{Rational::Of(count.num, parts), false, true};
  }

  // "two and a half"
  void PlusFraction(NumberRead& number) {
    if (!Here().Is("and")) return;
    const size_t start = at_++;
    if (auto fraction = Fraction(true); fraction && !Here().Is("of")) {
      number.value = Rational::Of(number.value.num * fraction->value.den + fraction->value.num,
                                  fraction->value.den);
    } else {
      at_ = start;
    }
  }

  // 17 % 5 is a remainder: a percent sign that an operand follows is none.
  void Percent(NumberRead& number) {
    size_t length = 0;
    if (Here().Is("percent")) length = 1;
    if (Here().Is("per") && Here(1).Is("cent")) length = 2;
    if (Here().Is(Symbol::Percent) && !Here(1).IsNumber() && !Here(1).Is(Symbol::Open)) length = 1;
    if (length == 0) return;
    at_ += length;
    number = {Rational::Of(number.value.num, number.value.den * 100), true, true};
  }

  std::optional<Rational> Cardinal() {
    size_t start = at_;
    Big total = 0, group = 0;
    int last_scale = 100;
    bool any = false;
    if ((Here().Is("a") || Here().Is("an")) &&
        (Here(1).Is("hundred") || Here(1).Is("dozen") || IndexOf(Scales, Here(1)) >= 0)) {
      ++at_;
      group = 1;
      any = true;
    }
    while (true) {
      const size_t before = at_;
      if (any && !group_open_) SkipAnd();
      if (BelowHundred(group)) {
        any = true;
      } else if (any && Here().Is("hundred") && group > 0 && group < 100) {
        ++at_;
        group = group * 100;
        group_open_ = tens_open_ = false;
      } else if (const int scale = IndexOf(Scales, Here());
                 any && scale >= 0 && scale < last_scale && group > 0) {
        ++at_;
        total = total + group * Big::Power(1000, static_cast<uint64_t>(scale) + 1);
        group = 0;
        last_scale = scale;
        group_open_ = tens_open_ = false;
      } else {
        at_ = before;
        break;
      }
    }
    if (!any) {
      at_ = start;
      return std::nullopt;
    }
    total = total + group;
    if (Here().Is("dozen")) {
      ++at_;
      total = total * 12;
    }
    return Point(total);
  }

  // "and" after hundred or thousand, before a smaller number.
  void SkipAnd() {
    if (!Here().Is("and")) return;
    const bool number = IndexOf(Small, Here(1)) > 0 || IndexOf(Tens, Here(1)) >= 0;
    if (number && choices_.Ask(2, Here().location) == 0) ++at_;
  }

  // twenty, five, twenty-five; onto what the group holds.
  bool BelowHundred(Big& group) {
    const int tens = IndexOf(Tens, Here());
    if (tens >= 0 && !group_open_) {
      ++at_;
      group = group + (tens + 2) * 10;
      group_open_ = tens_open_ = true;
      return true;
    }
    const int unit = IndexOf(Small, Here());
    if (unit < 0 || (group_open_ && !(tens_open_ && unit > 0 && unit < 10))) return false;
    ++at_;
    group = group + unit;
    group_open_ = true;
    tens_open_ = false;
    return true;
  }

  // "three point one four"
  Rational Point(const Big& whole) {
    Rational value{whole, 1};
    if (!Here().Is("point")) return value;
    auto digit = [&](size_t ahead) {
      const int unit = IndexOf(Small, Here(ahead));
      return unit >= 0 && unit < 10 ? unit : -1;
    };
    if (digit(1) < 0) return value;
    ++at_;
    Big num = whole, den = 1;
    for (; digit(0) >= 0; ++at_) {
      num = num * 10 + digit(0);
      den = den * 10;
    }
    return Rational::Of(num, den);
  }

  std::span<const Token> tokens_;
  size_t at_;
  Choices& choices_;
  bool group_open_ = false;  // the group has its part below a hundred
  bool tens_open_ = false;   // ... which is a multiple of ten: a unit may follow
};

}  // namespace

std::optional<NumberRead> ReadNumber(std::span<const Token> tokens, size_t& at, Choices& choices) {
  size_t start = at;
  if (tokens[start].Is(Symbol::Currency) && start + 1 < tokens.size() && tokens[start + 1].money)
    ++start;
  if (!tokens[start].IsNumber() && !tokens[start].IsWord()) return std::nullopt;
  WordNumber reader(tokens, start, choices);
  auto number = reader.Read();
  if (number) at = reader.end();
  return number;
}

std::optional<Big> ReadOrdinal(std::span<const Token> tokens, size_t& at) {
  if (tokens[at].kind == TokenKind::Ordinal) return tokens[at++].value.num;
  if (const int unit = IndexOf(SmallOrdinals, tokens[at]); unit > 0) {
    ++at;
    return Big(unit);
  }
  if (const int tens = IndexOf(TensOrdinals, tokens[at]); tens >= 0) {
    ++at;
    return Big((tens + 2) * 10);
  }
  if (const int tens = IndexOf(Tens, tokens[at]); tens >= 0 && at + 1 < tokens.size()) {
    if (const int unit = IndexOf(SmallOrdinals, tokens[at + 1]); unit > 0 && unit < 10) {
      at += 2;
      return Big((tens + 2) * 10 + unit);
    }
  }
  return std::nullopt;
}

}  // namespace frazil::frontends::words
