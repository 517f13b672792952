// Arithmetic of the lane-exact executor: every scalar op is exec's, every math function the prelude's.
#include <fmt/format.h>

#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/meaning/tensors/tensor_ops.h"
#include "ir/builder.h"
#include "targets/isa/lane_machine.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using ir::Op;
using namespace simt_names;

uint64_t LaneMachine::Get(const Lane& lane, Type type, uint8_t number) const {
  return type == Type::Bool ? lane.predicates[number] : lane.registers[number];
}

void LaneMachine::Set(Lane& lane, Type type, uint8_t number, uint64_t word) {
  if (type == Type::Bool) {
    lane.predicates[number] = static_cast<uint8_t>(word);
  } else {
    lane.registers[number] = word;
  }
}

uint64_t LaneMachine::OperandB(const Lane& lane, const Instruction& i) const {
  return i.immediate_b() ? i.imm : Get(lane, i.type, i.b);
}

bool LaneMachine::Compare(Condition condition, Type type, uint64_t a, uint64_t b) const {
  auto eval = [&](Op op, Type as, uint64_t x, uint64_t y) {
    return *exec::EvalWord(op, as, as, x, y) != 0;
  };
  if (std::optional<Op> op = machines::simt::IrOpOf(condition)) return eval(*op, type, a, b);
  switch (condition) {
    case Condition::Ltu:
    case Condition::Leu:
    case Condition::Gtu:
    case Condition::Geu: {
      uint64_t mask = ~uint64_t{0} >> (64 - ir::BitsOf(ir::Type::Of(type)));
      Op op = static_cast<Op>(static_cast<int>(Op::Lt) + static_cast<int>(condition) -
                              static_cast<int>(Condition::Ltu));
      return eval(op, Type::U64, a & mask, b & mask);
    }
    case Condition::Ord:
    case Condition::Uno: {
      bool ordered = eval(Op::Eq, type, a, a) && eval(Op::Eq, type, b, b);
      return ordered == (condition == Condition::Ord);
    }
    default: {
      Op op = static_cast<Op>(static_cast<int>(Op::Lt) + static_cast<int>(condition) -
                              static_cast<int>(Condition::Nlt));
      return !eval(op, type, a, b);
    }
  }
}

uint64_t LaneMachine::Math(Op op, Type type, std::array<uint64_t, 3> operands) {
  bool random = op == Op::RandomBits || op == Op::RandomUniform || op == Op::RandomNormal;
  size_t count = random ? 3 : op == Op::Pow ? 2 : 1;
  ir::Type t = ir::Type::Of(type), source = random ? ir::types::U64 : t;
  auto found = math_.find({op, type});
  if (found == math_.end()) {
    ir::Program program;
    ir::FunctionBuilder builder(program, "main", std::vector<ir::Type>(count, source), {t});
    ir::Values values;
    for (uint32_t i = 0; i < count; ++i) values.push_back(builder.Param(i));
    builder.Return(builder.Emit(op, t, values, std::span(&t, 1)));
    builder.Finish();
    Result<exec::BatchProgram> made = exec::BatchProgram::Create(program);
    CHECK(made);
    found = math_.emplace(std::pair(op, type), std::move(*made)).first;
  }
  uint64_t result = 0;  // little-endian: the first bytes are the value
  const void* inputs[3] = {&operands[0], &operands[1], &operands[2]};
  void* output = &result;
  uint8_t trap = 0;
  Result<void> ran =
      found->second.Run(1, std::span(inputs, count), std::span(&output, 1), std::span(&trap, 1));
  CHECK(ran && trap == 0);
  return result;
}

uint64_t LaneMachine::Fold(ir::ReduceKind kind, Type type, std::span<const uint64_t> words) const {
  exec::Object from{
      std::make_shared<exec::Memory>(ir::Type::Of(type), static_cast<int64_t>(words.size())),
      {static_cast<int64_t>(words.size())}};
  for (size_t i = 0; i < words.size(); ++i)
    from.memory->Set(static_cast<int64_t>(i), words.subspan(i, 1));
  exec::Object to{std::make_shared<exec::Memory>(ir::Type::Of(type), 1), {}};
  exec::Reduce(from, {kind, 0, 64, 4096}, to);
  uint64_t word = 0;
  to.memory->Get(0, std::span(&word, 1));
  return word;
}

