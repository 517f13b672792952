// Programs of tensors, fused or not, with a small thing changed, before the judge that reads them as terms.
#include <algorithm>

#include "generator/generator.h"
#include "generator/tensor_graph.h"
#include "ir/check/check.h"
#include "ir/text/literal.h"
#include "judges/attacks.h"
#include "optimize/fusion/fusion.h"
#include "verify/tensors/judge.h"

namespace frazil::tests {
namespace {

using namespace ir::names;

ir::Program DrawTensors(Choices& choices) {
  if (choices.Chance(80))
    return generator::GenerateTensorGraph({.seed = choices.Next(),
                                           .least = 1,
                                           .most = 1 + static_cast<uint32_t>(choices.Below(9)),
                                           .allow_traps = choices.Chance(50)});
  generator::GeneratorOptions options;
  options.seed = choices.Next();
  options.size = 2 + static_cast<uint32_t>(choices.Below(12));
  options.allow_buffers = options.allow_streams = options.allow_parallel = false;
  options.allow_math = choices.Chance(20);
  constexpr ir::ScalarSet Sets[] = {ir::sets::Any, ir::sets::Float, ir::sets::Fixed,
                                    ir::Only(Scalar::Index) | ir::Only(Scalar::I64)};
  options.types = choices.OneOf(Sets);
  return generator::Generate(options);
}

// What a pass makes of it; the program itself where there is nothing to do.
ir::Program Fused(const ir::Program& source, Choices& choices) {
  const uint64_t which = choices.Below(4);
  if (which == 0) return source;
  if (which == 1) {
    const auto offered = optimize::FusedCandidate(source);
    return offered && *offered ? (*offered)->program : source;
  }
  optimize::Unit unit = optimize::MakeUnit(source);
  return optimize::FuseTensors(unit) ? unit.program : source;
}

// Attributes: the axis, the perm, start and step, the kind, chains and block.
bool ChangeWord(Function& f, const ir::Inst& inst, Choices& choices) {
  if (inst.attributes.count == 0 || inst.op == Op::Call || inst.op == Op::Lookup) return false;
  const uint32_t at = inst.attributes.begin;
  uint64_t& word = f.words[at + choices.Below(inst.attributes.count)];
  const uint64_t before = word;
  switch (choices.Below(6)) {
    case 0: word += 1; break;
    case 1: word -= 1; break;
    case 2: word *= 2; break;
    case 3: word /= 2; break;
    case 4: word = 0 - word; break;
    default: std::swap(word, f.words[at + choices.Below(inst.attributes.count)]); break;
  }
  if (inst.op == Op::Const &&
      !ir::IsCanonicalLiteral(inst.type, std::span(f.words).subspan(at, inst.attributes.count)))
    return false;
  return word != before;
}

// Another shape of the function for what is made: one axis more or less, another size, swapped axes.
bool ChangeShape(Function& f, ir::Inst& inst, Choices& choices) {
  if (inst.results.count == 0) return false;
  const uint32_t result =
      inst.results.begin + static_cast<uint32_t>(choices.Below(inst.results.count));
  Type& type = f.values[result].type;
  if (!type.is_tensor() || f.shapes.size() < 2) return false;
  const auto shape = static_cast<uint32_t>(choices.Below(f.shapes.size()));
  if (shape == type.shape) return false;
  if (inst.type == type) inst.type.shape = shape;
  type.shape = shape;
  return true;
}

// Whoever used a result takes an operand instead, or another value of its type: another row, the tensor before it.
bool ChangeUses(Function& f, uint32_t at, Choices& choices) {
  const ir::Inst inst = f.insts[at];
  if (inst.results.count == 0) return false;
  const ValueId old =
      ir::Function::result_of(inst, static_cast<uint32_t>(choices.Below(inst.results.count)));
  std::vector<ValueId> instead;
  for (uint32_t v = 0; v < f.values.size(); ++v)
    if (v != old.index && f.type(ValueId(v)) == f.type(old)) instead.push_back(ValueId(v));
  if (instead.empty()) return false;
  const ValueId other = choices.OneOf(instead);
  bool changed = false;
  for (uint32_t i = 0; i < f.insts.size(); ++i) {
    if (i == at) continue;
    const ir::Range operands = f.insts[i].operands;
    for (uint32_t k = 0; k < operands.count; ++k) {
      ValueId& use = f.operands[operands.begin + k];
      if (use != old) continue;
      use = other;
      changed = true;
    }
  }
  return changed;
}

bool MutateTensors(ir::Program& program, Choices& choices) {
  for (int tries = 0; tries < 16; ++tries) {
    ir::Program mutant = program;
    Function& f = mutant.functions[choices.Below(mutant.functions.size())];
    if (f.insts.empty()) continue;
    const auto at = static_cast<uint32_t>(choices.Below(f.insts.size()));
    bool changed = false;
    switch (choices.Below(4)) {
      case 0:
      case 1: changed = ChangeWord(f, f.insts[at], choices); break;
      case 2: changed = ChangeShape(f, f.insts[at], choices); break;
      default: changed = ChangeUses(f, at, choices); break;
    }
    if (!changed || !ir::Check(mutant)) continue;
    program = std::move(mutant);
    return true;
  }
  return false;
}

// Sizes that are known, impossible ones included.
ir::Guard DrawSizes(const ir::Program& program, Choices& choices) {
  ir::Guard guard;
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (entry.param_type(i) != ir::types::Index || !choices.Chance(50)) continue;
    guard.atoms.push_back({.kind = ir::GuardKind::Equals,
                           .arg = i,
                           .type = ir::types::Index,
                           .low = ir::LiteralFromInt(ir::types::Index, choices.Between(-2, 4)),
                           .high = {}});
  }
  return ir::CheckGuard(guard, program) ? guard : ir::Guard{};
}

}  // namespace

void AttackTensorForms(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = DrawTensors(choices);
  if (!ir::Check(source)) return;
  const ir::Program fused = Fused(source, choices);
  const ir::Guard sizes = choices.Chance(20) ? DrawSizes(source, choices) : ir::Guard{};
  for (uint64_t i = 0; i < mutants; ++i) {
    // One side changed; now and then both, alike or not.
    ir::Program a = source, b = fused;
    const uint64_t which = choices.Below(8);
    bool changed = false;
    const auto change = [&](ir::Program& program) {
      changed |=
          choices.Chance(75) ? MutateTensors(program, choices) : MutateProgram(program, choices);
    };
    if (which != 0) change(b);
    if (which < 2) change(a);
    while (choices.Chance(15)) change(b);
    if (!changed) continue;
    const bool back = choices.Chance(30);
    const ir::Program& from = back ? b : a;
    const ir::Candidate to{back ? a : b, sizes, {}, "attack"};
    CountVerdict(from, to, verify::TensorFormJudge(from, to.program, to.guard), choices, tally);
  }
}

}  // namespace frazil::tests
