// Text to IR. Two visits: first all headers (so that calls may look forward), then the bodies. What comes
// out has passed ir::Check. Names are bound in scopes with an undo log; numeric names use a vector.
#include "ir/text/text_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "ir/check/check.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"
#include "ir/text/type_parser.h"

namespace frazil::ir {

using Kind = Token::Kind;

std::unexpected<Error> Unexpected(const Token& token, std::string_view wanted) {
  std::string seen = token.kind == Kind::End ? "the end of the text"
                                             : fmt::format("'{}'", token.text.substr(0, 40));
  return Fail(Diag::BadToken, fmt::format("expected {}, found {}", wanted, seen), token.location);
}

Result<Program> TextParser::Run() {
  TRY_VOID(ParseHeaderLine());
  while (token().kind != Kind::End) {
    if (token().Is("func"))
      TRY_VOID(ParseFunctionHeader());
    else if (token().Is("data"))
      TRY_VOID(ParseData());
    else
      return Unexpected(token(), "'func' or 'data'");
  }
  if (headers_.empty())
    return Fail(Diag::BadEntry, "the program has no function", token().location);
  for (FunctionHeader& header : headers_) program_.functions.push_back(header.function);
  for (size_t i = 0; i < headers_.size(); ++i) TRY_VOID(ParseBody(i));
  FuncId main = program_.FindFunction("main");
  program_.entry = main.valid() ? main : FuncId(static_cast<uint32_t>(headers_.size() - 1));
  return std::move(program_);
}

bool TextParser::Take(std::string_view text) {
  if (!token().Is(text)) return false;
  lexer_.Advance();
  return true;
}

Result<void> TextParser::Expect(std::string_view text) {
  if (!Take(text)) return Unexpected(token(), fmt::format("'{}'", text));
  return {};
}

Result<std::string_view> TextParser::ExpectName(Kind kind, std::string_view wanted) {
  if (token().kind != kind) return Unexpected(token(), wanted);
  std::string_view name = token().text;
  if (name.size() > limits_.literal_chars)
    return Fail(Diag::LimitReached,
                fmt::format("a name has {} characters, more than --max-literal {}", name.size(),
                            limits_.literal_chars),
                token().location);
  lexer_.Advance();
  return name;
}

Result<int64_t> TextParser::ExpectInt() {
  int64_t value = 0;
  std::string_view text = token().text;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (token().kind != Kind::Number || error != std::errc() || end != text.data() + text.size())
    return Unexpected(token(), "a whole number of 64 bits");
  lexer_.Advance();
  return value;
}

Result<void> TextParser::ParseHeaderLine() {
  Location location = token().location;
  if (!Take("frz"))
    return Fail(Diag::BadHeader, "a program begins with the line 'frz 1'", location);
  Result<int64_t> version = ExpectInt();
  if (!version || *version != IrVersion)
    return Fail(Diag::BadHeader,
                fmt::format("this reader knows version {} of the text form only", IrVersion),
                location);
  return {};
}

Result<Type> TextParser::ParseTypeHere(Function& function) {
  return ParseTypeTokens(lexer_, &function,
                         [&](std::string_view name) { return scope_.Find(name); });
}

Result<std::vector<Type>> TextParser::ParseTypeList(Function& function) {
  std::vector<Type> types;
  TRY_VOID(Expect("("));
  if (Take(")")) return types;
  do types.push_back(TRY(ParseTypeHere(function)));
  while (Take(","));
  TRY_VOID(Expect(")"));
  return types;
}

Result<void> TextParser::BindParams(FunctionHeader& header) {
  Function& function = header.function;
  for (uint32_t i = 0; i < header.param_names.size(); ++i)
    if (!scope_.Bind(header.param_names[i], ValueId(i)))
      return Fail(Diag::Redefined,
                  fmt::format("the parameter %{} of @{} is named twice", header.param_names[i],
                              function.name),
                  token().location);
  return {};
}

Result<void> TextParser::ParseFunctionHeader() {
  lexer_.Advance();
  FunctionHeader header;
  Location location = token().location;
  header.function.name =
      std::string(TRY(ExpectName(Kind::Symbol, "a function name such as @main")));
  for (const FunctionHeader& other : headers_)
    if (other.function.name == header.function.name)
      return Fail(Diag::Redefined, fmt::format("@{} is defined twice", header.function.name),
                  location);
  Lexer::Mark params = lexer_.mark();
  TRY_VOID(CollectParamNames(header));
  lexer_.Return(params);
  header.function.regions.emplace_back();
  header.function.values.resize(header.param_names.size());
  header.function.regions[0].params = {0, static_cast<uint32_t>(header.param_names.size())};
  TRY_VOID(BindParams(header));
  TRY_VOID(ParseParamTypes(header));
  if (Take("->")) header.function.results = TRY(ParseTypeList(header.function));
  header.mark = lexer_.mark();
  if (!token().Is("{")) return Unexpected(token(), "'{'");
  if (!lexer_.SkipBraces())
    return Fail(Diag::BadToken, fmt::format("the body of @{} has no end", header.function.name),
                token().location);
  scope_.Leave(0);
  headers_.push_back(std::move(header));
  return {};
}

Result<void> TextParser::CollectParamNames(FunctionHeader& header) {
  TRY_VOID(Expect("("));
  if (Take(")")) return {};
  do {
    header.param_names.push_back(TRY(ExpectName(Kind::Value, "a parameter such as %x")));
    TRY_VOID(Expect(":"));
    // Skip the type: up to a comma or parenthesis outside of its own brackets.
    for (int depth = 0; depth != 0 || (!token().Is(",") && !token().Is(")")); lexer_.Advance()) {
      if (token().kind == Kind::End) return Unexpected(token(), "')'");
      depth += (token().Is("<") || token().Is("[")) - (token().Is(">") || token().Is("]"));
    }
  } while (Take(","));
  return Expect(")");
}

Result<void> TextParser::ParseParamTypes(FunctionHeader& header) {
  TRY_VOID(Expect("("));
  for (size_t i = 0; i < header.param_names.size(); ++i) {
    if (i != 0) TRY_VOID(Expect(","));
    lexer_.Advance();
    TRY_VOID(Expect(":"));
    header.function.values[i].type = TRY(ParseTypeHere(header.function));
    SetName(header.function, ValueId(static_cast<uint32_t>(i)), header.param_names[i]);
  }
  return Expect(")");
}

void TextParser::SetName(Function& function, ValueId value, std::string_view name) {
  uint32_t number = 0;
  if (Scope::IsNumber(name, number)) return;
  auto& names = function.value_names;
  if (names.size() <= value.index)
    names.resize(std::max<size_t>(value.index + 1, names.size() * 2));
  names[value.index] = std::string(name);
}

Result<void> TextParser::ParseData() {
  lexer_.Advance();
  Data data;
  Location location = token().location;
  data.name = std::string(TRY(ExpectName(Kind::Symbol, "a table name such as @weights")));
  if (program_.FindData(data.name).valid())
    return Fail(Diag::Redefined, fmt::format("@{} is defined twice", data.name), location);
  TRY_VOID(Expect(":"));
  Location type_location = token().location;
  Function none;
  data.element = TRY(ParseTypeTokens(lexer_, &none, [](std::string_view) { return ValueId(); }));
  if (!data.element.is_scalar())
    return Fail(Diag::WrongType, "a data table holds scalars", type_location);
  TRY_VOID(Expect("["));
  if (!Take("]")) {
    do {
      if (++data_elements_ > limits_.data_elements)
        return Fail(Diag::LimitReached,
                    fmt::format("the data tables have more than --max-data {} elements",
                                limits_.data_elements),
                    token().location);
      std::vector<uint64_t> words = TRY(ParseLiteralHere(data.element, ",]"));
      data.words.insert(data.words.end(), words.begin(), words.end());
    } while (Take(","));
    TRY_VOID(Expect("]"));
  }
  program_.data.push_back(std::move(data));
  return {};
}

Result<std::vector<uint64_t>> TextParser::ParseLiteralHere(Type type, std::string_view stops) {
  Location location = token().location;
  Result<std::vector<uint64_t>> words = ParseLiteral(type, lexer_.TakeRaw(stops), limits_);
  if (!words) words.error().location = location;
  return words;
}

Result<void> TextParser::ParseBody(size_t ordinal) {
  FunctionHeader& header = headers_[ordinal];
  lexer_.Return(header.mark);
  TRY_VOID(BindParams(header));
  FunctionBuilder builder(program_, header.function.name, {}, {});
  builder.function() = std::move(header.function);
  builder_ = &builder;
  depth_ = 0;
  TRY_VOID(ParseRegionText());
  scope_.Leave(0);
  program_.functions[ordinal] = std::move(builder.function());
  builder_ = nullptr;
  return {};
}

Result<void> TextParser::ParseRegionText() {
  Location location = token().location;
  TRY_VOID(Expect("{"));
  if (++depth_ > limits_.nesting)
    return Fail(Diag::LimitReached,
                fmt::format("regions are nested deeper than --max-nesting {}", limits_.nesting),
                location);
  size_t mark = scope_.mark();
  while (!Take("}")) TRY_VOID(ParseInst());
  scope_.Leave(mark);
  --depth_;
  return {};
}

Result<ValueId> TextParser::ExpectValue() {
  const Token& name = token();
  if (name.kind != Kind::Value) return Unexpected(name, "a value such as %x");
  ValueId value = scope_.Find(name.text);
  if (!value.valid())
    return Fail(Diag::UnknownValue, fmt::format("%{} is not defined here", name.text.substr(0, 60)),
                name.location);
  lexer_.Advance();
  return value;
}

Result<Program> ParseText(std::string_view text, const Limits& limits) {
  if (text.size() > limits.source_bytes)
    return Fail(Diag::LimitReached,
                fmt::format("the text has {} bytes, more than --max-source-bytes {}", text.size(),
                            limits.source_bytes));
  if (std::optional<Error> bad = Utf8Error(text)) return std::unexpected(std::move(*bad));
  Program program = TRY(TextParser(text, limits).Run());
  TRY_VOID(Check(program, limits));
  return program;
}

}  // namespace frazil::ir
