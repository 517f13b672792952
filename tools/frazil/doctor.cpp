// frazil doctor: what works on this machine. Targets are tried, not looked up.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "ir/prelude.h"
#include "ir/text.h"
#include "targets/native/native.h"

namespace frazil::cli {
namespace {

struct Finding {
  std::string name;
  bool good;
  bool needed;
  std::string text;
};

std::string FindOnPath(const std::string& tool) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / tool;
    std::error_code ignored;
    if (std::filesystem::exists(candidate, ignored)) return candidate.string();
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

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
    finding.needed = outcome.error().diag != Diag::NoDevice;
    finding.text = finding.needed ? outcome.error().ToString() : outcome.error().message;
    return finding;
  }
  finding.good = !outcome->trap && outcome->results.size() == 1 && outcome->results[0].word == 42;
  finding.text = finding.good ? "runs" : "gives a wrong answer";
  return finding;
}

Result<int> Doctor(Session& session) {
  std::vector<Finding> findings;
  findings.push_back({"frazil", true, true,
                      fmt::format("{}, IR version {}, prelude {}", FRAZIL_VERSION, ir::IrVersion,
                                  ir::PreludeDigest().substr(0, 12))});
  {
    Progress progress(session, "trying the targets");
    for (const auto& target : AllTargets()) findings.push_back(TryTarget(*target, session.limits));
  }
  findings.push_back(
      {"native code", true, false,
       fmt::format("level {} of this machine, by {}", exec::CpuLevelName(exec::HostLevel()),
                   targets::native::Toolchain())});
  const std::string python = FindOnPath("python3");
  findings.push_back({"python3", !python.empty(), false,
                      python.empty() ? "not found; only .py kernels need it" : python});
  for (const char* tool : {"clang-22", "gcc", "node", "wasm-validate"}) {
    std::string path = FindOnPath(tool);
    findings.push_back(
        {tool, !path.empty(), false, path.empty() ? "not found; only tests use it" : path});
  }
  bool all_good = true;
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    all_good &= finding.good || !finding.needed;
    const char* mark = finding.good ? "ok" : finding.needed ? "MISSING" : "-";
    list.push_back({{"name", finding.name}, {"ok", finding.good}, {"text", finding.text}});
    if (!session.json) fmt::print("{:<8} {:<14} {}\n", mark, finding.name, finding.text);
  }
  if (session.json) PrintJson({{"ok", all_good}, {"findings", list}});
  return all_good ? 0 : ExitCodeOf(ErrorClass::Environment);
}

}  // namespace

void AddDoctor(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "doctor", "say what works on this machine", "  frazil doctor");
  SetBody(command, session, [&session] { return Doctor(session); });
}

}  // namespace frazil::cli
