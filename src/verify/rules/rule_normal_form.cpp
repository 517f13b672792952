// Proves rules that hold in every commutative ring (integers that wrap, fields), and what follows from cases of
// conditions alone. A value is a polynomial over atoms; an op that is no ring op is an atom of its operands; a
// condition that is not decided splits the proof in two.
#include <map>
#include <optional>

#include <fmt/format.h>

#include "verify/internal/polynomial.h"
#include "verify/rules/rule_proof.h"

namespace frazil::verify {
namespace {

using ir::Op;
using ir::Pattern;
using ir::PatternNode;
using ir::Scalar;

using Monomial = std::multiset<std::string>;
using Poly = Polynomial<std::string>;

Poly Atom(std::string name) { return {{Monomial{std::move(name)}, BigInt(1)}}; }

std::string Show(const Poly& p) {
  std::string text;
  for (const auto& [monomial, coefficient] : p) {
    text += fmt::format("[{}", coefficient.ToString());
    for (const std::string& atom : monomial) text += "*" + atom;
    text += ']';
  }
  return text;
}

struct Value {
  bool is_bool = false;
  bool truth = false;  // bool
  Poly poly;           // others
};

class NormalForm {
 public:
  NormalForm(const ir::Rule& rule, Scalar type) : rule_(rule), type_(type) {}

  RuleProof Prove() {
    if (!TrapsAreExcluded(rule_.left) || !TrapsAreExcluded(rule_.right)) {
      return {RuleProof::Status::Unknown, "normal form", "an op may trap"};
    }
    const bool proved = ProveCase();
    return {proved ? RuleProof::Status::Proved : RuleProof::Status::Unknown, "normal form",
            proved ? fmt::format("{} cases", cases_) : "the normal forms differ"};
  }

 private:
  static constexpr int MaxCases = 256;

  bool IsRing(Scalar scalar) const {
    return ir::IsFixedInt(scalar) || scalar == Scalar::Field || scalar == Scalar::XField;
  }

  // Only an inverse of a constant that the conditions keep from 0.
  bool TrapsAreExcluded(const Pattern& pattern) const {
    for (const PatternNode& node : pattern.nodes) {
      if (node.kind != PatternNode::Kind::Apply || ir::Info(node.op).traps == 0) continue;
      if (node.op != Op::Invert && node.op != Op::FieldDiv) return false;
      const PatternNode& divisor = pattern.nodes[node.children.back()];
      bool excluded = false;
      for (const ir::RuleCondition& condition : rule_.conditions) {
        excluded =
            excluded ||
            (condition.kind == ir::ConditionKind::NonZero && condition.left.nodes.size() == 1 &&
             divisor.kind == PatternNode::Kind::ConstantHole && condition.hole == divisor.hole);
      }
      if (!excluded) return false;
    }
    return true;
  }

  bool ProveCase() {
    if (++cases_ > MaxCases) return false;
    undecided_.clear();
    const std::optional<Value> left = Evaluate(rule_.left, rule_.left.nodes.size() - 1);
    const std::optional<Value> right = left || undecided_.empty()
                                           ? Evaluate(rule_.right, rule_.right.nodes.size() - 1)
                                           : std::nullopt;
    if (left && right) return Same(*left, *right);
    if (undecided_.empty()) return false;
    const std::string atom = undecided_;
    for (bool truth : {false, true}) {
      decided_[atom] = truth;
      if (!ProveCase()) return false;
    }
    decided_.erase(atom);
    return true;
  }

  bool Same(const Value& a, const Value& b) const {
    if (a.is_bool) return b.is_bool && a.truth == b.truth;
    if (b.is_bool) return false;
    const Poly difference = Plus(a.poly, b.poly, BigInt(-1));
    if (difference.empty()) return true;
    // A polynomial that this case takes for 0 may be the difference.
    const auto zero = zeros_.find(Show(Normal(difference)));
    return zero != zeros_.end() && decided_.contains(zero->second) && decided_.at(zero->second);
  }

  static Poly Normal(const Poly& p) {
    return !p.empty() && p.begin()->second.is_negative() ? Plus({}, p, BigInt(-1)) : p;
  }

