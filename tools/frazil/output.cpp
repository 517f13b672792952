// Answers go to standard output, everything else to standard error. Colors only on a terminal.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "exec/meaning/trap_place.h"

namespace frazil::cli {

void OpenStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The wrong way round, so that what is read or printed fails as it should; errors go nowhere. The lowest number that
    // is free is this one.
    if (::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != stream) return;
  }
}

int FinishOutput(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  const Error error{Diag::FileUnwritable,
                    fmt::format("standard output cannot be written: {}", std::strerror(errno))};
  Say("frazil: {}\n", error.ToString());
  return exit_code != 0 ? exit_code : ExitCodeOf(ClassOf(error.diag));
}

std::string Bold(const Session& session, std::string_view text) {
  return session.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string Dim(const Session& session, std::string_view text) {
  return session.color ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

void PrintFact(const Session& session, std::string_view name, std::string_view value) {
  fmt::print("  {} {}\n", Dim(session, fmt::format("{:<11}", name)), value);
}

// Names of files need not be UTF-8; JSON must be.
void PrintJson(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void PrintJsonLine(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

nlohmann::ordered_json EvidenceJson(const verify::Evidence& evidence) {
  return {{"grade", verify::GradeName(evidence.grade)},
          {"judge", evidence.judge},
          {"detail", evidence.detail},
          {"cases", evidence.cases}};
}

nlohmann::ordered_json ErrorJson(const Error& error) {
  nlohmann::ordered_json json;
  json["error"] = {{"id", DiagId(error.diag)},
                   {"class", ErrorClassName(ClassOf(error.diag))},
                   {"title", DiagTitle(error.diag)},
                   {"message", error.message}};
  if (!error.file.empty()) json["error"]["file"] = error.file;
  if (error.location.line != 0) {
    json["error"]["line"] = error.location.line;
    json["error"]["column"] = error.location.column;
  }
  if (!error.hint.empty()) json["error"]["hint"] = error.hint;
  return json;
}

int Report(const Session& session, const Error& error) {
  if (session.json)
    PrintJson(ErrorJson(error));
  else
    Say("frazil: {}\n", error.ToString());
  return ExitCodeOf(ClassOf(error.diag));
}

int ReportTrap(const Session& session, const exec::Outcome& outcome, const std::string& file,
               const ir::Program& program, nlohmann::ordered_json json) {
  const exec::TrapInfo& trap = *outcome.trap;
  const exec::TrapPlace place = exec::FindTrapPlace(program, outcome);
  const bool limit = ir::IsLimit(trap.kind);
  if (session.json) {
    json["trap"] = {{"kind", trap.KindName()}, {"op", ir::Info(trap.op).mnemonic}};
    if (trap.index >= 0) json["trap"]["iteration"] = trap.index;
    if (trap.timeout_ms) json["trap"]["limit_ms"] = *trap.timeout_ms;
    if (!place.lines.empty()) json["trap"]["lines"] = place.lines;
    if (!place.buffer.empty()) json["trap"]["buffer"] = place.buffer;
    PrintJson(json);
    return ExitCodeOf(limit ? ErrorClass::Limit : ErrorClass::User);
  }
  // One line is where it is; of a few, one is.
  constexpr size_t MostLines = 4;
  std::string head, tail;
  if (place.lines.size() == 1 && !file.empty()) {
    head = fmt::format("{}:{}: ", file, place.lines[0]);
  } else if (place.lines.size() == 1) {
    tail = fmt::format(", line {}", place.lines[0]);
  } else if (!place.lines.empty() && place.lines.size() <= MostLines) {
    tail = fmt::format(", at one of the lines {}", fmt::join(place.lines, ", "));
  }
  if (!place.buffer.empty()) tail = fmt::format(", buffer {}", place.buffer) + tail;
  if (trap.timeout_ms) tail += " (--timeout-ms)";
  Say("frazil: {}error {}: the program stopped: {}{}\n", head,
      DiagId(limit ? Diag::LimitReached : Diag::Trapped), trap.ToString(), tail);
  return ExitCodeOf(limit ? ErrorClass::Limit : ErrorClass::User);
}

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Examples:\n" + examples);
  command->fallthrough();
  return command;
}

void SetBody(CLI::App* command, Session& session, std::function<Result<int>()> body) {
  command->callback([&session, body = std::move(body)] {
    Result<int> code = body();
    session.exit_code = code ? *code : Report(session, code.error());
  });
}

}  // namespace frazil::cli
