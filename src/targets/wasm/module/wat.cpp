// Bytes to text, one instruction a line. Types are printed with their indices so that the text
// assembles to the same bytes; functions have names where the module has a name section.
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "targets/wasm/module/module_reader.h"
#include "targets/wasm/wasm.h"

namespace frazil::targets::wasm {
namespace {

bool IsIdentifier(std::string_view name) {
  if (name.empty()) return false;
  for (char c : name) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && std::string_view("_.-+*/<>=?@$").find(c) == std::string_view::npos) return false;
  }
  return true;
}

std::string Quoted(std::string_view bytes) {
  std::string text = "\"";
  for (char c : bytes) {
    uint8_t byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\')
      text += fmt::format("\\{:02x}", byte);
    else
      text += c;
  }
  return text + "\"";
}

// Decimal digits that read back to the same bits; NaNs with their payload.
template <typename Float, typename Bits>
std::string PrintFloat(Bits bits, int mantissa_bits) {
  Float value = std::bit_cast<Float>(bits);
  std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  if (!std::isnan(value)) return fmt::format("{}", value);
  Bits payload = bits & ((Bits{1} << mantissa_bits) - 1);
  if (payload == Bits{1} << (mantissa_bits - 1)) return sign + "nan";
  return fmt::format("{}nan:0x{:x}", sign, payload);
}

std::string PrintTypes(std::string_view word, const std::vector<ValType>& types) {
  if (types.empty()) return "";
  std::string text = fmt::format(" ({}", word);
  for (ValType type : types) text += fmt::format(" {}", ValTypeName(type));
  return text + ")";
}

std::string PrintConstant(ValType type, uint64_t bits) {
  switch (type) {
    case ValType::I32: return fmt::format("i32.const {}", static_cast<int32_t>(bits));
    case ValType::I64: return fmt::format("i64.const {}", static_cast<int64_t>(bits));
    case ValType::F32: return "f32.const " + PrintFloat<float>(static_cast<uint32_t>(bits), 23);
    case ValType::F64: return "f64.const " + PrintFloat<double>(bits, 52);
  }
  return "";
}

class Printer {
 public:
  explicit Printer(const ModuleView& module) : module_(module) {
    std::set<std::string_view> taken;
    for (uint32_t i = 0; i < module.functions.size(); ++i) {
      std::string_view name = module.functions[i].name;
      bool usable = IsIdentifier(name) && taken.insert(name).second;
      names_.push_back(usable ? fmt::format("${}", name) : fmt::format("{}", i));
    }
  }

  Result<std::string> Print() {
    out_ = "(module\n";
    for (uint32_t i = 0; i < module_.types.size(); ++i)
      out_ += fmt::format("  (type (;{};) (func{}{}))\n", i,
                          PrintTypes("param", module_.types[i].params),
                          PrintTypes("result", module_.types[i].results));
    for (uint32_t i = 0; i < module_.functions.size(); ++i) TRY_VOID(PrintFunction(i));
    if (module_.memory_pages) {
      out_ += fmt::format("  (memory {}", *module_.memory_pages);
      if (module_.memory_maximum) out_ += fmt::format(" {}", *module_.memory_maximum);
      out_ += ")\n";
    }
    for (const ModuleView::Global& global : module_.globals) PrintGlobal(global);
    for (const ModuleView::Export& entry : module_.exports) {
      constexpr std::string_view kinds[] = {"func", "", "memory", "global"};
      std::string target = entry.kind == 0 ? names_[entry.index] : fmt::format("{}", entry.index);
      out_ += fmt::format("  (export {} ({} {}))\n", Quoted(entry.name), kinds[entry.kind], target);
    }
    for (const ModuleView::Data& data : module_.data)
      out_ += fmt::format("  (data (i32.const {}) {})\n", static_cast<int32_t>(data.address),
                          Quoted(data.bytes));
    // The closing parenthesis sits on the last line, as is usual.
    out_.pop_back();
    return out_ + ")\n";
  }

 private:
  void PrintGlobal(const ModuleView::Global& global) {
    std::string_view type = ValTypeName(global.type);
    out_ += fmt::format("  (global {} ({}))\n",
                        global.is_mutable ? fmt::format("(mut {})", type) : std::string(type),
                        PrintConstant(global.type, global.initial));
  }

