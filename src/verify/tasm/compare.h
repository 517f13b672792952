// What all comparisons share. Private to this folder.
#pragma once

#include <functional>
#include <memory>

#include "machines/tasm/fragment.h"
#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {

struct Sides {
  Seed seed;  // of both programs and the options
  std::function<std::unique_ptr<Side>(Heads*)> source, candidate;
};

template <class Source, class Candidate>
Seed SeedOf(const Source& source, const Candidate& candidate, const Options& options) {
  return Seed({SeedText(source), SeedText(candidate), SeedText(options)});
}

// `tell` may be empty: nothing is refuted then.
Verdict Decide(const Sides& sides, const Options& options, Sampler& sampler, const Tell& tell);

void AddConstants(const mt::Program& program, std::vector<uint64_t>& constants);

// What can be seen of the run of a whole program; nothing if it came to a limit.
struct Ending {
  std::optional<std::string> crash;
  std::vector<uint64_t> output;
  size_t inputs_read = 0, secrets_read = 0, digests_read = 0;
};
Ending EndingOf(const mt::FragmentResult& run);
std::optional<Ending> RunProgram(const Machine& machine, const MachineStart& inputs);
std::optional<Ending> RunTir(const tir::Program& program, const MachineStart& inputs);
std::optional<std::string> Difference(const Ending& a, const Ending& b);

// Whether the IR says what these inputs lead to: the symbolic run with numbers in place of the inputs, which knows more of
// raw addresses than the interpreter. What it cannot follow is not said.
bool IsSpecified(const ir::Program& program, const MachineStart& inputs, const Seed& seed);

}  // namespace frazil::verify::tasm
