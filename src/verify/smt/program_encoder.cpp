// Symbolic execution of a structured program: one pass, each instruction under the condition that it is reached. The first
// trap wins, so every later one is only looked at where there is none yet.
#include "verify/smt/program_encoder.h"

#include <algorithm>

#include <fmt/format.h>

#include "verify/internal/big_int.h"

namespace frazil::verify::smt {

using ir::Op;

bool ProgramEncoder::Fail(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return false;
}

bool ProgramEncoder::Encode(std::span<const Z3_ast> arguments, Encoded& out) {
  trap_ = TrapCode(0);
  if (!Function(program_.entry, arguments, encoder_.True(), out.results)) return false;
  out.trap = trap_;
  return true;
}

Z3_ast ProgramEncoder::TrapCode(uint64_t code) {
  return encoder_.Constant(ir::types::U16, std::span(&code, 1));
}

void ProgramEncoder::TrapIf(Z3_ast condition, ir::Trap trap, Op op, Z3_ast path) {
  const uint64_t code = (1 + static_cast<uint64_t>(trap)) << 8 | static_cast<uint64_t>(op);
  const Z3_ast untrapped = encoder_.Equal(trap_, TrapCode(0));
  const Z3_ast now = encoder_.And(encoder_.And(path, untrapped), condition);
  trap_ = encoder_.Ite(now, TrapCode(code), trap_);
}

std::optional<std::string> ProgramEncoder::Numeral(Z3_ast value) {
  const Z3_ast simple = z_.simplify(c_, value);
  if (z_.get_ast_kind(c_, simple) != Z3_NUMERAL_AST) return std::nullopt;
  return std::string(z_.get_numeral_string(c_, simple));
}

std::optional<bool> ProgramEncoder::Decided(Z3_ast condition) {
  const Z3_lbool value = z_.get_bool_value(c_, z_.simplify(c_, condition));
  if (value == Z3_L_UNDEF) return std::nullopt;
  return value == Z3_L_TRUE;
}

bool ProgramEncoder::Function(ir::FuncId id, std::span<const Z3_ast> arguments, Z3_ast path,
                              Values& results) {
  if (++depth_ > MaxDepth) return Fail("calls are nested too deeply");
  const ir::Function& f = program_.functions[id.index];
  Values values(f.values.size(), nullptr);
  for (uint32_t i = 0; i < f.param_count(); ++i) values[f.param(i).index] = arguments[i];
  const bool encoded = Region(f, values, f.body, path, results);
  --depth_;
  return encoded;
}

// Every instruction but the terminator, whose operands are what the region gives.
bool ProgramEncoder::Region(const ir::Function& f, Values& values, ir::RegionId id, Z3_ast path,
                            Values& yielded) {
  const std::vector<ir::InstId>& insts = f.region(id).insts;
  for (size_t i = 0; i + 1 < insts.size(); ++i) {
    if (!Inst(f, values, f.inst(insts[i]), path)) return false;
  }
  yielded.clear();
  for (ir::ValueId operand : f.operands_of(f.inst(insts.back())))
    yielded.push_back(values[operand.index]);
  return true;
}

bool ProgramEncoder::Inst(const ir::Function& f, Values& values, const ir::Inst& inst,
                          Z3_ast path) {
  if (++ops_ > MaxOps) return Fail("the program is too long");
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ir::Type type = f.type(ir::Function::result_of(inst, k));
    if (!Encoder::Knows(type))
      return Fail(fmt::format("'{}' gives a type that is not encoded", ir::Info(inst.op).mnemonic));
  }
  switch (inst.op) {
    case Op::Const:
      values[inst.results.begin] = encoder_.Constant(inst.type, f.words_of(inst));
      return true;
    case Op::If: return If(f, values, inst, path);
    case Op::Switch: return Switch(f, values, inst, path);
    case Op::For: return For(f, values, inst, path);
    case Op::While: return While(f, values, inst, path);
    case Op::Assert:
      TrapIf(encoder_.Not(values[f.operand(inst, 0).index]), ir::Trap::Assert, inst.trap_op(),
             path);
      return true;
    case Op::Unreachable:
      TrapIf(encoder_.True(), ir::Trap::Unreachable, inst.trap_op(), path);
      return true;
    case Op::Call: {
      Values arguments, results;
      for (ir::ValueId operand : f.operands_of(inst)) arguments.push_back(values[operand.index]);
      if (!Function(ir::FuncId(static_cast<uint32_t>(f.word(inst, 0))), arguments, path, results))
        return false;
      for (uint32_t k = 0; k < inst.results.count; ++k) values[inst.results.begin + k] = results[k];
      return true;
    }
    default: return Scalar(f, values, inst, path);
  }
}

