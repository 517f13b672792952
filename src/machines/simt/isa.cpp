// The rows of instructions.def as data, names of operands, and the matching of structures. Tables are searched; there is
// no switch over mnemonics, so that a new row is known everywhere at once.
#include "machines/simt/isa.h"

#include <array>

namespace frazil::machines::simt {
namespace {

// What the columns of instructions.def may say. Types and traps share a word (None), hence two namespaces.
namespace type_columns {
using ir::Only;
using ir::Scalar;
constexpr ir::ScalarSet Fixed = ir::sets::Fixed, Float = ir::sets::Float, Wide = ir::sets::Wide,
                        SInt = ir::sets::SInt, Bool = ir::sets::Bool, Index = Only(Scalar::Index),
                        None = 0, Numbers = Fixed | Float, Any = (1u << TypeCount) - 1;
}  // namespace type_columns
namespace trap_columns {
constexpr uint16_t None = 0, OutOfBounds = ir::Only(ir::Trap::OutOfBounds),
                   Overflow = ir::Only(ir::Trap::Overflow),
                   DivisionByZero = ir::Only(ir::Trap::DivisionByZero),
                   Memory = ir::Only(ir::Trap::Memory), Fuel = ir::Only(ir::Trap::Fuel),
                   Depth = ir::Only(ir::Trap::Depth), Assert = ir::Only(ir::Trap::Assert),
                   Unreachable = ir::Only(ir::Trap::Unreachable);
}  // namespace trap_columns
namespace op_columns {
using MaybeOp = std::optional<ir::Op>;
constexpr MaybeOp NoIr = std::nullopt;
#define FRAZIL_COLUMN(name, ...) [[maybe_unused]] constexpr MaybeOp name = ir::Op::name;
FRAZIL_OPS(FRAZIL_COLUMN)
#undef FRAZIL_COLUMN
}  // namespace op_columns

constexpr InstructionInfo Rows[] = {
#define FRAZIL_ISA(name, mnemonic, row_shape, row_types, row_traps, row_op, meaning) \
  InstructionInfo{Opcode::name,                                                      \
                  #name,                                                             \
                  mnemonic,                                                          \
                  Shape::row_shape,                                                  \
                  [] {                                                               \
                    using namespace type_columns;                                    \
                    return ir::ScalarSet{row_types};                                 \
                  }(),                                                               \
                  [] {                                                               \
                    using namespace trap_columns;                                    \
                    return static_cast<ir::TrapSet>(row_traps);                      \
                  }(),                                                               \
                  op_columns::row_op,                                                \
                  meaning},
#include "machines/simt/instructions.def"
#undef FRAZIL_ISA
};

constexpr std::array<std::string_view, TypeCount> TypeNames = {"i8",  "i16", "i32",  "i64", "u8",
                                                               "u16", "u32", "u64",  "f16", "bf16",
                                                               "f32", "f64", "pred", "idx"};
constexpr std::array<std::string_view, ConditionCount> ConditionNames = {
    "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "ltu", "leu",
    "gtu", "geu", "nlt", "nle", "ngt", "nge", "ord", "uno"};
constexpr std::array<std::string_view, SpecialCount> SpecialNames = {
    "lane.x",     "lane.y",     "lane.z",    "block.x",   "block.y",   "block.z", "blockdim.x",
    "blockdim.y", "blockdim.z", "griddim.x", "griddim.y", "griddim.z", "global"};

// Rows of each op of the IR: at most two (div), found by the type.
struct OpcodesOfOps {
  std::array<std::array<int16_t, 2>, ir::OpCount> rows;
  constexpr OpcodesOfOps() : rows() {
    for (auto& pair : rows) pair = {-1, -1};
    for (const InstructionInfo& row : Rows) {
      if (!row.op || row.opcode == Opcode::Exit) continue;
      auto& pair = rows[static_cast<size_t>(*row.op)];
      pair[pair[0] < 0 ? 0 : 1] = static_cast<int16_t>(row.opcode);
    }
  }
};
constexpr OpcodesOfOps ByOp;

// The ops that ir::LowerTensors writes loops and scratch for. Their places are in files: rows are added at the end.
constexpr std::array SourceOps = {
    ir::Op::Map,          ir::Op::Reduce,    ir::Op::Matmul,     ir::Op::MatmulFast,
    ir::Op::Reshape,      ir::Op::Transpose, ir::Op::Broadcast,  ir::Op::Slice,
    ir::Op::Concat,       ir::Op::Gather,    ir::Op::Iota,       ir::Op::TensorUniform,
    ir::Op::TensorNormal, ir::Op::Extract,   ir::Op::TensorLoad, ir::Op::TensorStore,
    ir::Op::If,           ir::Op::For,       ir::Op::While,      ir::Op::Switch,
    ir::Op::Call,         ir::Op::Generate,  ir::Op::Fold,       ir::Op::Conv,
    ir::Op::Scan,         ir::Op::Sort,      ir::Op::Scatter,    ir::Op::MatmulQ};

}  // namespace

const InstructionInfo& Info(Opcode opcode) { return Rows[static_cast<size_t>(opcode)]; }
std::span<const InstructionInfo> AllInstructions() { return Rows; }

std::optional<Opcode> OpcodeOf(ir::Op op, Type type) {
  for (int16_t row : ByOp.rows[static_cast<size_t>(op)])
    if (row >= 0 && (Rows[row].types == 0 || ir::Contains(Rows[row].types, type)))
      return Rows[row].opcode;
  return std::nullopt;
}

bool CanStandFor(const Instruction& i) {
  return i.op == Opcode::Alloc || i.op == Opcode::Assert ||
         (i.op == Opcode::Ldg && i.address() == Address::Elements);
}

bool IsNumberOfSource(uint64_t number) { return number >= 1 && number <= SourceOps.size(); }

std::optional<ir::Op> SourceOp(const Instruction& i) {
  if (!CanStandFor(i) || !IsNumberOfSource(i.imm)) return std::nullopt;
  return SourceOps[i.imm - 1];
}

std::optional<uint64_t> NumberOfSource(ir::Op op) {
  for (size_t i = 0; i < SourceOps.size(); ++i)
    if (SourceOps[i] == op) return i + 1;
  return std::nullopt;
}

ir::Op TrapOp(const Instruction& instruction) {
  if (std::optional<ir::Op> source = SourceOp(instruction)) return *source;
  const InstructionInfo& info = Info(instruction.op);
  if (info.op) return *info.op;
  switch (instruction.op) {
    case Opcode::Lds:
    case Opcode::RangeReduce:
    case Opcode::PoolFree: return ir::Op::Load;
    case Opcode::Sts: return ir::Op::Store;
    case Opcode::PoolAlloc: return ir::Op::Alloc;
    case Opcode::Bra:
    case Opcode::Loop: return ir::Op::While;
    case Opcode::Call:
    case Opcode::Ret: return ir::Op::Call;
    default: return ir::Op::Barrier;  // lanes together, and not all lanes came
  }
}

std::string_view TypeName(Type type) { return TypeNames[static_cast<size_t>(type)]; }
std::optional<Type> TypeNamed(std::string_view name) {
  for (size_t i = 0; i < TypeNames.size(); ++i)
    if (TypeNames[i] == name) return static_cast<Type>(i);
  return std::nullopt;
}
std::string_view ConditionName(Condition condition) {
  return ConditionNames[static_cast<size_t>(condition)];
}
std::string_view SpecialName(SpecialRegister special) {
  return SpecialNames[static_cast<size_t>(special)];
}

std::vector<uint32_t> MatchStructure(std::span<const Instruction> code) {
  std::vector<uint32_t> match(code.size(), 0);
  struct Open {
    uint32_t opener, part;
  };
  std::vector<Open> open;
  for (uint32_t i = 0; i < code.size(); ++i) {
    Opcode op = code[i].op;
    bool is_part = op == Opcode::Else || op == Opcode::BreakUnless || op == Opcode::Case ||
                   op == Opcode::Default;
    if (IsOpener(op)) {
      open.push_back({i, i});
    } else if (is_part && !open.empty()) {
      match[open.back().part] = i;
      open.back().part = i;
    } else if (op == Opcode::End && !open.empty()) {
      match[open.back().part] = i;
      match[i] = open.back().opener;
      open.pop_back();
    }
  }
  return match;
}

uint32_t EndOf(std::span<const uint32_t> match, std::span<const Instruction> code,
               uint32_t opener) {
  uint32_t at = match[opener];
  while (code[at].op != Opcode::End) at = match[at];
  return at;
}

}  // namespace frazil::machines::simt
