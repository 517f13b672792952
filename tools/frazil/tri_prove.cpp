// frazil tri prove and verify-proof: STARK proofs by the published Triton VM (tools/oracle).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

struct ProveCommand {
  TriFlags flags;
  tri::ProofOptions proof;
};

struct VerifyCommand {
  std::string proof;
  std::string program;
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

Result<int> Prove(Session& session, const ProveCommand& command) {
  const tri::Source source = TRY(SourceOf(command.flags));
  const tri::Proof proof =
      TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
        return tri::Prove(source, command.flags.inputs, command.proof, options);
      }));
  const oracle::ProveAnswer& answer = proof.answer;
  const nlohmann::ordered_json json = {
      {"claim", ToJson(answer.claim)},         {"assembly", StandingName(proof.standing)},
      {"padded", answer.padded_height},        {"bytes", answer.proof_bytes},
      {"prove_seconds", answer.prove_seconds}, {"verify_seconds", answer.verify_seconds},
      {"peak_bytes", answer.peak_bytes},       {"file", proof.file}};
  if (proof.crash) return ReportCrash(session, *proof.crash, json);
  if (session.json) {
    PrintJson(json);
    return 0;
  }
  fmt::print("{}\n", Bold(session, fmt::format("proved: {}", PrintElements(answer.claim.output))));
  PrintClaim(session, answer.claim);
  PrintStanding(session, proof.standing);
  PrintFact(session, "padded", std::to_string(answer.padded_height));
  PrintFact(session, "proof",
            fmt::format("{}, {} in {:.2f} s, verified in {:.0f} ms", proof.file,
                        Kilobytes(answer.proof_bytes), answer.prove_seconds,
                        answer.verify_seconds * 1000));
  return 0;
}

Result<int> Verify(Session& session, const VerifyCommand& command) {
  std::optional<tri::Source> program;
  if (!command.program.empty()) program = tri::Source{.file = command.program};
  const oracle::VerifyAnswer answer =
      TRY(CallTri(session, tri::Options().cycles, [&](const tri::Options& options) {
        return tri::VerifyProof(command.proof, program, options);
      }));
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
  AddProgramOptions(prove, options->flags);
  AddInputOptions(prove, options->flags);
  prove->add_option("-o,--output", options->proof.file,
                    "the proof's file (default: the program's name with .proof)");
  prove->add_option("--max-height", options->proof.max_height, "refuse larger padded heights")
      ->capture_default_str();
  SetBody(prove, session, [&session, options] { return Prove(session, *options); });

  CLI::App* verify =
      AddCommand(tri, "verify-proof", "verify a STARK proof and say what it claims",
                 "  frazil tri verify-proof fib.proof\n"
                 "  frazil tri verify-proof fib.proof --program examples/trident/fibonacci.tri");
  auto checked = std::make_shared<VerifyCommand>();
  verify->add_option("proof", checked->proof, "a file that `tri prove` wrote")->required();
  verify->add_option("--program", checked->program,
                     "the claim must be about this program (.tri, .tir, .tasm, ...)");
  SetBody(verify, session, [&session, checked] { return Verify(session, *checked); });
}

}  // namespace frazil::cli
