// frazil tri profile: who causes which rows. A flame graph for every table that has rows of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

struct ProfileCommand {
  TriFlags flags;
  std::string output;  // .svg
};

void PrintTable(const Session& session, const mt::TraceResult& trace) {
  std::string head = fmt::format("{:<28} {:>8} {:>7}", "function", "calls", "words");
  for (mt::Table table : tri::ShownTables) head += fmt::format(" {:>10}", mt::TableName(table));
  fmt::print("{}\n", Bold(session, head));
  std::vector<const mt::FunctionRows*> rows;
  for (const mt::FunctionRows& row : trace.functions) rows.push_back(&row);
  std::ranges::sort(rows, [](auto* a, auto* b) {
    return std::pair(b->rows[mt::Table::Processor], a) <
           std::pair(a->rows[mt::Table::Processor], b);
  });
  for (const mt::FunctionRows* row : rows) {
    std::string line =
        fmt::format("{:<28} {:>8} {:>7}", row->label.empty() ? "program" : row->label.substr(0, 28),
                    row->calls, row->words);
    for (mt::Table table : tri::ShownTables) line += fmt::format(" {:>10}", row->rows[table]);
    fmt::print("{}\n", line);
  }
  std::string line = fmt::format("{:<28} {:>8} {:>7}", "the whole table", "", "");
  for (mt::Table table : tri::ShownTables) line += fmt::format(" {:>10}", trace.profile[table]);
  fmt::print("{}\n", line);
}

nlohmann::ordered_json ToJson(const mt::TraceResult& trace) {
  nlohmann::ordered_json json = {{"padded", trace.profile.PaddedHeight()},
                                 {"binding", mt::TableName(trace.profile.Binding())}};
  json["heights"] = HeightsJson(trace.profile);
  for (const mt::FunctionRows& row : trace.functions) {
    nlohmann::ordered_json entry = {
        {"label", row.label}, {"calls", row.calls}, {"words", row.words}};
    for (mt::Table table : tri::ShownTables)
      entry["rows"][std::string(mt::TableName(table))] = row.rows[table];
    json["functions"].push_back(std::move(entry));
  }
  return json;
}

Result<int> Profile(Session& session, const ProfileCommand& command) {
  const tri::Source source = TRY(SourceOf(command.flags));
  const auto [standing, trace, crash] =
      TRY(CallTri(session, command.flags.cycles, [&](const tri::Options& options) {
        return tri::Profile(source, command.flags.inputs, options);
      }));
  if (crash) return ReportCrash(session, *crash, ToJson(trace));
  if (!command.output.empty())
    TRY_VOID(WriteFile(command.output, tri::DrawRows(trace, source.file)));
  if (session.json) {
    PrintJson(ToJson(trace));
    return 0;
  }
  PrintTable(session, trace);
  PrintStanding(session, standing);
  if (!command.output.empty()) fmt::print("wrote {}\n", command.output);
  return 0;
}

}  // namespace

void AddTriProfile(CLI::App& tri, Session& session) {
  CLI::App* command =
      AddCommand(tri, "profile", "rows per function and table, as a table and as a picture",
                 "  frazil tri profile examples/trident/fibonacci.tri --input 10 -o rows.svg");
  auto options = std::make_shared<ProfileCommand>();
  AddProgramOptions(command, options->flags);
  AddInputOptions(command, options->flags);
  command->add_option("-o,--output", options->output, "write the picture (SVG) there");
  SetBody(command, session, [&session, options] { return Profile(session, *options); });
}

}  // namespace frazil::cli
