// Counterexamples: runs of both programs on the machine itself.
#pragma once

#include <functional>
#include <optional>

#include "verify/tasm/engine.h"
#include "verify/tasm/tasm.h"
#include "verify/verify.h"

namespace frazil::verify::tasm {

// A program that runs often. Its digest, which lies on the stack at the start, takes longer than a short run.
class Machine {
 public:
  Machine(const mt::Program& program) : program_(program) {}

  const mt::Program& program() const { return program_; }
  // The stack at the start of a whole program, top last.
  std::vector<uint64_t> Stack() const;
  bool LeavesByReturn() const;

 private:
  const mt::Program& program_;
  mutable std::optional<mt::Digest> digest_;
  mutable std::optional<bool> leaves_;
};

// How the two differ on these inputs, in one sentence; nothing if they do not or that cannot be told.
std::optional<std::string> Difference(const Machine& source, const Machine& candidate,
                                      const MachineStart& inputs, bool fragments);

// Decides whether inputs tell two things apart, and how.
using Tell = MachineDifference;

class Sampler {
 public:
  // `constants`: numbers of the programs' text, of which addresses and comparisons are made.
  Sampler(std::vector<uint64_t> constants, bool fragments, uint64_t seed);

  // The next inputs: edge values, small numbers, random ones, equal ones.
  MachineStart Next();
  // Inputs that follow a path on which a proof failed, as far as it can be solved.
  MachineStart Along(Facts& facts);

 private:
  uint64_t Random();
  uint64_t Value(int flavor);
  uint64_t Evaluate(Facts& facts, Term term);
  uint64_t EvaluateBase(Facts& facts, Term base);
  uint64_t Apply(Facts& facts, Term base);
  uint64_t Choose(Facts& facts, Term base);
  uint64_t Put(Facts& facts, Term base, uint64_t value);
  void Solve(Facts& facts, const Literal& literal);

  std::vector<uint64_t> constants_;
  bool fragments_;
  uint64_t random_;
  uint64_t count_ = 0;
  int flavor_ = 0;
  MachineStart* current_ = nullptr;
  std::unordered_map<Term, uint64_t> chosen_, computed_;
  std::unordered_map<Term, std::vector<uint64_t>> near_;  // values worth trying
  int depth_ = 0;
};

// That the candidate has not ended long after the source has: no refutation, but worth saying. Else empty.
std::string NotEnded(const Machine& source, const Machine& candidate, const MachineStart& inputs,
                     bool fragments);

// Drops RAM cells, shortens the streams and makes words small, as long as the same kind of difference is told.
void Shrink(Refuted& refuted, const Tell& tell);

// Keeps only what the runs read.
void Trim(const Machine& source, const Machine& candidate, Refuted& refuted, bool fragments);

}  // namespace frazil::verify::tasm
