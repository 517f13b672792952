// A counterexample can be pasted back into `frazil run` or `frazil tri run`.
#include "verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/text/text.h"

namespace frazil::cli {
namespace {

constexpr int ExitRefuted = 2;
constexpr int ExitUnknown = 3;

std::string Quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-+._:/=,").contains(c);
  });
  return plain && !text.empty() ? text : "'" + text + "'";
}

// The words after `frazil run FILE`.
std::vector<std::string> RunWords(const ir::Program& program, const verify::ProgramCall& call) {
  std::vector<std::string> words =
      arguments::PrintArguments(program.entry_function(), call.arguments);
  auto stream = [&](std::string_view flag, const std::vector<exec::Value>& values) {
    for (const exec::Value& value : values) {
      words.emplace_back(flag);
      words.push_back(arguments::PrintStreamElement(value));
    }
  };
  stream("--input", call.context.input);
  stream("--hint", call.context.hints);
  return words;
}

std::string CommandLine(const std::string& file, const std::vector<std::string>& words) {
  std::string line = "frazil run " + Quoted(file);
  for (const std::string& word : words) line += " " + Quoted(word);
  return line;
}

// "--input 1,2 --secret 3,4:5:6:7:8 --ram 9=1": what `frazil tri run` takes.
std::string Flags(const machines::tasm::Inputs& inputs) {
  std::string flags;
  if (!inputs.input.empty()) flags += fmt::format(" --input {}", fmt::join(inputs.input, ","));
  std::vector<std::string> secret;
  for (uint64_t element : inputs.secret) secret.push_back(std::to_string(element));
  for (const machines::tasm::Digest& digest : inputs.digests)
    secret.push_back(fmt::format("{}", fmt::join(digest, ":")));
  if (!secret.empty()) flags += fmt::format(" --secret {}", fmt::join(secret, ","));
  std::vector<std::string> ram;
  for (const auto& [address, value] : inputs.ram)
    ram.push_back(fmt::format("{}={}", address, value));
  if (!ram.empty()) flags += fmt::format(" --ram {}", fmt::join(ram, ","));
  // No flag at all would mean the file's run line.
  return flags.empty() ? " --input ''" : flags;
}

std::string Tell(const exec::Outcome& outcome) {
  if (outcome.trap) return "stops: " + outcome.trap->ToString();
  std::vector<std::string> results;
  for (const exec::Value& value : outcome.results) results.push_back(exec::PrintValue(value));
  for (const exec::Value& value : outcome.output)
    results.push_back("output " + exec::PrintValue(value));
  return results.empty() ? "ends" : fmt::format("{}", fmt::join(results, ", "));
}

// What a refutation says in JSON; the text shows the same.
nlohmann::ordered_json RefutedJson(const Compared& compared, const verify::Refuted& refuted) {
  nlohmann::ordered_json json = {{"difference", refuted.difference}};
  if (const auto* start = std::get_if<verify::MachineStart>(&refuted.at)) {
    if (compared.fragments) json["stack"] = start->stack;
    const std::string flags = Flags(start->inputs);
    json["run"] = {fmt::format("frazil tri run {}{}", compared.first, flags),
                   fmt::format("frazil tri run {}{}", compared.second, flags)};
    return json;
  }
  const verify::ProgramCall& call = refuted.call();
  const std::vector<std::string> words = RunWords(*compared.source, call);
  json["arguments"] = words;
  json["first"] = Tell(call.source);
  json["second"] = Tell(call.candidate);
  json["run"] = {CommandLine(compared.first, words), CommandLine(compared.second, words)};
  return json;
}

void PrintRefuted(const Session& session, const Compared& compared,
                  const verify::Refuted& refuted) {
  const nlohmann::ordered_json json = RefutedJson(compared, refuted);
  const auto fact = [&](std::string_view name, const nlohmann::ordered_json& value) {
    PrintFact(session, name, value.get<std::string>());
  };
  if (const auto* start = std::get_if<verify::MachineStart>(&refuted.at)) {
    fmt::print("{}\n", Bold(session, "refuted"));
    fact("difference", json["difference"]);
    if (compared.fragments)
      return PrintFact(session, "stack", fmt::format("{}, top last", fmt::join(start->stack, " ")));
    for (const auto& line : json["run"]) fact("see", line);
    return;
  }
  fmt::print("{}: {}\n", Bold(session, "refuted"), refuted.difference);
  fact("first", json["first"]);
  fact("second", json["second"]);
  fact("see", json["run"][0]);
  fact("", json["run"][1]);
}

}  // namespace

int ExitCodeOfVerdict(const verify::Verdict& verdict) {
  if (verify::EvidenceOf(verdict) != nullptr) return 0;
  return std::holds_alternative<verify::Refuted>(verdict) ? ExitRefuted : ExitUnknown;
}

void PrintVerdict(const Session& session, const Compared& compared, const verify::Verdict& verdict,
                  double ms) {
  if (const auto* refuted = std::get_if<verify::Refuted>(&verdict)) {
    PrintRefuted(session, compared, *refuted);
  } else {
    fmt::print("{}\n", Bold(session, verify::VerdictName(verdict)));
    if (const verify::Evidence* evidence = verify::EvidenceOf(verdict)) {
      PrintFact(session, "evidence", verify::Describe(verdict));
      PrintFact(session, "judge", evidence->judge);
    } else {
      PrintFact(session, "reason", verify::WhyNot(verdict));
    }
  }
  PrintFact(session, "time", fmt::format("{:.1f} ms", ms));
}

nlohmann::ordered_json VerdictJson(const Compared& compared, const verify::Verdict& verdict) {
  nlohmann::ordered_json json = {{"verdict", verify::VerdictName(verdict)}};
  if (const verify::Evidence* evidence = verify::EvidenceOf(verdict))
    json["evidence"] = EvidenceJson(*evidence);
  if (const auto* refuted = std::get_if<verify::Refuted>(&verdict))
    json.update(RefutedJson(compared, *refuted));
  if (const auto* unknown = std::get_if<verify::Unknown>(&verdict))
    json["reason"] = unknown->reason;
  return json;
}

}  // namespace frazil::cli
