// The text form of guards. Atoms are split at '&&', which no literal contains; each is one of few
// shapes, so that a reader over the atom's text is all that is needed.
#include <fmt/format.h>

#include <charconv>

#include "ir/guard.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

// Reads one atom. Spaces are skipped before every token; columns count from the start of the whole
// text.
class AtomReader {
 public:
  AtomReader(std::string_view text, size_t offset, const Function& entry)
      : text_(text), offset_(offset), entry_(entry) {
    SkipSpace();
  }

  Result<GuardAtom> Read() {
    GuardAtom atom;
    atom.location = Here();
    if (Accept("cpu("))
      TRY_VOID(ReadCpu(atom));
    else if (Accept("len("))
      TRY_VOID(ReadLength(atom));
    else if (Accept("align("))
      TRY_VOID(ReadNumber(atom, GuardKind::Alignment, ">="));
    else if (Accept("stride("))
      TRY_VOID(ReadNumber(atom, GuardKind::Stride, "=="));
    else if (Accept("same("))
      TRY_VOID(ReadPair(atom, GuardKind::Same));
    else if (Accept("disjoint("))
      TRY_VOID(ReadPair(atom, GuardKind::Disjoint));
    else if (Accept("apart("))
      TRY_VOID(ReadApart(atom));
    else if (Accept("cover("))
      TRY_VOID(ReadCover(atom));
    else if (text_.substr(at_).starts_with("arg"))
      TRY_VOID(ReadEquals(atom));
    else
      TRY_VOID(ReadBetween(atom));
    if (at_ != text_.size()) return Wrong("something follows the atom");
    return atom;
  }

 private:
  Location Here() const { return {1, static_cast<uint32_t>(offset_ + at_ + 1)}; }
  std::unexpected<Error> Wrong(std::string message) const {
    return Fail(Diag::BadGuard, std::move(message), Here());
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    SkipSpace();
    return true;
  }
  Result<void> Expect(std::string_view token) {
    if (!Accept(token)) return Wrong(fmt::format("'{}' is missing", token));
    return {};
  }

  Result<int64_t> Number() {
    int64_t number = 0;
    const char* end = text_.data() + text_.size();
    auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
    if (error != std::errc()) return Wrong("a number is missing or too large");
    at_ = static_cast<size_t>(stop - text_.data());
    SkipSpace();
    return number;
  }

  Result<uint32_t> Argument() {
    Location start = Here();
    if (!text_.substr(at_).starts_with("arg")) return Wrong("an argument such as arg0 is missing");
    at_ += 3;
    int64_t number = TRY(Number());
    if (number < 0 || number >= entry_.param_count())
      return Fail(Diag::BadGuard,
                  fmt::format("@{} has {} parameters, there is no arg{}", entry_.name,
                              entry_.param_count(), number),
                  start);
    return static_cast<uint32_t>(number);
  }

  Result<std::vector<uint64_t>> Constant(uint32_t arg, std::string_view literal,
                                         Location start) const {
    Type type = entry_.param_type(arg);
    if (!type.is_scalar())
      return Fail(Diag::BadGuard, fmt::format("arg{} is no scalar and equals no constant", arg),
                  start);
    while (literal.ends_with(' ') || literal.ends_with('\t')) literal.remove_suffix(1);
    Result<std::vector<uint64_t>> words = ParseLiteral(type, literal);
    if (!words)
      return Fail(Diag::BadGuard, fmt::format("'{}' is no {}", literal, ScalarOrBufferName(type)),
                  start);
    return words;
  }

  Result<void> ReadCpu(GuardAtom& atom) {
    atom.kind = GuardKind::Cpu;
    size_t end = text_.find(')', at_);
    std::string_view name = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    while (name.ends_with(' ')) name.remove_suffix(1);
    std::optional<CpuFeature> feature = CpuFeatureNamed(name);
    if (!feature) return Wrong(fmt::format("there is no CPU feature '{}'", name));
    atom.feature = *feature;
    at_ += name.size();
    SkipSpace();
    return Expect(")");
  }

  Result<void> ReadNumber(GuardAtom& atom, GuardKind kind, std::string_view relation) {
    atom.kind = kind;
    atom.arg = TRY(Argument());
    TRY_VOID(Expect(")"));
    TRY_VOID(Expect(relation));
    atom.number = TRY(Number());
    return {};
  }

  Result<void> ReadLength(GuardAtom& atom) {
    atom.arg = TRY(Argument());
    TRY_VOID(Expect(")"));
    if (Accept("=="))
      atom.kind = GuardKind::LengthIs;
    else if (Accept(">="))
      atom.kind = GuardKind::LengthAtLeast;
    else if (Accept("%"))
      atom.kind = GuardKind::LengthMultiple;
    else
      return Wrong("a length is tested by '==', '>=' or '%'");
    atom.number = TRY(Number());
    if (atom.kind != GuardKind::LengthMultiple) return {};
    TRY_VOID(Expect("=="));
    return Expect("0");
  }

