// One op of the program as one instruction.
#include "targets/isa/lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/digest.h"
#include "ir/kernel.h"
#include "targets/isa/isa.h"
#include "targets/isa/lift.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using namespace ir::names;
using namespace simt_names;

int Lowering::ImmediateOperand(const Inst& user, ir::InstId id) const {
  std::optional<Opcode> opcode = machines::simt::OpcodeOf(user.op, user.type.scalar);
  bool binary = ConditionOf(user.op) || (opcode && Info(*opcode).shape == Shape::DAB);
  if (!binary) return -1;
  auto fits = [&](uint32_t operand) {
    ValueId value = function_.operand(user, operand);
    ir::InstId def = function_.values[value.index].def;
    if (!def.valid() || ranges_.uses(value) != 1 || ranges_.home(def) != ranges_.home(id))
      return false;
    const Inst& inst = function_.inst(def);
    return inst.op == Op::Const && inst.type.scalar != ir::Scalar::Bool;
  };
  if (fits(1)) return 1;
  // Operands change places here; canonical form puts them in order again, unless both are the same constant.
  ir::InstId other = function_.values[function_.operand(user, 1).index].def;
  bool two_constants = other.valid() && function_.inst(other).op == Op::Const;
  return ir::Info(user.op).law == ir::Law::Commutes && !two_constants && fits(0) ? 0 : -1;
}

bool Lowering::IsImmediate(const Inst& constant) const {
  ValueId value = Function::result_of(constant);
  if (ranges_.uses(value) != 1) return false;
  ir::InstId user = ranges_.user(value);
  int operand = ImmediateOperand(function_.inst(user), user);
  return operand >= 0 &&
         function_.operand(function_.inst(user), static_cast<uint32_t>(operand)) == value;
}

std::optional<Condition> Lowering::ConditionOf(Op op) {
  if (op < Op::Eq || op > Op::Ge) return std::nullopt;
  return static_cast<Condition>(static_cast<int>(op) - static_cast<int>(Op::Eq));
}

void Lowering::LowerBinary(const Inst& inst, ir::InstId id, Instruction out) {
  int immediate = ImmediateOperand(inst, id);
  out.a = Read(function_.operand(inst, immediate == 0 ? 1 : 0), 0);
  if (immediate >= 0) {
    ValueId constant = function_.operand(inst, static_cast<uint32_t>(immediate));
    out.aux |= ImmediateB;
    out.imm = function_.words_of(function_.inst(function_.values[constant.index].def))[0];
  } else {
    out.b = Read(function_.operand(inst, 1), 1);
  }
  Define(Function::result_of(inst), ranges_.begin_of(id), out);
}

void Lowering::LowerReturn(const Inst& inst) {
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    ValueId value = function_.operand(inst, i);
    Emit({.op = Opcode::Result, .type = function_.type(value).scalar, .a = Read(value), .imm = i});
  }
  Emit({.op = Opcode::Exit});
}

void Lowering::LowerAlloc(const Inst& inst) {
  std::vector<uint8_t>& free = free_buffers_[static_cast<size_t>(inst.type.scalar)];
  uint8_t number = 0;
  if (!free.empty()) {
    number = free.back();
    free.pop_back();
  } else {
    if (buffers_ == machines::simt::MaxBuffers)
      return Refuse("more than 256 buffers are alive at once");
    number = static_cast<uint8_t>(buffers_++);
    parts_.scratch.push_back(inst.type.scalar);
  }
  allocated_.push_back({number, inst.type.scalar});
  place_[Function::result_of(inst).index].number = number;
  Emit({.op = Opcode::Alloc,
        .type = inst.type.scalar,
        .dst = number,
        .a = Read(function_.operand(inst, 0)),
        .imm = Source(inst)});
}

uint64_t Lowering::Source(const Inst& inst) {
  if (!inst.source_op) return 0;
  const std::optional<uint64_t> number = machines::simt::NumberOfSource(*inst.source_op);
  if (!number)
    Refuse(fmt::format("'{} as {}' has no form on the machine", ir::Info(inst.op).mnemonic,
                       ir::Info(*inst.source_op).mnemonic));
  return number.value_or(0);
}

