// The printer: one line for each instruction, structures indented, labels where something jumps to.
#include <set>

#include <fmt/format.h>

#include "ir/text/text.h"
#include "machines/simt/text.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {
namespace {

std::string Operand(Type type, uint8_t number) {
  return fmt::format("{}{}", type == Type::Bool ? 'p' : 'r', number);
}

std::string Literal(Type type, uint64_t word) {
  return ir::PrintLiteral(ir::Type::Of(type), std::span(&word, 1));
}

std::string Offset(uint64_t imm) {
  int64_t offset = static_cast<int64_t>(imm);
  if (offset == 0) return {};
  return offset < 0 ? fmt::format(" - {}", uint64_t{0} - imm) : fmt::format(" + {}", offset);
}

std::string AddressText(const Instruction& i) {
  bool shared = i.op == Opcode::Lds || i.op == Opcode::Sts;
  std::string base = shared ? "" : fmt::format("b{} + ", i.a);
  switch (i.address()) {
    case Address::Offset:
      if (shared) return fmt::format("[{}]", static_cast<int64_t>(i.imm));
      return fmt::format("[b{}{}]", i.a, Offset(i.imm));
    case Address::Bytes: return fmt::format("[{}r{}{}]", base, i.b, Offset(i.imm));
    case Address::Elements:
      return fmt::format("[{}r{}*{}]", base, i.b, ir::BytesOf(ir::Type::Of(i.type)));
    case Address::Phi:
      return fmt::format("[Φ({}, {}, {})]", i.imm / PhiClassBytes,
                         i.imm % PhiClassBytes / PhiPageBytes, i.imm % PhiPageBytes);
    case Address::Handle: return fmt::format("[r{}{}]", i.a, Offset(i.imm));
    case Address::HandleBytes: return fmt::format("[r{} + r{}]", i.a, i.b);
  }
  return {};
}

// The word with its modifiers and types: "atom.add.unordered.f32", "setlt.u32".
std::string Word(const Instruction& i) {
  const InstructionInfo& info = Info(i.op);
  std::string word(info.mnemonic);
  switch (info.shape) {
    case Shape::Compare: word += ConditionName(i.condition()); break;
    case Shape::Atomic:
      word += fmt::format(".{}{}", AtomicWords[static_cast<size_t>(i.atomic_kind())],
                          i.unordered() ? ".unordered" : "");
      break;
    case Shape::Fence: word += fmt::format(".{}", FenceWords[i.aux]); break;
    case Shape::Shuffle: word += fmt::format(".{}", ShuffleWords[i.aux]); break;
    case Shape::Vote: word += fmt::format(".{}", VoteWords[i.aux]); break;
    case Shape::LaneReduce:
    case Shape::RegReduce:
    case Shape::RangeReduce:
      word += fmt::format(".{}{}", ReduceWords[i.aux & 15], (i.aux & 16) ? ".exclusive" : "");
      break;
    default: break;
  }
  if (HasWrittenType(info)) word += fmt::format(".{}", TypeName(i.type));
  if (info.shape == Shape::Convert) word += fmt::format(".{}", TypeName(i.source()));
  return word;
}

std::string OperandB(const Instruction& i) {
  return i.immediate_b() ? "#" + Literal(i.type, i.imm) : Operand(i.type, i.b);
}

std::string Operands(const Instruction& i) {
  auto t = [&](uint8_t number) { return Operand(i.type, number); };
  switch (Info(i.op).shape) {
    case Shape::Plain:
    case Shape::Fence: return "";
    case Shape::Imm: return fmt::format(" {}", static_cast<int64_t>(i.imm));
    case Shape::Dst: return " " + t(i.dst);
    case Shape::DImm:
      return i.op == Opcode::Ldp ? fmt::format(" {}, {}", t(i.dst), i.imm)
                                 : fmt::format(" {}, {}", t(i.dst), Literal(i.type, i.imm));
    case Shape::DA:
    case Shape::LaneReduce: return fmt::format(" {}, {}", t(i.dst), t(i.a));
    case Shape::DAB: return fmt::format(" {}, {}, {}", t(i.dst), t(i.a), OperandB(i));
    case Shape::DABC: return fmt::format(" {}, {}, {}, {}", t(i.dst), t(i.a), t(i.b), t(i.c));
    case Shape::Load: return fmt::format(" {}, {}", t(i.dst), AddressText(i));
    case Shape::Store: return fmt::format(" {}, {}", AddressText(i), t(i.c));
    case Shape::Atomic: return fmt::format(" {}, {}, {}", t(i.dst), AddressText(i), t(i.c));
    case Shape::AtomicCas:
      return fmt::format(" {}, {}, {}, r{}", t(i.dst), AddressText(i), t(i.c), i.imm);
    case Shape::Convert: return fmt::format(" {}, {}", t(i.dst), Operand(i.source(), i.a));
    case Shape::Length: return fmt::format(" r{}, b{}", i.dst, i.a);
    case Shape::Alloc: return fmt::format(" b{}, r{}", i.dst, i.a);
    case Shape::Lookup: return fmt::format(" {}, t{}, r{}", t(i.dst), i.imm, i.a);
    case Shape::Result: return fmt::format(" {}, {}", i.imm, t(i.a));
    case Shape::PredToReg: return fmt::format(" r{}, p{}", i.dst, i.a);
    case Shape::RegToPred: return fmt::format(" p{}, r{}", i.dst, i.a);
    case Shape::Special:
      return fmt::format(" r{}, {}", i.dst, SpecialName(static_cast<SpecialRegister>(i.imm)));
    case Shape::Compare: return fmt::format(" p{}, {}, {}", i.dst, t(i.a), OperandB(i));
    case Shape::Select: return fmt::format(" {}, p{}, {}, {}", t(i.dst), i.a, t(i.b), t(i.c));
    case Shape::TestPred:
    case Shape::Vote:
      return Info(i.op).shape == Shape::Vote ? fmt::format(" p{}, p{}", i.dst, i.a)
                                             : fmt::format(" p{}", i.a);
    case Shape::For:
      return i.op == Opcode::Par ? fmt::format(" r{}, r{}, r{}", i.dst, i.a, i.b)
                                 : fmt::format(" r{}, r{}, r{}, {}", i.dst, i.a, i.b, i.imm);
    case Shape::Switch: return fmt::format(" r{}", i.a);
    case Shape::Label: return fmt::format(" @L{}", i.imm);
    case Shape::Loop: return fmt::format(" r{}, @L{}", i.a, i.imm);
    case Shape::Shuffle: return fmt::format(" {}, {}, r{}", t(i.dst), t(i.a), i.b);
    case Shape::Ballot: return fmt::format(" r{}, p{}", i.dst, i.a);
    case Shape::RegReduce: return fmt::format(" r{}, r{}, {}", i.dst, i.a, i.imm);
    case Shape::RangeReduce: return fmt::format(" r{}, b{}, r{}, r{}", i.dst, i.a, i.b, i.c);
    case Shape::PoolAlloc: return fmt::format(" r{}, r{}", i.dst, i.a);
    case Shape::PoolFree: return fmt::format(" r{}", i.a);
    case Shape::Random: return fmt::format(" r{}, r{}, r{}, r{}", i.dst, i.a, i.b, i.c);
  }
  return "";
}

void PrintHead(const Module& module, std::string& out) {
  out += fmt::format(".kernel {}\n", module.name);
  if (module.mode == Mode::Launch) out += ".launch\n";
  for (uint32_t p = 0; p < module.params.size(); ++p) {
    const ParamRow& row = module.params[p];
    std::string_view access = row.access == ir::Access::In    ? "in "
                              : row.access == ir::Access::Out ? "out "
                                                              : "";
    out += fmt::format(".param {}{}{} {}", row.is_buffer ? access : "",
                       row.is_buffer ? "buffer " : "", TypeName(row.type), module.param_name(p));
    if (row.role != (row.is_buffer ? ir::ParamRole::Buffer : ir::ParamRole::Value))
      out += fmt::format(" {}", ir::RoleName(row.role));
    for (uint32_t e = 0; e < row.extents_count; ++e)
      out += fmt::format(" {}", module.extents[row.extents_begin + e]);
    out += '\n';
  }
  for (const BufferRow& row : module.buffers)
    if (row.is_scratch) out += fmt::format(".scratch {}\n", TypeName(row.type));
  for (Type type : module.results) out += fmt::format(".result {}\n", TypeName(type));
  for (uint32_t t = 0; t < module.tables.size(); ++t) {
    out += fmt::format(".table {} {}", TypeName(module.tables[t].type), module.table_name(t));
    for (uint64_t word : module.table(t)) out += " " + Literal(module.tables[t].type, word);
    out += '\n';
  }
  if (module.lines.empty()) out += ".loc none\n";
}

std::string TypesText(ir::ScalarSet types) {
  struct Family {
    ir::ScalarSet set;
    std::string_view name;
  };
  constexpr Family Families[] = {{(1u << TypeCount) - 1, "all"},
                                 {ir::sets::Fixed, "integers"},
                                 {ir::sets::SInt, "signed"},
                                 {ir::sets::Float, "floats"}};
  std::string text;
  auto add = [&](std::string_view name) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  };
  for (const Family& family : Families)
    if ((types & family.set) == family.set) add(family.name), types &= ~family.set;
  for (int t = 0; t < TypeCount; ++t)
    if (ir::Contains(types, static_cast<Type>(t))) add(TypeName(static_cast<Type>(t)));
  return text;
}

}  // namespace

