// The table of attacks.
#include "judges/attack.h"

#include <algorithm>

#include "judges/attacks.h"

namespace frazil::tests {

void Tally::Add(const Tally& other) {
  mutants += other.mutants;
  refuted += other.refuted;
  unknown += other.unknown;
  equal += other.equal;
  wrong += other.wrong;
  stories.insert(stories.end(), other.stories.begin(), other.stories.end());
}

std::span<const Attack> Attacks() {
  static const Attack attacks[] = {
      {"programs", "mutated programs, all judges", 14'000, AttackPrograms},
      {"guards", "specialized programs, guard or constant changed", 6'000, AttackGuards},
      {"walk", "mutated programs, certificate without lines", 24'000, AttackWalk},
      {"certificates", "the optimizer's certificates, candidate or lines mutated", 20'000,
       AttackCertificates},
      {"rules", "one or two rule instances with forged bindings", 16'000, AttackRules},
      {"closure", "chains of rule instances under congruence", 10'000, AttackClosure},
      {"induction", "loops and closed forms, forged on both sides", 14'000, AttackInduction},
      {"smt", "solver and encoder against the interpreter", 1'500, AttackSmt},
      {"assembly", "Triton VM assembly, loops and branches", 8'000, AttackAssembly},
      {"tir", "TIR and IR against mutated assembly and TIR", 3'000, AttackTir},
      {"lifting", "ISA modules proved by lifting back", 12'000, AttackLifting},
      {"independence", "kernels in shuffled pieces", 8'000, AttackIndependence},
      {"tensors", "index maps of tensor moves", 8'000, AttackTensors},
      {"passes", "normal forms of passes, form or guard changed", 8'000, AttackPasses},
      {"forms", "tensor programs as terms, fused and changed", 40'000, AttackTensorForms},
  };
  return attacks;
}

const Attack* AttackNamed(std::string_view name) {
  const auto found = std::ranges::find(Attacks(), name, &Attack::name);
  return found == Attacks().end() ? nullptr : &*found;
}

}  // namespace frazil::tests
