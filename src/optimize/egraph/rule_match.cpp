// Backtracking over a list of goals (pattern, class): no allocation while it searches. An op that commutes is tried
// both ways round.
#include "optimize/egraph/rule_match.h"

#include "optimize/fold.h"

namespace frazil::optimize {
namespace {

using ir::ConditionKind;
using ir::Pattern;
using ir::PatternNode;
using Words = std::vector<uint64_t>;

ir::Type TypeAt(ir::PatternType pattern, ir::Type t) {
  return pattern.is_t ? t : ir::Type::Of(pattern.scalar);
}

// An expression over constant holes.
std::optional<Words> Evaluate(const EGraph& graph, const Pattern& pattern, uint32_t index,
                              const RuleMatch& match) {
  const PatternNode& node = pattern.nodes[index];
  switch (node.kind) {
    case PatternNode::Kind::Hole:
    case PatternNode::Kind::ConstantHole: {
      const NodeId constant = graph.ConstantOf(match.holes[node.hole]);
      if (constant == NoNode) return std::nullopt;
      return graph.node(constant).words;
    }
    case PatternNode::Kind::Number:
    case PatternNode::Kind::Special:
      return ir::PatternConstant(node, TypeAt(node.type, match.type));
    case PatternNode::Kind::Computed: return Evaluate(graph, pattern, node.children[0], match);
    case PatternNode::Kind::Apply: break;
  }
  std::vector<Words> values;
  for (uint32_t child : node.children) {
    std::optional<Words> value = Evaluate(graph, pattern, child, match);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  std::vector<FoldOperand> operands;
  for (size_t i = 0; i < values.size(); ++i)
    operands.push_back({TypeAt(pattern.nodes[node.children[i]].type, match.type), values[i]});
  return Fold(node.op, TypeAt(node.op_type, match.type), TypeAt(node.type, match.type), {},
              operands);
}

std::optional<Words> Evaluate(const EGraph& graph, const Pattern& pattern, const RuleMatch& match) {
  return Evaluate(graph, pattern, static_cast<uint32_t>(pattern.nodes.size() - 1), match);
}

// A positive 2^k; of floats +-2^k, it and its reciprocal normal.
bool IsPower(ir::Type type, const Words& words) {
  if (words.size() != 1) return false;
  const uint64_t word = words[0];
  if (!ir::IsFloat(type.scalar)) {
    if (ir::IsSigned(type.scalar) && static_cast<int64_t>(word) < 0) return false;
    return word != 0 && (word & (word - 1)) == 0;
  }
  int mantissa = 0;
  switch (type.scalar) {
    case ir::Scalar::F16: mantissa = 10; break;
    case ir::Scalar::BF16: mantissa = 7; break;
    case ir::Scalar::F32: mantissa = 23; break;
    default: mantissa = 52; break;
  }
  const int exponent_bits = ir::BitsOf(type) - 1 - mantissa;
  const uint64_t most = (uint64_t{1} << exponent_bits) - 1, exponent = word >> mantissa & most;
  const bool plain = (word & ((uint64_t{1} << mantissa) - 1)) == 0;
  // 2^(e - bias) has the reciprocal 2^(bias - e): both normal for 1 <= e <= most - 2.
  return plain && exponent >= 1 && exponent <= most - 2;
}

bool IsZero(const Words& words) {
  for (uint64_t word : words)
    if (word != 0) return false;
  return true;
}

}  // namespace

bool RuleMatcher::At(const DirectedRule& rule, NodeId node,
                     const std::function<bool(const RuleMatch&)>& found) {
  rule_ = &rule;
  found_ = &found;
  match_.rule = &rule;
  match_.root = graph_.Find(node);
  match_.holes.assign(rule.rule->holes.size(), NoNode);
  typed_ = false;
  goals_.clear();
  return SolveApply(rule.from().root(), node, 0);
}

bool RuleMatcher::BindType(ir::PatternType pattern, ir::Type type) {
  if (!pattern.is_t) return ir::Type::Of(pattern.scalar) == type;
  if (typed_) return match_.type == type;
  if (!ir::Contains(rule_->types, type.scalar)) return false;
  match_.type = type;
  typed_ = true;
  return true;
}

bool RuleMatcher::SolveApply(const PatternNode& pattern, NodeId id, size_t goal) {
  const Node& node = graph_.node(id);
  if (node.is_leaf || node.op != pattern.op || node.children.size() != pattern.children.size())
    return true;
  const bool typed = typed_;
  if (!BindType(pattern.op_type, node.type) || !BindType(pattern.type, node.result)) {
    typed_ = typed;
    return true;
  }
  const size_t count = pattern.children.size(), goals = goals_.size();
  const bool swaps = ir::Info(node.op).law == ir::Law::Commutes;
  for (int turn = 0; turn < (swaps ? 2 : 1); ++turn) {
    for (size_t i = 0; i < count; ++i)
      goals_.push_back(
          {pattern.children[i], graph_.Find(node.children[turn == 0 ? i : count - 1 - i])});
    const bool on = Solve(goal);
    goals_.resize(goals);
    if (!on) return false;
  }
  typed_ = typed;
  return true;
}

bool RuleMatcher::Solve(size_t goal) {
  if (goal == goals_.size()) return !typed_ || !Conditions() || (*found_)(match_);
  const Goal now = goals_[goal];
  const PatternNode& pattern = rule_->from().nodes[now.pattern];
  const bool typed = typed_;
  bool on = true;
  switch (pattern.kind) {
    case PatternNode::Kind::Hole:
    case PatternNode::Kind::ConstantHole: {
      if (pattern.kind == PatternNode::Kind::ConstantHole &&
          graph_.ConstantOf(now.node_class) == NoNode)
        break;
      NodeId& hole = match_.holes[pattern.hole];
      if (hole != NoNode) {
        if (hole == now.node_class) on = Solve(goal + 1);
        break;
      }
      if (!BindType(pattern.type, graph_.TypeOf(now.node_class))) break;
      hole = now.node_class;
      on = Solve(goal + 1);
      match_.holes[pattern.hole] = NoNode;
      break;
    }
    case PatternNode::Kind::Number:
    case PatternNode::Kind::Special:
    case PatternNode::Kind::Computed: {
      const NodeId constant = graph_.ConstantOf(now.node_class);
      if (constant == NoNode || !BindType(pattern.type, graph_.TypeOf(constant))) break;
      // A computed part may need holes that are bound later: it is compared at the end, by Conditions.
      if (pattern.kind == PatternNode::Kind::Computed) {
        std::optional<Words> words = Evaluate(graph_, rule_->from(), now.pattern, match_);
        if (words && *words == graph_.node(constant).words) on = Solve(goal + 1);
        break;
      }
      std::optional<Words> words = ir::PatternConstant(pattern, TypeAt(pattern.type, match_.type));
      if (words && *words == graph_.node(constant).words) on = Solve(goal + 1);
      break;
    }
    case PatternNode::Kind::Apply:
      for (NodeId member : members_[now.node_class]) {
        on = SolveApply(pattern, member, goal + 1);
        if (!on) break;
      }
      break;
  }
  typed_ = typed;
  return on;
}

bool RuleMatcher::Conditions() {
  for (const ir::RuleCondition& condition : rule_->rule->conditions) {
    if (condition.kind == ConditionKind::Arithmetic) {
      if (graph_.ArithmeticOf(match_.holes[condition.hole]) == NoNode) return false;
      continue;
    }
    if (condition.kind == ConditionKind::Signed || condition.kind == ConditionKind::Unsigned) {
      if (ir::IsSigned(match_.type.scalar) != (condition.kind == ConditionKind::Signed))
        return false;
      continue;
    }
    const std::optional<Words> left = Evaluate(graph_, condition.left, match_);
    if (!left) return false;
    const ir::Type type = TypeAt(condition.left.root().type, match_.type);
    bool holds = false;
    switch (condition.kind) {
      case ConditionKind::Power: holds = IsPower(type, *left); break;
      case ConditionKind::NonZero: holds = !IsZero(*left); break;
      case ConditionKind::InWidth:
        holds = left->size() == 1 && (*left)[0] < static_cast<uint64_t>(ir::BitsOf(match_.type));
        break;
      case ConditionKind::Holds: holds = !IsZero(*left); break;
      case ConditionKind::Equals: {
        const std::optional<Words> right = Evaluate(graph_, condition.right, match_);
        holds = right && *left == *right;
        break;
      }
      default: break;
    }
    if (!holds) return false;
  }
  return true;
}

NodeId LookUp(const EGraph& graph, const Pattern& pattern, const RuleMatch& match) {
  std::vector<NodeId> made(pattern.nodes.size(), NoNode);
  for (uint32_t i = 0; i < pattern.nodes.size(); ++i) {
    const PatternNode& node = pattern.nodes[i];
    const ir::Type type = TypeAt(node.type, match.type);
    if (node.kind == PatternNode::Kind::Hole || node.kind == PatternNode::Kind::ConstantHole) {
      made[i] = match.holes[node.hole];
      continue;
    }
    Node term{ir::Op::Const, false, type, type, {}, {}};
    if (node.kind == PatternNode::Kind::Apply) {
      term.op = node.op;
      term.type = TypeAt(node.op_type, match.type);
      bool known = true;
      for (uint32_t child : node.children) {
        known &= made[child] != NoNode;
        term.children.push_back(made[child]);
      }
      if (!known) continue;
    } else {
      std::optional<Words> words = Evaluate(graph, pattern, i, match);
      if (!words) continue;
      term.words = std::move(*words);
    }
    made[i] = graph.ClassOf(term);
  }
  return made.back() == NoNode ? NoNode : graph.Find(made.back());
}

NodeId State(EGraph& graph, const Pattern& pattern, const RuleMatch& match) {
  std::vector<NodeId> made(pattern.nodes.size(), NoNode);
  // Only what the root needs: below a computed part nothing is a term.
  const std::function<NodeId(uint32_t)> state = [&](uint32_t index) -> NodeId {
    const PatternNode& node = pattern.nodes[index];
    const ir::Type type = TypeAt(node.type, match.type);
    switch (node.kind) {
      case PatternNode::Kind::Hole: {
        for (const ir::RuleCondition& condition : match.rule->rule->conditions)
          if (condition.kind == ConditionKind::Arithmetic && condition.hole == node.hole)
            return graph.ArithmeticOf(match.holes[node.hole]);
        return graph.OldestOf(match.holes[node.hole]);
      }
      case PatternNode::Kind::ConstantHole: return graph.ConstantOf(match.holes[node.hole]);
      case PatternNode::Kind::Apply: {
        std::vector<NodeId> children;
        for (uint32_t child : node.children) {
          children.push_back(state(child));
          if (children.back() == NoNode) return NoNode;
        }
        return graph.Apply(node.op, TypeAt(node.op_type, match.type), type, {}, children);
      }
      default: {
        std::optional<Words> words = Evaluate(graph, pattern, index, match);
        return words ? graph.Constant(type, *words) : NoNode;
      }
    }
  };
  return state(static_cast<uint32_t>(pattern.nodes.size() - 1));
}

}  // namespace frazil::optimize
