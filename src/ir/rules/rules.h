// The rules of rules.def as C++: rows, and their patterns as trees. Matching is the business of whoever uses a
// rule: optimize/ and verify/ each have a matcher of their own.
#pragma once

#include <cstdint>
#include <optional>
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

// The type of a value in a pattern: T, or one that the pattern names or an op's row fixes (bool of a comparison).
struct PatternType {
  bool is_t = true;
  Scalar scalar = Scalar::Bool;  // if not T
  Scalar At(Scalar t) const { return is_t ? t : scalar; }
  friend bool operator==(const PatternType&, const PatternType&) = default;
};

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
  enum class Special : uint8_t { Min, Max, Ones, Nan, Inf, NegativeZero, Width };
  Kind kind = Kind::Hole;
  uint32_t hole = 0;
  int64_t number = 0;
  Special special = Special::Min;
  Op op = Op::Const;
  std::vector<uint32_t> children = {};
  PatternType type = {};     // of the node's value
  PatternType op_type = {};  // Apply: the row's T
};
struct Pattern {
  std::vector<PatternNode> nodes;
  const PatternNode& root() const { return nodes.back(); }
};

// The words of a Number or Special node as a constant of the type; nothing if the type has no such value.
// Integers are taken modulo 2^width, field elements modulo p.
std::optional<std::vector<uint64_t>> PatternConstant(const PatternNode& node, Type type);

enum class ConditionKind : uint8_t {
  Arithmetic,  // `arith a`: hole is the result of float arithmetic, or a constant other than a NaN with a payload
  Power,     // `power e`: e is 2^k, positive; a float: +-2^k, it and its reciprocal normal numbers
  NonZero,   // `nonzero e`: e is not 0
  InWidth,   // `inwidth e`: 0 <= e < width of T
  Signed,    // T is signed
  Unsigned,  // T is unsigned
  Equals,    // `equals e f`: two expressions over constant holes are equal
  Holds,     // `holds e`: an expression that gives true
};
struct RuleCondition {
  ConditionKind kind;
  uint32_t hole = 0;  // Arithmetic; of the other unary ones if the expression is just a hole
  Pattern left = {},
          right = {};  // expressions over constant holes, numbers and ops; `right` of Equals only
};

struct Rule {
  const RuleRow* row = nullptr;
  Pattern left, right;
  std::vector<RuleCondition> conditions;
  std::vector<std::string>
      holes;  // names, in order of first appearance, constant holes with their `$`
  std::vector<PatternType> hole_types;  // by hole
};
// Parsed once; a row that does not parse is a broken invariant found by a unit test.
Result<Rule> ParseRule(const RuleRow& row);
// In the order of AllRules.
std::span<const Rule> ParsedRules();

// How a rule was proved for a type, as rules_proved.def records it: "exhaustive", "z3", "normal form". Empty: no
// proof of exactly this row is recorded, and the rule is not used for the type. Only verify/ makes that table
// (tools/rules), and its tests prove it again.
std::string_view RecordedProof(const RuleRow& row, Scalar type);
// Why there is no proof, in one sentence: what the last attempt met, or that the row has changed since.
std::string_view WhyNotProved(const RuleRow& row, Scalar type);
inline bool RuleRecordedAsProved(const RuleRow& row, Scalar type) {
  return !RecordedProof(row, type).empty();
}

}  // namespace frazil::ir
