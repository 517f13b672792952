// The attacks by name (attack.cpp has their table), and what they share.
#pragma once

#include <string>

#include "ir/candidate.h"
#include "judges/attack.h"
#include "verify/verdict.h"

namespace frazil::tests {

void AttackPrograms(Choices& choices, uint64_t mutants, Tally& tally);
void AttackGuards(Choices& choices, uint64_t mutants, Tally& tally);
void AttackWalk(Choices& choices, uint64_t mutants, Tally& tally);
void AttackCertificates(Choices& choices, uint64_t mutants, Tally& tally);
void AttackRules(Choices& choices, uint64_t mutants, Tally& tally);
void AttackClosure(Choices& choices, uint64_t mutants, Tally& tally);
void AttackInduction(Choices& choices, uint64_t mutants, Tally& tally);
void AttackSmt(Choices& choices, uint64_t mutants, Tally& tally);
void AttackAssembly(Choices& choices, uint64_t mutants, Tally& tally);
void AttackTir(Choices& choices, uint64_t mutants, Tally& tally);
void AttackLifting(Choices& choices, uint64_t mutants, Tally& tally);
void AttackIndependence(Choices& choices, uint64_t mutants, Tally& tally);
void AttackTensors(Choices& choices, uint64_t mutants, Tally& tally);
void AttackPasses(Choices& choices, uint64_t mutants, Tally& tally);
void AttackTensorForms(Choices& choices, uint64_t mutants, Tally& tally);

// Programs to begin with: of tests/verify/bases.txt, or random ones of the size.
ir::Program DrawProgram(Choices& choices, uint32_t size, bool tensors);

// One small change somewhere that ir::Check accepts; false if there was none.
bool MutateProgram(ir::Program& program, Choices& choices);

// Points where a difference would show: those of the naive checker, then a search from points that were unlike all
// others. Empty if none is found.
std::string SearchDifference(const ir::Program& source, const ir::Program& candidate,
                             const ir::Guard& guard, Choices& choices);

// Counts the verdict; one that calls the two equal is searched.
void CountVerdict(const ir::Program& source, const ir::Candidate& candidate,
                  const verify::Verdict& verdict, Choices& choices, Tally& tally);

}  // namespace frazil::tests