bool ProgramEncoder::Scalar(const ir::Function& f, Values& values, const ir::Inst& inst,
                            Z3_ast path) {
  Values operands;
  for (ir::ValueId operand : f.operands_of(inst)) operands.push_back(values[operand.index]);
  Encoder::Trapping trap;
  Z3_ast value = nullptr;
  const bool plain = ir::Info(inst.op).effect == ir::Effect::Pure && inst.results.count == 1 &&
                     !operands.empty() && std::ranges::find(operands, nullptr) == operands.end();
  if (plain) value = encoder_.Apply(inst.op, inst.type, f.type(f.operand(inst, 0)), operands, trap);
  if (value == nullptr) return Fail(fmt::format("'{}' is not encoded", ir::Info(inst.op).mnemonic));
  if (trap.division != nullptr)
    TrapIf(trap.division, ir::Trap::DivisionByZero, inst.trap_op(), path);
  if (trap.overflow != nullptr) TrapIf(trap.overflow, ir::Trap::Overflow, inst.trap_op(), path);
  values[inst.results.begin] = value;
  return true;
}

bool ProgramEncoder::If(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path) {
  const Z3_ast condition = values[f.operand(inst, 0).index];
  Values yes, no;
  if (!Region(f, values, ir::Function::region_of(inst, 0), encoder_.And(path, condition), yes))
    return false;
  if (!Region(f, values, ir::Function::region_of(inst, 1),
              encoder_.And(path, encoder_.Not(condition)), no))
    return false;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    values[inst.results.begin + k] = encoder_.Ite(condition, yes[k], no[k]);
  }
  return true;
}

bool ProgramEncoder::Switch(const ir::Function& f, Values& values, const ir::Inst& inst,
                            Z3_ast path) {
  const ir::ValueId selector = f.operand(inst, 0);
  const auto cases = f.words_of(inst);
  Z3_ast others = path;
  std::vector<Z3_ast> chosen;
  std::vector<Values> yielded;
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    Z3_ast here = others;
    if (i < cases.size()) {
      const Z3_ast equal = encoder_.Equal(values[selector.index],
                                          encoder_.Constant(f.type(selector), cases.subspan(i, 1)));
      here = encoder_.And(others, equal);
      others = encoder_.And(others, encoder_.Not(equal));
      chosen.push_back(equal);
    }
    if (!Region(f, values, ir::Function::region_of(inst, i), here, yielded.emplace_back()))
      return false;
  }
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    Z3_ast value = yielded.back()[k];
    for (size_t i = chosen.size(); i-- > 0;) value = encoder_.Ite(chosen[i], yielded[i][k], value);
    values[inst.results.begin + k] = value;
  }
  return true;
}

bool ProgramEncoder::For(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path) {
  const ir::Type type = f.type(f.operand(inst, 0));
  const std::optional<std::string> low = Numeral(values[f.operand(inst, 0).index]);
  const std::optional<std::string> high = Numeral(values[f.operand(inst, 1).index]);
  if (!low || !high) return Fail("a loop has no constant number of turns");
  // Numerals of bit-vectors are unsigned; flipping the sign bit makes their order the signed one.
  uint64_t i = std::stoull(*low);
  const uint64_t end = std::stoull(*high);
  const int width = ir::BitsOf(type);
  auto key = [&](uint64_t n) {
    return ir::IsSigned(type.scalar) ? n ^ uint64_t{1} << (width - 1) : n;
  };
  const uint64_t distance = key(end) > key(i) ? key(end) - key(i) : 0;
  const auto step = static_cast<uint64_t>(f.word(inst, 0));
  const uint64_t turns = distance == 0 ? 0 : (distance - 1) / step + 1;
  if (turns > MaxTurns) return Fail("a loop has too many turns");
  const ir::RegionId body = ir::Function::region_of(inst, 0);
  Values carried;
  for (uint32_t k = 0; k < inst.results.count; ++k)
    carried.push_back(values[f.operand(inst, 2 + k).index]);
  for (uint64_t turn = 0; turn < turns; ++turn, i += step) {
    values[f.region(body).params.begin] = encoder_.Constant(type, std::span(&i, 1));
    for (uint32_t k = 0; k < carried.size(); ++k)
      values[f.region(body).params.begin + 1 + k] = carried[k];
    Values yielded;
    if (!Region(f, values, body, path, yielded)) return false;
    carried = std::move(yielded);
  }
  for (uint32_t k = 0; k < inst.results.count; ++k) values[inst.results.begin + k] = carried[k];
  return true;
}

// Only where every test is decided as it is met.
bool ProgramEncoder::While(const ir::Function& f, Values& values, const ir::Inst& inst,
                           Z3_ast path) {
  const ir::RegionId test = ir::Function::region_of(inst, 0),
                     body = ir::Function::region_of(inst, 1);
  Values carried;
  for (uint32_t k = 0; k < inst.results.count; ++k)
    carried.push_back(values[f.operand(inst, k).index]);
  for (int turn = 0; turn <= MaxTurns; ++turn) {
    for (uint32_t k = 0; k < carried.size(); ++k)
      values[f.region(test).params.begin + k] = carried[k];
    Values condition;
    if (!Region(f, values, test, path, condition)) return false;
    const std::optional<bool> goes_on = Decided(condition[0]);
    if (!goes_on) return Fail("a loop has no constant number of turns");
    if (!*goes_on) {
      for (uint32_t k = 0; k < inst.results.count; ++k) values[inst.results.begin + k] = carried[k];
      return true;
    }
    if (!Region(f, values, body, path, carried)) return false;
  }
  return Fail("a loop has too many turns");
}

}  // namespace frazil::verify::smt
