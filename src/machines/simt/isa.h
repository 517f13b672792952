// The SIMT machine: instructions and limits. A whole kernel is a Module (module.h).
//
// Program mode: one lane runs the code from the top; PAR opens lanes. 1:1 with the IR: ids, loops and values of the IR
//   are registers and structures here, so that lifting gives the program back (targets/isa).
// Launch mode: the code is what each lane of grid x block runs; r252-r255 say which lane.
//
// Scope of registers: a register written inside a structure (IF, FOR, WHILE, SWITCH, PAR) is unassigned after it unless
// it is carried (CARRY behind the opener; PAR carries nothing). In the body of a loop a register that the body writes
// and that is not carried is unassigned at the top. So what a register holds is known statically at each place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"

namespace frazil::machines::simt {

enum class Opcode : uint8_t {
#define FRAZIL_ISA(name, ...) name,
#include "machines/simt/instructions.def"
#undef FRAZIL_ISA
};
constexpr int OpcodeCount = 0
#define FRAZIL_ISA(...) +1
#include "machines/simt/instructions.def"
#undef FRAZIL_ISA
    ;

// What the operand bytes are. "T": a register, or a predicate where the type is pred.
enum class Shape : uint8_t {
  Plain,        // nothing
  Imm,          // imm
  Dst,          // dst T
  DImm,         // dst T, imm
  DA,           // dst T, a T
  DAB,          // dst T, a T, b T (or imm: aux has ImmediateB)
  DABC,         // dst T, a T, b T, c T
  Load,         // dst T; address: a, b, imm, mode in aux; LDG of Elements: imm as Alloc
  Store,        // c T; address
  Atomic,       // dst T, c T; address; aux: mode | AtomicKind << 4 | 0x80 where unordered
  AtomicCas,    // dst T, c T (expected), imm: number of register T (new); address Bytes or Elements
  Convert,      // dst T, a of the type in aux
  Length,       // dst idx register, a buffer
  Alloc,        // dst buffer (scratch), a idx register; type: its elements; imm: NumberOfSource
  Lookup,       // dst T, a integer register, imm table
  Result,       // a T, imm number
  PredToReg,    // dst register, a predicate
  RegToPred,    // dst predicate, a register
  Special,      // dst register, imm SpecialRegister
  Compare,      // dst predicate, a T, b T (or imm), aux Condition (| ImmediateB)
  Select,       // dst T, a predicate, b T, c T
  TestPred,     // a predicate; ASSERT: imm as Alloc
  For,          // dst T, a T, b T, imm step
  Switch,       // a T
  Label,        // imm instruction number
  Loop,         // a register, imm instruction number
  Fence,        // aux scope
  Shuffle,      // dst T, a T, b u32 register, aux ShuffleKind
  Vote,         // dst predicate, a predicate, aux 0 any, 1 all
  Ballot,       // dst register, a predicate
  LaneReduce,   // dst T, a T, aux ir::ReduceKind (LaneScan: + 16 exclusive)
  RegReduce,    // dst T, a first register, imm count, aux ir::ReduceKind
  RangeReduce,  // dst T, a buffer, b idx, c idx, aux ir::ReduceKind
  PoolAlloc,    // dst register, a register
  PoolFree,     // a register
  Random,       // dst T, a, b, c u64 registers
};

// The types are the IR's one-word scalars with their numbers: i8 .. f64, pred (Bool), idx (Index).
using Type = ir::Scalar;
constexpr int TypeCount = 14;
constexpr bool IsType(uint8_t byte) { return byte < TypeCount; }
std::string_view TypeName(Type type);  // "i8" .. "f64", "pred", "idx"
std::optional<Type> TypeNamed(std::string_view name);

// Of Set, in aux. Ltu .. Geu read integers of any signedness as unsigned; Nlt .. Nge are "not less" .. on floats: true
// for NaN; Ord and Uno: neither is, one is NaN.
enum class Condition : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Nlt,
  Nle,
  Ngt,
  Nge,
  Ord,
  Uno
};
constexpr int ConditionCount = 16;
std::string_view ConditionName(Condition condition);  // "eq"
// Eq .. Ge are ops of the IR.
constexpr std::optional<ir::Op> IrOpOf(Condition c) {
  if (c > Condition::Ge) return std::nullopt;
  return static_cast<ir::Op>(static_cast<int>(ir::Op::Eq) + static_cast<int>(c));
}

constexpr uint8_t ImmediateB = 0x80;  // in aux of DAB and Compare: operand b is imm

