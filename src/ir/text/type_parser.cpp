#include "ir/text/type_parser.h"

#include <fmt/format.h>

#include <charconv>

#include "ir/text/text.h"

namespace frazil::ir {
namespace {

using Kind = Token::Kind;

Result<void> Expect(Lexer& lexer, std::string_view text) {
  if (!lexer.token().Is(text))
    return Fail(Diag::BadToken,
                fmt::format("expected '{}', found '{}'", text, lexer.token().text.substr(0, 40)),
                lexer.token().location);
  lexer.Advance();
  return {};
}

Result<int64_t> ExpectInt(Lexer& lexer, int64_t least, int64_t most, std::string_view what) {
  std::string_view text = lexer.token().text;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (lexer.token().kind != Kind::Number || error != std::errc() ||
      end != text.data() + text.size() || value < least || value > most)
    return Fail(Diag::UnknownType,
                fmt::format("{} must be a whole number from {} to {}", what, least, most),
                lexer.token().location);
  lexer.Advance();
  return value;
}

Result<Type> ParseScalar(Lexer& lexer) {
  const Token name = lexer.token();
  if (name.kind == Kind::Word) {
    for (int i = 0; i < ScalarCount; ++i) {
      Scalar scalar = static_cast<Scalar>(i);
      if (ScalarName(scalar) != name.text) continue;
      lexer.Advance();
      if (scalar != Scalar::Int) return Type::Of(scalar);
      TRY_VOID(Expect(lexer, "<"));
      int64_t limbs = TRY(ExpectInt(lexer, 1, MaxLimbs, "the number of words of int<k>"));
      TRY_VOID(Expect(lexer, ">"));
      return Type::Int(static_cast<uint32_t>(limbs));
    }
  }
  return Fail(Diag::UnknownType, fmt::format("'{}' is no type", name.text.substr(0, 40)),
              name.location);
}

Result<Dim> ParseDim(Lexer& lexer, const std::function<ValueId(std::string_view)>& find) {
  const Token token = lexer.token();
  if (token.kind == Kind::Value) {
    ValueId param = find(token.text);
    if (!param.valid())
      return Fail(Diag::BadSymbolicDim,
                  fmt::format("%{} is not a parameter", token.text.substr(0, 40)), token.location);
    lexer.Advance();
    return Dim::Symbol(param.index);
  }
  return Dim::Constant(TRY(ExpectInt(lexer, 0, int64_t{1} << 40, "a dimension")));
}

}  // namespace

Result<Type> ParseTypeTokens(Lexer& lexer, Function* function,
                             const std::function<ValueId(std::string_view)>& find) {
  Access access = Access::InOut;
  bool is_buffer = lexer.token().Is("buffer");
  if (lexer.token().Is("in") || lexer.token().Is("out")) {
    access = lexer.token().Is("in") ? Access::In : Access::Out;
    lexer.Advance();
    is_buffer = lexer.token().Is("buffer");
    if (!is_buffer) return Fail(Diag::UnknownType, "expected 'buffer'", lexer.token().location);
  }
  if (is_buffer) {
    lexer.Advance();
    TRY_VOID(Expect(lexer, "<"));
    Type element = TRY(ParseScalar(lexer));
    TRY_VOID(Expect(lexer, ">"));
    return Type::Buffer(element, access);
  }
  if (!lexer.token().Is("tensor")) return ParseScalar(lexer);
  Location location = lexer.token().location;
  lexer.Advance();
  TRY_VOID(Expect(lexer, "<"));
  Type element = TRY(ParseScalar(lexer));
  TRY_VOID(Expect(lexer, ","));
  TRY_VOID(Expect(lexer, "["));
  Shape shape;
  while (!lexer.token().Is("]")) {
    if (!shape.empty()) TRY_VOID(Expect(lexer, ","));
    shape.push_back(TRY(ParseDim(lexer, find)));
    if (shape.size() > MaxRank)
      return Fail(Diag::BadShape, fmt::format("a tensor has at most {} axes", MaxRank), location);
  }
  lexer.Advance();
  TRY_VOID(Expect(lexer, ">"));
  return Type::Tensor(element, function->AddShape(shape));
}

Result<Type> ParseType(std::string_view text) {
  Lexer lexer(text);
  Function none;
  Type type = TRY(ParseTypeTokens(lexer, &none, [](std::string_view) { return ValueId(); }));
  if (type.is_tensor()) return Fail(Diag::UnknownType, "a tensor type needs a function around it");
  if (lexer.token().kind != Kind::End)
    return Fail(Diag::UnknownType, fmt::format("'{}' follows the type", lexer.token().text),
                lexer.token().location);
  return type;
}

}  // namespace frazil::ir
