// One line of a body: results, op, operands, attributes, type.
#include "ir/text/text_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/check/call_types.h"
#include "ir/text/text.h"

namespace frazil::ir {

using Kind = Token::Kind;

Result<void> TextParser::ParseInst() {
  if (++inst_count_ > limits_.program_insts)
    return Fail(
        Diag::LimitReached,
        fmt::format("the program has more than --max-insts {} instructions", limits_.program_insts),
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
    case Op::Generate: return ParseGenerate();
    case Op::Fold: return ParseFold();
    case Op::Call: return ParseCall(mnemonic);
    default: return ParsePlain(*op, mnemonic);
  }
}

Result<void> TextParser::BindResults(std::span<const Token> names, const Inst& inst) {
  if (names.size() != inst.results.count)
    return Fail(Diag::WrongOperandCount,
                fmt::format("{} gives {} result{}, {} named", Info(inst.op).mnemonic,
                            inst.results.count, inst.results.count == 1 ? "" : "s", names.size()),
                inst.location);
  for (uint32_t i = 0; i < names.size(); ++i)
    TRY_VOID(BindName(names[i], Function::result_of(inst, i)));
  return {};
}

Result<void> TextParser::BindName(const Token& name, ValueId value) {
  if (!scope_.Bind(name.text, value))
    return Fail(Diag::Redefined, fmt::format("%{} is already defined", name.text.substr(0, 60)),
                name.location);
  SetName(builder_->function(), value, name.text);
  return {};
}

Result<void> TextParser::ParsePlain(Op op, const Token& mnemonic) {
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

bool TextParser::OnLineOf(const Token& mnemonic) const {
  return token().location.line == mnemonic.location.line;
}

Result<void> TextParser::ParseAttributes(Op op, const Token& mnemonic) {
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
    if (i > 0 && specs[i].kind == AttributeKind::Ints && specs[i - 1].kind == AttributeKind::Ints &&
        values[i].size() != values[i - 1].size())
      return Fail(Diag::BadAttribute, "the attribute lists differ in length", mnemonic.location);
  }
  return {};
}

Result<uint64_t> TextParser::ExpectChoice(const AttributeSpec& spec) {
  auto found = std::find(spec.choices.begin(), spec.choices.end(), token().text);
  if (found == spec.choices.end())
    return Fail(Diag::BadAttribute,
                fmt::format("'{}' must be one of {}", spec.name, fmt::join(spec.choices, ", ")),
                token().location);
  lexer_.Advance();
  return static_cast<uint64_t>(found - spec.choices.begin());
}

Result<void> TextParser::ParseAttribute(const AttributeSpec& spec, std::vector<uint64_t>& words) {
  if (spec.kind == AttributeKind::Flag) {
    words.push_back(1);
    return {};
  }
  TRY_VOID(Expect("="));
  if (spec.kind == AttributeKind::Word) {
    words.push_back(TRY(ExpectChoice(spec)));
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

}  // namespace frazil::ir
