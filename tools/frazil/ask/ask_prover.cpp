#include "ask.h"
#include "oracle/oracle.h"

namespace frazil::cli {

AnswerProver MakeAnswerProver() {
  return [machine = std::make_shared<oracle::Session>()](
             const machines::tasm::Program& assembly) -> Result<AnswerProof> {
    oracle::ProveAnswer proved = TRY(machine->Prove({assembly, {}}, ""));
    if (proved.run.crash)
      return Fail(Diag::Mismatch,
                  "Triton VM crashes where the program does not: " + proved.run.crash->sentence);
    return AnswerProof{std::move(proved.claim), proved.padded_height, proved.proof_bytes,
                       proved.prove_seconds, proved.verify_seconds};
  };
}

}  // namespace frazil::cli
