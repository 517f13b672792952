// The SMT prover itself, without the samples that stand before it: mutants of small programs, and single ops at points,
// where the interpreter knows the answer and the encoder must give the same bits.
#include <fmt/format.h>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/builder.h"
#include "ir/check/check.h"
#include "ir/text/text.h"
#include "judges/attacks.h"
#include "verify/smt/smt.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

const verify::Prover& Z3() {
  static const std::shared_ptr<const verify::Prover> prover = verify::smt::MakeZ3Prover();
  return *prover;
}

Limits Quick() {
  Limits limits;
  limits.smt_ms = 150;
  return limits;
}

ir::Program SmallProgram(Choices& choices, uint32_t size) {
  generator::GeneratorOptions options;
  options.seed = choices.Next();
  options.size = 1 + static_cast<uint32_t>(choices.Below(size));
  options.allow_tensors = options.allow_buffers = options.allow_streams = false;
  options.allow_math = options.allow_calls = options.allow_parallel = false;
  constexpr ir::ScalarSet Sets[] = {ir::Only(ir::Scalar::I8) | ir::Only(ir::Scalar::F16),
                                    ir::Only(ir::Scalar::U8),
                                    ir::Only(ir::Scalar::F32),
                                    ir::Only(ir::Scalar::I32) | ir::Only(ir::Scalar::F32),
                                    ir::Only(ir::Scalar::U16) | ir::Only(ir::Scalar::I16),
                                    ir::Only(ir::Scalar::F64) | ir::Only(ir::Scalar::I64)};
  options.types = choices.OneOf(Sets);
  return generator::Generate(options);
}

// A program that gives these values whatever it is called with.
ir::Program Giving(const ir::Program& source, const std::vector<exec::Value>& results) {
  const ir::Function& entry = source.entry_function();
  std::vector<ir::Type> params;
  for (uint32_t i = 0; i < entry.param_count(); ++i) params.push_back(entry.param_type(i));
  ir::Program program;
  ir::FunctionBuilder b(program, "main", params, entry.results);
  ir::Values values;
  for (const exec::Value& value : results)
    values.push_back(b.Const(value.type, value.scalar_words()));
  b.Return(values);
  b.Finish();
  return program;
}

// At one point: the interpreter's answer is not refuted, and another one not proved.
void AtPoint(Choices& choices, Tally& tally) {
  const ir::Program source = SmallProgram(choices, 4);
  const std::vector<exec::Value> arguments = exec::RandomArguments(source, choices.Next());
  ir::Guard guard;
  for (uint32_t i = 0; i < arguments.size() && i < ir::MaxGuardAtoms; ++i) {
    ir::GuardAtom atom;
    atom.kind = ir::GuardKind::Equals;
    atom.arg = i;
    atom.type = arguments[i].type;
    atom.low.assign(arguments[i].scalar_words().begin(), arguments[i].scalar_words().end());
    guard.atoms.push_back(std::move(atom));
  }
  const Result<exec::Outcome> outcome = exec::Interpret(source, arguments);
  if (!outcome || outcome->trap || outcome->results.empty()) return;
  std::vector<exec::Value> results = outcome->results;
  const bool right = choices.Chance(50);
  if (!right) {
    exec::Value& value = results[choices.Below(results.size())];
    value = exec::RandomScalar(value.type, choices.Next());
    if (results == outcome->results) return;
  }
  const ir::Program constant = Giving(source, results);
  if (!ir::Check(constant) || !ir::CheckGuard(guard, source)) return;
  const verify::Verdict verdict = Z3().Prove(source, constant, guard, Quick());
  const bool proved = tally.blind || std::holds_alternative<verify::Proved>(verdict),
             refuted = !tally.blind && std::holds_alternative<verify::Refuted>(verdict);
  if (right ? refuted : proved)
    return tally.Wrong(fmt::format(
        "at {} the encoder {}:\n{}against\n{}", ir::PrintGuard(guard),
        right ? "refutes what the interpreter gives" : "proves what the interpreter does not give",
        ir::PrintText(source), ir::PrintText(constant)));
  tally.Judged(proved ? &Tally::equal : refuted ? &Tally::refuted : &Tally::unknown);
}

}  // namespace

void AttackSmt(Choices& choices, uint64_t mutants, Tally& tally) {
  if (choices.Chance(50)) {
    for (uint64_t i = 0; i < mutants; ++i) AtPoint(choices, tally);
    return;
  }
  const ir::Program source = SmallProgram(choices, 5);
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Candidate candidate;
    candidate.program = source;
    if (!MutateProgram(candidate.program, choices)) continue;
    CountVerdict(source, candidate, Z3().Prove(source, candidate.program, {}, Quick()), choices,
                 tally);
  }
}

}  // namespace frazil::tests