  Result<void> PrintFunction(uint32_t index) {
    const ModuleView::Function& function = module_.functions[index];
    const FuncType& type = module_.types[function.type];
    std::string label = names_[index][0] == '$' ? names_[index] : fmt::format("(;{};)", index);
    out_ += fmt::format("  (func {} (type {}){}{}\n", label, function.type,
                        PrintTypes("param", type.params), PrintTypes("result", type.results));
    if (!function.locals.empty()) {
      out_ += "    (local";
      for (auto [count, local_type] : function.locals)
        for (uint32_t i = 0; i < count; ++i) out_ += fmt::format(" {}", ValTypeName(local_type));
      out_ += ")\n";
    }
    ByteReader in(function.code, function.offset);
    std::vector<bool> open_ifs = {false};
    while (!open_ifs.empty()) {
      Instruction instruction =
          TRY(ReadInstruction(in, module_, function, static_cast<uint32_t>(open_ifs.size())));
      TRY_VOID(PrintInstruction(instruction, in, open_ifs));
    }
    if (!in.at_end()) return in.Bad("code after the end of a function");
    // The function's own end is the closing parenthesis.
    out_.pop_back();
    out_ += ")\n";
    return {};
  }

  Result<void> PrintInstruction(const Instruction& instruction, const ByteReader& in,
                                std::vector<bool>& open_ifs) {
    Opcode op = instruction.info->code;
    if (op == Opcode::End) {
      open_ifs.pop_back();
      if (open_ifs.empty()) return {};
    }
    bool is_else = op == Opcode::Else;
    if (is_else && !open_ifs.back()) return in.Bad("else without an if");
    // Indentation stops growing where nobody could read it.
    size_t level = std::min<size_t>(open_ifs.size() - (is_else ? 1 : 0), 60);
    out_.append(2 + 2 * level, ' ');
    out_ += instruction.info->text;
    PrintImmediate(instruction);
    out_ += '\n';
    if (is_else) open_ifs.back() = false;
    if (instruction.info->immediate == Immediate::Block) open_ifs.push_back(op == Opcode::If);
    return {};
  }

  void PrintImmediate(const Instruction& instruction) {
    uint64_t a = instruction.a;
    switch (instruction.info->immediate) {
      case Immediate::None:
      case Immediate::Memory:
      case Immediate::Copy: break;
      case Immediate::Block:
        if (instruction.block_type) out_ += fmt::format(" (type {})", *instruction.block_type);
        if (instruction.block_result)
          out_ += fmt::format(" (result {})", ValTypeName(*instruction.block_result));
        break;
      case Immediate::Table:
        for (uint32_t label : instruction.table) out_ += fmt::format(" {}", label);
        break;
      case Immediate::Func: out_ += " " + names_[a]; break;
      case Immediate::Label:
      case Immediate::Local:
      case Immediate::Global: out_ += fmt::format(" {}", a); break;
      case Immediate::MemArg:
        if (instruction.b != 0) out_ += fmt::format(" offset={}", instruction.b);
        out_ += fmt::format(" align={}", 1u << a);
        break;
      case Immediate::I32: out_ += fmt::format(" {}", static_cast<int32_t>(a)); break;
      case Immediate::I64: out_ += fmt::format(" {}", static_cast<int64_t>(a)); break;
      case Immediate::F32: out_ += " " + PrintFloat<float>(static_cast<uint32_t>(a), 23); break;
      case Immediate::F64: out_ += " " + PrintFloat<double>(a, 52); break;
    }
  }

  const ModuleView& module_;
  std::vector<std::string> names_;
  std::string out_;
};

}  // namespace

Result<std::string> PrintWat(std::string_view module_bytes) {
  ModuleView module = TRY(ReadModule(module_bytes));
  return Printer(module).Print();
}

Result<std::string> FunctionBody(std::string_view module_bytes, std::string_view name) {
  ModuleView module = TRY(ReadModule(module_bytes));
  const ModuleView::Function* found = nullptr;
  for (const ModuleView::Function& function : module.functions)
    if (function.name == name) found = &function;
  for (const ModuleView::Export& entry : module.exports)
    if (entry.kind == 0 && entry.name == name) found = &module.functions[entry.index];
  if (found == nullptr)
    return Fail(Diag::UnknownSymbol, fmt::format("the module has no function '{}'", name));
  return std::string(found->code.substr(0, found->code.size() - 1));
}

}  // namespace frazil::targets::wasm
