// frazil tri prove and verify-proof: STARK proofs by the published Triton VM (tools/oracle).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "oracle_client.h"
#include "tri.h"

namespace frazil::cli {
namespace {

struct ProveCommand {
  TriOptions program;
  std::string output;
  uint64_t max_height = uint64_t{1} << 20;
};

struct VerifyCommand {
  std::string proof;
  TriOptions options;
};

std::string Hex(const mt::Digest& digest) {
  std::string text;
  for (uint64_t element : digest) text += fmt::format("{:016x}", element);
  return text;
}

nlohmann::ordered_json ToJson(const oracle::Claim& claim) {
  return {{"program", Hex(claim.program_digest)},
          {"version", claim.version},
          {"input", claim.input},
          {"output", claim.output}};
}

void PrintClaim(const Session& session, const oracle::Claim& claim) {
  PrintFact(session, "program", Hex(claim.program_digest).substr(0, 32) + "...");
  PrintFact(session, "input", claim.input.empty() ? "none" : PrintElements(claim.input));
  PrintFact(session, "output", claim.output.empty() ? "none" : PrintElements(claim.output));
}

std::string Kilobytes(uint64_t bytes) {
  return fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1000);
}

constexpr uint64_t ProverCycles = uint64_t{1} << 30;

Result<int> Prove(Session& session, const ProveCommand& command) {
  const TriProgram program = TRY(LoadTri(session, command.program));
  const TriInputs inputs = TRY(ReadTriInputs(command.program, program.source));
  if (program.assembly.profile != mt::Profile::Dot)
    return Fail(Diag::Unsupported, "the prover has the profile dot only");
  // The prover would find out at the end, and only that something is wrong.
  const mt::RunResult run = mt::Run(program.assembly, inputs.machine, {.cycles = ProverCycles});
  if (!run.crash && run.inputs_read < inputs.machine.input.size())
    return Fail(Diag::WrongArgument, UnreadInput(inputs.machine.input.size(),
                                                 inputs.machine.input.size() - run.inputs_read));
  const std::string file =
      command.output.empty()
          ? std::filesystem::path(command.program.file).stem().string() + ".proof"
          : command.output;
  oracle::Job job{program.assembly, inputs.machine};
  job.cycles = ProverCycles;
  oracle::ProveAnswer answer;
  {
    Progress progress(session, "proving");
    oracle::Session machine;
    answer = TRY(machine.Prove(job, file, command.max_height));
  }
  nlohmann::ordered_json json = {{"claim", ToJson(answer.claim)},
                                 {"padded", answer.padded_height},
                                 {"bytes", answer.proof_bytes},
                                 {"prove_seconds", answer.prove_seconds},
                                 {"verify_seconds", answer.verify_seconds},
                                 {"peak_bytes", answer.peak_bytes},
                                 {"file", file}};
  if (answer.run.crash) return ReportCrash(session, program, *answer.run.crash, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  fmt::print("{}\n", Bold(session, fmt::format("proved: {}", PrintElements(answer.claim.output))));
  PrintClaim(session, answer.claim);
  PrintFact(session, "padded", std::to_string(answer.padded_height));
  PrintFact(
      session, "proof",
      fmt::format("{}, {} in {:.2f} s, verified in {:.0f} ms", file, Kilobytes(answer.proof_bytes),
                  answer.prove_seconds, answer.verify_seconds * 1000));
  return 0;
}

Result<int> Verify(Session& session, VerifyCommand& command) {
  TRY(ReadFile(command.proof,
               session.limits));  // a file that is not there is said before a prover that is not
  std::optional<mt::Digest> expected;
  if (!command.options.file.empty())
    expected = mt::ProgramDigest(TRY(LoadTri(session, command.options)).assembly);
  oracle::Session machine;
  Result<oracle::VerifyAnswer> verified = machine.Verify(command.proof, expected);
  if (!verified) {
    // The machine's own words about a damaged file: the file is wrong, not this machine.
    if (verified.error().message.contains("proof file")) verified.error().diag = Diag::BadArtifact;
    return std::unexpected(std::move(verified.error()));
  }
  const oracle::VerifyAnswer& answer = *verified;
  nlohmann::ordered_json json = {{"holds", answer.holds},
                                 {"claim", ToJson(answer.claim)},
                                 {"padded", answer.padded_height},
                                 {"bytes", answer.proof_bytes},
                                 {"verify_seconds", answer.verify_seconds}};
  if (!answer.holds) json["reason"] = answer.reason;
  if (session.json) {
    PrintJson(json);
  } else {
    fmt::print("{}\n", Bold(session, answer.holds ? "the proof holds" : "the proof does not hold"));
    if (!answer.holds) PrintFact(session, "reason", answer.reason);
    PrintClaim(session, answer.claim);
    PrintFact(
        session, "proof",
        fmt::format("{}, padded height {}, checked in {:.0f} ms", Kilobytes(answer.proof_bytes),
                    answer.padded_height, answer.verify_seconds * 1000));
  }
  return answer.holds ? 0 : ExitCodeOf(ErrorClass::Refuted);
}

}  // namespace

void AddTriProve(CLI::App& tri, Session& session) {
  CLI::App* prove =
      AddCommand(tri, "prove", "make a STARK proof of a run and verify it",
                 "  frazil tri prove examples/trident/fibonacci.tri --input 10 -o fib.proof");
  auto options = std::make_shared<ProveCommand>();
  AddProgramOptions(prove, options->program);
  AddInputOptions(prove, options->program);
  prove->add_option("-o,--output", options->output,
                    "the proof's file (default: the program's name with .proof)");
  prove->add_option("--max-height", options->max_height, "refuse larger padded heights")
      ->capture_default_str();
  SetBody(prove, session, [&session, options] { return Prove(session, *options); });

  CLI::App* verify =
      AddCommand(tri, "verify-proof", "verify a STARK proof and say what it claims",
                 "  frazil tri verify-proof fib.proof\n"
                 "  frazil tri verify-proof fib.proof --program examples/trident/fibonacci.tri");
  auto checked = std::make_shared<VerifyCommand>();
  verify->add_option("proof", checked->proof, "a file that `tri prove` wrote")->required();
  verify->add_option("--program", checked->options.file,
                     "the claim must be about this program (.tri, .tir, .tasm, ...)");
  SetBody(verify, session, [&session, checked] { return Verify(session, *checked); });
}

}  // namespace frazil::cli
