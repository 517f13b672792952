// The door of verify/: do two programs mean the same, does code do what its program says, may a compiled form
// be called? It shares no code with what it judges, and only this folder makes a Verified<...>.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/compiled_form.h"
#include "exec/meaning/choices.h"
#include "exec/native/native_code.h"
#include "exec/target.h"
#include "ir/candidate.h"
#include "verify/verdict.h"
#include "verify/verified.h"

namespace frazil::verify {

// What one judgment of a lowering learned about the samples of its program, for the next one of the same program and guard: other
// code, the same inputs.
struct SampleNotes {
  std::string seed;
  size_t effort = 0;
  std::vector<bool> endless = {};  // by number: did not end within the effort's limits
  std::string reason = {};         // too few do: there will be no verdict
  // What the interpreter answered, by number: it takes many times as long as the code that is judged.
  struct Answer {
    exec::Outcome outcome;
    std::vector<std::string> memory;  // of each argument, afterwards
    exec::Choices choices;
  };
  std::map<uint64_t, Answer> answers = {};
  uint64_t answer_bytes = 0;
  // Of the same program under less of its guard.
  std::shared_ptr<SampleNotes> wider = {};
};

// That a candidate means what its source means, for the next form of the same candidate. Only Examine writes it down. What came to
// a limit is asked again with more fuel.
class MeaningNotes {
 private:
  friend Result<Verdict> VerifyMeaning(const ir::Program& source, const ir::Candidate& candidate,
                                       const struct VerifyOptions& options);
  std::string source_exact_, candidate_exact_, guard_;
  std::optional<Verdict> verdict_;
  uint64_t fuel_ = 0;  // of the runs that it comes from
};

struct VerifyOptions {
  Limits limits;                 // verify_ms, verify_cases, smt_ms, ... and those of each run
  uint64_t sample_lanes = 4096;  // at least so many lanes are compared
  // Code that no input has run is looked for so long since the last block that was found; 0: not at all.
  uint64_t search_ms = 500;
  bool exhaustive = true;                  // try it where the inputs under the guard are few enough
  uint64_t exhaustive_cases = 1ull << 24;  // and how many that is; at most 2^32
  bool smt = true;                         // if a prover is registered
  int threads = 1;
  // Other inputs than usual for code: how much of a verdict is luck is told by several of them.
  std::string salt = {};
  // Of programs for Triton VM: what they usually read, tried beside the judge's own inputs.
  std::vector<machines::tasm::Inputs> typical = {};
  SampleNotes* notes = nullptr;     // read, and written
  MeaningNotes* meaning = nullptr;  // the same
};

// An SMT prover, registered from above (verify/smt): the core links none.
class Prover {
 public:
  virtual ~Prover() = default;
  virtual std::string_view name() const = 0;
  // Proved, Refuted or Unknown.
  virtual Verdict Prove(const ir::Program& source, const ir::Program& candidate,
                        const ir::Guard& guard, const Limits& limits) const = 0;
};
void RegisterProver(std::shared_ptr<const Prover> prover);
std::shared_ptr<const Prover> RegisteredProver();  // null if there is none

// What a judge was asked: programs of the IR, or what runs on Triton VM and can be run on a start of one's own, to be told how
// the two differ there.
struct ProgramQuestion {
  const ir::Program& source;
  const ir::Candidate& candidate;
};
using MachineDifference = std::function<std::optional<std::string>(const MachineStart& start)>;
struct MachineQuestion {
  const MachineDifference& difference;
};
using Question = std::variant<ProgramQuestion, MachineQuestion>;

// Sees every verdict of Verify, CheckCertificate and verify/tasm after it is made, and changes none: tests let the naive
// checker (naive.h) look at all that is called equal. Null: nobody looks. Gives back the one before.
using Observer = std::function<void(const Question& question, const Verdict& verdict)>;
Observer RegisterObserver(Observer observer);

// In order: equal digests; the certificate, checked by replay; equal normal forms, of straight lines, of passes or of elements of tensors; a quick look for a counterexample (edge values
// and random inputs from a seed derived from both programs); exhaustive; algebraic (field programs); SMT; and what
// remains is Tested with the samples' evidence. Programs must have the same parameters and results.
Result<Verdict> Verify(const ir::Program& source, const ir::Candidate& candidate,
                       const VerifyOptions& options = {});

// The same, remembered in the options' notes: candidates are lowered more than once.
Result<Verdict> VerifyMeaning(const ir::Program& source, const ir::Candidate& candidate,
                              const VerifyOptions& options);

// Does a callable do what the program says? Sampled: for buffers lengths {0,1,2,7,V-1,V,V+1,4V+3} x
// alignments x alias classes; exhaustive where inputs are few. Canaries around every buffer.
Result<Verdict> VerifyLowering(const ir::Program& program, exec::Callable& code,
                               const ir::Guard& guard, const VerifyOptions& options = {});

// The same of machine code as it will be stored and mapped. Code that is not called as a whole program is has its own
// callable.
using CallableMaker = std::function<Result<std::unique_ptr<exec::Callable>>(
    std::shared_ptr<const exec::NativeCode> code)>;
Result<Verdict> VerifyCode(const ir::Program& program, const exec::NativeImage& image,
                           const ir::Guard& guard, const VerifyOptions& options = {},
                           const CallableMaker& make_callable = {});

// The same of a WASM module, by the target that loads it. Which of its blocks ran is told by a copy with marks between the
// judged instructions (wasm/marked.h): that is what runs.
Result<Verdict> VerifyModule(const ir::Program& program, const exec::Target& target,
                             const exec::Artifact& artifact, const ir::Guard& guard,
                             const VerifyOptions& options = {});

// The judge of admission, for forms of every target (verify/target_judges.h): verifies meaning and lowering, and vouches
// for the pair if the policy is satisfied. Runs the form's code: call it where a crash costs nothing but a candidate.
// `make_callable`: of native code that is not called as a whole program (CompiledForm::calling).
struct Examined {
  std::optional<Verified<exec::CompiledForm>> form;  // absent: refused
  Verdict meaning = Unknown{"not judged"};
  bool has_meaning = false;  // as the policy asks; else its code was not run
  Verdict lowering = Unknown{"not judged"};
  std::string refusal;  // one sentence, if refused
};
Result<Examined> Examine(const ir::Program& source, const ir::Candidate& candidate,
                         exec::CompiledForm form, const Policy& policy,
                         const VerifyOptions& options = {},
                         const CallableMaker& make_callable = {});

// Certificates alone: Proved, or Unknown with the first line that does not hold. (certificate checker)
Verdict CheckCertificate(const ir::Program& source, const ir::Candidate& candidate);

}  // namespace frazil::verify
