// The rules of rules.def as C++: rows, and their patterns as trees. Matching is the business of whoever uses a
// rule: optimize/ and verify/ each have a matcher of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/op.h"
#include "ir/type.h"

namespace frazil::ir {

struct RuleRow {
  std::string_view name;
  std::string_view left;
  std::string_view right;
  ScalarSet types;
  std::string_view conditions;
};
std::span<const RuleRow> AllRules();
const RuleRow* RuleNamed(std::string_view name);
// Of the row's whole text; what a proof is recorded for. 64 hex digits.
std::string RuleDigest(const RuleRow& row);

// A node of a pattern. Children come before parents in Pattern::nodes; the last node is the root.
struct PatternNode {
  enum class Kind : uint8_t {
    Hole,          // `hole`
    ConstantHole,  // `hole`, bound to a constant
    Number,        // `number`, as a constant of type T (a float: exactly this value)
    Special,       // `special`
    Apply,         // op on children
    Computed,      // {..}: the child, evaluated at constants
  };
  enum class Special : uint8_t { Min, Max, Ones, Nan };
  Kind kind = Kind::Hole;
  uint32_t hole = 0;
  int64_t number = 0;
  Special special = Special::Min;
  Op op = Op::Const;
  std::vector<uint32_t> children;
};
struct Pattern {
  std::vector<PatternNode> nodes;
};

enum class ConditionKind : uint8_t {
  Arithmetic,   // hole is the result of float arithmetic (or a constant that is not a NaN)
  Power,        // constant hole is a power of two
  NonZero,      // constant hole is not 0
  InWidth,      // constant hole is in [0, width)
  Signed,       // T is signed
  Unsigned,     // T is unsigned
  Equals,       // two expressions over constant holes are equal: `equals (and $a $b) 0`
};
struct RuleCondition {
  ConditionKind kind;
  uint32_t hole = 0;  // of the unary ones
  Pattern left, right;  // of Equals
};

struct Rule {
  const RuleRow* row = nullptr;
  Pattern left, right;
  std::vector<RuleCondition> conditions;
  std::vector<std::string> holes;  // names, in order of first appearance
};
// Parsed once; a row that does not parse is a broken invariant found by a unit test.
Result<Rule> ParseRule(const RuleRow& row);
std::span<const Rule> ParsedRules();

}  // namespace frazil::ir
