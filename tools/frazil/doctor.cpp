// frazil doctor: what works on this machine, and what follows from what does not. Needed are the CPU level, every target
// that runs on the CPU without another program, the worker, a store that can be written with a key of its own, and whatever
// a FRAZIL_ variable names; the GPU, a C compiler, Z3, the prover, Python and the tools of the tests are not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "audit/machine.h"
#include "cli.h"
#include "ir/lower/prelude.h"

namespace frazil::cli {
namespace {

Result<int> Doctor(Session& session) {
  std::vector<audit::MachineFinding> findings = {
      {"frazil", true, true,
       fmt::format("{}, IR version {}, prelude {}", FRAZIL_VERSION, ir::IrVersion,
                   ir::PreludeDigest().substr(0, 12))}};
  {
    Progress progress(session, "trying what is there");
    for (audit::MachineFinding& finding : audit::InspectMachine(session.limits))
      findings.push_back(std::move(finding));
  }
  const bool all_good = audit::Works(findings);
  auto list = nlohmann::ordered_json::array();
  for (const audit::MachineFinding& finding : findings) {
    nlohmann::ordered_json line = {{"name", finding.name},
                                   {"ok", finding.good},
                                   {"needed", finding.needed},
                                   {"text", finding.text}};
    std::string text = finding.text;
    if (!finding.good) {
      line["without"] = finding.without;
      line["remedy"] = finding.remedy;
      if (!finding.without.empty()) text += "; without it " + finding.without;
      if (!finding.remedy.empty()) text += "; to get it: " + finding.remedy;
    }
    list.push_back(std::move(line));
    const char* mark = finding.good ? "ok" : finding.needed ? "MISSING" : "missing";
    if (!session.json) fmt::print("{:<8} {:<13} {}\n", mark, finding.name, text);
  }
  if (session.json) PrintJson({{"ok", all_good}, {"findings", list}});
  return all_good ? 0 : ExitCodeOf(ErrorClass::Environment);
}

}  // namespace

void AddDoctor(CLI::App& app, Session& session) {
  CLI::App* command = AddCommand(
      app, "doctor", "try what Frazil needs on this machine; exit code 4 if it is missing",
      "  frazil doctor\n  frazil doctor --json\n"
      "MISSING: needed, exit code 4 (targets of the CPU, worker, store, what a FRAZIL_ "
      "variable names);\n"
      "missing: all else works (GPU, C compiler, Z3, prover, Python, tools of the tests)");
  SetBody(command, session, [&session] { return Doctor(session); });
}

}  // namespace frazil::cli
