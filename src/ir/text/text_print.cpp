// IR to text. One pass, one growing string; names are kept where they are legal and not already visible,
// everything else is numbered in order of appearance. Round trip: text_test.cpp.
#include <fmt/format.h>

#include <charconv>
#include <unordered_set>

#include "base/check.h"
#include "ir/check/attributes.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

bool IsLegalName(std::string_view name) {
  if (name.empty()) return false;
  bool all_digits = true;
  for (char c : name) {
    bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' && c != '.')
      return false;
    all_digits &= digit;
  }
  return !all_digits;
}

class Printer {
 public:
  Printer(const Program& program, const Function& function, std::string& out)
      : program_(program),
        function_(function),
        out_(out),
        numbers_(function.values.size(), Unseen) {}

  void PrintWhole() {
    out_ += "func @";
    out_ += function_.name;
    out_ += '(';
    const Region& body = function_.region(function_.body);
    // Dimensions may name any parameter, so all are declared before the first type is printed.
    for (uint32_t i = 0; i < body.params.count; ++i) Declare(Function::param_of(body, i));
    for (uint32_t i = 0; i < body.params.count; ++i) {
      if (i != 0) out_ += ", ";
      Use(Function::param_of(body, i));
      out_ += ": ";
      AppendType(function_.param_type(i));
    }
    out_ += ')';
    if (!function_.results.empty()) {
      out_ += " -> ";
      AppendTypes(function_.results);
    }
    out_ += " {\n";
    indent_ = 1;
    AppendInsts(body);
    out_ += "}\n";
  }

  void AppendType(Type type) {
    if (!type.is_tensor()) {
      out_ += ScalarOrBufferName(type);
      return;
    }
    out_ += "tensor<";
    out_ += ScalarOrBufferName(type.element());
    out_ += ", [";
    bool first = true;
    for (Dim dim : function_.shape(type)) {
      if (!first) out_ += ", ";
      first = false;
      if (dim.is_symbol())
        Use(function_.param(dim.param()));
      else
        AppendInt(dim.value);
    }
    out_ += "]>";
  }

 private:
  static constexpr uint32_t Unseen = UINT32_MAX;
  static constexpr uint32_t Named = UINT32_MAX - 1;

  void AppendInt(int64_t value) {
    char buffer[24];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    out_.append(buffer, end);
  }

  void AppendTypes(std::span<const Type> types) {
    out_ += '(';
    for (size_t i = 0; i < types.size(); ++i) {
      if (i != 0) out_ += ", ";
      AppendType(types[i]);
    }
    out_ += ')';
  }

  std::string_view NameOf(ValueId id) const {
    const auto& names = function_.value_names;
    return id.index < names.size() ? std::string_view(names[id.index]) : std::string_view();
  }

  void Declare(ValueId id) {
    if (numbers_[id.index] != Unseen) return;
    std::string_view name = NameOf(id);
    if (IsLegalName(name) && visible_.insert(name).second) {
      numbers_[id.index] = Named;
      scope_.push_back(name);
    } else {
      numbers_[id.index] = next_number_++;
    }
  }

  void Use(ValueId id) {
    out_ += '%';
    // A value that is used but was never declared is a malformed program; print it all the same.
    if (numbers_[id.index] == Unseen) Declare(id);
    if (numbers_[id.index] == Named)
      out_ += NameOf(id);
    else
      AppendInt(numbers_[id.index]);
  }

