// A dictionary of the three keys that NumPy writes, each once, in any order. What else Python would take (lists, other
// keys, other spellings of numbers) is refused and not guessed.
#include "arguments/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace frazil::arguments {
namespace {

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> Run() {
    TRY_VOID(Expect('{'));
    while (!Eat('}')) {
      TRY_VOID(Entry());
      if (Eat('}')) break;
      TRY_VOID(Expect(','));
    }
    SkipSpace();
    if (at_ != text_.size()) return Bad("nothing more");
    for (std::string_view key : {"descr", "fortran_order", "shape"})
      if (std::ranges::find(seen_, key) == seen_.end())
        return Fail(Diag::WrongArgument, fmt::format("its header has no '{}'", key));
    return std::move(header_);
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Eat(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool EatWord(std::string_view word) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Result<void> Expect(char c) {
    if (!Eat(c)) return Bad(fmt::format("'{}'", c));
    return {};
  }
  std::unexpected<Error> Bad(std::string_view expected) const {
    const std::string found =
        at_ == text_.size() ? "ends" : fmt::format("has \"{}\"", Printable(text_.substr(at_, 1)));
    return Fail(Diag::WrongArgument,
                fmt::format("its header {} at character {}, where {} should stand", found, at_ + 1,
                            expected));
  }

  Result<std::string> String() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Bad("a string");
    const size_t end = text_.find(quote, at_ + 1);
    std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (end == std::string_view::npos || inside.find('\\') != std::string_view::npos)
      return Bad("a plain string");
    at_ = end + 1;
    return std::string(inside);
  }

  Result<void> Entry() {
    const std::string key = TRY(String());
    if (std::ranges::find(seen_, key) != seen_.end())
      return Fail(Diag::WrongArgument, fmt::format("its header has '{}' twice", Printable(key)));
    seen_.push_back(key);
    TRY_VOID(Expect(':'));
    if (key == "shape") return Shape();
    if (key == "descr") {
      SkipSpace();
      if (text_.substr(at_).starts_with('['))
        return Fail(Diag::WrongArgument, "it holds records of several fields, not plain elements");
      header_.descr = TRY(String());
      return {};
    }
    if (key == "fortran_order") {
      header_.fortran_order = EatWord("True");
      if (!header_.fortran_order && !EatWord("False")) return Bad("True or False");
      return {};
    }
    return Fail(Diag::WrongArgument, fmt::format("its header has '{}', which is not known",
                                                 Printable(CutUtf8(key, 40))));
  }

  // A tuple: "()", "(3,)", "(3, 4)"; "(3)" is a number in brackets.
  Result<void> Shape() {
    TRY_VOID(Expect('('));
    if (Eat(')')) return {};
    while (true) {
      TRY_VOID(Dimension());
      const bool comma = Eat(',');
      if (Eat(')')) {
        if (!comma && header_.shape.size() == 1)
          return Fail(Diag::WrongArgument, "its shape is a number in brackets and no tuple");
        return {};
      }
      if (!comma) return Bad("',' or ')'");
    }
  }

  Result<void> Dimension() {
    SkipSpace();
    if (text_.substr(at_).starts_with('-'))
      return Fail(Diag::WrongArgument, "its shape has a negative dimension");
    uint64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (error == std::errc::result_out_of_range)
      return Fail(Diag::WrongArgument, "its shape has a dimension of more than 64 bits");
    if (error != std::errc() || (*begin == '0' && end != begin + 1)) return Bad("a number");
    header_.shape.push_back(size);
    at_ += static_cast<size_t>(end - begin);
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> seen_;
  NpyHeader header_;
};

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view text) { return HeaderParser(text).Run(); }

std::optional<int64_t> ElementsOf(const NpyHeader& header, int64_t most) {
  // Whatever the others are.
  if (std::ranges::find(header.shape, uint64_t{0}) != header.shape.end()) return 0;
  uint64_t product = 1;
  for (uint64_t size : header.shape)
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  if (product > static_cast<uint64_t>(most)) return std::nullopt;
  return static_cast<int64_t>(product);
}

}  // namespace frazil::arguments
