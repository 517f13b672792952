// STARK proofs, by the published machine.
#include <filesystem>

#include "frazil/tri/internal/program.h"

namespace frazil::tri {
namespace {

constexpr uint64_t ProverCycles = uint64_t{1} << 30;

// Both machines come to the same end, and the claim is that this program gives this output for this input.
Result<void> CheckAnswer(const oracle::ProveAnswer& answer, const oracle::Job& job,
                         const mt::RunResult& run) {
  if (answer.run.crash && !run.crash)
    return Fail(Diag::Mismatch,
                "Triton VM crashes where our machine does not: " + answer.run.crash->sentence);
  if (answer.run.crash) return {};
  if (run.crash)
    return Fail(Diag::Mismatch,
                "Triton VM does not crash where our machine does: " + run.crash->sentence);
  return oracle::CheckClaim(answer.claim, job.program, job.inputs.input, run.output);
}

}  // namespace

Result<Proof> Prove(const Source& source, const InputTexts& inputs, const ProofOptions& proof,
                    const Options& options) {
  Program program = TRY(Load(source, options));
  const Inputs read = TRY(ReadInputs(inputs, program.text));
  if (program.assembly.profile != mt::Profile::Dot)
    return Fail(Diag::Unsupported, "the prover has the profile dot only");
  // The prover would find out at the end, and only that something is wrong; and what it claims is compared with this.
  const mt::RunResult run = mt::Run(program.assembly, read.machine, {.cycles = ProverCycles});
  if (!run.crash && run.inputs_read < read.machine.input.size())
    return Fail(Diag::WrongArgument, UnreadInput(read.machine.input.size(),
                                                 read.machine.input.size() - run.inputs_read));
  Proof made;
  made.standing = program.standing();
  made.file = proof.file.empty() ? std::filesystem::path(source.file).stem().string() + ".proof"
                                 : proof.file;
  oracle::Job job{program.assembly, read.machine};
  job.cycles = ProverCycles;
  const Step step(options, "proving");
  oracle::Session machine;
  made.answer = TRY(machine.Prove(job, made.file, proof.max_height));
  if (Result<void> asked_for = CheckAnswer(made.answer, job, run); !asked_for) {
    // Nobody is to find a proof there that is of something else.
    std::error_code ignored;
    if (!made.answer.run.crash) std::filesystem::remove(made.file, ignored);
    asked_for.error().file = source.file;
    return std::unexpected(std::move(asked_for.error()));
  }
  made.crash = Report(program, made.answer.run.crash);
  return made;
}

Result<oracle::VerifyAnswer> VerifyProof(const std::string& file,
                                         const std::optional<Source>& program,
                                         const Options& options) {
  // A file that is not there is said before a prover that is not.
  TRY(ReadText(file, options));
  std::optional<mt::Digest> expected;
  if (program) expected = mt::ProgramDigest(TRY(Load(*program, options)).assembly);
  oracle::Session machine;
  Result<oracle::VerifyAnswer> verified = machine.Verify(file, expected);
  // The machine's own words about a damaged file: the file is wrong, not this machine.
  if (!verified && verified.error().message.contains("proof file"))
    verified.error().diag = Diag::BadArtifact;
  return verified;
}

}  // namespace frazil::tri
