// RFC 8259, strictly, with a limit on nesting. One pass, one node per value.
#include "frontends/python/json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace frazil::frontends::python {
namespace {

Location PlaceOf(std::string_view text, size_t offset) {
  Location place{1, 1};
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else {
      ++place.column;
    }
  }
  return place;
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

class JsonParser {
 public:
  JsonParser(JsonTree& tree, std::string_view text, const Limits& limits)
      : tree_(tree), text_(text), limits_(limits) {}

  Result<void> Run() {
    tree_.root_ = TRY(Value(0));
    SkipSpace();
    if (at_ != text_.size()) return Wrong("there is more after the end");
    return {};
  }

 private:
  std::unexpected<Error> Wrong(std::string message) const {
    return Fail(Diag::BadJson, std::move(message), PlaceOf(text_, at_));
  }
  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool IsDigit() const { return Peek() >= '0' && Peek() <= '9'; }

  Result<JsonNode*> Value(uint64_t depth) {
    if (depth > 4 * limits_.nesting)
      return Fail(Diag::LimitReached, "the JSON is nested too deeply (--max-nesting)",
                  PlaceOf(text_, at_));
    SkipSpace();
    if (at_ == text_.size()) return Wrong("the text ends where a value should stand");
    JsonNode& node = tree_.nodes_.emplace_back();
    node.offset = static_cast<uint32_t>(at_);
    switch (Peek()) {
      case '{': TRY_VOID(Children(node, JsonKind::Object, '}', depth)); break;
      case '[': TRY_VOID(Children(node, JsonKind::Array, ']', depth)); break;
      case '"':
        node.kind = JsonKind::String;
        node.text = TRY(String());
        break;
      case 't':
        node.kind = JsonKind::True;
        TRY_VOID(Word("true"));
        break;
      case 'f':
        node.kind = JsonKind::False;
        TRY_VOID(Word("false"));
        break;
      case 'n': TRY_VOID(Word("null")); break;
      default: node.kind = JsonKind::Number; node.text = TRY(Number());
    }
    return &node;
  }

  Result<void> Children(JsonNode& parent, JsonKind kind, char close, uint64_t depth) {
    parent.kind = kind;
    ++at_;
    SkipSpace();
    if (Peek() == close) return ++at_, Result<void>();
    JsonNode* last = nullptr;
    for (;;) {
      std::string_view key;
      if (kind == JsonKind::Object) {
        SkipSpace();
        if (Peek() != '"') return Wrong("a name in double quotes should stand here");
        key = TRY(String());
        SkipSpace();
        if (Peek() != ':') return Wrong("':' should stand here");
        ++at_;
      }
      JsonNode* child = TRY(Value(depth + 1));
      child->key = key;
      (last == nullptr ? parent.first : last->next) = child;
      last = child;
      SkipSpace();
      if (Peek() == ',') {
        ++at_;
        continue;
      }
      if (Peek() != close) return Wrong(fmt::format("',' or '{}' should stand here", close));
      ++at_;
      return {};
    }
  }

  Result<void> Word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return Wrong("this is no JSON value");
    at_ += word.size();
    return {};
  }

  Result<std::string_view> Number() {
    size_t start = at_;
    if (Peek() == '-') ++at_;
    if (!IsDigit()) return Wrong("this is no JSON value");
    if (Peek() == '0') {
      ++at_;
    } else {
      while (IsDigit()) ++at_;
    }
    if (Peek() == '.') {
      ++at_;
      if (!IsDigit()) return Wrong("a digit should follow the point");
      while (IsDigit()) ++at_;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit()) return Wrong("a digit should stand in the exponent");
      while (IsDigit()) ++at_;
    }
    if (at_ - start > limits_.literal_chars)
      return Fail(Diag::LimitReached, "a number has too many characters (--max-literal)",
                  PlaceOf(text_, start));
    return text_.substr(start, at_ - start);
  }

  Result<std::string_view> String() {
    size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    if (Peek() == '"' && at_ < text_.size()) return text_.substr(start, at_++ - start);
    return Escaped(start);
  }

  Result<std::string_view> Escaped(size_t start) {
    std::string& out = tree_.strings_.emplace_back(text_.substr(start, at_ - start));
    for (;;) {
      if (at_ == text_.size()) return Wrong("a string does not end");
      char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20)
        return Wrong("a control character stands in a string");
      ++at_;
      if (c == '"') return std::string_view(out);
      if (c != '\\') {
        out += c;
        continue;
      }
      TRY_VOID(Escape(out));
    }
  }

  Result<void> Escape(std::string& out) {
    static constexpr std::string_view Names = "\"\\/bfnrt";
    static constexpr std::string_view Means = "\"\\/\b\f\n\r\t";
    char c = Peek();
    if (size_t i = Names.find(c); i != Names.npos && c != '\0') {
      out += Means[i];
      ++at_;
      return {};
    }
    if (c != 'u') return Wrong("this escape is not known");
    ++at_;
    uint32_t code = TRY(Hex4());
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      uint32_t low = TRY(Hex4());
      if (low < 0xdc00 || low >= 0xe000) return Wrong("half a character stands in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xd800 && code < 0xe000) {
      return Wrong("half a character stands in a string");
    }
    AppendUtf8(out, code);
    return {};
  }

  Result<uint32_t> Hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      char c = Peek();
      uint32_t digit = 0;
      if (c >= '0' && c <= '9')
        digit = static_cast<uint32_t>(c - '0');
      else if (c >= 'a' && c <= 'f')
        digit = static_cast<uint32_t>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        digit = static_cast<uint32_t>(c - 'A' + 10);
      else
        return Wrong("four hexadecimal digits should stand here");
      code = code << 4 | digit;
    }
    return code;
  }

  JsonTree& tree_;
  std::string_view text_;
  const Limits& limits_;
  size_t at_ = 0;
};

const JsonNode* JsonNode::Find(std::string_view name) const {
  if (kind != JsonKind::Object) return nullptr;
  for (const JsonNode* child = first; child != nullptr; child = child->next)
    if (child->key == name) return child;
  return nullptr;
}

Result<JsonTree> JsonTree::Parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.source_bytes || text.size() > UINT32_MAX)
    return Fail(Diag::LimitReached, "the JSON is too long (--max-source-bytes)");
  if (std::optional<Error> bad = Utf8Error(text)) return std::unexpected(std::move(*bad));
  JsonTree tree;
  tree.text_ = text;
  TRY_VOID(JsonParser(tree, text, limits).Run());
  return tree;
}

Location JsonTree::LocationOf(const JsonNode& node) const {
  if (line_starts_.empty()) {
    line_starts_.push_back(0);
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
  auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), node.offset);
  uint32_t line = static_cast<uint32_t>(after - line_starts_.begin());
  return {line, node.offset - *(after - 1) + 1};
}

}  // namespace frazil::frontends::python
