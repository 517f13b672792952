// Certificates as text. Constants are literals of the text form, which are exact; attributes are words in hexadecimal.
#include "ir/certificate.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "ir/text/text.h"

namespace frazil::ir {
namespace {

constexpr std::string_view Header = "certificate 1";

std::string TypeText(Type type) { return ScalarOrBufferName(type); }

void PrintTerm(const CertTerm& term, std::string& out) {
  switch (term.kind) {
    case CertTerm::Kind::SourceValue:
      out += fmt::format("term source {} {}", term.function, term.value);
      break;
    case CertTerm::Kind::CandidateValue:
      out += fmt::format("term candidate {} {}", term.function, term.value);
      break;
    case CertTerm::Kind::Constant:
      out += fmt::format("term constant {} {}", TypeText(term.type),
                         PrintLiteral(term.type, term.words));
      break;
    case CertTerm::Kind::Apply:
      out += fmt::format("term apply {} {} {}", Info(term.op).mnemonic, TypeText(term.type),
                         TypeText(term.result));
      for (uint32_t child : term.children) out += fmt::format(" {}", child);
      for (uint64_t word : term.words) out += fmt::format(" #{:x}", word);
      break;
  }
  out += '\n';
}

class CertificateReader {
 public:
  explicit CertificateReader(std::string_view text) : text_(text) {}

  Result<Certificate> Read() {
    if (!NextLine() || line_ != Header) return Bad("the header is missing");
    while (NextLine()) {
      if (line_.empty()) continue;
      const std::string_view kind = Word();
      if (kind == "term") {
        TRY_VOID(ReadTerm());
      } else if (kind == "equal") {
        TRY_VOID(ReadEquality());
      } else if (kind == "closed") {
        TRY_VOID(ReadClosedForm());
      } else {
        return Bad(fmt::format("unknown line \"{}\"", kind));
      }
      if (!line_.empty()) return Bad(fmt::format("\"{}\" is left over", line_));
    }
    return std::move(certificate_);
  }

 private:
  std::unexpected<Error> Bad(std::string what) const {
    return Fail(Diag::BadToken, std::move(what), {number_, 1});
  }

  bool NextLine() {
    if (text_.empty()) return false;
    const size_t end = text_.find('\n');
    line_ = text_.substr(0, end);
    text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
    ++number_;
    return true;
  }
  std::string_view Word() {
    const size_t end = line_.find(' ');
    const std::string_view word = line_.substr(0, end);
    line_ = end == std::string_view::npos ? std::string_view{} : line_.substr(end + 1);
    return word;
  }
  Result<uint64_t> Number(std::string_view word, int base = 10) const {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc{} || end != word.data() + word.size())
      return Bad(fmt::format("\"{}\" is no number", word));
    return value;
  }
  Result<uint32_t> Index() {
    const uint64_t value = TRY(Number(Word()));
    if (value > UINT32_MAX) return Bad("number is too large");
    return static_cast<uint32_t>(value);
  }
  Result<uint32_t> TermIndex() {
    const uint32_t index = TRY(Index());
    if (index >= certificate_.terms.size())
      return Bad(fmt::format("there is no term {} yet", index));
    return index;
  }
  Result<Type> TypeWord() {
    // "in buffer<f32>" has a space; a scalar has none.
    std::string word(Word());
    if (word == "in" || word == "out") word += " " + std::string(Word());
    return ParseType(word);
  }

  Result<void> ReadTerm() {
    CertTerm term;
    const std::string_view kind = Word();
    if (kind == "source" || kind == "candidate") {
      term.kind = kind == "source" ? CertTerm::Kind::SourceValue : CertTerm::Kind::CandidateValue;
      term.function = TRY(Index());
      term.value = TRY(Index());
    } else if (kind == "constant") {
      term.type = TRY(TypeWord());
      if (!term.type.is_scalar()) return Bad("a constant is a scalar");
      term.words = TRY(ParseLiteral(term.type, line_));
      line_ = {};
    } else if (kind == "apply") {
      TRY_VOID(ReadApply(term));
    } else {
      return Bad(fmt::format("unknown term \"{}\"", kind));
    }
    certificate_.terms.push_back(std::move(term));
    return {};
  }

  Result<void> ReadApply(CertTerm& term) {
    term.kind = CertTerm::Kind::Apply;
    const std::string_view name = Word();
    const std::optional<Op> op = OpNamed(name);
    if (!op) return Bad(fmt::format("unknown op \"{}\"", name));
    term.op = *op;
    term.type = TRY(TypeWord());
    term.result = TRY(TypeWord());
    while (!line_.empty()) {
      if (line_.front() == '#') {
        term.words.push_back(TRY(Number(Word().substr(1), 16)));
      } else {
        term.children.push_back(TRY(TermIndex()));
      }
    }
    return {};
  }

  Result<void> ReadEquality() {
    CertEquality equality;
    equality.rule = Word();
    if (line_.starts_with("reversed ")) {
      equality.reversed = true;
      Word();
    }
    equality.left = TRY(TermIndex());
    equality.right = TRY(TermIndex());
    certificate_.equalities.push_back(std::move(equality));
    return {};
  }

  Result<void> ReadClosedForm() {
    CertClosedForm form;
    form.function = TRY(Index());
    form.inst = TRY(Index());
    form.result = TRY(Index());
    form.closed = TRY(TermIndex());
    certificate_.closed_forms.push_back(form);
    return {};
  }

  std::string_view text_;
  std::string_view line_;
  uint32_t number_ = 0;
  Certificate certificate_;
};

}  // namespace

std::string PrintCertificate(const Certificate& certificate) {
  std::string out = std::string(Header) + "\n";
  for (const CertTerm& term : certificate.terms) PrintTerm(term, out);
  for (const CertEquality& equality : certificate.equalities) {
    out += fmt::format("equal {} {}{} {}\n", equality.rule, equality.reversed ? "reversed " : "",
                       equality.left, equality.right);
  }
  for (const CertClosedForm& form : certificate.closed_forms) {
    out += fmt::format("closed {} {} {} {}\n", form.function, form.inst, form.result, form.closed);
  }
  return out;
}

Result<Certificate> ParseCertificate(std::string_view text) {
  return CertificateReader(text).Read();
}

}  // namespace frazil::ir
