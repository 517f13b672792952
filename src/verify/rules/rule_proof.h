// Which rules hold for which types. verify/ is the judge: its tests prove the recorded table again
// (ir/rules/rules_proved.def, written by tools/rules), and a rule whose row is not recorded exactly is not used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/rules/rules.h"

namespace frazil::verify {

bool RuleIsProved(const ir::RuleRow& row, ir::Scalar type);

// What one attempt at a proof gave.
struct RuleProof {
  enum class Status : uint8_t {
    Proved,
    Refuted,  // `detail` holds the values of the holes
    Unknown,  // `detail` says why
  };
  Status status = Status::Unknown;
  std::string how;     // "normal form", "exhaustive", "z3"
  std::string detail;  // "65,536 cases", "a = 3, $c = 5: 8 against 9"
};

// Both sides are the same polynomial over a commutative ring: integers that wrap, fields. Instant.
RuleProof ProveByNormalForm(const ir::Rule& rule, ir::Scalar type);
// Every value of every hole, both sides by the batch interpreter, if that is at most `limit` cases.
RuleProof ProveExhaustively(const ir::Rule& rule, ir::Scalar type, uint64_t limit);

}  // namespace frazil::verify