std::string PrintInstruction(const Instruction& i) {
  std::string word = Word(i), operands = Operands(i), guard;
  if (std::optional<ir::Op> source = SourceOp(i))
    operands += fmt::format(", {}", ir::Info(*source).mnemonic);
  if (i.guarded()) {
    guard = fmt::format("{}p{}", i.guard_negated() ? "!" : "", i.guard_predicate());
    if (i.op == Opcode::Bra) return fmt::format("{}.{}{}", word, guard, operands);
    return fmt::format("@{} {}{}", guard, word, operands);
  }
  return word + operands;
}

std::string Print(const Module& module) {
  std::string out;
  PrintHead(module, out);
  std::set<uint64_t> labels;
  for (const Instruction& i : module.code)
    if (Info(i.op).shape == Shape::Label || Info(i.op).shape == Shape::Loop) labels.insert(i.imm);
  size_t depth = 1, line = 0;
  for (uint32_t at = 0; at < module.code.size(); ++at) {
    const Instruction& i = module.code[at];
    for (; line < module.lines.size() && module.lines[line].instruction == at; ++line)
      out += fmt::format(".loc {} {}\n", module.lines[line].line, module.lines[line].column);
    if (labels.contains(at)) out += fmt::format("@L{}:\n", at);
    bool part = i.op == Opcode::Else || i.op == Opcode::BreakUnless || i.op == Opcode::Case ||
                i.op == Opcode::Default;
    if (i.op == Opcode::End) --depth;
    out += std::string(2 * (part ? depth - 1 : depth), ' ') + PrintInstruction(i) + '\n';
    if (IsOpener(i.op)) ++depth;
  }
  return out;
}

std::string InstructionTable() {
  std::string out = "| instruction | types | traps | IR | meaning |\n|---|---|---|---|---|\n";
  for (const InstructionInfo& info : AllInstructions()) {
    std::string types = TypesText(info.types), traps, meaning;
    for (char c : info.meaning) meaning += c == '|' ? std::string("\\|") : std::string(1, c);
    for (int t = 0; t < ir::TrapCount; ++t)
      if (info.traps >> t & 1)
        traps +=
            fmt::format("{}{}", traps.empty() ? "" : ", ", ir::TrapName(static_cast<ir::Trap>(t)));
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", info.mnemonic, types, traps,
                       info.op ? ir::Info(*info.op).mnemonic : "", meaning);
  }
  out += "\n| pseudo-instruction | meaning |\n|---|---|\n";
  for (const PseudoInfo& info : PseudoInstructions())
    out += fmt::format("| `{}` | {} |\n", info.form, info.meaning);
  return out;
}

}  // namespace frazil::machines::simt
