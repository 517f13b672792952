// frazil verify: do two programs mean the same?
#include "verify/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli.h"
#include "ir/guard.h"
#include "tri.h"
#include "verdict.h"
#include "verify/smt/smt.h"

namespace frazil::cli {
namespace {

struct VerifyArguments {
  std::string source;
  std::string candidate;
  std::string guard = "true";
  bool no_smt = false;
  bool no_exhaustive = false;
  int threads = 0;
  bool fragments = false;
  bool horner = false;
};

Result<verify::Verdict> ComparePrograms(const Session& session, const VerifyArguments& arguments,
                                        const ir::Program& source) {
  ir::Candidate candidate;
  candidate.program = TRY(ReadProgram(arguments.candidate, session.limits));
  candidate.guard = TRY(ir::ParseGuard(arguments.guard, source));
  candidate.origin = "user";
  verify::VerifyOptions options;
  options.limits = session.limits;
  options.exhaustive = !arguments.no_exhaustive;
  options.exhaustive_cases = session.limits.verify_cases;
  options.smt = !arguments.no_smt;
  options.threads = arguments.threads > 0
                        ? arguments.threads
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (options.smt) verify::smt::RegisterZ3();
  Progress progress(session, "comparing the two programs");
  return verify::Verify(source, candidate, options);
}

// The second is a .tasm file; the first may be anything that `frazil tri` takes.
Result<verify::Verdict> CompareAssembly(Session& session, const VerifyArguments& arguments) {
  tri::Source first{.file = arguments.source};
  if (arguments.horner) first.profile = mt::Profile::Horner;
  return CallTri(session, tri::Options().cycles, [&](const tri::Options& options) {
    return tri::Compare(first, arguments.candidate, arguments.fragments, options);
  });
}

Result<int> Verify(Session& session, const VerifyArguments& arguments) {
  const bool is_assembly = arguments.candidate.ends_with(".tasm");
  Compared compared{arguments.source, arguments.candidate, nullptr, arguments.fragments};
  ir::Program source;
  if (!is_assembly) {
    source = TRY(ReadProgram(arguments.source, session.limits));
    compared.source = &source;
  }
  const auto start = std::chrono::steady_clock::now();
  const verify::Verdict verdict = is_assembly ? TRY(CompareAssembly(session, arguments))
                                              : TRY(ComparePrograms(session, arguments, source));
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (session.json) {
    nlohmann::ordered_json json = VerdictJson(compared, verdict);
    if (!is_assembly) json["guard"] = arguments.guard;
    json["milliseconds"] = ms;
    PrintJson(json);
  } else {
    PrintVerdict(session, compared, verdict, ms);
  }
  return ExitCodeOfVerdict(verdict);
}

}  // namespace

void AddVerify(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "verify", "say whether two programs mean the same",
                 "  frazil verify a.frz b.frz\n"
                 "  frazil verify a.frz b.frz --guard 'arg0 == 5 && len(arg1) % 8 == 0'\n"
                 "  frazil verify a.frz b.frz --verify-cases 4294967296 --verify-ms 600000\n"
                 "  frazil verify a.tasm b.tasm\n"
                 "Exit codes: 0 proved or tested, 2 refuted, 3 unknown");
  auto arguments = std::make_shared<VerifyArguments>();
  command
      ->add_option("first", arguments->source,
                   "a .frz, .tri or .tasm file (or words): what is meant")
      ->required();
  command->add_option("second", arguments->candidate, "what shall stand in for it")->required();
  command->add_option("--guard", arguments->guard, "compare only where this holds")
      ->capture_default_str();
  command->add_flag("--no-smt", arguments->no_smt, "ask no SMT prover");
  command->add_flag("--no-exhaustive", arguments->no_exhaustive, "do not try all inputs");
  command->add_option("--threads", arguments->threads,
                      "threads of an exhaustive check (default: one per core)");
  command->add_flag("--fragments", arguments->fragments,
                    "assembly: pieces that start on any stack and end at their end");
  command->add_flag("--horner", arguments->horner, "assembly: of the profile horner");
  SetBody(command, session, [&session, arguments] { return Verify(session, *arguments); });
}

}  // namespace frazil::cli
