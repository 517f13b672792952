// Reads assembly text. One pass over the bytes gives instructions whose calls still carry names; a second
// pass over the calls turns names into positions. Both are linear, so that a million lines take a moment.
// The grammar is the published assembler's, with these differences: `//` may be followed by nothing, the type in a hint
// is only skimmed, labels are ASCII, and error ids have 63 bits.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/number/goldilocks.h"
#include "base/utf8.h"
#include "machines/tasm/program.h"
#include "machines/tasm/words.h"

namespace frazil::machines::tasm {
namespace {

constexpr bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool IsName(char c) { return IsNameStart(c) || IsDigit(c) || c == '-'; }

struct PendingCall {
  uint32_t instruction;
  std::string_view name;
};

class Reader {
 public:
  Reader(std::string_view text, Profile profile) : text_(text) { program_.profile = profile; }

  Result<Program> Read() {
    TRY_VOID(SkipBlank());
    while (at_ < text_.size()) {
      TRY_VOID(ReadItem());
      TRY_VOID(SkipBlank());
    }
    TRY_VOID(ResolveCalls());
    return std::move(program_);
  }

 private:
  Location Here() const { return {line_, static_cast<uint32_t>(at_ - line_start_) + 1}; }
  std::unexpected<Error> Bad(std::string_view message, Location location,
                             std::string hint = {}) const {
    Error error{Diag::BadTasm, Printable(message), location};
    error.hint = std::move(hint);
    return std::unexpected(std::move(error));
  }
  bool At(std::string_view token) const { return text_.substr(at_).starts_with(token); }

  void Advance() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_start_ = at_;
  }

