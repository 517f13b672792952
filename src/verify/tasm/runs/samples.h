// Calls to try on assembly and its program: what the program usually reads, edge values and random ones, and neighbors of
// those that were worth their while. Streams carry no types on the machine; where a program reads several, its own runs
// tell in which order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "exec/meaning/interpreter_program.h"
#include "verify/internal/input_space.h"
#include "verify/internal/inputs.h"
#include "verify/internal/random.h"
#include "verify/tasm/runs/claim.h"
#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {

// Limits of one run off the machine.
Limits LimitsOf(uint64_t fuel, const Deadline& deadline);

// What lies at an address of RAM before a run.
using Ram = std::function<uint64_t(uint64_t address)>;
// What a prover may have put there: in one of four cases zeros, in the others whatever may be taken for something that
// the assembly has not written but should have.
Ram ProversRam(uint64_t seed);

class Samples {
 public:
  // `program` and what was made of it must outlive this.
  Samples(const ir::Program& program, const exec::InterpreterProgram& prepared, const Claim& claim,
          const mt::Program& assembly, const std::string& seed, const Deadline& deadline);

  // No parameters and nothing that is read: there is one call.
  bool IsOne() const;
  // The call that these inputs are. `fit`: words of another type are made to fit.
  std::optional<Input> Call(const mt::Inputs& inputs, bool fit);
  // Another one; the same number in the same order gives the same. Nothing: this one could not be made.
  std::optional<Input> Next();
  // It ran what nothing had run before: its neighbors may, too.
  void Keep(const Input& input);

 private:
  std::optional<Input> Made();
  std::optional<Input> Flavored();
  std::optional<Input> Neighbor();
  void Change(Input& input);
  exec::Value Changed(const exec::Value& value, const std::vector<exec::Value>& others);
  uint64_t OtherWord(uint64_t word);
  void FillRam(Input& input);
  // The streams that the program reads from these words, in its order.
  bool ReadStreams(Input& input, WordStream words, WordStream secrets,
                   std::span<const mt::Digest> digests);
  bool FindStreams(Input& input, WordStream words, WordStream secrets,
                   std::span<const mt::Digest> digests);
  bool IsMixed() const { return space_.input_types.size() > 1 || space_.hint_types.size() > 1; }

  const ir::Program& program_;
  const exec::InterpreterProgram& prepared_;
  const Claim& claim_;
  const Deadline& deadline_;
  InputSpace space_;
  Random random_;
  InputMaker maker_;
  Sampler sampler_;
  std::vector<uint64_t> constants_;
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // of programs that take scalars alone
  std::vector<Input> kept_;
  uint64_t number_ = 0, made_ = 0;
  uint64_t found_ = 0;  // streams whose order was found by runs
};

}  // namespace frazil::verify::tasm
