// Calls, and ops with regions: `if`, loops, `switch`, `map`.
#include "ir/text/text_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/check/call_types.h"

namespace frazil::ir {

using Kind = Token::Kind;

Result<void> TextParser::ParseCall(const Token& mnemonic) {
  std::vector<Token> names = result_names_;
  Location location = token().location;
  std::string_view callee_name = TRY(ExpectName(Kind::Symbol, "a function such as @f"));
  FuncId callee = program_.FindFunction(callee_name);
  if (!callee.valid())
    return Fail(Diag::UnknownSymbol,
                fmt::format("there is no function @{}", callee_name.substr(0, 60)), location);
  Values arguments;
  TRY_VOID(Expect("("));
  if (!Take(")")) {
    do arguments.push_back(TRY(ExpectValue()));
    while (Take(","));
    TRY_VOID(Expect(")"));
  }
  // Headers keep the signatures while bodies are being moved into the program.
  Result<std::vector<Type>> results =
      CallResultTypes(SignatureOf(callee), builder_->function(), arguments);
  if (!results) {
    results.error().location = mnemonic.location;
    return std::unexpected(std::move(results.error()));
  }
  uint64_t word = callee.index;
  InstId id = builder_->Begin(Op::Call, Type{}, arguments, *results, std::span(&word, 1), 0);
  return BindResults(names, builder_->function().inst(id));
}

Result<void> TextParser::ParseBindings(std::vector<Token>& names, Values& inits) {
  TRY_VOID(Expect("("));
  if (Take(")")) return {};
  do {
    names.push_back(token());
    TRY(ExpectName(Kind::Value, "a name such as %p"));
    TRY_VOID(Expect("="));
    inits.push_back(TRY(ExpectValue()));
  } while (Take(","));
  return Expect(")");
}

std::vector<Type> TextParser::TypesOf(std::span<const ValueId> values) const {
  std::vector<Type> types;
  for (ValueId value : values) types.push_back(builder_->TypeOf(value));
  return types;
}

Result<void> TextParser::ParseRegion(InstId inst, uint32_t index, std::span<const Type> params,
                                     std::span<const Token> names) {
  Values values = builder_->BeginRegion(inst, index, params);
  size_t mark = scope_.mark();
  for (size_t i = 0; i < names.size(); ++i) TRY_VOID(BindName(names[i], values[i]));
  TRY_VOID(ParseRegionText());
  scope_.Leave(mark);
  builder_->EndRegion();
  return {};
}

Result<void> TextParser::FinishStructured(InstId id, std::span<const Token> names) {
  return BindResults(names, builder_->function().inst(id));
}

Result<void> TextParser::ParseIf() {
  std::vector<Token> names = result_names_;
  ValueId condition = TRY(ExpectValue());
  std::vector<Type> results;
  if (Take("->")) results = TRY(ParseTypeList(builder_->function()));
  InstId id = builder_->Begin(Op::If, Type{}, std::span(&condition, 1), results, {}, 2);
  TRY_VOID(ParseRegion(id, 0, {}, {}));
  if (Take("else")) {
    TRY_VOID(ParseRegion(id, 1, {}, {}));
  } else {
    builder_->BeginRegion(id, 1, {});
    builder_->Terminate(Op::Yield, {});
    builder_->EndRegion();
  }
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseRange(Token& name, Values& operands) {
  name = token();
  TRY(ExpectName(Kind::Value, "a counter such as %i"));
  TRY_VOID(Expect("="));
  operands.push_back(TRY(ExpectValue()));
  TRY_VOID(Expect("to"));
  operands.push_back(TRY(ExpectValue()));
  return {};
}

Result<void> TextParser::ParseFor() {
  std::vector<Token> names = result_names_;
  std::vector<Token> params(1);
  Values operands;
  TRY_VOID(ParseRange(params[0], operands));
  TRY_VOID(Expect("step"));
  uint64_t step = static_cast<uint64_t>(TRY(ExpectInt()));
  Values inits;
  if (Take("carry")) TRY_VOID(ParseBindings(params, inits));
  operands.insert(operands.end(), inits.begin(), inits.end());
  std::vector<Type> carried = TypesOf(inits);
  InstId id = builder_->Begin(Op::For, Type{}, operands, carried, std::span(&step, 1), 1);
  carried.insert(carried.begin(), builder_->TypeOf(operands[0]));
  TRY_VOID(ParseRegion(id, 0, carried, params));
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseParallel() {
  std::vector<Token> names = result_names_;
  Token param;
  Values operands;
  TRY_VOID(ParseRange(param, operands));
  InstId id = builder_->Begin(Op::Parallel, Type{}, operands, {}, {}, 1);
  Type index = types::Index;
  TRY_VOID(ParseRegion(id, 0, std::span(&index, 1), std::span(&param, 1)));
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseWhile() {
  std::vector<Token> names = result_names_;
  std::vector<Token> params;
  Values inits;
  TRY_VOID(ParseBindings(params, inits));
  std::vector<Type> carried = TypesOf(inits);
  InstId id = builder_->Begin(Op::While, Type{}, inits, carried, {}, 2);
  // The test's names stay visible in the body, so both regions share one scope here.
  size_t mark = scope_.mark();
  Values values = builder_->BeginRegion(id, 0, carried);
  for (size_t i = 0; i < params.size(); ++i) TRY_VOID(BindName(params[i], values[i]));
  TRY_VOID(Expect("{"));
  if (++depth_ > limits_.nesting)
    return Fail(Diag::LimitReached,
                fmt::format("regions are nested deeper than --max-nesting {}", limits_.nesting),
                token().location);
  while (!Take("}")) TRY_VOID(ParseInst());
  builder_->EndRegion();
  TRY_VOID(Expect("do"));
  TRY_VOID(ParseRegion(id, 1, {}, {}));
  --depth_;
  scope_.Leave(mark);
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseSwitch() {
  std::vector<Token> names = result_names_;
  ValueId selector = TRY(ExpectValue());
  std::vector<Type> results;
  if (Take("->")) results = TRY(ParseTypeList(builder_->function()));
  // The number of regions must be known when the instruction begins: look ahead, then come back.
  Lexer::Mark start = lexer_.mark();
  std::vector<uint64_t> cases;
  TRY_VOID(Expect("{"));
  while (Take("case")) {
    cases.push_back(static_cast<uint64_t>(TRY(ExpectInt())));
    if (!token().Is("{") || !lexer_.SkipBraces()) return Unexpected(token(), "'{'");
  }
  TRY_VOID(Expect("default"));
  lexer_.Return(start);
  lexer_.Advance();
  uint32_t regions = static_cast<uint32_t>(cases.size()) + 1;
  InstId id = builder_->Begin(Op::Switch, Type{}, std::span(&selector, 1), results, cases, regions);
  for (uint32_t i = 0; i < regions; ++i) {
    lexer_.Advance();
    if (i + 1 < regions) lexer_.Advance();
    TRY_VOID(ParseRegion(id, i, {}, {}));
  }
  TRY_VOID(Expect("}"));
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseMap() {
  std::vector<Token> names = result_names_;
  std::vector<Token> params;
  Values inputs;
  TRY_VOID(ParseBindings(params, inputs));
  TRY_VOID(Expect("->"));
  Type type = TRY(ParseTypeHere(builder_->function()));
  InstId id = builder_->Begin(Op::Map, type, inputs, std::span(&type, 1), {}, 1);
  std::vector<Type> elements;
  for (ValueId input : inputs) elements.push_back(builder_->TypeOf(input).element());
  TRY_VOID(ParseRegion(id, 0, elements, params));
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseGenerate() {
  std::vector<Token> names = result_names_;
  std::vector<Token> params;
  TRY_VOID(Expect("("));
  while (!Take(")")) {
    if (!params.empty()) TRY_VOID(Expect(","));
    params.push_back(token());
    TRY(ExpectName(Kind::Value, "an index such as %i"));
  }
  TRY_VOID(Expect("->"));
  std::vector<Type> results = TRY(ParseTypeList(builder_->function()));
  if (results.empty()) return Unexpected(token(), "the type of a tensor");
  InstId id = builder_->Begin(Op::Generate, results[0], {}, results, {}, 1);
  TRY_VOID(ParseRegion(id, 0, std::vector<Type>(params.size(), types::Index), params));
  return FinishStructured(id, names);
}

Result<void> TextParser::ParseFold() {
  std::vector<Token> names = result_names_;
  uint64_t words[] = {TRY(ExpectChoice(AttributesOf(Op::Fold)[0])), 0, 0};
  Token param = token();
  TRY(ExpectName(Kind::Value, "an index such as %i"));
  TRY_VOID(Expect("to"));
  const ValueId count = TRY(ExpectValue());
  TRY_VOID(Expect("chains"));
  words[1] = static_cast<uint64_t>(TRY(ExpectInt()));
  TRY_VOID(Expect("block"));
  words[2] = static_cast<uint64_t>(TRY(ExpectInt()));
  TRY_VOID(Expect("->"));
  const Type type = TRY(ParseTypeHere(builder_->function()));
  InstId id = builder_->Begin(Op::Fold, type, std::span(&count, 1), std::span(&type, 1), words, 1);
  const Type index = types::Index;
  TRY_VOID(ParseRegion(id, 0, std::span(&index, 1), std::span(&param, 1)));
  return FinishStructured(id, names);
}

}  // namespace frazil::ir