  std::optional<Value> Decide(const std::string& atom) {
    const auto found = decided_.find(atom);
    if (found == decided_.end()) {
      if (undecided_.empty()) undecided_ = atom;
      return std::nullopt;
    }
    return Value{true, found->second, {}};
  }

  std::optional<Value> Evaluate(const Pattern& pattern, size_t index) {
    const PatternNode& node = pattern.nodes[index];
    const Scalar scalar = node.type.At(type_);
    switch (node.kind) {
      case PatternNode::Kind::Hole:
      case PatternNode::Kind::ConstantHole: {
        const std::string& name = rule_.holes[node.hole];
        if (scalar == Scalar::Bool) return Decide(name);
        return Value{false, false, Atom(name)};
      }
      case PatternNode::Kind::Computed: return Evaluate(pattern, node.children[0]);
      case PatternNode::Kind::Number:
        if (scalar == Scalar::Bool) return Value{true, node.number != 0, {}};
        if (IsRing(scalar)) return Value{false, false, Number(node.number)};
        [[fallthrough]];
      case PatternNode::Kind::Special: return Special(node, scalar);
      case PatternNode::Kind::Apply: return Apply(pattern, node, scalar);
    }
    return std::nullopt;
  }

  static Poly Number(int64_t n) {
    if (n == 0) return {};
    return {{Monomial{}, BigInt(n)}};
  }

  std::optional<Value> Special(const PatternNode& node, Scalar scalar) const {
    const auto words = ir::PatternConstant(node, ir::Type::Of(scalar));
    if (!words) return std::nullopt;
    if (scalar == Scalar::Bool) return Value{true, (*words)[0] != 0, {}};
    // All ones is -1 in the ring of integers modulo 2^width.
    if (node.kind == PatternNode::Kind::Special && node.special == PatternNode::Special::Ones) {
      return Value{false, false, Number(-1)};
    }
    return Value{false, false, Atom(fmt::format("#{:x}", (*words)[0]))};
  }

  std::optional<Value> Apply(const Pattern& pattern, const PatternNode& node, Scalar scalar) {
    if (node.op == Op::Select) return Choose(pattern, node);
    std::vector<Value> operands;
    for (uint32_t child : node.children) {
      std::optional<Value> value = Evaluate(pattern, child);
      if (!value) return std::nullopt;
      operands.push_back(std::move(*value));
    }
    const Scalar op_scalar = node.op_type.At(type_);
    const Scalar source = pattern.nodes[node.children[0]].type.At(type_);
    if (op_scalar == Scalar::Bool) return Logic(node.op, operands);
    if (node.op == Op::Shl && IsRing(op_scalar)) return ShiftLeft(pattern, node, operands);
    if (IsRing(op_scalar)) {
      if (std::optional<Value> value = Ring(node.op, operands)) return value;
      if (!undecided_.empty()) return std::nullopt;
    }
    if (node.op == Op::Ne) {
      std::optional<Value> value = Opaque(Op::Eq, op_scalar, source, operands);
      if (value) value->truth = !value->truth;
      return value;
    }
    return Opaque(node.op, op_scalar, source, operands, scalar == Scalar::Bool);
  }

  // A product with 2^amount, the amount modulo the width. 2^ctz(e) is e itself where e is a power of two.
  std::optional<Value> ShiftLeft(const Pattern& pattern, const PatternNode& node,
                                 const std::vector<Value>& v) {
    size_t amount = node.children[1];
    if (pattern.nodes[amount].kind == PatternNode::Kind::Computed)
      amount = pattern.nodes[amount].children[0];
    const PatternNode& by = pattern.nodes[amount];
    if (by.kind == PatternNode::Kind::Number && by.number >= 0) {
      const auto width = static_cast<uint64_t>(ir::BitsOf(ir::Type::Of(node.op_type.At(type_))));
      const auto shift = static_cast<uint32_t>(static_cast<uint64_t>(by.number) % width);
      return Value{false, false, Plus({}, v[0].poly, BigInt::PowerOfTwo(shift))};
    }
    if (by.kind == PatternNode::Kind::Apply && by.op == Op::Ctz) {
      const std::optional<Value> power = Evaluate(pattern, by.children[0]);
      for (const ir::RuleCondition& condition : rule_.conditions) {
        if (condition.kind != ir::ConditionKind::Power || !power) continue;
        const std::optional<Value> known =
            Evaluate(condition.left, condition.left.nodes.size() - 1);
        if (known && known->poly == power->poly)
          return Value{false, false, Times(v[0].poly, power->poly)};
      }
    }
    return Value{false, false, Times(v[0].poly, Atom(fmt::format("2^({})", Show(v[1].poly))))};
  }

