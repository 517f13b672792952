// frazil: the command line. This file is the table of contents; each command lives in its own file.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cli.h"
#include "ir/lower/prelude.h"

namespace frazil::cli {
namespace {

constexpr int ExitInternal = 70;

void OnBrokenInvariant(const char* file, int line, const char* condition) {
  Say("frazil: error {}: broken invariant '{}' at {}:{}; this is a bug in Frazil\n",
      DiagId(Diag::Internal), condition, file, line);
  std::_Exit(ExitInternal);
}

std::string Version() {
  return fmt::format("frazil {}\nIR version {}\nprelude version {} ({})", FRAZIL_VERSION,
                     ir::IrVersion, ir::PreludeVersion, ir::PreludeDigest().substr(0, 12));
}

// Every limit of base/limits.def is a flag of every command.
void AddLimits(CLI::App& app, Limits& limits) {
#define FRAZIL_LIMIT(name, default_value, flag, what) \
  app.add_option(flag, limits.name, what)->group("Limits")->capture_default_str();
#include "base/limits.def"
#undef FRAZIL_LIMIT
}

// "-5" and "-inf" are numbers here, never options, and "[1,2]" is one argument: a leading blank keeps them
// from the option parser and is dropped again where arguments are read.
std::vector<std::string> ArgumentsOf(int argc, char** argv) {
  std::vector<std::string> arguments;  // the last one first
  // "help kernel run" is what many type for "kernel run --help".
  const bool asks = argc > 1 && std::string_view(argv[1]) == "help";
  if (asks) arguments.push_back("--help");
  for (int i = argc - 1; i > (asks ? 1 : 0); --i) {
    std::string text = argv[i];
    bool number = text.size() > 1 && text[0] == '-' &&
                  (text.find_first_of("0123456789.") == 1 || text == "-inf");
    bool list = text.starts_with('[');
    arguments.push_back(number || list ? " " + text : text);
  }
  return arguments;
}

int Main(int argc, char** argv) {
  SetCheckHandler(OnBrokenInvariant);
  RegisterTargets();
  Session session;
  session.color = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  session.progress = isatty(STDERR_FILENO);

  CLI::App app(
      "Frazil: computations that set. Programs start interpreted and become solid, verified code.",
      "frazil");
  app.set_version_flag("--version", Version());
  app.add_flag("--json", session.json, "print one JSON object instead of text");
  app.require_subcommand(1);
  app.fallthrough();
  AddLimits(app, session.limits);
  app.footer(
      "Examples:\n"
      "  frazil ask \"Sum 1 to 1000000\"\n"
      "  frazil run examples/saxpy.frz 2 3 [1,2,3] [10,20,30] --target wasm\n"
      "  frazil emit examples/muladd.frz --to wat\n"
      "Exit codes: 0 ok, 1 the program or text is wrong or trapped, 2 refuted, 3 a limit was "
      "reached,\n"
      "            4 something is missing on this machine, 70 a bug in Frazil");
  AddAsk(app, session);
  AddRun(app, session);
  AddLoop(app, session);
  AddWhy(app, session);
  AddBuild(app, session);
  AddKernel(app, session);
  AddTri(app, session);
  AddEmit(app, session);
  AddCheck(app, session);
  AddVerify(app, session);
  AddSign(app, session);
  AddRules(app, session);
  AddMatrix(app, session);
  AddStore(app, session);
  AddProposers(app, session);
  AddAudit(app, session);
  AddDoctor(app, session);
  AddCompletion(app, session);
  RefuseWrongNumbers(app);

  try {
    app.parse(ArgumentsOf(argc, argv));
  } catch (const CLI::ParseError& error) {
    // It is thrown before the flags behind it are looked at.
    const bool wants_json =
        std::ranges::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    if (wants_json && error.get_name() == "CallForVersion") {
      PrintJson({{"version", FRAZIL_VERSION},
                 {"ir", ir::IrVersion},
                 {"prelude", ir::PreludeVersion},
                 {"prelude_digest", ir::PreludeDigest()}});
      return 0;
    }
    if (error.get_exit_code() == 0) return app.exit(error);
    return Report(session, UsageError(app, {argv + 1, argv + argc}, error.what()));
  }
  return session.exit_code;
}

}  // namespace
}  // namespace frazil::cli

int main(int argc, char** argv) {
  using namespace frazil::cli;
  OpenStandardStreams();
  try {
    return FinishOutput(Main(argc, argv));
  } catch (const std::exception& error) {
    // Printing throws where nothing more can be printed.
    if (std::ferror(stdout) != 0) return FinishOutput(0);
    Say("frazil: error {}: {}; this is a bug in Frazil\n", frazil::DiagId(frazil::Diag::Internal),
        error.what());
    return ExitInternal;
  }
}
