// Text to IR. Two visits: first all headers (so that calls may look forward), then the bodies. What comes
// out has passed ir::Check. Names are bound in scopes with an undo log; numeric names use a vector.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/check.h"
#include "base/utf8.h"
#include "ir/attributes.h"
#include "ir/builder.h"
#include "ir/call_types.h"
#include "ir/check.h"
#include "ir/lexer.h"
#include "ir/literal.h"
#include "ir/text.h"
#include "ir/type_parser.h"

namespace frazil::ir {
namespace {

using Kind = Token::Kind;

std::unexpected<Error> Unexpected(const Token& token, std::string_view wanted) {
  std::string seen = token.kind == Kind::End ? "the end of the text"
                                             : fmt::format("'{}'", token.text.substr(0, 40));
  return Fail(Diag::BadToken, fmt::format("expected {}, found {}", wanted, seen), token.location);
}

// The values visible at one point of a function.
class Scope {
 public:
  ValueId Find(std::string_view name) const {
    uint32_t number = 0;
    if (IsNumber(name, number)) return number < numbered_.size() ? numbered_[number] : ValueId();
    auto found = named_.find(name);
    return found == named_.end() ? ValueId() : found->second;
  }

  // False if the name is taken.
  bool Bind(std::string_view name, ValueId value) {
    uint32_t number = 0;
    if (IsNumber(name, number)) {
      if (number >= numbered_.size())
        numbered_.resize(std::max<size_t>(number + 1, numbered_.size() * 2));
      if (numbered_[number].valid()) return false;
      numbered_[number] = value;
    } else if (!named_.emplace(name, value).second) {
      return false;
    }
    log_.push_back(name);
    return true;
  }

  size_t mark() const { return log_.size(); }
  void Leave(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) {
      uint32_t number = 0;
      if (IsNumber(log_.back(), number))
        numbered_[number] = ValueId();
      else
        named_.erase(log_.back());
    }
  }

  // Numbers of up to seven digits index the vector; longer ones are names like any other.
  static bool IsNumber(std::string_view name, uint32_t& number) {
    if (name.empty() || name.size() > 7 || (name.size() > 1 && name[0] == '0')) return false;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size();
  }

 private:
  std::vector<ValueId> numbered_;
  std::unordered_map<std::string_view, ValueId> named_;
  std::vector<std::string_view> log_;
};

struct Header {
  Lexer::Mark mark;
  std::vector<std::string_view> param_names;
  Function function;  // name, parameters, shapes and results; no body yet
};

class Parser {
 public:
  Parser(std::string_view text, const Limits& limits) : lexer_(text), limits_(limits) {}

  Result<Program> Run() {
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
    for (Header& header : headers_) program_.functions.push_back(header.function);
    for (size_t i = 0; i < headers_.size(); ++i) TRY_VOID(ParseBody(i));
    FuncId main = program_.FindFunction("main");
    program_.entry = main.valid() ? main : FuncId(static_cast<uint32_t>(headers_.size() - 1));
    return std::move(program_);
  }

 private:
  const Token& token() const { return lexer_.token(); }

  bool Take(std::string_view text) {
    if (!token().Is(text)) return false;
    lexer_.Advance();
    return true;
  }

  Result<void> Expect(std::string_view text) {
    if (!Take(text)) return Unexpected(token(), fmt::format("'{}'", text));
    return {};
  }

