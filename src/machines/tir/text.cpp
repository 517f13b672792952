// TIR's text: one op per line, so that an error's place is its line and a diff reads well. The reader keeps a stack of
// open bodies instead of recursing, and limits its depth, because everything behind it recurses over bodies.
#include <fmt/format.h>

#include <charconv>

#include "base/limits.h"
#include "base/number/goldilocks.h"
#include "base/utf8.h"
#include "machines/tir/tir.h"

namespace frazil::machines::tir {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(std::string_view s) {
  while (!s.empty() && IsSpace(s.front())) s.remove_prefix(1);
  while (!s.empty() && IsSpace(s.back())) s.remove_suffix(1);
  return s;
}

bool IsName(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s) {
    if (c <= ' ' || c >= 0x7f || c == '{' || c == '}') return false;
  }
  return s.find("//") == std::string_view::npos;
}

struct Word {
  std::string_view text;
  uint32_t column;
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Program> Run() {
    if (text_.size() > limits_.source_bytes) {
      return Error(Diag::LimitReached, fmt::format("the text has {} bytes; {} are allowed",
                                                   text_.size(), limits_.source_bytes));
    }
    if (std::optional<frazil::Error> bad = Utf8Error(text_)) {
      bad->file = file_;
      return std::unexpected(std::move(*bad));
    }
    open_.push_back({&program_.ops, nullptr});
    for (size_t at = 0; at <= text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      TRY_VOID(Line(text_.substr(at, end - at)));
      at = end + 1;
    }
    if (in_asm_ || open_.size() > 1) {
      const Op& op = *(in_asm_ ? &Ops().back() : open_.back().op);
      line_ = op.location.line;
      column_ = op.location.column;
      return Error(Diag::BadTir,
                   fmt::format("the body of `{}` is not closed", Info(op.kind).mnemonic),
                   "add a line `}`");
    }
    return std::move(program_);
  }

 private:
  struct Open {
    std::vector<Op>* ops;
    Op* op;  // whose body it is
    bool second = false;
  };

  std::unexpected<frazil::Error> Error(Diag diag, std::string message, std::string hint = "") {
    return std::unexpected(frazil::Error{
        diag, Printable(message), {line_, column_}, std::string(file_), std::move(hint)});
  }
  std::vector<Op>& Ops() { return *open_.back().ops; }

  Result<void> Line(std::string_view line) {
    column_ = 1;
    if (in_asm_) return AsmLine(line);
    std::string_view comment;
    const size_t slashes = line.find("//");
    if (slashes != std::string_view::npos) {
      comment = line.substr(slashes + 2);
      line = line.substr(0, slashes);
    }
    words_.clear();
    next_ = 0;
    for (size_t i = 0; i < line.size();) {
      if (IsSpace(line[i])) {
        ++i;
        continue;
      }
      size_t end = i;
      while (end < line.size() && !IsSpace(line[end])) ++end;
      words_.push_back({line.substr(i, end - i), static_cast<uint32_t>(i + 1)});
      i = end;
    }
    if (!words_.empty()) TRY_VOID(Statement());
    if (slashes != std::string_view::npos) {
      if (in_asm_) return {};
      column_ = static_cast<uint32_t>(slashes + 1);
      if (comment.starts_with(' ')) comment.remove_prefix(1);
      while (!comment.empty() && IsSpace(comment.back())) comment.remove_suffix(1);
      Op op{Kind::Comment};
      op.text = comment;
      op.location = {line_, column_};
      Ops().push_back(std::move(op));
    }
    return {};
  }

  Result<void> AsmLine(std::string_view line) {
    Op& op = Ops().back();
    const std::string_view inner = Trim(line);
    if (inner == "}") {
      in_asm_ = false;
      return {};
    }
    if (inner.empty()) return {};
    if (!op.text.empty()) op.text += '\n';
    op.text += inner;
    return {};
  }

  Result<void> Statement() {
    const Word head = words_[0];
    column_ = head.column;
    next_ = 1;
    if (head.text == "}") return Close();
    const std::optional<Kind> kind = FindMnemonic(head.text);
    if (!kind || *kind == Kind::Comment) {
      return Error(Diag::UnknownOp, fmt::format("`{}` is not an operation of TIR", head.text),
                   "one operation per line; machines/tir/ops.def lists them");
    }
    Op op{*kind};
    op.location = {line_, column_};
    TRY_VOID(Operands(op));
    const Operand operand = Info(*kind).operand;
    Ops().push_back(std::move(op));
    if (operand == Operand::Lines) in_asm_ = true;
    if (operand == Operand::Body || operand == Operand::Bodies)
      return OpenBody(false, &Ops().back());
    return {};
  }

  Result<void> OpenBody(bool second, Op* op) {
    if (open_.size() > limits_.nesting) {
      return Error(Diag::LimitReached,
                   fmt::format("bodies are nested more than {} deep", limits_.nesting));
    }
    open_.push_back({second ? &op->other : &op->body, op, second});
    return {};
  }

  // `}`, `} else {`, `} do {`
  Result<void> Close() {
    if (open_.size() == 1) return Error(Diag::BadTir, "`}` closes nothing");
    const Open last = open_.back();
    const bool two = Info(last.op->kind).operand == Operand::Bodies;
    open_.pop_back();
    if (two && !last.second) {
      const std::string_view word = last.op->kind == Kind::IfElse ? "else" : "do";
      TRY_VOID(Literal(word));
      TRY_VOID(Literal("{"));
      TRY_VOID(EndOfLine());
      return OpenBody(true, last.op);
    }
    return EndOfLine();
  }