  Result<void> ReadPair(GuardAtom& atom, GuardKind kind) {
    atom.kind = kind;
    atom.arg = TRY(Argument());
    TRY_VOID(Expect(","));
    atom.other = TRY(Argument());
    return Expect(")");
  }

  Result<std::vector<uint64_t>> ReadList() {
    std::vector<uint64_t> list;
    do {
      list.push_back(TRY(Argument()));
    } while (Accept(","));
    return list;
  }

  Result<void> ReadApart(GuardAtom& atom) {
    atom.kind = GuardKind::Apart;
    atom.low = TRY(ReadList());
    if (Accept(";")) atom.high = TRY(ReadList());
    return Expect(")");
  }

  Result<void> ReadCover(GuardAtom& atom) {
    atom.kind = GuardKind::Cover;
    atom.arg = TRY(Argument());
    TRY_VOID(Expect(";"));
    atom.low = TRY(ReadList());
    return Expect(")");
  }

  Result<void> ReadEquals(GuardAtom& atom) {
    atom.kind = GuardKind::Equals;
    atom.arg = TRY(Argument());
    TRY_VOID(Expect("=="));
    atom.type = entry_.param_type(atom.arg);
    atom.low = TRY(Constant(atom.arg, text_.substr(at_), Here()));
    at_ = text_.size();
    return {};
  }

  Result<void> ReadBetween(GuardAtom& atom) {
    atom.kind = GuardKind::Between;
    size_t relation = text_.find("<=", at_);
    if (relation == std::string_view::npos) return Wrong("this is no atom of a guard");
    Location start = Here();
    std::string_view low = text_.substr(at_, relation - at_);
    at_ = relation;
    TRY_VOID(Expect("<="));
    atom.arg = TRY(Argument());
    TRY_VOID(Expect("<="));
    atom.type = entry_.param_type(atom.arg);
    atom.low = TRY(Constant(atom.arg, low, start));
    atom.high = TRY(Constant(atom.arg, text_.substr(at_), Here()));
    at_ = text_.size();
    return {};
  }

  std::string_view text_;
  size_t offset_;
  const Function& entry_;
  size_t at_ = 0;
};

std::string PrintList(const std::vector<uint64_t>& list) {
  std::string text;
  for (const uint64_t arg : list) text += fmt::format("{}arg{}", text.empty() ? "" : ", ", arg);
  return text;
}

std::string PrintAtom(const GuardAtom& atom) {
  switch (atom.kind) {
    case GuardKind::Equals:
      return fmt::format("arg{} == {}", atom.arg, PrintLiteral(atom.type, atom.low));
    case GuardKind::Between:
      return fmt::format("{} <= arg{} <= {}", PrintLiteral(atom.type, atom.low), atom.arg,
                         PrintLiteral(atom.type, atom.high));
    case GuardKind::LengthIs: return fmt::format("len(arg{}) == {}", atom.arg, atom.number);
    case GuardKind::LengthMultiple:
      return fmt::format("len(arg{}) % {} == 0", atom.arg, atom.number);
    case GuardKind::LengthAtLeast: return fmt::format("len(arg{}) >= {}", atom.arg, atom.number);
    case GuardKind::Alignment: return fmt::format("align(arg{}) >= {}", atom.arg, atom.number);
    case GuardKind::Stride: return fmt::format("stride(arg{}) == {}", atom.arg, atom.number);
    case GuardKind::Same: return fmt::format("same(arg{}, arg{})", atom.arg, atom.other);
    case GuardKind::Disjoint: return fmt::format("disjoint(arg{}, arg{})", atom.arg, atom.other);
    case GuardKind::Apart:
      return fmt::format("apart({}{}{})", PrintList(atom.low), atom.high.empty() ? "" : "; ",
                         PrintList(atom.high));
    case GuardKind::Cover: return fmt::format("cover(arg{}; {})", atom.arg, PrintList(atom.low));
    case GuardKind::Cpu: return fmt::format("cpu({})", CpuFeatureName(atom.feature));
  }
  return {};
}

}  // namespace

Result<Guard> ParseGuard(std::string_view text, const Program& program) {
  Guard guard;
  size_t first = text.find_first_not_of(" \t");
  size_t last = text.find_last_not_of(" \t");
  if (first != std::string_view::npos && text.substr(first, last - first + 1) == "true")
    return guard;
  for (size_t begin = 0;;) {
    size_t end = std::min(text.find("&&", begin), text.size());
    AtomReader reader(text.substr(begin, end - begin), begin, program.entry_function());
    guard.atoms.push_back(TRY(reader.Read()));
    if (guard.atoms.size() > MaxGuardAtoms || end == text.size()) break;
    begin = end + 2;
  }
  TRY_VOID(CheckGuard(guard, program));
  return guard;
}

std::string PrintGuard(const Guard& guard) {
  if (guard.atoms.empty()) return "true";
  std::string text;
  for (const GuardAtom& atom : guard.atoms) {
    if (!text.empty()) text += " && ";
    text += PrintAtom(atom);
  }
  return text;
}

}  // namespace frazil::ir
