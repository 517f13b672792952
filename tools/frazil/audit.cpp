// frazil audit: what is already trusted, judged again by whoever asks.
#include "audit/audit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "frazil/tri.h"
#include "verify/smt/smt.h"
#include "verify/x86/x86.h"

namespace frazil::cli {
namespace {

struct AuditCommand {
  std::string path;
  std::vector<std::string> sources;
  audit::AuditOptions options;
};

std::string Tell(const verify::Evidence& evidence) {
  return evidence.grade == verify::Grade::None ? "not found" : verify::Describe(evidence);
}

std::string Verdict(const audit::Entry& entry) {
  if (entry.finding == audit::Finding::Agrees) return "agrees with its record";
  return fmt::format("{}: {}", audit::FindingName(entry.finding), entry.reason);
}

void PrintText(const Session& session, const audit::AuditReport& report) {
  size_t name = 0, form = 0;
  for (const audit::Entry& entry : report.entries) {
    name = std::max(name, entry.name.size());
    form = std::max(form, entry.form.size());
  }
  for (const audit::Entry& entry : report.entries) {
    std::string line = fmt::format("{:<{}}  {:<{}}", entry.name, name, entry.form, form);
    if (entry.found.meaning.grade != verify::Grade::None)
      line += "  meaning " + Tell(entry.found.meaning);
    if (entry.found.lowering.grade != verify::Grade::None)
      line += "  code " + Tell(entry.found.lowering);
    const bool well = entry.finding == audit::Finding::Agrees;
    line += "  " + (well ? Verdict(entry) : Bold(session, Verdict(entry)));
    if (!entry.note.empty()) line += fmt::format(" ({})", entry.note);
    fmt::print("{}\n", line);
  }
  fmt::print("{}: {} judged again: {} agree, {} refuted, {} disagree, {} not checked\n",
             report.kind, report.judged(), report.Count(audit::Finding::Agrees),
             report.Count(audit::Finding::Refuted), report.Count(audit::Finding::Disagrees),
             report.Count(audit::Finding::NotChecked));
}

nlohmann::ordered_json ToJson(const verify::EvidencePair& pair) {
  return {{"meaning", EvidenceJson(pair.meaning)}, {"code", EvidenceJson(pair.lowering)}};
}

void PrintAsJson(const audit::AuditReport& report) {
  nlohmann::ordered_json json = {{"kind", report.kind},
                                 {"entries", nlohmann::ordered_json::array()}};
  for (const audit::Entry& entry : report.entries) {
    nlohmann::ordered_json row = {
        {"name", entry.name}, {"form", entry.form}, {"finding", audit::FindingName(entry.finding)}};
    if (!entry.reason.empty()) row["reason"] = entry.reason;
    if (!entry.note.empty()) row["note"] = entry.note;
    row["claimed"] = ToJson(entry.claimed);
    row["found"] = ToJson(entry.found);
    row["judge_ms"] = static_cast<double>(entry.judged_us) / 1e3;
    json["entries"].push_back(std::move(row));
  }
  for (const audit::Finding finding : {audit::Finding::Agrees, audit::Finding::Refuted,
                                       audit::Finding::Disagrees, audit::Finding::NotChecked})
    json[std::string(audit::FindingName(finding))] = report.Count(finding);
  PrintJson(json);
}

Result<int> Audit(Session& session, AuditCommand& command) {
  command.options.limits = session.limits;
  for (const std::string& input : command.sources)
    for (sources::Source& each : TRY(ReadNamedPrograms(input, session.limits)))
      command.options.sources.push_back(std::move(each.program));
  verify::smt::RegisterZ3();
  verify::x86::RegisterReader();
  tri::RegisterAssemblyJudge();
  audit::AuditReport report;
  {
    const Progress progress(session, "judging " + command.path);
    report = TRY(audit::Audit(command.path, command.options));
  }
  if (session.json)
    PrintAsJson(report);
  else
    PrintText(session, report);
  if (report.Count(audit::Finding::Refuted) + report.Count(audit::Finding::Disagrees) > 0)
    return ExitCodeOf(ErrorClass::Refuted);
  return report.Count(audit::Finding::NotChecked) > 0 ? ExitCodeOf(ErrorClass::Limit) : 0;
}

}  // namespace

void AddAudit(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(
      app, "audit", "judge verified code again: a sealed form, a store, a program with kernels",
      "  frazil audit ~/.cache/frazil\n"
      "  frazil audit build/my_program\n"
      "  frazil audit build/my_program --source kernels/saxpy.py --json\n"
      "Exit codes: 0 all agrees with its record, 2 something is refuted or disagrees,\n"
      "            3 something could not be judged again, 1 or 4 it cannot be read, or has nothing "
      "to judge");
  auto options = std::make_shared<AuditCommand>();
  command
      ->add_option("path", options->path,
                   "a sealed form, the folder of a store, or an ELF file with embedded kernels")
      ->required();
  command->add_option("--source", options->sources,
                      "programs (FILE or FILE:NAME) for what carries no source of its own");
  AtLeastOne(command
                 ->add_option("--entry-ms", options->options.entry_ms,
                              "milliseconds for a form, or the forms of a kernel")
                 ->capture_default_str());
  AtLeastOne(command->add_option("--jobs", options->options.jobs,
                                 "processes at a time (default: one for each core)"));
  SetBody(command, session, [&session, options] { return Audit(session, *options); });
}

}  // namespace frazil::cli