  Result<void> Literal(std::string_view text) {
    if (next_ < words_.size() && words_[next_].text == text) {
      ++next_;
      return {};
    }
    if (next_ < words_.size()) column_ = words_[next_].column;
    return Error(Diag::BadTir, fmt::format("`{}` is missing here", text));
  }

  Result<void> EndOfLine() {
    if (next_ == words_.size()) return {};
    column_ = words_[next_].column;
    return Error(Diag::BadTir, fmt::format("`{}` is too much on this line", words_[next_].text),
                 "one operation per line");
  }

  Result<std::string_view> Next(std::string_view what) {
    if (next_ == words_.size()) return Error(Diag::BadTir, fmt::format("{} is missing", what));
    column_ = words_[next_].column;
    return words_[next_++].text;
  }

  Result<std::string> Name(std::string_view what) {
    const std::string_view name = TRY(Next(what));
    if (!IsName(name)) return Error(Diag::BadTir, fmt::format("`{}` is not a name", name));
    if (name.size() > limits_.literal_chars)
      return Error(Diag::LimitReached, "the name is too long");
    return std::string(name);
  }

  template <typename T>
  Result<T> Number(std::string_view what) {
    const std::string_view word = TRY(Next(what));
    T value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Error(Diag::BadLiteral, fmt::format("`{}` is not {}", word, what));
    }
    return value;
  }

  Result<uint64_t> Element() {
    const std::string_view word = TRY(Next("a field element"));
    std::string_view digits = word;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    const bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size() || value >= goldilocks::P) {
      return Error(Diag::BadLiteral, fmt::format("`{}` is not a field element", word),
                   "an integer between -p and p = 18446744069414584321, both excluded");
    }
    return negative ? goldilocks::Neg(value) : value;
  }

  Result<void> Operands(Op& op) {
    switch (Info(op.kind).operand) {
      case Operand::None: break;
      case Operand::Element: op.number = TRY(Element()); break;
      case Operand::Count:
        op.number = TRY(Number<uint64_t>("a count"));
        if (op.kind == Kind::Assert && next_ < words_.size()) {
          TRY_VOID(Literal("error_id"));
          op.error_id = TRY(Number<int64_t>("an error's number"));
          if (op.error_id < 0) return Error(Diag::BadLiteral, "an error's number is not negative");
        }
        break;
      case Operand::Depth: op.number = TRY(Number<uint64_t>("a depth")); break;
      case Operand::Text: op.text = TRY(Name("a name")); break;
      case Operand::Event:
        op.text = TRY(Name("the event's name"));
        op.tag = TRY(Element());
        op.number = TRY(Number<uint64_t>("the number of its fields"));
        break;
      case Operand::Lines:
        op.effect = TRY(Number<int32_t>("the net effect on the stack"));
        TRY_VOID(Literal("{"));
        break;
      case Operand::Body:
        if (op.kind == Kind::ProofBlock) op.text = TRY(Name("the program's hash"));
        [[fallthrough]];
      case Operand::Bodies: TRY_VOID(Literal("{")); break;
    }
    return EndOfLine();
  }

  std::string_view text_, file_;
  Limits limits_;
  Program program_;
  std::vector<Open> open_;
  std::vector<Word> words_;
  size_t next_ = 0;
  uint32_t line_ = 0, column_ = 1;
  bool in_asm_ = false;
};

class Printer {
 public:
  void Ops(const std::vector<Op>& ops, int indent) {
    for (const Op& op : ops) {
      if (op.kind == Kind::FnEnd && indent > 0) --indent;
      One(op, indent);
      if (op.kind == Kind::FnStart) ++indent;
    }
  }
  std::string out;

 private:
  void Start(int indent) { out.append(static_cast<size_t>(indent) * 2, ' '); }

  // Every line of a text that may hold several, with something before each.
  void Lines(std::string_view text, std::string_view before, int indent) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      Start(indent);
      out += before;
      if (!line.empty() && !before.empty()) out += ' ';
      out += line;
      out += '\n';
      at = end + 1;
    }
  }

  void One(const Op& op, int indent) {
    const KindInfo& info = Info(op.kind);
    if (op.kind == Kind::Comment) return Lines(op.text, "//", indent);
    Start(indent);
    out += info.mnemonic;
    switch (info.operand) {
      case Operand::None: break;
      case Operand::Element:
      case Operand::Count:
      case Operand::Depth: out += fmt::format(" {}", op.number); break;
      case Operand::Text: out += ' ' + op.text; break;
      case Operand::Event: out += fmt::format(" {} {} {}", op.text, op.tag, op.number); break;
      case Operand::Lines:
        out += fmt::format(" {} {{\n", op.effect);
        if (!op.text.empty()) Lines(op.text, "", indent + 1);
        Start(indent);
        out += '}';
        break;
      case Operand::Body:
      case Operand::Bodies:
        if (op.kind == Kind::ProofBlock) out += ' ' + op.text;
        out += " {\n";
        Ops(op.body, indent + 1);
        if (info.operand == Operand::Bodies) {
          Start(indent);
          out += op.kind == Kind::IfElse ? "} else {\n" : "} do {\n";
          Ops(op.other, indent + 1);
        }
        Start(indent);
        out += '}';
        break;
    }
    if (op.error_id >= 0) out += fmt::format(" error_id {}", op.error_id);
    out += '\n';
  }
};

}  // namespace

Result<Program> Parse(std::string_view text, std::string_view file) {
  return Reader(text, file).Run();
}

std::string Print(const Program& program) {
  Printer printer;
  printer.Ops(program.ops, 0);
  return std::move(printer.out);
}

}  // namespace frazil::machines::tir
