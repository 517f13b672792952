// A question in words, answered exactly: text -> reading -> program -> answer, with every stage to look at.
//
//   frazil::Answer answer = frazil::Ask("Sum 1 to 1000000").value();
//   std::puts(answer.text.c_str());   // 500000500000
//
// An answer is what an admitted form gave: the interpreter ran the same program and gave the same. What it refutes, and what
// nobody can judge, is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "oracle/claim.h"
#include "verify/evidence.h"

namespace frazil::machines::tasm {
struct Program;
}  // namespace frazil::machines::tasm
namespace frazil::ask {
class Maker;
}  // namespace frazil::ask

namespace frazil {

// A STARK proof of the answer, made and verified by the published Triton VM.
struct AnswerProof {
  oracle::Claim claim;
  uint64_t padded_height = 0;
  uint64_t proof_bytes = 0;
  double prove_seconds = 0;
  double verify_seconds = 0;
};
// Proves a run of this assembly without input. Diag::Mismatch says that the machine does not what the program says: then
// there is no answer, as there is none where the claim is not that this very assembly gives the answer. Any other error is a
// reason why there is no proof.
using AnswerProver = std::function<Result<AnswerProof>(const machines::tasm::Program& assembly)>;

struct AskOptions {
  std::string target = "wasm";  // where it runs: a name of registry/targets.h
  bool trace = false;           // the steps of a chain, too
  Limits limits = {};
  AnswerProver prover = {};  // asked where the target is tasm; none: no proof is made
  // Told what begins ("running on wasm", "proving") and, by an empty text, that it is over.
  std::function<void(std::string_view what)> on_step = {};
};

// One operation of a chain: "16 - 3" and "13".
struct AnswerStep {
  std::string expression;
  std::string value;
};

// Only Ask makes one, of a form that was admitted.
struct Answer {
  std::string text;       // "35", "3.5", "1/3"; "1" or "0" for yes or no
  std::string canonical;  // "50 - 15 = ": what was understood; it reads back as the same program
  std::string operation;  // "subtract"; of a chain, in the order they happen
  std::string type;       // of the program's results: "i32"
  std::string program;    // its entry function, as text
  std::string digest;     // its exact digest
  std::string target;     // where it ran
  // Meaning: what ran against what was read. Lowering: what it gave against the interpreter.
  verify::EvidencePair evidence;
  // A loop that was too long to be run became a formula: "n(n+1)/2", and how that is known.
  std::string formula;
  std::string formula_proof;
  // Target wasm: the module, and the instructions of its function.
  std::string wasm;
  std::string wasm_body;
  // Target tasm, if there is a prover: the proof, or why there is none.
  std::optional<AnswerProof> proof;
  std::string why_no_proof;
  std::vector<AnswerStep> trace;
  double milliseconds = 0;  // to load and run it

 private:
  friend class ask::Maker;
  Answer() = default;
};

Result<Answer> Ask(std::string_view text, const AskOptions& options = {});

// "exhaustive: the interpreter gives the same"; what is proved is told by its detail alone.
std::string DescribeEvidence(const verify::Evidence& evidence);
// "STARK of output 5050 at height 256, 140 kB in 0.53 s, verified in 12 ms".
std::string DescribeProof(const AnswerProof& proof);

}  // namespace frazil
