// frazil rules: every rewrite rule, and for which types it is proved, by what, or why it is not used.
#include "ir/rules/rules.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "verify/rules/rule_proof.h"

namespace frazil::cli {
namespace {

struct Status {
  std::map<std::string, std::vector<std::string>> proved;    // how -> types
  std::map<std::string, std::vector<std::string>> disabled;  // why -> types
};

Status StatusOf(const ir::RuleRow& row) {
  Status status;
  for (int i = 0; i < ir::ScalarCount; ++i) {
    const auto type = static_cast<ir::Scalar>(i);
    if (!ir::Contains(row.types, type)) continue;
    const std::string name = type == ir::Scalar::Int ? "int<k>" : std::string(ir::ScalarName(type));
    if (verify::RuleIsProved(row, type)) {
      status.proved[std::string(ir::RecordedProof(row, type))].push_back(name);
    } else {
      status.disabled[std::string(ir::WhyNotProved(row, type))].push_back(name);
    }
  }
  return status;
}

nlohmann::ordered_json JsonOf(const ir::RuleRow& row, const Status& status) {
  nlohmann::ordered_json json = {{"name", row.name}, {"left", row.left}, {"right", row.right}};
  json["conditions"] = row.conditions;
  json["digest"] = ir::RuleDigest(row);
  json["proved"] = nlohmann::ordered_json::object();
  json["disabled"] = nlohmann::ordered_json::object();
  for (const auto& [how, types] : status.proved) {
    for (const std::string& type : types) json["proved"][type] = how;
  }
  for (const auto& [why, types] : status.disabled) {
    for (const std::string& type : types) json["disabled"][type] = why;
  }
  return json;
}

void PrintRule(const Session& session, const ir::RuleRow& row, const Status& status) {
  fmt::print("{}  {} = {}{}{}\n", Bold(session, row.name), row.left, row.right,
             row.conditions.empty() ? "" : "  if ", row.conditions);
  for (const auto& [how, types] : status.proved)
    fmt::print("    proved    {}: {}\n", how, fmt::join(types, " "));
  for (const auto& [why, types] : status.disabled)
    fmt::print("    disabled  {}: {}\n", why, fmt::join(types, " "));
}

Result<int> Rules(Session& session, const std::string& wanted) {
  if (!wanted.empty() && ir::RuleNamed(wanted) == nullptr) {
    return Fail(Diag::BadUsage, fmt::format("there is no rule '{}'", wanted));
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  size_t rules = 0, proved = 0, disabled = 0;
  for (const ir::RuleRow& row : ir::AllRules()) {
    if (!wanted.empty() && row.name != wanted) continue;
    const Status status = StatusOf(row);
    ++rules;
    for (const auto& [how, types] : status.proved) proved += types.size();
    for (const auto& [why, types] : status.disabled) disabled += types.size();
    if (session.json) {
      all.push_back(JsonOf(row, status));
    } else {
      PrintRule(session, row, status);
    }
  }
  if (session.json) {
    PrintJson({{"rules", all}, {"proved", proved}, {"disabled", disabled}});
  } else if (wanted.empty()) {
    fmt::print("{} rules: {} pairs of rule and type proved, {} disabled\n", rules, proved,
               disabled);
  }
  return 0;
}

}  // namespace

void AddRules(CLI::App& app, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddCommand(app, "rules", "show every rewrite rule and what proves it",
                                 "  frazil rules\n"
                                 "  frazil rules mul_distributes\n"
                                 "  frazil rules float_neg_neg --json");
  command->add_option("name", *name, "one rule");
  SetBody(command, session, [&session, name] { return Rules(session, *name); });
}

}  // namespace frazil::cli
