// Mutated programs before all judges of meaning, and before the walk alone; specialized ones under another guard.
#include "ir/guard.h"
#include "ir/text/literal.h"
#include "judges/attacks.h"
#include "optimize/optimize.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

// Few samples: those who prove are under attack, not those who look.
verify::VerifyOptions Quick() {
  verify::VerifyOptions options;
  options.sample_lanes = 16;
  options.exhaustive_cases = 4096;
  options.limits.verify_ms = 250;
  options.limits.fuel = 20'000;
  options.smt = false;
  return options;
}

void JudgeAll(const ir::Program& source, const ir::Candidate& candidate, Choices& choices,
              Tally& tally) {
  const Result<verify::Verdict> verdict = verify::Verify(source, candidate, Quick());
  if (!verdict) return tally.Judged(&Tally::refuted);  // of other parameters
  CountVerdict(source, candidate, *verdict, choices, tally);
}

// One to three changes.
bool MutateSome(ir::Program& program, Choices& choices) {
  if (!MutateProgram(program, choices)) return false;
  while (choices.Chance(25)) (void)MutateProgram(program, choices);
  return true;
}

ir::Candidate Bare(ir::Program program) {
  return {.program = std::move(program), .guard = {}, .certificate = {}, .origin = "attack"};
}

// Another constant, wider or narrower bounds, another argument, or an atom that is gone.
void MutateGuard(ir::Guard& guard, Choices& choices) {
  if (guard.atoms.empty()) return;
  const size_t at = choices.Below(guard.atoms.size());
  ir::GuardAtom& atom = guard.atoms[at];
  switch (choices.Below(4)) {
    case 0: guard.atoms.erase(guard.atoms.begin() + static_cast<ptrdiff_t>(at)); return;
    case 1:
      if (!atom.low.empty()) atom.low[0] += choices.Chance(50) ? 1 : UINT64_MAX;
      return;
    case 2: atom.arg = static_cast<uint32_t>(choices.Below(4)); return;
    default:
      if (atom.kind != ir::GuardKind::Equals || ir::WordsOf(atom.type) != 1) return;
      atom.kind = ir::GuardKind::Between;
      atom.high = atom.low;
      (choices.Chance(50) ? atom.high[0] : atom.low[0]) += choices.Chance(50) ? 1 : UINT64_MAX;
  }
}

// Narrow enough that some judge may try every input, or believe that it did.
ir::Guard DrawGuard(const ir::Program& program, Choices& choices) {
  ir::Guard guard;
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count() && guard.atoms.size() < 4; ++i) {
    const ir::Type type = entry.param_type(i);
    ir::GuardAtom atom;
    atom.arg = i;
    atom.number = choices.Between(0, 9);
    if (type.is_buffer()) {
      constexpr ir::GuardKind Lengths[] = {ir::GuardKind::LengthIs, ir::GuardKind::LengthMultiple,
                                           ir::GuardKind::LengthAtLeast};
      atom.kind = choices.OneOf(Lengths);
      atom.number += atom.kind == ir::GuardKind::LengthMultiple ? 1 : 0;
    } else if (type.is_scalar() && ir::WordsOf(type) == 1) {
      atom.type = type;
      atom.kind = choices.Chance(50) ? ir::GuardKind::Equals : ir::GuardKind::Between;
      const int64_t low = choices.Between(ir::IsSigned(type.scalar) ? -4 : 0, 5);
      atom.low = ir::LiteralFromInt(type, low);
      if (atom.kind == ir::GuardKind::Between)
        atom.high = ir::LiteralFromInt(type, low + choices.Between(0, 20));
    } else {
      continue;
    }
    if (choices.Chance(60)) guard.atoms.push_back(std::move(atom));
  }
  return ir::CheckGuard(guard, program) ? guard : ir::Guard{};
}

}  // namespace

void AttackPrograms(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = DrawProgram(choices, 10, choices.Chance(20));
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Program mutant = source;
    if (!MutateSome(mutant, choices)) continue;
    // What may be missing differs by side: both ways.
    const bool back = choices.Chance(30);
    ir::Candidate candidate = Bare(back ? source : mutant);
    if (choices.Chance(30)) candidate.guard = DrawGuard(source, choices);
    JudgeAll(back ? mutant : source, candidate, choices, tally);
  }
}

void AttackWalk(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = DrawProgram(choices, 20, choices.Chance(20));
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Program mutant = source;
    if (!MutateSome(mutant, choices)) continue;
    const bool back = choices.Chance(40);
    const ir::Candidate candidate = Bare(back ? source : mutant);
    const ir::Program& from = back ? mutant : source;
    CountVerdict(from, candidate, verify::CheckCertificate(from, candidate), choices, tally);
  }
}

void AttackGuards(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = DrawProgram(choices, 10, false);
  const ir::Function& entry = source.entry_function();
  Limits limits;
  limits.egraph_nodes = 1'500;
  limits.egraph_rounds = 5;
  limits.egraph_ms = 60'000;
  optimize::Observed observed;
  observed.calls = 100;
  observed.constant_arguments.resize(entry.param_count());
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (entry.param_type(i).is_scalar() && choices.Chance(60))
      observed.constant_arguments[i] =
          ir::LiteralFromInt(entry.param_type(i), choices.Between(0, 3));
  }
  const Result<ir::Candidate> special = optimize::Specialize(source, observed, limits);
  if (!special) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Candidate candidate = *special;
    const uint64_t which = choices.Below(4);
    if (which != 0) MutateGuard(candidate.guard, choices);
    if (which < 2 && !MutateProgram(candidate.program, choices)) continue;
    if (!ir::CheckGuard(candidate.guard, source)) continue;
    if (choices.Chance(50))
      JudgeAll(source, candidate, choices, tally);
    else
      CountVerdict(source, candidate, verify::CheckCertificate(source, candidate), choices, tally);
  }
}

}  // namespace frazil::tests
