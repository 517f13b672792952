// Small changes of programs in place, of every kind that a wrong pass makes: another op, constant, operand, order,
// attribute, bound, or an instruction that is gone. Those that need new instructions come from tests/verify/mutate.cpp.
#include <algorithm>
#include <optional>

#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/check/check.h"
#include "ir/text/literal.h"
#include "judges/attacks.h"
#include "verify/mutate.h"
#include "verify/sections.h"

namespace frazil::tests {
namespace {

using ir::Op;

// Ops that take and give the same.
const std::vector<std::vector<Op>>& Families() {
  static const std::vector<std::vector<Op>> families = {
      {Op::Add, Op::Sub, Op::Mul, Op::AddChecked, Op::SubChecked, Op::MulChecked},
      {Op::And, Op::Or, Op::Xor},
      {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne},
      {Op::DivTrunc, Op::DivFloor, Op::RemTrunc, Op::RemFloor, Op::DivChecked},
      {Op::Shl, Op::Shr, Op::Rotl, Op::Rotr},
      {Op::Min, Op::Max, Op::Minimum, Op::Maximum, Op::CopySign},
      {Op::Floor, Op::Ceil, Op::Trunc, Op::Nearest, Op::Abs, Op::Neg, Op::Sqrt},
      {Op::Clz, Op::Ctz, Op::Popcnt},
      {Op::Neg, Op::NegChecked, Op::Not, Op::Abs},
      {Op::Cast, Op::CastChecked, Op::Bitcast},
  };
  return families;
}

bool AnotherOp(ir::Inst& inst, Choices& choices) {
  for (size_t tries = 0; tries < 3; ++tries) {
    const auto& family = choices.OneOf(Families());
    if (std::ranges::find(family, inst.op) == family.end()) continue;
    const Op op = choices.OneOf(family);
    if (op == inst.op || !ir::Contains(ir::Info(op).types, inst.type.scalar)) return false;
    inst.op = op;
    return true;
  }
  for (const auto& family : Families()) {
    if (std::ranges::find(family, inst.op) == family.end()) continue;
    const Op op = choices.OneOf(family);
    if (op == inst.op || !ir::Contains(ir::Info(op).types, inst.type.scalar)) return false;
    inst.op = op;
    return true;
  }
  return false;
}

bool AnotherWord(ir::Function& function, const ir::Inst& inst, Choices& choices) {
  if (inst.attributes.count == 0 || inst.op == Op::Call) return false;
  const size_t at = choices.Below(inst.attributes.count);
  uint64_t& word = function.words[inst.attributes.begin + at];
  const uint64_t before = word;
  if (inst.op == Op::Const && choices.Chance(40)) {
    const exec::Value value = exec::RandomScalar(inst.type, choices.Next());
    std::ranges::copy(value.scalar_words(), function.words.begin() + inst.attributes.begin);
  } else {
    switch (choices.Below(4)) {
      case 0: word += 1; break;
      case 1: word -= 1; break;
      case 2: word ^= 1ull << choices.Below(64); break;
      default: word = choices.Below(4); break;
    }
  }
  const uint64_t* first = function.words.data() + inst.attributes.begin;
  if (inst.op == Op::Const &&
      !ir::IsCanonicalLiteral(inst.type, std::span(first, inst.attributes.count)))
    return false;
  return word != before;
}

bool AnotherOperand(ir::Function& function, const ir::Inst& inst, Choices& choices) {
  if (inst.operands.count == 0) return false;
  ir::ValueId& operand =
      function.operands[inst.operands.begin + choices.Below(inst.operands.count)];
  const ir::ValueId old = operand;
  for (int tries = 0; tries < 8; ++tries) {
    operand = ir::ValueId(static_cast<uint32_t>(choices.Below(function.values.size())));
    if (operand != old && function.type(operand) == function.type(old)) return true;
  }
  operand = old;
  return false;
}

bool IsIn(const ir::Region& region, uint32_t inst) {
  return std::ranges::any_of(region.insts, [&](ir::InstId id) { return id.index == inst; });
}

// Gone, or before its neighbor.
bool Moved(ir::Function& function, uint32_t at, Choices& choices) {
  for (ir::Region& region : function.regions) {
    if (!IsIn(region, at)) continue;
    for (size_t i = 0; i + 1 < region.insts.size(); ++i) {
      if (region.insts[i].index != at) continue;
      if (function.insts[at].results.count == 0 && choices.Chance(60)) {
        region.insts.erase(region.insts.begin() + static_cast<ptrdiff_t>(i));
        return true;
      }
      if (i == 0) return false;
      std::swap(region.insts[i], region.insts[i - 1]);
      return true;
    }
  }
  return false;
}

// What a trap is called, what a table holds, which function is called, which arm is which.
bool Rare(ir::Program& program, ir::Function& function, ir::Inst& inst, Choices& choices) {
  switch (choices.Below(4)) {
    case 0: {
      std::vector<ir::Inst*> all;
      for (ir::Inst& one : function.insts) {
        if (ir::CanStandFor(one.op)) all.push_back(&one);
      }
      if (all.empty()) return false;
      ir::Inst& one = *choices.OneOf(all);
      const std::optional<Op> before = one.source_op;
      constexpr Op Sources[] = {Op::Reshape, Op::Slice, Op::Gather, Op::Extract};
      one.source_op = choices.Chance(30) ? std::nullopt : std::optional(choices.OneOf(Sources));
      return one.source_op != before;
    }
    case 1: {
      if (program.data.empty()) return false;
      std::vector<uint64_t>& words = program.data[choices.Below(program.data.size())].words;
      if (words.empty()) return false;
      words[choices.Below(words.size())] ^= 1;
      return true;
    }
    case 2: {
      if (inst.op != Op::Call && inst.op != Op::Lookup) return false;
      uint64_t& word = function.words[inst.attributes.begin];
      const uint64_t before = word;
      word = choices.Below(inst.op == Op::Call ? program.functions.size() : program.data.size());
      return word != before;
    }
    default: {
      if (inst.regions.count < 2 || inst.op == Op::While) return false;
      const uint64_t at = inst.regions.begin + choices.Below(inst.regions.count - 1);
      std::swap(function.regions[at], function.regions[at + 1]);
      return true;
    }
  }
}

bool Change(ir::Program& program, Choices& choices) {
  ir::Function& function = program.functions[choices.Below(program.functions.size())];
  if (function.insts.empty()) return false;
  const auto at = static_cast<uint32_t>(choices.Below(function.insts.size()));
  ir::Inst& inst = function.insts[at];
  switch (choices.Below(8)) {
    case 0:
    case 1: return AnotherOp(inst, choices);
    case 2: return AnotherWord(function, inst, choices);
    case 3: {
      if (inst.operands.count < 2) return false;
      const size_t k = inst.operands.begin + choices.Below(inst.operands.count - 1);
      if (function.operands[k] == function.operands[k + 1]) return false;
      std::swap(function.operands[k], function.operands[k + 1]);
      return true;
    }
    case 4:
    case 5: return AnotherOperand(function, inst, choices);
    case 6: return Rare(program, function, inst, choices);
    default: return Moved(function, at, choices);
  }
}

const std::vector<ir::Program>& Bases() {
  static const std::vector<ir::Program> bases = [] {
    std::vector<ir::Program> programs;
    for (const Section& section : ReadSections(FRAZIL_VERIFY_DATA "/bases.txt"))
      programs.push_back(MustParse(section.name, section.text));
    return programs;
  }();
  return bases;
}

}  // namespace

ir::Program DrawProgram(Choices& choices, uint32_t size, bool tensors) {
  if (choices.Chance(30)) return choices.OneOf(Bases());
  generator::GeneratorOptions options;
  options.seed = choices.Next();
  options.size = 2 + static_cast<uint32_t>(choices.Below(size));
  options.allow_tensors = tensors;
  options.allow_buffers = choices.Chance(60);
  options.allow_math = choices.Chance(20);
  options.allow_streams = choices.Chance(40);
  constexpr ir::ScalarSet Sets[] = {
      ir::sets::Any,   ir::sets::Fixed,  ir::Only(ir::Scalar::U8) | ir::sets::Bool,
      ir::sets::Float, ir::sets::Fields, ir::Only(ir::Scalar::I32)};
  options.types = choices.OneOf(Sets);
  return generator::Generate(options);
}

bool MutateProgram(ir::Program& program, Choices& choices) {
  if (program.functions.size() == 1 && program.functions[0].insts.size() < 40 &&
      choices.Chance(15)) {
    std::vector<Mutant> all = MutantsOf(program);
    if (all.empty()) return false;
    program = std::move(all[choices.Below(all.size())].program);
    return true;
  }
  for (int tries = 0; tries < 12; ++tries) {
    ir::Program mutant = program;
    if (!Change(mutant, choices) || !ir::Check(mutant)) continue;
    program = std::move(mutant);
    return true;
  }
  return false;
}

}  // namespace frazil::tests
