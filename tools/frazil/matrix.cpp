// frazil matrix: every door on every target, run and compared while you wait.
#include "audit/matrix.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace frazil::cli {
namespace {

Result<int> Matrix(Session& session) {
  auto rows = nlohmann::ordered_json::array();
  int code = 0;
  std::map<std::string, std::vector<std::string>> notes;  // by reason: who
  if (!session.json) {
    fmt::print("{}", Bold(session, fmt::format("{:<8} {:<28}", "door", "types and operations")));
    for (const std::string& target : TargetNames())
      fmt::print("{}", Bold(session, fmt::format(" {:<9}", target)));
  }
  const auto on_row = [&](const audit::MatrixRow& row) {
    rows.push_back({{"door", row.door}, {"what", row.what}});
    if (!session.json) fmt::print("\n{:<8} {:<28}", row.door, row.what);
  };
  const auto on_cell = [&](const audit::MatrixCell& cell) {
    nlohmann::ordered_json json = {{"state", cell.state}};
    if (!cell.reason.empty()) {
      json["reason"] = cell.reason;
      notes[fmt::format("{}: {}", cell.target, cell.reason)].push_back(rows.back()["what"]);
    }
    rows.back()["targets"][cell.target] = std::move(json);
    if (cell.state == "differs") code = ExitCodeOf(ErrorClass::Refuted);
    if (cell.state == "failed" && code == 0) code = ExitCodeOf(ErrorClass::Environment);
    if (!session.json) fmt::print(" {:<9}", cell.state == "same" ? "same bits" : cell.state);
  };
  const Progress progress(session, "running every door on every target");
  const Result<void> run = audit::RunMatrix(session.limits, on_row, on_cell);
  if (!session.json) fmt::print("\n");
  TRY_VOID(run);
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
