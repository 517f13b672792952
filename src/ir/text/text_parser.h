// The parser behind ParseText. Internal to this folder.
#pragma once

#include <charconv>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "ir/builder.h"
#include "ir/check/attributes.h"
#include "ir/text/lexer.h"

namespace frazil::ir {

// "expected WANTED, found ...".
std::unexpected<Error> Unexpected(const Token& token, std::string_view wanted);

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

// A function before its body is read.
struct FunctionHeader {
  Lexer::Mark mark;
  std::vector<std::string_view> param_names;
  Function function;  // name, parameters, shapes and results; no body yet
};

class TextParser {
 public:
  TextParser(std::string_view text, const Limits& limits) : lexer_(text), limits_(limits) {}

  Result<Program> Run();

 private:
  const Token& token() const { return lexer_.token(); }

  bool Take(std::string_view text);
  Result<void> Expect(std::string_view text);
  Result<std::string_view> ExpectName(Token::Kind kind, std::string_view wanted);
  Result<int64_t> ExpectInt();
  Result<void> ParseHeaderLine();
  Result<Type> ParseTypeHere(Function& function);
  Result<std::vector<Type>> ParseTypeList(Function& function);

  // Parameters are bound before their types are read: a dimension may name a later parameter.
  Result<void> BindParams(FunctionHeader& header);
  Result<void> ParseFunctionHeader();
  Result<void> CollectParamNames(FunctionHeader& header);
  Result<void> ParseParamTypes(FunctionHeader& header);
  static void SetName(Function& function, ValueId value, std::string_view name);
  Result<void> ParseData();
  Result<std::vector<uint64_t>> ParseLiteralHere(Type type, std::string_view stops);
  Result<void> ParseBody(size_t ordinal);

  // "{ instructions }" into the region that is open in the builder.
  Result<void> ParseRegionText();
  Result<ValueId> ExpectValue();
  Result<void> ParseInst();

  // Names the results of the instruction that was just begun.
  Result<void> BindResults(std::span<const Token> names, const Inst& inst);
  Result<void> BindName(const Token& name, ValueId value);
  Result<void> ParsePlain(Op op, const Token& mnemonic);

  // Operands stand on the line of their operation, so that `return` does not swallow what follows it.
  bool OnLineOf(const Token& mnemonic) const;
  Result<void> ParseAttributes(Op op, const Token& mnemonic);
  Result<uint64_t> ExpectChoice(const AttributeSpec& spec);
  Result<void> ParseAttribute(const AttributeSpec& spec, std::vector<uint64_t>& words);
  Result<void> ParseCall(const Token& mnemonic);
  const Function& SignatureOf(FuncId id) const { return program_.functions[id.index]; }

  // After "(": "%p = %a, %q = %b)". Fills names and inits.
  Result<void> ParseBindings(std::vector<Token>& names, Values& inits);
  std::vector<Type> TypesOf(std::span<const ValueId> values) const;

  // A region with named parameters. With keep_open the names stay bound for a following region.
  Result<void> ParseRegion(InstId inst, uint32_t index, std::span<const Type> params,
                           std::span<const Token> names);
  Result<void> FinishStructured(InstId id, std::span<const Token> names);
  Result<void> ParseIf();

  // "%i = %lo to %hi"
  Result<void> ParseRange(Token& name, Values& operands);
  Result<void> ParseFor();
  Result<void> ParseParallel();
  Result<void> ParseWhile();
  Result<void> ParseSwitch();
  Result<void> ParseMap();
  Result<void> ParseGenerate();
  Result<void> ParseFold();

  Lexer lexer_;
  const Limits& limits_;
  Program program_;
  std::vector<FunctionHeader> headers_;
  Scope scope_;
  FunctionBuilder* builder_ = nullptr;
  uint64_t depth_ = 0;
  uint64_t inst_count_ = 0;
  uint64_t data_elements_ = 0;
  std::vector<Token> result_names_;
  Values operands_;
  std::vector<uint64_t> words_;
};

}  // namespace frazil::ir