uint64_t LaneMachine::SpecialValue(const Lane& lane, uint64_t number) const {
  if (number == static_cast<uint64_t>(SpecialRegister::GlobalLane)) return lane.global;
  const std::array<uint32_t, 3>* groups[] = {&lane.lane, &lane.block, &launch_.block,
                                             &launch_.grid};
  return (*groups[number / 3])[number % 3];
}

std::optional<Stop> LaneMachine::Compute(Lane& lane, const Instruction& i) {
  const machines::simt::InstructionInfo& info = machines::simt::Info(i.op);
  switch (i.op) {
    case Opcode::Mov: Set(lane, i.type, i.dst, Get(lane, i.type, i.a)); return {};
    case Opcode::MovImm: Set(lane, i.type, i.dst, i.imm); return {};
    case Opcode::Ldp: Set(lane, i.type, i.dst, parameters_[i.imm]); return {};
    case Opcode::PredToReg: lane.registers[i.dst] = lane.predicates[i.a]; return {};
    case Opcode::RegToPred:
      lane.predicates[i.dst] = static_cast<uint8_t>(lane.registers[i.a]);
      return {};
    case Opcode::Special: lane.registers[i.dst] = SpecialValue(lane, i.imm); return {};
    case Opcode::Result: results_[i.imm] = Get(lane, i.type, i.a); return {};
    case Opcode::Lut: {
      std::span<const uint64_t> table = module_.table(static_cast<uint32_t>(i.imm));
      uint64_t at = lane.registers[i.a];
      if (at >= table.size()) return TrapNow(ir::Trap::OutOfBounds, i);
      Set(lane, i.type, i.dst, table[at]);
      return {};
    }
    case Opcode::Set:
      lane.predicates[i.dst] =
          Compare(i.condition(), i.type, Get(lane, i.type, i.a), OperandB(lane, i));
      return {};
    case Opcode::Sel:
      Set(lane, i.type, i.dst, Get(lane, i.type, lane.predicates[i.a] ? i.b : i.c));
      return {};
    case Opcode::Mad: {
      uint64_t product =
          *exec::EvalWord(Op::Mul, i.type, i.type, lane.registers[i.a], lane.registers[i.b]);
      lane.registers[i.dst] =
          *exec::EvalWord(Op::Add, i.type, i.type, product, lane.registers[i.c]);
      return {};
    }
    case Opcode::RegReduce: {
      std::span<const uint64_t> words = std::span(lane.registers).subspan(i.a, i.imm);
      lane.registers[i.dst] = Fold(static_cast<ir::ReduceKind>(i.aux), i.type, words);
      return {};
    }
    default: break;
  }
  CHECK(info.op.has_value());
  std::array<uint64_t, 3> operands = {
      Get(lane, info.shape == Shape::Convert ? i.source() : i.type, i.a), 0, 0};
  if (info.shape == Shape::Random)
    operands = {lane.registers[i.a], lane.registers[i.b], lane.registers[i.c]};
  if (info.shape == Shape::DAB) operands[1] = OperandB(lane, i);
  if (info.shape == Shape::DABC)
    operands = {operands[0], Get(lane, i.type, i.b), Get(lane, i.type, i.c)};
  if (ir::Info(*info.op).law == ir::Law::Prelude) {
    Set(lane, i.type, i.dst, Math(*info.op, i.type, operands));
    return {};
  }
  Type source = info.shape == Shape::Convert ? i.source() : i.type;
  std::expected<uint64_t, ir::Trap> word =
      exec::EvalWord(*info.op, i.type, source, operands[0], operands[1], operands[2]);
  if (!word) return TrapNow(word.error(), i);
  Set(lane, i.type, i.dst, *word);
  return {};
}

}  // namespace frazil::targets::isa