  Result<std::string_view> ExpectName(Kind kind, std::string_view wanted) {
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

  Result<int64_t> ExpectInt() {
    int64_t value = 0;
    std::string_view text = token().text;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (token().kind != Kind::Number || error != std::errc() || end != text.data() + text.size())
      return Unexpected(token(), "a whole number of 64 bits");
    lexer_.Advance();
    return value;
  }

  Result<void> ParseHeaderLine() {
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

  Result<Type> ParseTypeHere(Function& function) {
    return ParseTypeTokens(lexer_, &function,
                           [&](std::string_view name) { return scope_.Find(name); });
  }

  Result<std::vector<Type>> ParseTypeList(Function& function) {
    std::vector<Type> types;
    TRY_VOID(Expect("("));
    if (Take(")")) return types;
    do types.push_back(TRY(ParseTypeHere(function)));
    while (Take(","));
    TRY_VOID(Expect(")"));
    return types;
  }

  // Parameters are bound before their types are read: a dimension may name a later parameter.
  Result<void> BindParams(Header& header) {
    Function& function = header.function;
    for (uint32_t i = 0; i < header.param_names.size(); ++i)
      if (!scope_.Bind(header.param_names[i], ValueId(i)))
        return Fail(Diag::Redefined,
                    fmt::format("the parameter %{} of @{} is named twice", header.param_names[i],
                                function.name),
                    token().location);
    return {};
  }

  Result<void> ParseFunctionHeader() {
    lexer_.Advance();
    Header header;
    Location location = token().location;
    header.function.name =
        std::string(TRY(ExpectName(Kind::Symbol, "a function name such as @main")));
    for (const Header& other : headers_)
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

  Result<void> CollectParamNames(Header& header) {
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

  Result<void> ParseParamTypes(Header& header) {
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

  static void SetName(Function& function, ValueId value, std::string_view name) {
    uint32_t number = 0;
    if (Scope::IsNumber(name, number)) return;
    auto& names = function.value_names;
    if (names.size() <= value.index)
      names.resize(std::max<size_t>(value.index + 1, names.size() * 2));
    names[value.index] = std::string(name);
  }

  Result<void> ParseData() {
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

  Result<std::vector<uint64_t>> ParseLiteralHere(Type type, std::string_view stops) {
    Location location = token().location;
    Result<std::vector<uint64_t>> words = ParseLiteral(type, lexer_.TakeRaw(stops), limits_);
    if (!words) words.error().location = location;
    return words;
  }

  Result<void> ParseBody(size_t ordinal) {
    Header& header = headers_[ordinal];
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

  // "{ instructions }" into the region that is open in the builder.
  Result<void> ParseRegionText() {
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

  Result<ValueId> ExpectValue() {
    const Token& name = token();
    if (name.kind != Kind::Value) return Unexpected(name, "a value such as %x");
    ValueId value = scope_.Find(name.text);
    if (!value.valid())
      return Fail(Diag::UnknownValue,
                  fmt::format("%{} is not defined here", name.text.substr(0, 60)), name.location);
    lexer_.Advance();
    return value;
  }

  Result<void> ParseInst() {
    if (++inst_count_ > limits_.program_insts)
      return Fail(Diag::LimitReached,
                  fmt::format("the program has more than --max-insts {} instructions",
                              limits_.program_insts),
                  token().location);
    result_names_.clear();
    while (token().kind == Kind::Value) {
      result_names_.push_back(token());
      lexer_.Advance();
      if (!Take(",")) break;
    }
    if (!result_names_.empty()) TRY_VOID(Expect("="));
    Token mnemonic = token();
    if (mnemonic.kind != Kind::Word) return Unexpected(mnemonic, "an operation, or '}'");
    std::optional<Op> op = OpNamed(mnemonic.text);
    if (!op)
      return Fail(Diag::UnknownOp,
                  fmt::format("there is no operation '{}'", mnemonic.text.substr(0, 60)),
                  mnemonic.location);
    lexer_.Advance();
    builder_->SetLocation(mnemonic.location);
    switch (*op) {
      case Op::If: return ParseIf();
      case Op::For: return ParseFor();
      case Op::While: return ParseWhile();
      case Op::Switch: return ParseSwitch();
      case Op::Parallel: return ParseParallel();
      case Op::Map: return ParseMap();
      case Op::Call: return ParseCall(mnemonic);
      default: return ParsePlain(*op, mnemonic);
    }
  }

  // Names the results of the instruction that was just begun.
  Result<void> BindResults(std::span<const Token> names, const Inst& inst) {
    if (names.size() != inst.results.count)
      return Fail(Diag::WrongOperandCount,
                  fmt::format("{} gives {} result{}, {} named", Info(inst.op).mnemonic,
                              inst.results.count, inst.results.count == 1 ? "" : "s", names.size()),
                  inst.location);
    for (uint32_t i = 0; i < names.size(); ++i)
      TRY_VOID(BindName(names[i], Function::result_of(inst, i)));
    return {};
  }

  Result<void> BindName(const Token& name, ValueId value) {
    if (!scope_.Bind(name.text, value))
      return Fail(Diag::Redefined, fmt::format("%{} is already defined", name.text.substr(0, 60)),
                  name.location);
    SetName(builder_->function(), value, name.text);
    return {};
  }

  Result<void> ParsePlain(Op op, const Token& mnemonic) {
    operands_.clear();
    words_.clear();
    std::string_view literal;
    Location literal_location = token().location;
    if (op == Op::Const) {
      literal = lexer_.TakeRaw(":");
    } else if (NamesTable(op)) {
      DataId table = program_.FindData(TRY(ExpectName(Kind::Symbol, "a table such as @weights")));
      if (!table.valid())
        return Fail(Diag::UnknownSymbol, "there is no such data table", literal_location);
      words_.push_back(table.index);
      if (op == Op::Lookup || (token().Is(",") && OnLineOf(mnemonic))) TRY_VOID(Expect(","));
    }
    if (token().kind == Kind::Value && OnLineOf(mnemonic)) {
      do operands_.push_back(TRY(ExpectValue()));
      while (Take(","));
    }
    if (op != Op::Const && !NamesTable(op)) TRY_VOID(ParseAttributes(op, mnemonic));
    Type type;
    if (HasTypeParameter(op)) {
      TRY_VOID(Expect(":"));
      type = TRY(ParseTypeHere(builder_->function()));
    }
    if (op == Op::Const) {
      if (!type.is_scalar())
        return Fail(Diag::WrongType, "a constant is a scalar", mnemonic.location);
      Result<std::vector<uint64_t>> words = ParseLiteral(type, literal, limits_);
      if (!words) {
        words.error().location = literal_location;
        return std::unexpected(std::move(words.error()));
      }
      words_ = std::move(*words);
    }
    std::optional<Op> source_op;
    if (token().Is("as") && OnLineOf(mnemonic)) {
      lexer_.Advance();
      source_op = OpNamed(token().text);
      if (token().kind != Kind::Word || !source_op)
        return Unexpected(token(), "the operation of the source that this stands for");
      lexer_.Advance();
    }
    std::vector<Type> results = PlainResultTypes(op, type, result_names_.size());
    InstId id = builder_->Begin(op, type, operands_, results, words_, 0);
    builder_->StandFor(source_op);
    return BindResults(result_names_, builder_->function().inst(id));
  }

  // Operands stand on the line of their operation, so that `return` does not swallow what follows it.
  bool OnLineOf(const Token& mnemonic) const {
    return token().location.line == mnemonic.location.line;
  }

  Result<void> ParseAttributes(Op op, const Token& mnemonic) {
    std::span<const AttributeSpec> specs = AttributesOf(op);
    if (specs.empty()) return {};
    std::vector<std::vector<uint64_t>> values(specs.size());
    std::vector<bool> seen(specs.size(), false);
    if (Take("{")) {
      do {
        Token name = token();
        size_t which = 0;
        while (which < specs.size() && specs[which].name != name.text) ++which;
        if (name.kind != Kind::Word || which == specs.size() || seen[which])
          return Fail(Diag::BadAttribute,
                      fmt::format("'{}' is no attribute of {}, or stands twice",
                                  name.text.substr(0, 40), Info(op).mnemonic),
                      name.location);
        lexer_.Advance();
        seen[which] = true;
        TRY_VOID(ParseAttribute(specs[which], values[which]));
      } while (Take(","));
      TRY_VOID(Expect("}"));
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!seen[i] && specs[i].kind == AttributeKind::Flag)
        values[i] = {0};
      else if (!seen[i])
        return Fail(Diag::BadAttribute,
                    fmt::format("{} needs the attribute '{}'", Info(op).mnemonic, specs[i].name),
                    mnemonic.location);
      words_.insert(words_.end(), values[i].begin(), values[i].end());
      if (specs[i].kind == AttributeKind::Ints && i > 0 && values[i].size() != values[i - 1].size())
        return Fail(Diag::BadAttribute, "the attribute lists differ in length", mnemonic.location);
    }
    return {};
  }

  Result<void> ParseAttribute(const AttributeSpec& spec, std::vector<uint64_t>& words) {
    if (spec.kind == AttributeKind::Flag) {
      words.push_back(1);
      return {};
    }
    TRY_VOID(Expect("="));
    if (spec.kind == AttributeKind::Word) {
      auto found = std::find(spec.choices.begin(), spec.choices.end(), token().text);
      if (found == spec.choices.end())
        return Fail(Diag::BadAttribute,
                    fmt::format("'{}' must be one of {}", spec.name, fmt::join(spec.choices, ", ")),
                    token().location);
      words.push_back(static_cast<uint64_t>(found - spec.choices.begin()));
      lexer_.Advance();
    } else if (spec.kind == AttributeKind::Ints) {
      TRY_VOID(Expect("["));
      if (Take("]")) return {};
      do words.push_back(static_cast<uint64_t>(TRY(ExpectInt())));
      while (Take(","));
      TRY_VOID(Expect("]"));
    } else {
      words.push_back(static_cast<uint64_t>(TRY(ExpectInt())));
    }
    return {};
  }

  Result<void> ParseCall(const Token& mnemonic) {
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

  const Function& SignatureOf(FuncId id) const { return program_.functions[id.index]; }

  // After "(": "%p = %a, %q = %b)". Fills names and inits.
  Result<void> ParseBindings(std::vector<Token>& names, Values& inits) {
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

  std::vector<Type> TypesOf(std::span<const ValueId> values) const {
    std::vector<Type> types;
    for (ValueId value : values) types.push_back(builder_->TypeOf(value));
    return types;
  }

  // A region with named parameters. With keep_open the names stay bound for a following region.
  Result<void> ParseRegion(InstId inst, uint32_t index, std::span<const Type> params,
                           std::span<const Token> names) {
    Values values = builder_->BeginRegion(inst, index, params);
    size_t mark = scope_.mark();
    for (size_t i = 0; i < names.size(); ++i) TRY_VOID(BindName(names[i], values[i]));
    TRY_VOID(ParseRegionText());
    scope_.Leave(mark);
    builder_->EndRegion();
    return {};
  }

  Result<void> FinishStructured(InstId id, std::span<const Token> names) {
    return BindResults(names, builder_->function().inst(id));
  }

  Result<void> ParseIf() {
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

  // "%i = %lo to %hi"
  Result<void> ParseRange(Token& name, Values& operands) {
    name = token();
    TRY(ExpectName(Kind::Value, "a counter such as %i"));
    TRY_VOID(Expect("="));
    operands.push_back(TRY(ExpectValue()));
    TRY_VOID(Expect("to"));
    operands.push_back(TRY(ExpectValue()));
    return {};
  }

  Result<void> ParseFor() {
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

  Result<void> ParseParallel() {
    std::vector<Token> names = result_names_;
    Token param;
    Values operands;
    TRY_VOID(ParseRange(param, operands));
    InstId id = builder_->Begin(Op::Parallel, Type{}, operands, {}, {}, 1);
    Type index = types::Index;
    TRY_VOID(ParseRegion(id, 0, std::span(&index, 1), std::span(&param, 1)));
    return FinishStructured(id, names);
  }

  Result<void> ParseWhile() {
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

  Result<void> ParseSwitch() {
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
    InstId id =
        builder_->Begin(Op::Switch, Type{}, std::span(&selector, 1), results, cases, regions);
    for (uint32_t i = 0; i < regions; ++i) {
      lexer_.Advance();
      if (i + 1 < regions) lexer_.Advance();
      TRY_VOID(ParseRegion(id, i, {}, {}));
    }
    TRY_VOID(Expect("}"));
    return FinishStructured(id, names);
  }

  Result<void> ParseMap() {
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

  Lexer lexer_;
  const Limits& limits_;
  Program program_;
  std::vector<Header> headers_;
  Scope scope_;
  FunctionBuilder* builder_ = nullptr;
  uint64_t depth_ = 0;
  uint64_t inst_count_ = 0;
  uint64_t data_elements_ = 0;
  std::vector<Token> result_names_;
  Values operands_;
  std::vector<uint64_t> words_;
};

}  // namespace

Result<Program> ParseText(std::string_view text, const Limits& limits) {
  if (text.size() > limits.source_bytes)
    return Fail(Diag::LimitReached,
                fmt::format("the text has {} bytes, more than --max-source-bytes {}", text.size(),
                            limits.source_bytes));
  if (std::optional<Error> bad = Utf8Error(text)) return std::unexpected(std::move(*bad));
  Program program = TRY(Parser(text, limits).Run());
  TRY_VOID(Check(program, limits));
  return program;
}

}  // namespace frazil::ir
