#include "audit/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/duration.h"
#include "engine/worker/find_worker.h"
#include "engine/worker/worker.h"
#include "frontends/python/python.h"
#include "ir/text/text.h"
#include "oracle/oracle.h"
#include "registry/targets.h"
#include "store/inspect.h"
#include "targets/native/native.h"
#include "verify/smt/smt.h"

namespace frazil::audit {
namespace {

using Clock = std::chrono::steady_clock;
using Finding = MachineFinding;

std::string Since(Clock::time_point start) {
  return PrintDuration(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
}

Finding Missing(Finding finding, const Error& error) {
  finding.good = false;
  finding.text = error.message;
  return finding;
}

// x ^ y, and the same by other means.
constexpr std::string_view Plain =
    "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\n%r = xor %x, %y : i32\nreturn %r\n}\n";
constexpr std::string_view Otherwise =
    "frz 1\nfunc @main(%x: i32, %y: i32) -> (i32) {\n%o = or %x, %y : i32\n%a = and %x, %y : i32\n"
    "%r = sub %o, %a : i32\nreturn %r\n}\n";

struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "frazil-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

// What somebody names in the environment is needed, even if it could be done without.
bool Named(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Empty: not there.
std::string FindOnPath(const std::string& tool) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / tool;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

Finding CheckWorker(const Limits& limits) {
  Finding finding{"worker",
                  true,
                  true,
                  "",
                  "programs stay interpreted, nothing is compiled",
                  "build frazil-worker with `make`, or set FRAZIL_WORKER to its path"};
  const engine::WorkerSearch search = engine::FindWorker({});
  if (search.program.empty()) {
    finding.good = false;
    finding.text = search.Sentence();
    return finding;
  }
  const auto start = Clock::now();
  engine::Worker worker;
  engine::WorkRequest request;
  request.program = Plain;
  request.timeout_ms = limits.worker_ms;
  const Result<engine::WorkReply> reply = worker.Improve(request);
  if (!reply) return Missing(finding, reply.error());
  finding.good = !reply->sealed.empty();
  finding.text = finding.good ? fmt::format("{} compiled and verified a program in {}",
                                            search.program, Since(start))
                              : fmt::format("{} answers, but it verified nothing", search.program);
  return finding;
}

std::vector<Finding> CheckStore() {
  const store::StoreCondition found = store::InspectStore({});
  std::vector<Finding> findings = {
      {"store", found.store.good, true, found.store.text, "every process compiles anew",
       "make the folder one of your own that nobody else can write, or set FRAZIL_STORE"}};
  if (found.exists && found.store.good)
    findings.push_back({"store key", found.key.good, true, found.key.text,
                        "stored forms are not called, each process makes its own",
                        "remove the file: the next program makes another one"});
  return findings;
}

Finding CheckZ3(const Limits& limits) {
  Finding finding{"Z3",
                  true,
                  Named("FRAZIL_Z3"),
                  "",
                  "what only an SMT solver can prove stays tested, or is not used",
                  "install the package libz3-dev, or set FRAZIL_Z3 to the library"};
  const auto start = Clock::now();
  const Result<ir::Program> source = ir::ParseText(Plain, limits);
  const Result<ir::Program> candidate = ir::ParseText(Otherwise, limits);
  const verify::Verdict verdict =
      verify::smt::MakeZ3Prover()->Prove(*source, *candidate, {}, limits);
  finding.good = std::holds_alternative<verify::Proved>(verdict);
  if (finding.good)
    finding.text = fmt::format("proved an equation in a process of its own in {}", Since(start));
  else
    finding.text = std::holds_alternative<verify::Refuted>(verdict)
                       ? "refutes an equation that holds"
                       : verify::WhyNot(verdict);
  return finding;
}

Finding CheckProver() {
  Finding finding{"prover",
                  true,
                  Named("FRAZIL_ORACLE"),
                  "",
                  "nothing can be proved (tri prove)",
                  "`make oracle` builds it (it needs cargo), or set FRAZIL_ORACLE to its path"};
  oracle::Options options;
  options.timeout = std::chrono::seconds(10);
  const Result<oracle::Version> version = oracle::Session(options).GetVersion();
  if (!version) return Missing(finding, version.error());
  finding.text = fmt::format("Triton VM {}, {} build", version->triton_vm, version->build);
  return finding;
}

Finding CheckPython(const Limits& limits) {
  Finding finding{"python3",
                  true,
                  false,
                  "",
                  "kernels in .py files cannot be read (.json can)",
                  "install the package python3"};
  const Scratch scratch;
  const std::string file = (scratch.path / "probe.py").string();
  std::ofstream(file) << "def probe(x: DeviceArray[f32], n: u32):\n    i = get_global_id()\n"
                         "    if i < n:\n        x[i] = x[i] + x[i]\n";
  frontends::python::PythonOptions options;
  options.limits = limits;
  const auto start = Clock::now();
  const auto kernels = frontends::python::ParsePython(file, options);
  if (!kernels) return Missing(finding, kernels.error());
  finding.text = fmt::format("{} read a kernel in {}", FindOnPath("python3"), Since(start));
  return finding;
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
  Result<exec::Outcome> outcome = registry::RunOn(target, *program, arguments, context);
  if (!outcome) {
    const Error& error = outcome.error();
    // A machine need have neither a GPU nor a C compiler; code for both can be made without. A program without the compiler
    // of a target loads what others made.
    finding.needed =
        error.diag != Diag::NoDevice && error.diag != Diag::MissingTool && target.name() != "c";
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

Finding CheckTool(const std::string& tool) {
  const std::string path = FindOnPath(tool);
  return {tool,
          !path.empty(),
          false,
          path.empty() ? "not found" : path,
          "tests that use it fail",
          "`make setup` installs it"};
}

}  // namespace

std::vector<MachineFinding> InspectMachine(const Limits& limits) {
  std::vector<Finding> findings = {CpuLevel()};
  for (const exec::Target* target : registry::AllTargets())
    findings.push_back(TryTarget(*target, limits));
  findings.push_back(CheckWorker(limits));
  for (Finding& finding : CheckStore()) findings.push_back(std::move(finding));
  findings.push_back(CheckZ3(limits));
  findings.push_back(CheckProver());
  findings.push_back(CheckPython(limits));
  for (const char* tool : {"clang-22", "gcc", "node", "wasm-validate"})
    findings.push_back(CheckTool(tool));
  return findings;
}

bool Works(const std::vector<MachineFinding>& findings) {
  return std::ranges::all_of(findings, [](const Finding& f) { return f.good || !f.needed; });
}

}  // namespace frazil::audit