// In the low four bits of aux. Addresses are in bytes but for Elements; every access is checked.
enum class Address : uint8_t {
  Offset,  // [bA + imm]
  Bytes,   // [bA + rB + imm]
  Elements,  // [bA + rB*size]: element rB of a buffer of this type; what lowering uses; imm is no offset
  Phi,       // [Φ(class, page, byte)]: imm = class*12288 + page*256 + byte of the context's arena
  Handle,       // [rA + imm]: register a holds a handle: a buffer's number, or one from POOLALLOC
  HandleBytes,  // [rA + rB]
};
constexpr int AddressCount = 6;
constexpr uint64_t PhiClasses = 96, PhiPages = 48, PhiPageBytes = 256;
constexpr uint64_t PhiClassBytes = PhiPages * PhiPageBytes, PhiBytes = PhiClasses * PhiClassBytes;

enum class ShuffleKind : uint8_t { Idx, Up, Down, Xor };
enum class FenceScope : uint8_t { Thread, Block, Device, System };
enum class SpecialRegister : uint8_t {
  LaneX,
  LaneY,
  LaneZ,
  BlockX,
  BlockY,
  BlockZ,
  BlockDimX,
  BlockDimY,
  BlockDimZ,
  GridDimX,
  GridDimY,
  GridDimZ,
  GlobalLane,  // u64: number of the block times lanes of a block plus number of the lane; the others are u32
};
constexpr int SpecialCount = 13;
std::string_view SpecialName(
    SpecialRegister special);  // "lane.x", "block.x", "blockdim.x", "griddim.x", "global"

// One instruction, as it stands in the file (little-endian).
struct Instruction {
  Opcode op = Opcode::Exit;
  Type type = Type::I8;  // 0 where the row has no types
  uint8_t aux = 0;
  uint8_t guard = 0;  // 0: always; else 0x80 | 0x40 where the predicate must not hold | predicate
  uint8_t dst = 0, a = 0, b = 0, c = 0;
  uint64_t imm = 0;

  bool guarded() const { return guard != 0; }
  bool guard_negated() const { return (guard & 0x40) != 0; }
  uint8_t guard_predicate() const { return guard & 15; }
  bool immediate_b() const { return (aux & ImmediateB) != 0; }  // DAB and Compare only
  Address address() const { return static_cast<Address>(aux & 15); }
  ir::AtomicKind atomic_kind() const { return static_cast<ir::AtomicKind>((aux >> 4) & 7); }
  bool unordered() const { return (aux & 0x80) != 0; }
  Condition condition() const { return static_cast<Condition>(aux & 15); }
  Type source() const { return static_cast<Type>(aux); }  // Convert only
  int64_t signed_imm() const { return static_cast<int64_t>(imm); }
  friend bool operator==(const Instruction&, const Instruction&) = default;
};
static_assert(sizeof(Instruction) == 16);

struct InstructionInfo {
  Opcode opcode;
  std::string_view name, mnemonic;
  Shape shape;
  ir::ScalarSet types;  // 0: none
  ir::TrapSet traps;
  std::optional<ir::Op> op;
  std::string_view meaning;
};
const InstructionInfo& Info(Opcode opcode);
std::span<const InstructionInfo> AllInstructions();
// The instruction that is this op of the IR on this type, where there is one (Set is not).
std::optional<Opcode> OpcodeOf(ir::Op op, Type type);
// ALLOC, ASSERT and LDG of Elements may stand for an op of the source: imm is its number, 0 for none.
bool CanStandFor(const Instruction& instruction);
std::optional<ir::Op> SourceOp(const Instruction& instruction);
std::optional<uint64_t> NumberOfSource(ir::Op op);  // nothing: there is no such number
bool IsNumberOfSource(uint64_t number);
// What a trap of this instruction is reported as.
ir::Op TrapOp(const Instruction& instruction);

// IF, FOR, WHILE, SWITCH, PAR.
constexpr bool IsOpener(Opcode op) {
  return op == Opcode::If || op == Opcode::For || op == Opcode::While || op == Opcode::Switch ||
         op == Opcode::Par;
}
// Of a verified module: for an opener, ELSE, CASE, DEFAULT and BREAKUNLESS the number of the next part's first word
// (ELSE, CASE, DEFAULT, BREAKUNLESS or END); for END its opener; 0 elsewhere. WHILE gives its BREAKUNLESS.
std::vector<uint32_t> MatchStructure(std::span<const Instruction> code);
// The END of an opener.
uint32_t EndOf(std::span<const uint32_t> match, std::span<const Instruction> code, uint32_t opener);

constexpr uint32_t Registers = 256, FirstReadOnly = 252, Predicates = 16, MaxBuffers = 256,
                   MaxCallDepth = 256;
constexpr uint32_t MaxInstructions = 1u << 22, MaxStructureDepth = 200;
enum ReadOnlyRegister : uint8_t {
  LaneRegister = 252,
  BlockRegister,
  BlockDimRegister,
  GlobalLaneRegister
};

}  // namespace frazil::machines::simt
