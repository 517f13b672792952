// What the commands of `frazil` share: the session, how answers and errors are printed, how inputs are read.
// A command is one function from its options to an exit code; main.cpp is the table of them.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "arguments/arguments.h"
#include "base/limits.h"
#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "registry/targets.h"
#include "sources/sources.h"
#include "verify/evidence.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace frazil::cli {

using arguments::ParseArguments;
using registry::AllTargets, registry::FindTarget, registry::TargetNames, registry::LoadedProgram,
    registry::LoadOn, registry::RunOn;

struct Session {
  bool json = false;
  bool color = false;     // standard output is a terminal and NO_COLOR is not set
  bool progress = false;  // standard error is a terminal
  Limits limits;
  int exit_code = 0;
};

// output.cpp
// To standard error. Where that cannot be written there is nobody left to tell.
template <typename... Parts>
void Say(fmt::format_string<Parts...> text, Parts&&... parts) {
  std::fputs(fmt::format(text, std::forward<Parts>(parts)...).c_str(), stderr);
}
// Call it first thing. A standard stream that the caller closed would become the first file that is opened.
void OpenStandardStreams();
// What was printed must have arrived: the exit code, or the one of a file that cannot be written.
int FinishOutput(int exit_code);
std::string Bold(const Session& session, std::string_view text);
std::string Dim(const Session& session, std::string_view text);
// "  name        value" lines under an answer.
void PrintFact(const Session& session, std::string_view name, std::string_view value);
void PrintJson(const nlohmann::ordered_json& value);
void PrintJsonLine(const nlohmann::ordered_json& value);
nlohmann::ordered_json EvidenceJson(const verify::Evidence& evidence);
nlohmann::ordered_json ErrorJson(const Error& error);
// Prints one located sentence (or its JSON form) and gives the exit code of its class.
int Report(const Session& session, const Error& error);
// A trap: a sentence with its place in the file and exit code 1, or 3 where a limit was reached. `program` is what the
// file says.
int ReportTrap(const Session& session, const exec::Outcome& outcome, const std::string& file,
               const ir::Program& program, nlohmann::ordered_json json);

// progress.cpp
// Says on standard error what takes longer than a second, and removes the line when it is over.
class Progress {
 public:
  Progress(const Session& session, std::string what);
  ~Progress();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// usage/usage.cpp
// The sentence for words that the option parser refused with `complaint`: what is not understood, and the nearest that is.
Error UsageError(const CLI::App& app, const std::vector<std::string>& words,
                 const std::string& complaint);
// For every command: an option that counts takes no negative number, and none takes one that does not fit.
void RefuseWrongNumbers(CLI::App& app);
CLI::Option* AtLeastOne(CLI::Option* option);
// The values of an option, for its help and for completion.
CLI::Option* OneOf(CLI::Option* option, const std::vector<std::string>& values);
std::vector<std::string> ValuesOf(const CLI::Option& option);

// input.cpp
Result<std::string> ReadFile(const std::string& path, const Limits& limits);
Result<void> WriteFile(const std::string& path, std::string_view bytes);
// What sources/sources.h reads, "-" being standard input: FILE or FILE:NAME; every program of it, or the one that there is.
Result<std::vector<sources::Source>> ReadNamedPrograms(const std::string& input,
                                                       const Limits& limits);
Result<ir::Program> ReadProgramFile(const std::string& input, const Limits& limits);
// The same, or, where there is no such file, from words.
Result<ir::Program> ReadProgram(const std::string& input, const Limits& limits);

// targets.cpp
// Those that need a compiler are registered here; the others are there (registry/targets.h).
void RegisterTargets();
// Counted loops of compiled code cannot be interrupted; then the process ends, with a sentence.
Result<exec::Outcome> RunWatched(const Session& session, exec::Callable& callable,
                                 std::span<const exec::Value> arguments,
                                 const exec::RunContext& context);

// The commands: each adds itself to the app.
void AddRun(CLI::App& app, Session& session);
void AddAsk(CLI::App& app, Session& session);
void AddLoop(CLI::App& app, Session& session);
void AddWhy(CLI::App& app, Session& session);
void AddBuild(CLI::App& app, Session& session);
void AddKernel(CLI::App& app, Session& session);
void AddTri(CLI::App& app, Session& session);
void AddEmit(CLI::App& app, Session& session);
void AddCheck(CLI::App& app, Session& session);
void AddVerify(CLI::App& app, Session& session);
void AddSign(CLI::App& app, Session& session);
void AddRules(CLI::App& app, Session& session);
void AddMatrix(CLI::App& app, Session& session);
void AddDoctor(CLI::App& app, Session& session);
void AddStore(CLI::App& app, Session& session);
void AddProposers(CLI::App& app, Session& session);
void AddAudit(CLI::App& app, Session& session);
void AddCompletion(CLI::App& app, Session& session);

// Adds a command whose body is a Result: errors are reported, the exit code is kept.
CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples);
void SetBody(CLI::App* command, Session& session, std::function<Result<int>()> body);

}  // namespace frazil::cli
