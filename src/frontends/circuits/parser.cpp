// Reads circuits straight from characters: the language has so few tokens that a list of them would be longer than
// this. Nothing is skipped but blanks and comments; what does not belong is an error at its place.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "frontends/circuits/syntax.h"

namespace frazil::frontends::circuits {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const SyntaxOptions& options) : text_(text), options_(options) {}

  Result<Phrase> Read() {
    Phrase phrase;
    Skip();
    if (At("scratch")) TRY_VOID(ReadScratch(phrase.scratch));
    Skip();
    if (Next() == 'R' || Next() == 'T' || Next() == '~') phrase.transform = TRY(ReadTransform());
    phrase.branches = TRY(ReadBranches(0));
    Skip();
    if (place_ != text_.size())
      return Wrong(fmt::format("{} does not belong here: the circuit ends before it", Shown()));
    return phrase;
  }

 private:
  // --- characters -------------------------------------------------------------------------------------------
  char Next() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  bool At(std::string_view token) const { return text_.substr(place_).starts_with(token); }
  Location Here() const { return {line_, static_cast<uint32_t>(place_ - line_start_) + 1}; }
  std::unexpected<Error> Wrong(std::string message) const {
    return Wrong(std::move(message), Here());
  }
  static std::unexpected<Error> Wrong(std::string message, Location where) {
    return Fail(Diag::BadCircuit, std::move(message), where);
  }

  std::string Shown() const {
    if (place_ >= text_.size()) return "the end of the text";
    const auto c = static_cast<unsigned char>(text_[place_]);
    return c > 32 && c < 127 ? fmt::format("'{}'", text_[place_]) : fmt::format("byte 0x{:02x}", c);
  }

  void Skip() {
    while (place_ < text_.size()) {
      const char c = text_[place_];
      if (c == '\n') {
        ++line_;
        line_start_ = ++place_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++place_;
      } else if (At("//")) {
        while (place_ < text_.size() && text_[place_] != '\n') ++place_;
      } else {
        return;
      }
    }
  }

  bool Accept(std::string_view token) {
    Skip();
    if (!At(token)) return false;
    place_ += token.size();
    return true;
  }

  Result<void> Expect(std::string_view token, std::string_view where) {
    if (Accept(token)) return {};
    return Wrong(fmt::format("expected '{}' {}, found {}", token, where, Shown()));
  }

  // --- numbers ------------------------------------------------------------------------------------------------
  // Digits right here. Values above a million are all the same: too large for anything.
  Result<int64_t> ReadDigits(std::string_view what) {
    if (!IsDigit(Next())) return Wrong(fmt::format("expected {}, found {}", what, Shown()));
    int64_t value = 0;
    for (; IsDigit(Next()); ++place_)
      value = std::min<int64_t>(value * 10 + (Next() - '0'), 1'000'000);
    return value;
  }

  Result<int64_t> ReadBounded(std::string_view what, int64_t most) {
    const Location where = Here();
    const int64_t value = TRY(ReadDigits(what));
    if (value > most)
      return Wrong(fmt::format("{} is out of range: 0 to {} exist", what, most), where);
    return value;
  }

  Result<int64_t> ReadAmount(std::string_view what) {
    const bool minus = Next() == '-';
    if (minus || Next() == '+') ++place_;
    const Location where = Here();
    const int64_t value = TRY(ReadDigits(what));
    if (value >= 1'000'000) return Wrong(fmt::format("{} is out of range", what), where);
    return minus ? -value : value;
  }

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  Result<Number> ReadNumber() {
    const size_t begin = place_;
    const Location where = Here();
    if (Next() == '-') ++place_;
    for (std::string_view word : {"inf", "nan"}) {
      if (!At(word)) continue;
      place_ += word.size();
      if (word == "nan" && text_[begin] == '-') return Wrong("there is one NaN: 'nan'", where);
      const double value = word == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                         : std::numeric_limits<double>::infinity();
      return RealNumber(text_[begin] == '-' ? -value : value);
    }
    if (!IsDigit(Next()))
      return Wrong(fmt::format("expected a slot or a number, found {}", Shown()));
    bool whole = true;
    while (IsDigit(Next())) ++place_;
    if (Next() == '.' && !At("..")) {
      whole = false;
      ++place_;
      if (!IsDigit(Next()))
        return Wrong(fmt::format("expected digits after the point, found {}", Shown()));
      while (IsDigit(Next())) ++place_;
    }
    if (Next() == 'e' || Next() == 'E') {
      whole = false;
      ++place_;
      if (Next() == '+' || Next() == '-') ++place_;
      if (!IsDigit(Next()))
        return Wrong(fmt::format("expected the digits of an exponent, found {}", Shown()));
      while (IsDigit(Next())) ++place_;
    }
    return NumberOf(text_.substr(begin, place_ - begin), whole, where);
  }

  Result<Number> NumberOf(std::string_view digits, bool whole, Location where) const {
    if (digits.size() > options_.limits.literal_chars)
      return Fail(Diag::LimitReached, "number is too long", where);
    const char* end = digits.data() + digits.size();
    int64_t integer = 0;
    if (whole && std::from_chars(digits.data(), end, integer).ec == std::errc())
      return integer == 0 && digits[0] == '-' ? RealNumber(-0.0) : IntegerNumber(integer);
    double value = 0;
    if (std::from_chars(digits.data(), end, value).ec != std::errc())
      return Wrong(fmt::format("no double is near {}", digits), where);
    return RealNumber(value);
  }

  // --- the grammar ----------------------------------------------------------------------------------------------
  Result<void> ReadScratch(std::vector<Sigil>& scratch) {
    ReadWord();
    do {
      Skip();
      const Location where = Here();
      const Sigil sigil = TRY(ReadSigil());
      if (sigil.twist != 0 || sigil.mirror)
        return Wrong("scratch is named as it is after transforms", where);
      const auto before = [](const Sigil& a, const Sigil& b) {
        return std::pair(a.class_index, a.page) < std::pair(b.class_index, b.page);
      };
      const auto place = std::ranges::lower_bound(scratch, sigil, before);
      if (place != scratch.end() && *place == sigil)
        return Wrong("scratch names a slot twice", where);
      scratch.insert(place, sigil);
    } while (Accept(","));
    return Expect(":", "after the slots of scratch");
  }

  Result<Transform> ReadTransform() {
    int64_t rotate = 0, twist = 0;
    if (Accept("R")) rotate = TRY(ReadAmount("a rotation"));
    if (Accept("T")) twist = TRY(ReadAmount("a twist"));
    const bool mirror = Accept("~");
    TRY_VOID(Expect("@", "after a transform (in the order R T ~)"));
    return MakeTransform(rotate, twist, mirror);
  }

  Result<std::vector<Sequence>> ReadBranches(uint64_t depth) {
    std::vector<Sequence> branches;
    do {
      Sequence sequence;
      TRY_VOID(ReadSequence(sequence, depth));
      // A group alone in its branch: its branches are branches here.
      if (sequence.items.size() == 1 && !sequence.items[0].group.empty()) {
        for (Sequence& inner : sequence.items[0].group) branches.push_back(std::move(inner));
      } else {
        branches.push_back(std::move(sequence));
      }
      Skip();
      if (Next() == '|' && !At("||")) return Wrong("a single '|': branches are parted by '||'");
    } while (Accept("||"));
    return branches;
  }

  Result<void> ReadSequence(Sequence& sequence, uint64_t depth) {
    do {
      Skip();
      if (!Accept("(")) {
        Term term;
        term.operation = TRY(ReadOperation());
        sequence.items.push_back(std::move(term));
        continue;
      }
      if (depth + 1 > options_.limits.nesting)
        return Fail(Diag::LimitReached,
                    fmt::format("groups are nested deeper than {}", options_.limits.nesting),
                    Here());
      std::vector<Sequence> group = TRY(ReadBranches(depth + 1));
      TRY_VOID(Expect(")", "at the end of a group"));
      if (group.size() == 1) {
        for (Term& term : group[0].items) sequence.items.push_back(std::move(term));
      } else {
        sequence.items.push_back({{}, std::move(group)});
      }
    } while (Accept("."));
    return {};
  }

  std::string_view ReadWord() {
    const size_t begin = place_;
    while (std::isalnum(static_cast<unsigned char>(Next())) || Next() == '_') ++place_;
    return text_.substr(begin, place_ - begin);
  }

  Result<Operation> ReadOperation() {
    Operation operation;
    operation.location = Here();
    std::string_view word = ReadWord();
    if (word.empty()) return Wrong(fmt::format("expected a generator or '(', found {}", Shown()));
    std::string_view variant;
    if (word.starts_with("reduce_")) {  // an older spelling
      variant = word.substr(7);
      word = word.substr(0, 6);
    }
    bool known = false;
    for (int i = 0; i <= static_cast<int>(Generator::Softmax) && !known; ++i) {
      operation.generator = static_cast<Generator>(i);
      known = GeneratorName(operation.generator) == word;
    }
    if (!known)
      return Wrong(fmt::format("'{}' is no generator: mark, copy, swap, merge, split, quote, "
                               "evaluate, reduce and softmax "
                               "are",
                               word),
                   operation.location);
    TRY_VOID(ReadVariant(operation, variant));
    TRY_VOID(Expect("@", "after a generator"));
    TRY_VOID(ReadTarget(operation));
    return operation;
  }

  Result<void> ReadVariant(Operation& operation, std::string_view variant) {
    const Generator generator = operation.generator;
    const bool has_variants = !VariantName(generator, 0).empty();
    Location where = operation.location;
    if (variant.empty() && Accept(".")) {
      Skip();
      where = Here();
      variant = ReadWord();
      if (!has_variants)
        return Wrong(fmt::format("{} has no variants", GeneratorName(generator)), where);
      if (variant.empty())
        return Wrong(
            fmt::format("expected a variant of {}, found {}", GeneratorName(generator), Shown()));
    }
    if (!has_variants) return {};
    if (variant.empty()) {
      if (generator == Generator::Reduce)
        return Wrong("reduce needs its variant: reduce.sum, reduce.min or reduce.max", where);
      operation.variant = generator == Generator::Merge ? static_cast<uint8_t>(options_.merge)
                                                        : static_cast<uint8_t>(options_.split);
      return {};
    }
    const std::optional<uint8_t> found = VariantNamed(generator, variant);
    if (!found)
      return Wrong(fmt::format("'{}' is no variant of {}", variant, GeneratorName(generator)),
                   where);
    operation.variant = *found;
    return {};
  }

  Result<void> ReadPostfix(Sigil& sigil) {
    if (Accept("^")) sigil.twist = MakeTransform(0, TRY(ReadAmount("a twist")), false).twist;
    if (Accept("~")) sigil.mirror = true;
    return {};
  }

  Result<Sigil> ReadSigil() {
    Skip();
    Sigil sigil;
    if (Next() != 'c')
      return Wrong(fmt::format("expected a class (c00 to c95), found {}", Shown()));
    ++place_;
    if (Next() == '[') return Wrong("a range stands alone behind its generator");
    sigil.class_index = static_cast<uint8_t>(TRY(ReadBounded("a class", ClassCount - 1)));
    TRY_VOID(ReadPostfix(sigil));
    if (Accept("@")) {
      Skip();
      sigil.page = static_cast<int8_t>(TRY(ReadBounded("a page", PageCount - 1)));
    }
    return sigil;
  }

  Result<void> ReadRange(Operation& operation) {
    const Location where = Here();
    switch (operation.generator) {
      case Generator::Mark:
      case Generator::Merge:
      case Generator::Quote:
      case Generator::Evaluate: break;
      default:
        return Wrong(fmt::format("{} takes no range; mark, merge, quote and evaluate do",
                                 GeneratorName(operation.generator)));
    }
    place_ += 2;
    Skip();
    operation.target = TargetKind::Range;
    operation.first.class_index = static_cast<uint8_t>(TRY(ReadBounded("a class", ClassCount - 1)));
    TRY_VOID(Expect("..", "between the ends of a range"));
    Skip();
    operation.last = static_cast<uint8_t>(TRY(ReadBounded("a class", ClassCount - 1)));
    TRY_VOID(Expect("]", "at the end of a range"));
    if (operation.first.class_index >= operation.last)
      return Wrong(fmt::format("range c[{}..{}] does not ascend", operation.first.class_index,
                               operation.last),
                   where);
    TRY_VOID(ReadPostfix(operation.first));
    Skip();
    if (Next() == '@') return Wrong("a range has no page");
    return {};
  }

  Result<void> ReadTarget(Operation& operation) {
    Skip();
    if (At("c[")) return ReadRange(operation);
    operation.first = TRY(ReadSigil());
    switch (operation.generator) {
      case Generator::Mark:
      case Generator::Quote:
      case Generator::Evaluate: return {};
      case Generator::Copy:
      case Generator::Reduce:
      case Generator::Softmax: TRY_VOID(Expect("->", "and a destination")); break;
      case Generator::Swap: TRY_VOID(Expect("<->", "and a second class")); break;
      case Generator::Merge:
      case Generator::Split: return ReadTriple(operation);
    }
    operation.target = TargetKind::Pair;
    operation.second = TRY(ReadSigil());
    return {};
  }

  Result<void> ReadTriple(Operation& operation) {
    operation.target = TargetKind::Triple;
    TRY_VOID(Expect("[", "and a context"));
    Skip();
    const Location where = Here();
    if (Next() == 'c') {
      operation.context = TRY(ReadSigil());
    } else {
      operation.number = TRY(ReadNumber());
      if (operation.generator == Generator::Merge &&
          IsUnary(static_cast<MergeVariant>(operation.variant)))
        return Wrong("a merge of one operand ignores its context: name a class", where);
    }
    TRY_VOID(Expect(",", "and a destination"));
    operation.second = TRY(ReadSigil());
    return Expect("]", "after the destination");
  }

  std::string_view text_;
  const SyntaxOptions& options_;
  size_t place_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<Phrase> ParsePhrase(std::string_view text, const SyntaxOptions& options) {
  if (text.size() > options.limits.source_bytes)
    return Fail(Diag::LimitReached,
                fmt::format("text is longer than {} bytes", options.limits.source_bytes));
  return Parser(text, options).Read();
}

}  // namespace frazil::frontends::circuits
