// frazil verify: do two programs mean the same? The counterexample can be pasted back into `frazil run`.
#include "verify/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli.h"
#include "exec/value.h"
#include "ir/text.h"
#include "verify/smt/smt.h"
#include "verify_tasm.h"

namespace frazil::cli {
namespace {

constexpr int ExitRefuted = 2;
constexpr int ExitUnknown = 3;

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

std::string Quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-+._:/=,").contains(c);
  });
  return plain && !text.empty() ? text : "'" + text + "'";
}

std::string ParamName(const ir::Function& entry, uint32_t i) {
  return i < entry.value_names.size() && !entry.value_names[i].empty() ? entry.value_names[i]
                                                                       : std::to_string(i);
}

// The words after `frazil run FILE`: a buffer that is an earlier one is named after it.
std::vector<std::string> RunWords(const ir::Program& program, const verify::Refuted& refuted) {
  const ir::Function& entry = program.entry_function();
  std::vector<std::string> words;
  for (uint32_t i = 0; i < refuted.arguments.size(); ++i) {
    const exec::Value& value = refuted.arguments[i];
    std::string word = exec::PrintValue(value);
    for (uint32_t j = 0; j < i && entry.param_type(i).is_buffer(); ++j) {
      if (refuted.arguments[j].memory != value.memory) continue;
      word = ParamName(entry, j);
      break;
    }
    words.push_back(std::move(word));
  }
  auto stream = [&](std::string_view flag, const std::vector<exec::Value>& values) {
    for (const exec::Value& value : values) {
      words.emplace_back(flag);
      words.push_back(
          fmt::format("{}:{}", ir::ScalarOrBufferName(value.type), exec::PrintValue(value)));
    }
  };
  stream("--input", refuted.context.input);
  stream("--hint", refuted.context.hints);
  return words;
}

std::string CommandLine(const std::string& file, const std::vector<std::string>& words) {
  std::string line = "frazil run " + Quoted(file);
  for (const std::string& word : words) line += " " + Quoted(word);
  return line;
}

std::string Tell(const exec::Outcome& outcome) {
  if (outcome.trap) return "stops: " + outcome.trap->ToString();
  std::vector<std::string> results;
  for (const exec::Value& value : outcome.results) results.push_back(exec::PrintValue(value));
  for (const exec::Value& value : outcome.output)
    results.push_back("output " + exec::PrintValue(value));
  return results.empty() ? "ends" : fmt::format("{}", fmt::join(results, ", "));
}

struct Answer {
  verify::Verdict verdict;
  double ms;
};

void PrintText(const Session& session, const VerifyArguments& arguments, const ir::Program& source,
               const Answer& answer) {
  auto evidence = [&](const verify::Evidence& e) {
    fmt::print("{}\n", Bold(session, verify::VerdictName(answer.verdict)));
    PrintFact(session, "evidence", fmt::format("{}: {}", verify::GradeName(e.grade), e.detail));
    PrintFact(session, "judge", e.judge);
  };
  if (const auto* proved = std::get_if<verify::Proved>(&answer.verdict)) evidence(proved->evidence);
  if (const auto* tested = std::get_if<verify::Tested>(&answer.verdict)) evidence(tested->evidence);
  if (const auto* refuted = std::get_if<verify::Refuted>(&answer.verdict)) {
    const std::vector<std::string> words = RunWords(source, *refuted);
    fmt::print("{}: {}\n", Bold(session, "refuted"), refuted->difference);
    PrintFact(session, "first", Tell(refuted->source));
    PrintFact(session, "second", Tell(refuted->candidate));
    PrintFact(session, "see", CommandLine(arguments.source, words));
    PrintFact(session, "", CommandLine(arguments.candidate, words));
  }
  if (const auto* unknown = std::get_if<verify::Unknown>(&answer.verdict)) {
    fmt::print("{}\n", Bold(session, "unknown"));
    PrintFact(session, "reason", unknown->reason);
  }
  PrintFact(session, "time", fmt::format("{:.1f} ms", answer.ms));
}

nlohmann::ordered_json ToJson(const VerifyArguments& arguments, const ir::Program& source,
                              const Answer& answer) {
  nlohmann::ordered_json json = {{"verdict", verify::VerdictName(answer.verdict)}};
  auto evidence = [&](const verify::Evidence& e) { json["evidence"] = EvidenceJson(e); };
  if (const auto* proved = std::get_if<verify::Proved>(&answer.verdict)) evidence(proved->evidence);
  if (const auto* tested = std::get_if<verify::Tested>(&answer.verdict)) evidence(tested->evidence);
  if (const auto* refuted = std::get_if<verify::Refuted>(&answer.verdict)) {
    const std::vector<std::string> words = RunWords(source, *refuted);
    json["difference"] = refuted->difference;
    json["arguments"] = words;
    json["first"] = Tell(refuted->source);
    json["second"] = Tell(refuted->candidate);
    json["run"] = {CommandLine(arguments.source, words), CommandLine(arguments.candidate, words)};
  }
  if (const auto* unknown = std::get_if<verify::Unknown>(&answer.verdict))
    json["reason"] = unknown->reason;
  json["guard"] = arguments.guard;
  json["milliseconds"] = answer.ms;
  return json;
}

Result<int> Verify(Session& session, const VerifyArguments& arguments) {
  if (arguments.candidate.ends_with(".tasm"))
    return VerifyTasm(
        session, {arguments.source, arguments.candidate, arguments.fragments, arguments.horner});
  const ir::Program source = TRY(ReadProgram(arguments.source, session.limits));
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
  const auto start = std::chrono::steady_clock::now();
  verify::Verdict verdict;
  {
    Progress progress(session, "comparing the two programs");
    verdict = TRY(verify::Verify(source, candidate, options));
  }
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const Answer answer{std::move(verdict), ms};
  if (session.json) {
    PrintJson(ToJson(arguments, source, answer));
  } else {
    PrintText(session, arguments, source, answer);
  }
  if (std::holds_alternative<verify::Refuted>(answer.verdict)) return ExitRefuted;
  return std::holds_alternative<verify::Unknown>(answer.verdict) ? ExitUnknown : 0;
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
