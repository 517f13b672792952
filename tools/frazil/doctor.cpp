// frazil doctor: what works on this machine, and what follows from what does not. Needed are the CPU level, every target
// that runs on the CPU without another program, the worker, a store that can be written with a key of its own, and whatever
// a FRAZIL_ variable names; the GPU, a C compiler, Z3, the prover, Python and the tools of the tests are not.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "doctor_checks.h"
#include "ir/lower/prelude.h"
#include "ir/text/text.h"
#include "targets/native/native.h"

namespace frazil::cli {
namespace {

// Multiplies 6 by 7 there.
Finding TryTarget(const exec::Target& target, const Limits& limits) {
  Finding finding{"target " + std::string(target.name()), false, true, ""};
  Result<ir::Program> program = ir::ParseText(
      "frz 1\nfunc @main(%a: i32, %b: i32) -> (i32) {\n%r = mul %a, %b : i32\nreturn %r\n}\n",
      limits);
  exec::Value arguments[] = {exec::Value::Int(ir::types::I32, 6),
                             exec::Value::Int(ir::types::I32, 7)};
  exec::RunContext context;
  context.limits = limits;
  Result<exec::Outcome> outcome = RunOn(target, *program, arguments, context);
  if (!outcome) {
    const Error& error = outcome.error();
    // A machine need have neither a GPU nor a C compiler; code for both can be made without.
    finding.needed = error.diag != Diag::NoDevice && target.name() != "c";
    finding.text = error.message;
    finding.without = fmt::format("--target {} {}", target.name(),
                                  error.diag == Diag::NoDevice ? "runs on the CPU" : "cannot run");
    finding.remedy = error.diag == Diag::NoDevice ? "an NVIDIA GPU and its driver"
                     : target.name() == "c"       ? "install gcc or clang"
                                                  : error.hint;
    return finding;
  }
  finding.good = !outcome->trap && outcome->results.size() == 1 && outcome->results[0].word == 42;
  finding.text = finding.good ? "runs" : "gives a wrong answer";
  return finding;
}

Finding CpuLevel() {
  return {"cpu", true, true,
          fmt::format("level {} of baseline, avx2, avx512; code by {}",
                      exec::CpuLevelName(exec::HostLevel()), targets::native::Toolchain())};
}

Result<int> Doctor(Session& session) {
  std::vector<Finding> findings;
  findings.push_back({"frazil", true, true,
                      fmt::format("{}, IR version {}, prelude {}", FRAZIL_VERSION, ir::IrVersion,
                                  ir::PreludeDigest().substr(0, 12))});
  findings.push_back(CpuLevel());
  {
    Progress progress(session, "trying what is there");
    for (const exec::Target* target : AllTargets())
      findings.push_back(TryTarget(*target, session.limits));
    findings.push_back(CheckWorker(session.limits));
    for (Finding& finding : CheckStore()) findings.push_back(std::move(finding));
    findings.push_back(CheckZ3(session.limits));
    findings.push_back(CheckProver());
    findings.push_back(CheckPython(session.limits));
  }
  for (const char* tool : {"clang-22", "gcc", "node", "wasm-validate"}) {
    const std::string path = FindOnPath(tool);
    findings.push_back({tool, !path.empty(), false, path.empty() ? "not found" : path,
                        "tests that use it fail", "`make setup` installs it"});
  }
  bool all_good = true;
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    all_good &= finding.good || !finding.needed;
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
