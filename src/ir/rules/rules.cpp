// The tables of rules and of their recorded proofs. Digests are computed once, since every look at the table of
// proofs needs them.
#include "ir/rules/rules.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"

namespace frazil::ir {
namespace {

using namespace sets;

constexpr RuleRow Rows[] = {
#define FRAZIL_RULE(name, left, right, types, conditions) {#name, left, right, types, conditions},
#include "ir/rules/rules.def"
#undef FRAZIL_RULE
};

struct ProvedRow {
  std::string_view rule;
  std::string_view type;
  std::string_view how;
  std::string_view digest;
};

constexpr ProvedRow Proofs[] = {
#define FRAZIL_PROVED(rule, type, how, digest) {#rule, type, how, digest},
#define FRAZIL_UNPROVED(rule, type, why, digest)
#include "ir/rules/rules_proved.def"
#undef FRAZIL_PROVED
#undef FRAZIL_UNPROVED
    {"", "", "", ""},
};
constexpr ProvedRow Attempts[] = {
#define FRAZIL_PROVED(rule, type, how, digest)
#define FRAZIL_UNPROVED(rule, type, why, digest) {#rule, type, why, digest},
#include "ir/rules/rules_proved.def"
#undef FRAZIL_PROVED
#undef FRAZIL_UNPROVED
    {"", "", "", ""},
};

using ProofTable = std::map<std::pair<std::string_view, std::string_view>, std::string_view>;

// By (digest, type): a row whose text has changed since has another digest and finds nothing.
const ProofTable& RecordedProofs() {
  static const ProofTable table = [] {
    ProofTable made;
    for (const ProvedRow& row : Proofs) {
      if (!row.rule.empty()) made[{row.digest, row.type}] = row.how;
    }
    return made;
  }();
  return table;
}

const std::string& CachedDigest(const RuleRow& row) {
  static const std::vector<std::string> digests = [] {
    std::vector<std::string> made;
    for (const RuleRow& each : Rows) made.push_back(RuleDigest(each));
    return made;
  }();
  return digests[static_cast<size_t>(&row - Rows)];
}

bool IsOwnRow(const RuleRow& row) { return &row >= std::begin(Rows) && &row < std::end(Rows); }

}  // namespace

std::span<const RuleRow> AllRules() { return Rows; }

const RuleRow* RuleNamed(std::string_view name) {
  static const std::map<std::string_view, const RuleRow*> by_name = [] {
    std::map<std::string_view, const RuleRow*> made;
    for (const RuleRow& row : Rows) made[row.name] = &row;
    return made;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string RuleDigest(const RuleRow& row) {
  std::string text;
  for (std::string_view part : {row.name, row.left, row.right, row.conditions}) {
    text += part;
    text += '\n';
  }
  text += std::to_string(row.types);
  return Sha256Hex(text);
}

std::span<const Rule> ParsedRules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> made;
    for (const RuleRow& row : Rows) {
      Result<Rule> rule = ParseRule(row);
      CHECK(rule.has_value());
      made.push_back(std::move(*rule));
    }
    return made;
  }();
  return rules;
}

std::string_view RecordedProof(const RuleRow& row, Scalar type) {
  if (!Contains(row.types, type)) return {};
  const ProofTable& table = RecordedProofs();
  const auto found = IsOwnRow(row) ? table.find({CachedDigest(row), ScalarName(type)})
                                   : table.find({RuleDigest(row), ScalarName(type)});
  return found == table.end() ? std::string_view{} : found->second;
}

std::string_view WhyNotProved(const RuleRow& row, Scalar type) {
  if (!Contains(row.types, type)) return "the row does not name the type";
  const std::string digest = RuleDigest(row);
  for (const ProvedRow& attempt : Attempts) {
    if (attempt.digest == digest && attempt.type == ScalarName(type)) return attempt.how;
  }
  return "no proof of this row is recorded";
}

}  // namespace frazil::ir
