// What the next cliffs of the padded height cost, and who pays.
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "machines/tasm/heights/proof_cost.h"
#include "tri.h"

namespace frazil::cli {
namespace {

std::string Power(uint64_t height) { return fmt::format("2^{}", std::bit_width(height) - 1); }

std::string Cost(uint64_t padded) {
  const mt::ProofCost cost = mt::EstimateProof(padded);
  return fmt::format("about {:.2g} s to prove, {:.0f} kB of proof, {:.1f} GB of memory",
                     cost.seconds, cost.bytes / 1000, cost.peak_bytes / 1e9);
}

std::string Basis(uint64_t padded) {
  return fmt::format(
      "measured proofs from {} to {} on {} cores, error {:.0f} % of the time, {:.0f} % of the "
      "size{}",
      Power(mt::ProofMeasuredFrom), Power(mt::ProofMeasuredTo), mt::ProofMeasuredCores,
      100 * mt::ProofSecondsError, 100 * mt::ProofBytesError,
      padded > mt::ProofMeasuredTo ? "; beyond that it is an extrapolation" : "");
}

std::string Payers(const mt::TableCliff& table) {
  constexpr size_t Most = 4;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(table.payers.size(), Most); ++i)
    parts.push_back(fmt::format("{} {:.0f}",
                                table.payers[i].label.empty() ? "program" : table.payers[i].label,
                                table.payers[i].rows));
  if (table.payers.size() > Most)
    parts.push_back(fmt::format("{} more", table.payers.size() - Most));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void PrintCliff(const Session& session, const mt::CliffReport& report) {
  const mt::TableCliff& binding = report.tables.front();
  PrintFact(session, "binding",
            fmt::format("{}: {} rows", mt::TableName(binding.table), binding.height));
  if (report.below != 0) {
    for (const mt::TableCliff& table : report.tables) {
      if (table.above == 0) continue;
      PrintFact(session, "",
                fmt::format("{} is {} rows above {}; who pays: {}", mt::TableName(table.table),
                            table.above, Power(report.below), Payers(table)));
    }
    PrintFact(
        session, "below",
        fmt::format("{}: {}{}", Power(report.below), Cost(report.below),
                    report.words_to_save && *report.words_to_save > 0
                        ? fmt::format("; {} words less would do for {}", *report.words_to_save,
                                      mt::TableName(report.words_table))
                        : ""));
  }
  PrintFact(session, "here", fmt::format("{}: {}", Power(report.padded), Cost(report.padded)));
  PrintFact(session, "above",
            fmt::format("{}: {}; {} rows and {} words are left before it", Power(report.padded * 2),
                        Cost(report.padded * 2), binding.left, report.words_to_add));
  PrintFact(session, "estimate", Basis(report.padded));
}

nlohmann::ordered_json CliffJson(const mt::CliffReport& report) {
  nlohmann::ordered_json json = {{"line", report.Line()},
                                 {"padded", report.padded},
                                 {"below", report.below},
                                 {"words_to_add", report.words_to_add}};
  if (report.words_to_save) json["words_to_save"] = *report.words_to_save;
  for (const mt::TableCliff& table : report.tables) {
    nlohmann::ordered_json row = {{"table", mt::TableName(table.table)},
                                  {"height", table.height},
                                  {"above", table.above},
                                  {"left", table.left}};
    for (const mt::CliffPayer& payer : table.payers)
      row["payers"].push_back(
          {{"label", payer.label}, {"rows", payer.rows}, {"words", payer.words}});
    json["tables"].push_back(std::move(row));
  }
  const mt::ProofCost cost = mt::EstimateProof(report.padded);
  json["estimate"] = {
      {"seconds", cost.seconds}, {"bytes", cost.bytes}, {"basis", Basis(report.padded)}};
  return json;
}

}  // namespace frazil::cli
