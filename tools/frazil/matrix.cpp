// frazil matrix: every door against every target. No cell is written down: each program is emitted, run and
// compared with the interpreter, bit for bit, while you wait.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli.h"
#include "frontends/circuits/circuits.h"
#include "ir/text/text.h"
#include "matrix_programs.h"

namespace frazil::cli {
namespace {

struct Cell {
  std::string state;  // "same", "emits" (no such machine here), "refused", "differs", "failed"
  std::string reason;
};

struct Case {
  ir::Program program;
  std::vector<std::string> arguments;
};

// Python reads files: the row becomes one for a moment.
Result<ir::Program> ReadPython(std::string_view text, const Limits& limits) {
  std::string folder = (std::filesystem::temp_directory_path() / "frazil_matrix_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return Fail(Diag::FileUnwritable, fmt::format("{} cannot be made", folder));
  const std::string path = folder + "/kernel.py";
  TRY_VOID(WriteFile(path, text));
  Result<ir::Program> program = ReadProgramFile(path, limits);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return program;
}

Result<Case> MakeCase(const MatrixProgram& row, const Limits& limits) {
  Case result;
  if (row.door == "words") {
    result.program = TRY(ReadProgram(std::string(row.text), limits));
  } else if (row.door == "python") {
    result.program = TRY(ReadPython(row.text, limits));
  } else if (row.door == "trident" || row.door == "tir") {
    const bool is_tir = row.door == "tir";
    std::vector<sources::Source> programs = TRY(sources::ParseSources(
        is_tir ? "row.tir" : "row.tri",
        is_tir ? sources::Language::Tir : sources::Language::Trident, row.text, limits));
    result.program = std::move(programs[0].program);
  } else if (row.door == "circuit") {
    result.program = TRY(frontends::circuits::ParseCircuit(row.text));
  } else {
    std::string text = fmt::format("frz 1\nfunc @main{} {{\n{}}}\n", row.header, row.text);
    result.program = TRY(ir::ParseText(text, limits));
  }
  std::istringstream words{std::string(row.arguments)};
  for (std::string word; words >> word;) result.arguments.push_back(word);
  return result;
}

// The outcome as one comparable whole: results, output, trap and the buffers after the run.
Result<std::pair<exec::Outcome, std::vector<exec::Value>>> RunCase(const exec::Target& target,
                                                                   const Case& row,
                                                                   const Limits& limits) {
  std::vector<exec::Value> arguments = TRY(ParseArguments(row.program, row.arguments, limits));
  exec::RunContext context;
  context.limits = limits;
  exec::Outcome outcome = TRY(RunOn(target, row.program, arguments, context));
  return std::pair(std::move(outcome), std::move(arguments));
}

Cell Judge(const exec::Target& target, const Case& row, const exec::Outcome& expected,
           const std::vector<exec::Value>& buffers, const Limits& limits) {
  if (std::string why = target.Refuses(row.program); !why.empty()) return {"refused", why};
  auto seen = RunCase(target, row, limits);
  if (!seen)
    return {seen.error().diag == Diag::NoDevice ? "emits" : "failed", seen.error().message};
  bool same = seen->first.trap == expected.trap && seen->first.results == expected.results &&
              seen->first.output == expected.output && seen->second == buffers;
  return {same ? "same" : "differs", ""};
}

Result<int> Matrix(Session& session) {
  const std::vector<const exec::Target*> targets = AllTargets();
  auto rows = nlohmann::ordered_json::array();
  int code = 0;
  std::map<std::string, std::vector<std::string>> notes;  // by reason: who
  if (!session.json) {
    fmt::print("{}", Bold(session, fmt::format("{:<8} {:<28}", "door", "types and operations")));
    for (const exec::Target* target : targets)
      fmt::print("{}", Bold(session, fmt::format(" {:<9}", target->name())));
    fmt::print("\n");
  }
  Progress progress(session, "running every door on every target");
  for (const MatrixProgram& row : MatrixPrograms) {
    Case program = TRY(MakeCase(row, session.limits));
    auto expected = TRY(RunCase(*targets[0], program, session.limits));
    nlohmann::ordered_json json = {{"door", row.door}, {"what", row.what}};
    if (!session.json) fmt::print("{:<8} {:<28}", row.door, row.what);
    for (const exec::Target* target : targets) {
      Cell cell = Judge(*target, program, expected.first, expected.second, session.limits);
      json["targets"][std::string(target->name())] = {{"state", cell.state}};
      if (!cell.reason.empty()) {
        json["targets"][std::string(target->name())]["reason"] = cell.reason;
        notes[fmt::format("{}: {}", target->name(), cell.reason)].emplace_back(row.what);
      }
      if (cell.state == "differs") code = ExitCodeOf(ErrorClass::Refuted);
      if (cell.state == "failed" && code == 0) code = ExitCodeOf(ErrorClass::Environment);
      if (!session.json) fmt::print(" {:<9}", cell.state == "same" ? "same bits" : cell.state);
    }
    if (!session.json) fmt::print("\n");
    rows.push_back(json);
  }
  if (session.json) PrintJson({{"rows", rows}});
  for (const auto& [reason, rows_of_it] : notes)
    if (!session.json)
      fmt::print("{}{}\n", reason,
                 rows_of_it.size() > 3 ? "" : fmt::format(" ({})", fmt::join(rows_of_it, "; ")));
  return code;
}

}  // namespace

void AddMatrix(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "matrix", "run every door on every target and compare the bits",
                 "  frazil matrix\n  frazil matrix --json");
  SetBody(command, session, [&session] { return Matrix(session); });
}

}  // namespace frazil::cli
