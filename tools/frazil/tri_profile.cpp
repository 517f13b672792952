// frazil tri profile: who causes which rows. A flame graph for every table that has rows of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

constexpr mt::Table Shown[] = {mt::Table::Processor, mt::Table::OpStack, mt::Table::Ram,
                               mt::Table::Hash,      mt::Table::Cascade, mt::Table::U32};

struct ProfileCommand {
  TriOptions program;
  std::string output;  // .svg
};

// One box of a flame graph: its label, its own rows and those of what it calls.
struct Node {
  uint32_t function = 0;
  uint64_t own = 0, total = 0;
  std::vector<Node> callees;
};

Node* ChildOf(Node& parent, uint32_t function) {
  for (Node& child : parent.callees)
    if (child.function == function) return &child;
  parent.callees.push_back({function, 0, 0, {}});
  return &parent.callees.back();
}

Node Tree(const mt::TraceResult& trace, mt::Table table) {
  Node root;
  for (const mt::TraceResult::Frame& frame : trace.frames) {
    const uint64_t rows = frame.rows[table];
    if (rows == 0) continue;
    Node* at = &root;
    at->total += rows;
    for (uint32_t function : frame.chain) {
      at = ChildOf(*at, function);
      at->total += rows;
    }
    at->own += rows;
  }
  return root;
}

int DepthOf(const Node& node) {
  int depth = 0;
  for (const Node& child : node.callees) depth = std::max(depth, DepthOf(child));
  return depth + 1;
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// Ice: from deep blue to white by a hash of the name, so that a function has one color in every graph.
std::string Color(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return fmt::format("hsl({}, {}%, {}%)", 190 + hash % 40, 45 + hash / 64 % 30,
                     62 + hash / 4096 % 22);
}

constexpr double Width = 1100, Left = 20, RowHeight = 18;

struct Painter {
  const mt::TraceResult& trace;
  mt::Table table;
  std::string svg;

  std::string_view Name(uint32_t function) const {
    const std::string& label = trace.functions[function].label;
    return label.empty() ? std::string_view("program") : std::string_view(label);
  }

  void Box(const Node& node, double x, double y, double scale, uint64_t all) {
    const double width = static_cast<double>(node.total) * scale;
    if (width < 0.5) return;
    const std::string_view name = Name(node.function);
    const std::string tip =
        fmt::format("{}: {} rows ({:.1f} %), {} of its own", name, node.total,
                    100.0 * static_cast<double>(node.total) / static_cast<double>(all), node.own);
    svg += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "fill=\"{}\" rx=\"2\"/>",
        Escaped(tip), x, y, std::max(width - 1, 0.5), RowHeight - 1, Color(name));
    const size_t letters = static_cast<size_t>(width / 7);
    if (letters >= 3)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 4, y + 13,
                         Escaped(name.substr(0, letters)));
    svg += "</g>\n";
    for (const Node& child : node.callees) {
      Box(child, x, y + RowHeight, scale, all);
      x += static_cast<double>(child.total) * scale;
    }
  }
};

std::string Draw(const mt::TraceResult& trace, std::string_view title) {
  std::string body;
  double y = 58;
  for (mt::Table table : Shown) {
    const Node root = Tree(trace, table);
    if (root.total == 0) continue;
    body += fmt::format("<text class=\"head\" x=\"{}\" y=\"{:.0f}\">{}: {} rows</text>\n", Left,
                        y + 12, mt::TableName(table), trace.profile[table]);
    y += RowHeight;
    Painter painter{trace, table, {}};
    double x = Left;
    const double scale = Width / static_cast<double>(root.total);
    for (const Node& child : root.callees) {
      painter.Box(child, x, y, scale, root.total);
      x += static_cast<double>(child.total) * scale;
    }
    body += painter.svg;
    y += RowHeight * (DepthOf(root) - 1) + 14;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} {1:.0f}\">\n"
      "<style>text {{ font: 11px sans-serif; fill: #123; }} .head {{ font-weight: bold; }} .title "
      "{{ font-size: 16px; }}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#f7fbfd\"/>\n"
      "<text class=\"title\" x=\"{2}\" y=\"26\">{3}</text>\n"
      "<text x=\"{2}\" y=\"44\">padded height {4}, bound by {5}; each box is a function, its width "
      "its rows with what it calls</text>\n"
      "{6}</svg>\n",
      Width + 2 * Left, y + 10, Left, Escaped(title), trace.profile.PaddedHeight(),
      mt::TableName(trace.profile.Binding()), body);
}

void PrintTable(const Session& session, const mt::TraceResult& trace) {
  std::string head = fmt::format("{:<28} {:>8} {:>7}", "function", "calls", "words");
  for (mt::Table table : Shown) head += fmt::format(" {:>10}", mt::TableName(table));
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
    for (mt::Table table : Shown) line += fmt::format(" {:>10}", row->rows[table]);
    fmt::print("{}\n", line);
  }
  std::string line = fmt::format("{:<28} {:>8} {:>7}", "the whole table", "", "");
  for (mt::Table table : Shown) line += fmt::format(" {:>10}", trace.profile[table]);
  fmt::print("{}\n", line);
}

nlohmann::ordered_json ToJson(const mt::TraceResult& trace) {
  nlohmann::ordered_json json = {{"padded", trace.profile.PaddedHeight()},
                                 {"binding", mt::TableName(trace.profile.Binding())}};
  for (int i = 0; i < mt::TableCount; ++i)
    json["heights"][std::string(mt::TableName(static_cast<mt::Table>(i)))] =
        trace.profile.heights[i];
  for (const mt::FunctionRows& row : trace.functions) {
    nlohmann::ordered_json entry = {
        {"label", row.label}, {"calls", row.calls}, {"words", row.words}};
    for (mt::Table table : Shown)
      entry["rows"][std::string(mt::TableName(table))] = row.rows[table];
    json["functions"].push_back(std::move(entry));
  }
  return json;
}

Result<int> Profile(Session& session, const ProfileCommand& command) {
  const TriProgram program = TRY(LoadTri(session, command.program));
  const TriInputs inputs = TRY(ReadTriInputs(command.program, program.source));
  mt::RunLimits limits;
  limits.cycles = command.program.cycles;
  const mt::TraceResult trace = mt::Trace(program.assembly, inputs.machine, limits);
  if (trace.run.crash) return ReportCrash(session, program, *trace.run.crash, ToJson(trace));
  if (!command.output.empty())
    TRY_VOID(WriteFile(command.output, Draw(trace, command.program.file)));
  if (session.json) {
    PrintJson(ToJson(trace));
    return 0;
  }
  PrintTable(session, trace);
  if (!command.output.empty()) fmt::print("wrote {}\n", command.output);
  return 0;
}

}  // namespace

void AddTriProfile(CLI::App& tri, Session& session) {
  CLI::App* command =
      AddCommand(tri, "profile", "rows per function and table, as a table and as a picture",
                 "  frazil tri profile examples/trident/fibonacci.tri --input 10 -o rows.svg");
  auto options = std::make_shared<ProfileCommand>();
  AddProgramOptions(command, options->program);
  AddInputOptions(command, options->program);
  command->add_option("-o,--output", options->output, "write the picture (SVG) there");
  SetBody(command, session, [&session, options] { return Profile(session, *options); });
}

}  // namespace frazil::cli