  // Only the arm that is taken counts.
  std::optional<Value> Choose(const Pattern& pattern, const PatternNode& node) {
    const std::optional<Value> condition = Evaluate(pattern, node.children[0]);
    if (!condition || !condition->is_bool) return std::nullopt;
    return Evaluate(pattern, node.children[condition->truth ? 1 : 2]);
  }

  static std::optional<Value> Logic(Op op, const std::vector<Value>& v) {
    for (const Value& value : v) {
      if (!value.is_bool) return std::nullopt;
    }
    switch (op) {
      case Op::And: return Value{true, v[0].truth && v[1].truth, {}};
      case Op::Or: return Value{true, v[0].truth || v[1].truth, {}};
      case Op::Xor:
      case Op::Ne: return Value{true, v[0].truth != v[1].truth, {}};
      case Op::Eq: return Value{true, v[0].truth == v[1].truth, {}};
      case Op::Not: return Value{true, !v[0].truth, {}};
      default: return std::nullopt;
    }
  }

  std::optional<Value> Ring(Op op, const std::vector<Value>& v) {
    switch (op) {
      FRAZIL_CASES(Ring)
        return Value{
            false, false,
            *RingResult(op, v[0].poly, v.back().poly, Plus<std::string>, Times<std::string>)};
      case Op::Not: return Value{false, false, Plus(Number(-1), v[0].poly, BigInt(-1))};
      case Op::Invert: return Value{false, false, Atom(fmt::format("1/({})", Show(v[0].poly)))};
      case Op::FieldDiv:
        return Value{false, false, Times(v[0].poly, Atom(fmt::format("1/({})", Show(v[1].poly))))};
      case Op::Eq:
      case Op::Ne: {
        const Poly difference = Normal(Plus(v[0].poly, v[1].poly, BigInt(-1)));
        std::optional<Value> equal = Value{true, true, {}};
        if (!difference.empty()) {
          const std::string text = Show(difference);
          zeros_[text] = "zero " + text;
          equal = Decide("zero " + text);
        }
        if (equal && op == Op::Ne) equal->truth = !equal->truth;
        return equal;
      }
      default: return std::nullopt;
    }
  }

  // Equal ops on equal operands are equal, whatever they mean.
  std::optional<Value> Opaque(Op op, Scalar op_scalar, Scalar source,
                              const std::vector<Value>& operands, bool is_bool = true) {
    std::vector<std::string> texts;
    for (const Value& value : operands)
      texts.push_back(value.is_bool ? (value.truth ? "T" : "F") : Show(value.poly));
    if (ir::Info(op).law == ir::Law::Commutes && texts.size() == 2 && texts[1] < texts[0])
      std::swap(texts[0], texts[1]);
    const std::string name =
        fmt::format("{}:{}:{}({})", ir::Info(op).mnemonic, ir::ScalarName(op_scalar),
                    ir::ScalarName(source), fmt::join(texts, ","));
    if (is_bool) return Decide(name);
    return Value{false, false, Atom(name)};
  }

  const ir::Rule& rule_;
  Scalar type_;
  std::map<std::string, bool> decided_;
  std::map<std::string, std::string> zeros_;  // polynomial -> the condition that it is 0
  std::string undecided_;
  int cases_ = 0;
};

}  // namespace

RuleProof ProveByNormalForm(const ir::Rule& rule, Scalar type) {
  return NormalForm(rule, type).Prove();
}

}  // namespace frazil::verify
