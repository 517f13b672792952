// The report for people: a row for each kernel, what could not be made and why, and the sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aot/aot.h"
#include "base/duration.h"

namespace frazil::aot {
namespace {

constexpr std::array<std::string_view, TargetCount> Names = {"native", "isa", "ptx", "wasm", "c"};

std::string Arrow(const std::string& before, const std::string& after) {
  return before == after ? before : fmt::format("{} -> {}", before, after);
}

std::string TrafficText(const Traffic& traffic) {
  return fmt::format("{}{}", traffic.bytes, traffic.more ? "+" : "");
}

// "5 -> 3 (-40 %)": how many are gone, as a share of those before.
std::string Shrunk(uint64_t before, uint64_t after) {
  std::string text = Arrow(fmt::to_string(before), fmt::to_string(after));
  if (before == after || before == 0) return text;
  const double change = 100 * (static_cast<double>(after) - static_cast<double>(before)) /
                        static_cast<double>(before);
  return text + fmt::format(" ({:+.0f} %)", change);
}

using Row = std::array<std::string, 8>;

Row RowOf(const KernelReport& kernel) {
  return {kernel.name,
          Shrunk(kernel.ops_before, kernel.ops_after),
          kernel.instructions == 0 ? "-" : fmt::to_string(kernel.instructions),
          Arrow(TrafficText(kernel.traffic_before), TrafficText(kernel.traffic_after)),
          fmt::to_string(fmt::join(kernel.targets, ",")),
          kernel.evidence,
          PrintDuration(kernel.ms * 1e6),
          kernel.cached ? "cached" : "compiled"};
}

// Codes of one reason stand in one line.
std::string Reasons(const KernelReport& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.refusals.size(); ++i) {
    const Refusal& refusal = kernel.refusals[i];
    text += fmt::format("  {}: not {}: {}\n", kernel.name, refusal.target, refusal.reason);
  }
  return text;
}

// Launches under it take the form that the row is about; others the one for all arguments.
std::string Guards(const Report& report) {
  std::string text;
  for (const KernelReport& kernel : report.kernels)
    if (!kernel.guard.empty()) text += fmt::format("  {}: if {}\n", kernel.name, kernel.guard);
  return text.empty() ? text
                      : "under a guard that launches test, with another form behind it:\n" + text;
}

std::string Totals(const Report& report) {
  std::array<uint64_t, embed::CpuLevelCount> native = {};
  uint64_t isa = 0;
  size_t cached = 0;
  size_t in_pieces = 0;
  for (const KernelReport& kernel : report.kernels) {
    for (size_t i = 0; i < native.size(); ++i) native[i] += kernel.native_bytes[i];
    isa += kernel.isa_bytes;
    cached += kernel.cached ? 1 : 0;
    in_pieces += kernel.in_pieces ? 1 : 0;
  }
  const size_t count = report.kernels.size();
  std::string text = fmt::format("{} kernel{} ({} cached, {} in pieces on several threads)", count,
                                 count == 1 ? "" : "s", cached, in_pieces);
  text += fmt::format(", native {:.1f} / {:.1f} / {:.1f} KB (baseline / avx2 / avx512)",
                      static_cast<double>(native[0]) / 1e3, static_cast<double>(native[1]) / 1e3,
                      static_cast<double>(native[2]) / 1e3);
  if (isa != 0) text += fmt::format(", isa {:.1f} KB", static_cast<double>(isa) / 1e3);
  return text + fmt::format(", {}\n", PrintDuration(report.ms * 1e6));
}

}  // namespace

std::string_view TargetName(Target target) { return Names[static_cast<size_t>(target)]; }

Result<std::vector<Target>> ParseTargets(std::string_view text) {
  std::vector<Target> targets;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(";, "), text.size());
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.empty()) continue;
    const auto found = std::ranges::find(Names, name);
    if (found == Names.end())
      return Fail(Diag::UnknownTarget, fmt::format("'{}' is no target of kernels; there are {}",
                                                   name, fmt::join(Names, ", ")));
    const auto target = static_cast<Target>(found - Names.begin());
    if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
  }
  if (targets.empty()) return Fail(Diag::BadUsage, "no target was named");
  std::ranges::sort(targets);
  return targets;
}

std::string PrintTable(const Report& report) {
  const Row head = {"kernel",  "IR ops",   "instructions", "bytes/element",
                    "targets", "evidence", "time",         ""};
  std::vector<Row> rows = {head};
  for (const KernelReport& kernel : report.kernels) rows.push_back(RowOf(kernel));
  std::array<size_t, std::tuple_size_v<Row>> widths = {};
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += Guards(report);
  std::string reasons;
  for (const KernelReport& kernel : report.kernels) reasons += Reasons(kernel);
  if (!reasons.empty()) text += "not made:\n" + reasons;
  for (const std::string& sentence : report.discarded) text += sentence + "\n";
  for (const Error& error : report.errors) text += error.ToString() + "\n";
  return text + Totals(report);
}

}  // namespace frazil::aot