  void UseAll(std::span<const ValueId> ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i != 0) out_ += ", ";
      Use(ids[i]);
    }
  }

  void Indent() { out_.append(static_cast<size_t>(indent_) * 2, ' '); }

  void AppendInsts(const Region& region) {
    for (InstId id : region.insts) {
      Indent();
      AppendInst(function_.inst(id));
      out_ += '\n';
    }
  }

  void AppendRegion(const Region& region) {
    size_t mark = scope_.size();
    for (uint32_t i = 0; i < region.params.count; ++i) Declare(Function::param_of(region, i));
    OpenRegion(region);
    CloseRegion(mark);
  }

  void OpenRegion(const Region& region) {
    out_ += "{\n";
    ++indent_;
    AppendInsts(region);
    --indent_;
    Indent();
    out_ += '}';
  }

  void CloseRegion(size_t mark) {
    for (; scope_.size() > mark; scope_.pop_back()) visible_.erase(scope_.back());
  }

  void AppendResults(const Inst& inst) {
    if (inst.results.count == 0) return;
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      if (i != 0) out_ += ", ";
      Declare(Function::result_of(inst, i));
      Use(Function::result_of(inst, i));
    }
    out_ += " = ";
  }

  void AppendInst(const Inst& inst) {
    AppendResults(inst);
    out_ += Info(inst.op).mnemonic;
    switch (inst.op) {
      case Op::Const:
        out_ += ' ';
        AppendLiteral(out_, inst.type, function_.words_of(inst));
        break;
      case Op::Lookup:
      case Op::Tasm:
        out_ += " @";
        out_ += program_.data[static_cast<size_t>(function_.word(inst, 0))].name;
        if (inst.operands.count != 0) out_ += ", ";
        UseAll(function_.operands_of(inst));
        break;
      case Op::Call:
        out_ += " @";
        out_ += program_.functions[static_cast<size_t>(function_.word(inst, 0))].name;
        out_ += '(';
        UseAll(function_.operands_of(inst));
        out_ += ')';
        return;
      case Op::If: AppendIf(inst); return;
      case Op::For: AppendFor(inst); return;
      case Op::While: AppendWhile(inst); return;
      case Op::Switch: AppendSwitch(inst); return;
      case Op::Parallel: AppendParallel(inst); return;
      case Op::Map: AppendMap(inst); return;
      case Op::Generate: AppendGenerate(inst); return;
      case Op::Fold: AppendFold(inst); return;
      default:
        if (inst.operands.count != 0) out_ += ' ';
        UseAll(function_.operands_of(inst));
        AppendAttributes(inst);
    }
    if (HasTypeParameter(inst.op)) {
      out_ += " : ";
      AppendType(inst.type);
    }
    if (inst.source_op) {
      out_ += " as ";
      out_ += Info(*inst.source_op).mnemonic;
    }
  }

  void AppendAttributes(const Inst& inst) {
    std::span<const AttributeSpec> specs = AttributesOf(inst.op);
    if (specs.empty()) return;
    size_t lists = 0;
    for (const AttributeSpec& spec : specs) lists += spec.kind == AttributeKind::Ints;
    size_t list_length = lists == 0 ? 0 : inst.attributes.count / lists;
    out_ += " {";
    bool first = true;
    uint32_t word = 0;
    for (const AttributeSpec& spec : specs) {
      int64_t value = spec.kind == AttributeKind::Ints ? 0 : function_.word(inst, word++);
      if (spec.kind == AttributeKind::Flag && value == 0) continue;
      if (!first) out_ += ", ";
      first = false;
      out_ += spec.name;
      if (spec.kind == AttributeKind::Flag) continue;
      out_ += " = ";
      if (spec.kind == AttributeKind::Word) {
        out_ += spec.choices[static_cast<size_t>(value)];
      } else if (spec.kind == AttributeKind::Ints) {
        out_ += '[';
        for (size_t i = 0; i < list_length; ++i) {
          if (i != 0) out_ += ", ";
          AppendInt(function_.word(inst, word++));
        }
        out_ += ']';
      } else {
        AppendInt(value);
      }
    }
    out_ += '}';
  }

  void AppendResultTypes(const Inst& inst) {
    if (inst.results.count == 0) return;
    out_ += " -> (";
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      if (i != 0) out_ += ", ";
      AppendType(function_.type(Function::result_of(inst, i)));
    }
    out_ += ')';
  }

  void AppendIf(const Inst& inst) {
    out_ += ' ';
    Use(function_.operand(inst, 0));
    AppendResultTypes(inst);
    out_ += ' ';
    AppendRegion(function_.region(Function::region_of(inst, 0)));
    const Region& other = function_.region(Function::region_of(inst, 1));
    if (inst.results.count == 0 && other.insts.size() == 1) return;
    out_ += " else ";
    AppendRegion(other);
  }

  // "(%p = %a, %q = %b)"
  void AppendBindings(const Region& region, uint32_t first_param, std::span<const ValueId> inits) {
    out_ += '(';
    for (uint32_t i = 0; i < inits.size(); ++i) {
      if (i != 0) out_ += ", ";
      Use(Function::param_of(region, first_param + i));
      out_ += " = ";
      Use(inits[i]);
    }
    out_ += ')';
  }

  // Region parameters stand before the brace, in the head: they are declared before it, and leave with what follows.
  template <typename Head>
  void AppendWithParams(const Inst& inst, Head head) {
    const Region& region = function_.region(Function::region_of(inst, 0));
    size_t mark = scope_.size();
    for (uint32_t i = 0; i < region.params.count; ++i) Declare(Function::param_of(region, i));
    head(region);
    out_ += ' ';
    OpenRegion(region);
    // The second region of a `while` sees what its test defines.
    if (inst.regions.count == 2) {
      out_ += " do ";
      AppendRegion(function_.region(Function::region_of(inst, 1)));
    }
    CloseRegion(mark);
  }

  void AppendRange(const Inst& inst, const Region& region) {
    out_ += ' ';
    Use(Function::param_of(region, 0));
    out_ += " = ";
    Use(function_.operand(inst, 0));
    out_ += " to ";
    Use(function_.operand(inst, 1));
  }

  void AppendFor(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& region) {
      AppendRange(inst, region);
      out_ += " step ";
      AppendInt(function_.word(inst, 0));
      if (inst.results.count == 0) return;
      out_ += " carry ";
      AppendBindings(region, 1, function_.operands_of(inst).subspan(2));
    });
  }

  void AppendParallel(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& region) { AppendRange(inst, region); });
  }

  void AppendWhile(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& test) {
      out_ += ' ';
      AppendBindings(test, 0, function_.operands_of(inst));
    });
  }

  void AppendMap(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& region) {
      out_ += ' ';
      AppendBindings(region, 0, function_.operands_of(inst));
      out_ += " -> ";
      AppendType(inst.type);
    });
  }

  void AppendGenerate(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& region) {
      out_ += " (";
      for (uint32_t i = 0; i < region.params.count; ++i) {
        if (i != 0) out_ += ", ";
        Use(Function::param_of(region, i));
      }
      out_ += ')';
      AppendResultTypes(inst);
    });
  }

  void AppendFold(const Inst& inst) {
    AppendWithParams(inst, [&](const Region& region) {
      out_ += ' ';
      out_ += AttributesOf(inst.op)[0].choices[static_cast<size_t>(function_.word(inst, 0))];
      out_ += ' ';
      Use(Function::param_of(region, 0));
      out_ += " to ";
      Use(function_.operand(inst, 0));
      out_ += " chains ";
      AppendInt(function_.word(inst, 1));
      out_ += " block ";
      AppendInt(function_.word(inst, 2));
      out_ += " -> ";
      AppendType(inst.type);
    });
  }

  void AppendSwitch(const Inst& inst) {
    out_ += ' ';
    Use(function_.operand(inst, 0));
    AppendResultTypes(inst);
    out_ += " {\n";
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      Indent();
      if (i + 1 < inst.regions.count) {
        out_ += "case ";
        AppendInt(function_.word(inst, i));
      } else {
        out_ += "default";
      }
      out_ += ' ';
      AppendRegion(function_.region(Function::region_of(inst, i)));
      out_ += '\n';
    }
    Indent();
    out_ += '}';
  }

  const Program& program_;
  const Function& function_;
  std::string& out_;
  std::vector<uint32_t> numbers_;
  uint32_t next_number_ = 0;
  int indent_ = 0;
  std::unordered_set<std::string_view> visible_;
  std::vector<std::string_view> scope_;
};

}  // namespace

std::string PrintFunction(const Program& program, const Function& function) {
  std::string out;
  Printer(program, function, out).PrintWhole();
  return out;
}

std::string PrintType(const Function& function, Type type) {
  static const Program* empty = new Program;
  std::string out;
  Printer(*empty, function, out).AppendType(type);
  return out;
}

std::string PrintText(const Program& program) {
  std::string out = fmt::format("frz {}\n", IrVersion);
  for (const Data& data : program.data) {
    fmt::format_to(std::back_inserter(out), "\ndata @{} : {} [", data.name,
                   ScalarOrBufferName(data.element));
    uint32_t words = WordsOf(data.element);
    for (size_t i = 0; i < data.length(); ++i) {
      if (i != 0) out += ", ";
      AppendLiteral(out, data.element, std::span(data.words).subspan(i * words, words));
    }
    out += "]\n";
  }
  for (const Function& function : program.functions) {
    out += '\n';
    Printer(program, function, out).PrintWhole();
  }
  return out;
}

}  // namespace frazil::ir
