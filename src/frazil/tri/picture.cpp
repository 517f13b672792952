// Flame graphs: who causes which rows, one for every table that has rows of its own.
#include <fmt/format.h>

#include <algorithm>

#include "frazil/tri.h"

namespace frazil::tri {
namespace {

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

}  // namespace

std::string DrawRows(const mt::TraceResult& trace, std::string_view title) {
  std::string body;
  double y = 58;
  for (mt::Table table : ShownTables) {
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

}  // namespace frazil::tri