void Lowering::LowerMemory(const Inst& inst, ir::InstId id) {
  Instruction out{.op = *machines::simt::OpcodeOf(inst.op, inst.type.scalar),
                  .type = inst.type.scalar,
                  .aux = static_cast<uint8_t>(Address::Elements),
                  .a = Buffer(function_.operand(inst, 0)),
                  .b = Read(function_.operand(inst, 1))};
  if (inst.op != Op::Load) out.c = Read(function_.operand(inst, 2));
  if (inst.op == Op::Load) out.imm = Source(inst);
  if (inst.op == Op::AtomicCas) out.imm = Read(function_.operand(inst, 3));
  if (inst.op == Op::AtomicRmw)
    out.aux |= static_cast<uint8_t>(function_.word(inst, 0) << 4 |
                                    (function_.word(inst, 1) != 0 ? 0x80 : 0));
  if (inst.op == Op::Store) return Emit(out);
  Define(Function::result_of(inst), ranges_.begin_of(id), out);
}

uint64_t Lowering::Table(uint32_t data) {
  if (table_[data] < 0) {
    const ir::Data& from = program_.data[data];
    table_[data] = static_cast<int64_t>(parts_.tables.size());
    parts_.tables.push_back({from.name, from.element.scalar, from.words});
  }
  return static_cast<uint64_t>(table_[data]);
}

void Lowering::LowerPlain(const Inst& inst, ir::InstId id, Opcode opcode) {
  Instruction out{.op = opcode, .type = inst.type.scalar};
  uint8_t* slots[] = {&out.a, &out.b, &out.c};
  CHECK(inst.operands.count <= 3);
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    *slots[i] = Read(function_.operand(inst, i), static_cast<uint8_t>(i));
  if (Info(opcode).shape == Shape::Convert)
    out.aux = static_cast<uint8_t>(function_.type(function_.operand(inst, 0)).scalar);
  Define(Function::result_of(inst), ranges_.begin_of(id), out);
}

void Lowering::LowerInst(const Inst& inst, ir::InstId id) {
  uint32_t position = ranges_.begin_of(id);
  ir::Scalar type = inst.type.scalar;
  switch (inst.op) {
    case Op::Const:
      if (IsImmediate(inst)) return;
      return Define(Function::result_of(inst), position,
                    {.op = Opcode::MovImm, .type = type, .imm = function_.words_of(inst)[0]});
    case Op::Lookup:
      return Define(Function::result_of(inst), position,
                    {.op = Opcode::Lut,
                     .type = type,
                     .a = Read(function_.operand(inst, 0)),
                     .imm = Table(static_cast<uint32_t>(function_.word(inst, 0)))});
    case Op::Load:
    case Op::Store:
    case Op::AtomicRmw:
    case Op::AtomicCas: return LowerMemory(inst, id);
    case Op::Length:
      return Define(Function::result_of(inst), position,
                    {.op = Opcode::Len, .type = type, .a = Buffer(function_.operand(inst, 0))});
    case Op::Alloc: return LowerAlloc(inst);
    case Op::Assert:
      return Emit(
          {.op = Opcode::Assert, .a = Read(function_.operand(inst, 0)), .imm = Source(inst)});
    case Op::Unreachable: return Emit({.op = Opcode::Trap});
    case Op::Barrier: return Emit({.op = Opcode::BarSync});
    case Op::If: return LowerIf(inst, position);
    case Op::Switch: return LowerSwitch(inst, position);
    case Op::For:
    case Op::Parallel: return LowerFor(inst, position, ranges_.end_of(id));
    case Op::While: return LowerWhile(inst, position);
    case Op::Condition:
      return Emit({.op = Opcode::BreakUnless, .a = Read(function_.operand(inst, 0))});
    case Op::Yield: return;
    case Op::Return: return LowerReturn(inst);
    default: break;
  }
  if (std::optional<Condition> condition = ConditionOf(inst.op))
    return LowerBinary(inst, id,
                       {.op = Opcode::Set, .type = type, .aux = static_cast<uint8_t>(*condition)});
  std::optional<Opcode> opcode = machines::simt::OpcodeOf(inst.op, type);
  if (!opcode) return Refuse(fmt::format("{} has no instruction", ir::Info(inst.op).mnemonic));
  if (Info(*opcode).shape == Shape::DAB)
    return LowerBinary(inst, id, {.op = *opcode, .type = type});
  LowerPlain(inst, id, *opcode);
}

}  // namespace frazil::targets::isa
