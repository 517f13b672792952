// frazil_rules: the judge of rewrite rules at work.
//   frazil_rules --prove [FILE]   proves every rule for every type of its row and writes the table of proofs
//   frazil_rules --try NAME       one rule, every type, with details
// Cheap proofs come first: normal form, exhaustive where cases are few, then Z3, then exhaustive where they are many.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "ir/rules/rules.h"
#include "verify/rules/rule_proof.h"
#include "verify/smt/smt.h"

namespace {

using namespace frazil;
using verify::RuleProof;

struct Effort {
  uint64_t few_cases = 1 << 16;
  unsigned z3_ms = 10'000;
  uint64_t many_cases = 1 << 25;
};

RuleProof Prove(const ir::Rule& rule, ir::Scalar type, const Effort& effort) {
  RuleProof proof = verify::ProveByNormalForm(rule, type);
  if (proof.status != RuleProof::Status::Unknown) return proof;
  proof = verify::ProveExhaustively(rule, type, effort.few_cases);
  if (proof.status != RuleProof::Status::Unknown) return proof;
  proof = verify::smt::ProveRule(rule, type, effort.z3_ms);
  if (proof.status != RuleProof::Status::Unknown) return proof;
  const RuleProof last = verify::ProveExhaustively(rule, type, effort.many_cases);
  return last.status == RuleProof::Status::Unknown ? proof : last;
}

const char* StatusName(RuleProof::Status status) {
  return status == RuleProof::Status::Proved    ? "proved"
         : status == RuleProof::Status::Refuted ? "REFUTED"
                                                : "unknown";
}

// Types in the order of ir::Scalar; the callback gets each proof.
template <typename F>
void ForEachType(const ir::Rule& rule, const Effort& effort, const F& report) {
  for (int i = 0; i < ir::ScalarCount; ++i) {
    const auto type = static_cast<ir::Scalar>(i);
    if (ir::Contains(rule.row->types, type)) report(type, Prove(rule, type, effort));
  }
}

int ProveAll(const char* path, const Effort& effort, bool only_new) {
  std::string text =
      "// Table: what was proved of each rule. FRAZIL_PROVED(rule, type, how, digest of the rule's "
      "row),\n"
      "// FRAZIL_UNPROVED(rule, type, why, digest) where no proof was found: the rule is not used "
      "for the type.\n"
      "// Written by `frazil_rules --prove`; do not edit.\n";
  int proved = 0, open = 0, refuted = 0;
  for (const ir::Rule& rule : ir::ParsedRules()) {
    for (int i = 0; i < ir::ScalarCount; ++i) {
      const auto type = static_cast<ir::Scalar>(i);
      if (!ir::Contains(rule.row->types, type)) continue;
      const std::string_view recorded = ir::RecordedProof(*rule.row, type);
      RuleProof proof{RuleProof::Status::Proved, std::string(recorded), "recorded"};
      if (!only_new || recorded.empty()) proof = Prove(rule, type, effort);
      if (proof.status == RuleProof::Status::Proved) {
        ++proved;
        text += fmt::format("FRAZIL_PROVED({}, \"{}\", \"{}\", \"{}\")\n", rule.row->name,
                            ir::ScalarName(type), proof.how, ir::RuleDigest(*rule.row));
        continue;
      }
      (proof.status == RuleProof::Status::Refuted ? refuted : open) += 1;
      text += fmt::format("FRAZIL_UNPROVED({}, \"{}\", \"{}\", \"{}\")\n", rule.row->name,
                          ir::ScalarName(type), proof.detail, ir::RuleDigest(*rule.row));
      fmt::print(stderr, "{} {}: {} ({})\n", rule.row->name, ir::ScalarName(type),
                 StatusName(proof.status), proof.detail);
    }
  }
  std::ofstream file(path);
  file << text;
  file.close();
  fmt::print("{} proved, {} open, {} refuted\n", proved, open, refuted);
  return !file ? 4 : refuted != 0 ? 2 : 0;
}

int TryOne(const char* name, const Effort& effort) {
  const ir::RuleRow* row = ir::RuleNamed(name);
  if (row == nullptr) {
    fmt::print(stderr, "frazil_rules: there is no rule {}\n", name);
    return 1;
  }
  const ir::Rule& rule = ir::ParsedRules()[static_cast<size_t>(row - ir::AllRules().data())];
  ForEachType(rule, effort, [](ir::Scalar type, const RuleProof& proof) {
    fmt::print("{:8} {:8} {:12} {}\n", ir::ScalarName(type), StatusName(proof.status), proof.how,
               proof.detail);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Effort effort;
  bool only_new = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--new") == 0) only_new = true;
    if (std::strcmp(argv[i], "--z3-ms") == 0 && i + 1 < argc)
      effort.z3_ms = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc)
      effort.many_cases = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (argc >= 2 && std::strcmp(argv[1], "--prove") == 0) {
    const bool named = argc >= 3 && argv[2][0] != '-';
    return ProveAll(named ? argv[2] : "src/ir/rules/rules_proved.def", effort, only_new);
  }
  if (argc >= 3 && std::strcmp(argv[1], "--try") == 0) return TryOne(argv[2], effort);
  fmt::print(stderr,
             "usage: frazil_rules --prove [FILE] [--new] [--z3-ms N] [--cases N] | --try NAME\n");
  return 1;
}