  Result<void> SkipBlank() {
    while (at_ < text_.size()) {
      if (IsSpace(text_[at_])) {
        Advance();
      } else if (At("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (At("/*")) {
        const Location start = Here();
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos)
          return Bad("this comment has no end", start, "close it with */");
        while (at_ < end + 2) Advance();
      } else {
        break;
      }
    }
    return {};
  }

  std::string_view TakeName() {
    const size_t start = at_;
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // What the text shows at this place, for messages: up to the next blank.
  std::string_view Shown() const {
    size_t end = at_;
    while (end < text_.size() && !IsSpace(text_[end]) && end - at_ < 40) ++end;
    return CutUtf8(text_.substr(at_), end - at_);
  }

  // The same in quotes, for messages that say what stands where something else should.
  std::string Quoted(std::string_view shown) const {
    return shown.empty() ? "the end of the text" : fmt::format("`{}`", shown);
  }

  // A token must end at a blank, a comment or the end of the text.
  Result<void> EndToken() {
    if (at_ == text_.size() || IsSpace(text_[at_]) || At("//") || At("/*")) return {};
    return Bad(fmt::format("`{}` does not belong here", Shown()), Here(),
               "separate words by a space");
  }

  Result<void> ReadItem() {
    const Location start = Here();
    if (!IsNameStart(text_[at_]))
      return Bad(fmt::format("expected an instruction or a label, not `{}`", Shown()), start);
    const std::string_view name = TakeName();
    const size_t after_name = at_;
    const uint32_t line = line_;
    const size_t line_start = line_start_;
    while (at_ < text_.size() && IsSpace(text_[at_])) Advance();
    if (at_ < text_.size() && text_[at_] == ':' && name != "hint") {
      ++at_;
      return AddLabel(name, start);
    }
    at_ = after_name;
    line_ = line;
    line_start_ = line_start;
    const bool accepts_error_id = std::exchange(accepts_error_id_, false);
    if (name == "break") return EndToken();
    if (name == "hint") return ReadHint();
    if (name == "error_id") return ReadErrorId(start, accepts_error_id);
    return ReadInstruction(name, start);
  }

  Result<void> AddLabel(std::string_view name, Location start) {
    accepts_error_id_ = false;
    TRY_VOID(CheckLabel(name, start));
    const auto position = static_cast<uint32_t>(program_.code.size());
    const auto [found, fresh] = label_lines_.try_emplace(name, std::pair{position, start.line});
    if (!fresh)
      return Bad(fmt::format("label `{}` stands twice", name), start,
                 fmt::format("the first is on line {}", found->second.second));
    program_.labels.push_back({std::string(name), position});
    return {};
  }

  Result<void> CheckLabel(std::string_view name, Location start) const {
    if (!IsLabel(name))
      return Bad(fmt::format("`{}` cannot be a label", name), start,
                 "a label is a name that is no instruction and no keyword");
    return {};
  }

  Result<void> ReadInstruction(std::string_view name, Location start) {
    TRY_VOID(EndToken());
    const std::optional<Opcode> op = FindMnemonic(name);
    if (!op)
      return Bad(fmt::format("there is no instruction `{}`", name), start, MnemonicHint(name));
    const OpcodeInfo& info = Info(*op);
    if (!info.In(program_.profile))
      return Bad(
          fmt::format("instruction `{}` is not in profile {}", name, ProfileName(program_.profile)),
          start,
          fmt::format("profile {} has it",
                      ProfileName(info.in_dot ? Profile::Dot : Profile::Horner)));
    Instruction instruction{.op = *op, .location = start};
    if (info.argument != Argument::None) {
      TRY_VOID(SkipBlank());
      if (info.argument == Argument::Target) {
        const Location place = Here();
        if (at_ == text_.size() || !IsNameStart(text_[at_]))
          return Bad("call needs a label", place);
        const std::string_view target = TakeName();
        TRY_VOID(EndToken());
        TRY_VOID(CheckLabel(target, place));
        calls_.push_back({static_cast<uint32_t>(program_.code.size()), target});
      } else {
        instruction.argument = TRY(ReadArgument(info));
      }
    }
    accepts_error_id_ = *op == Opcode::Assert || *op == Opcode::AssertVector;
    program_.code.push_back(instruction);
    return {};
  }

  // Sign and digits; false if there are none or the number has more than 64 bits.
  bool TakeNumber(bool& negative, uint64_t& magnitude) {
    negative = false;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+'))
      negative = text_[at_++] == '-';
    const size_t start = at_;
    magnitude = 0;
    bool fits = true;
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
      const auto digit = static_cast<uint64_t>(text_[at_] - '0');
      fits = fits && !__builtin_mul_overflow(magnitude, uint64_t{10}, &magnitude) &&
             !__builtin_add_overflow(magnitude, digit, &magnitude);
    }
    return fits && at_ > start;
  }

  Result<uint64_t> ReadArgument(const OpcodeInfo& info) {
    const Location place = Here();
    const std::string_view shown = Shown();
    bool negative = false;
    uint64_t magnitude = 0;
    const bool number = TakeNumber(negative, magnitude);
    if (number && magnitude == 0 && at_ < text_.size() &&
        std::string_view("xXbBoO").contains(text_[at_]))
      return Bad(fmt::format("`{}` is no number", shown), place, "numbers are decimal");
    if (number) TRY_VOID(EndToken());
    if (info.argument == Argument::Element) {
      if (!number || magnitude >= goldilocks::P)
        return Bad(
            fmt::format("{} needs a number between -p and p, not {}", info.mnemonic, Quoted(shown)),
            place, "p = 18446744069414584321");
      return negative ? goldilocks::Neg(magnitude) : magnitude;
    }
    const bool count = info.argument == Argument::Count;
    // As the published assembler: plain digits, no sign, no leading zero.
    const bool plain =
        number && IsDigit(shown[0]) && (shown[0] != '0' || shown.size() == 1 || !IsDigit(shown[1]));
    if (!plain || magnitude > (count ? 5 : 15) || (count && magnitude == 0))
      return Bad(fmt::format("{} needs a number from {}, not {}", info.mnemonic,
                             count ? "1 to 5" : "0 to 15", Quoted(shown)),
                 place);
    return magnitude;
  }

  Result<void> ReadErrorId(Location start, bool accepted) {
    if (!accepted) return Bad("error_id must directly follow assert or assert_vector", start);
    TRY_VOID(EndToken());
    TRY_VOID(SkipBlank());
    const Location place = Here();
    const std::string_view shown = Shown();
    bool negative = false;
    uint64_t magnitude = 0;
    if (!TakeNumber(negative, magnitude) || negative || magnitude > INT64_MAX)
      return Bad(fmt::format("error_id needs a number from 0 to 2^63 - 1, not {}", Quoted(shown)),
                 place);
    TRY_VOID(EndToken());
    program_.code.back().error_id = static_cast<int64_t>(magnitude);
    return {};
  }

  // hint name[: type] = stack[first[..end]]
  Result<void> ReadHint() {
    const Location start = Here();
    const auto bad = [&] {
      return Bad("this hint is malformed", start, "it looks like: hint name: type = stack[0..3]");
    };
    TRY_VOID(SkipBlank());
    if (at_ == text_.size() || !IsNameStart(text_[at_])) return bad();
    TakeName();
    TRY_VOID(SkipBlank());
    if (At(":")) {
      while (at_ < text_.size() && text_[at_] != '=') {
        const char c = text_[at_];
        if (!IsName(c) && !IsSpace(c) &&
            std::string_view(":*<>,").find(c) == std::string_view::npos)
          return bad();
        Advance();
      }
    }
    for (const std::string_view token : {"=", "stack", "["}) {
      TRY_VOID(SkipBlank());
      if (!At(token)) return bad();
      at_ += token.size();
    }
    TRY_VOID(SkipBlank());
    bool negative = false;
    uint64_t first = 0, end = 0;
    if (!TakeNumber(negative, first) || negative) return bad();
    TRY_VOID(SkipBlank());
    if (At("..")) {
      at_ += 2;
      TRY_VOID(SkipBlank());
      if (!TakeNumber(negative, end) || negative || end <= first) return bad();
      TRY_VOID(SkipBlank());
    }
    if (!At("]")) return bad();
    ++at_;
    return {};
  }

  Result<void> ResolveCalls() {
    for (const PendingCall& call : calls_) {
      const auto found = label_lines_.find(call.name);
      if (found == label_lines_.end())
        return Bad(fmt::format("label `{}` is called but stands nowhere", call.name),
                   program_.code[call.instruction].location);
      program_.code[call.instruction].argument = found->second.first;
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  size_t line_start_ = 0;
  bool accepts_error_id_ = false;
  Program program_;
  std::unordered_map<std::string_view, std::pair<uint32_t, uint32_t>>
      label_lines_;  // position, line
  std::vector<PendingCall> calls_;
};

}  // namespace

Result<Program> Parse(std::string_view text, Profile profile, std::string_view file) {
  std::optional<Error> bad = Utf8Error(text);
  Result<Program> program =
      bad ? Result<Program>(std::unexpected(std::move(*bad))) : Reader(text, profile).Read();
  if (!program) program.error().file = file;
  return program;
}

}  // namespace frazil::machines::tasm
