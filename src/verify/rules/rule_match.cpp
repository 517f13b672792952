// Matching modulo congruence: a pattern node may meet any member of a class. Goals are solved one after the other
// with backtracking; patterns are small, and a budget ends what is not.
#include "verify/internal/rule_match.h"

#include <algorithm>
#include <array>
#include <bit>

#include "exec/meaning/scalar_ops.h"
#include "verify/internal/rule_program.h"
#include "verify/rules/rule_proof.h"

namespace frazil::verify {
namespace {

using ir::ConditionKind;
using ir::Pattern;
using ir::PatternNode;
using Words = std::vector<uint64_t>;

constexpr int Budget = 20'000;  // members looked at for one line

// Ops whose float result is never a NaN with a payload (semantics: Floats).
bool GivesArithmetic(ir::Op op) {
  using ir::Op;
  switch (op) {
    FRAZIL_CASES(Ring)
    FRAZIL_CASES(Abs)
    FRAZIL_CASES(Float)
    FRAZIL_CASES(Extremum)
    case Op::Cast: return true;
    default: return false;
  }
}

class Matcher {
 public:
  Matcher(const Terms& terms, const ir::Rule& rule)
      : terms_(terms), rule_(rule), bound_(rule.holes.size(), Unbound) {}

  bool Match(TermId left, TermId right) {
    const Goal second{&rule_.right, Root(rule_.right), right, nullptr};
    const Goal first{&rule_.left, Root(rule_.left), left, &second};
    return Solve(&first);
  }

  // The left side against this very term, not the others of its class.
  bool MatchLeft(TermId left) {
    const Goal goal{&rule_.left, Root(rule_.left), left, nullptr};
    const PatternNode& root = rule_.left.root();
    if (root.kind != PatternNode::Kind::Apply || !Fits(root.type, terms_.TypeOf(left)))
      return false;
    return SolveMember(&goal, root, terms_.node(left));
  }

  // After a match.
  std::optional<TermId> BuildRight(Terms& terms) const { return Build(terms, Root(rule_.right)); }

 private:
  static constexpr TermId Unbound = UINT32_MAX;
  struct Goal {
    const Pattern* pattern;
    uint32_t node;
    TermId term;
    const Goal* next;
  };

  static uint32_t Root(const Pattern& pattern) {
    return static_cast<uint32_t>(pattern.nodes.size() - 1);
  }

  bool Solve(const Goal* goal) {
    if (goal == nullptr) return Finish();
    if (--budget_ < 0) return false;
    const PatternNode& node = goal->pattern->nodes[goal->node];
    const std::optional<ir::Type> saved = t_;
    if (!Fits(node.type, terms_.TypeOf(goal->term))) return false;
    const bool solved = SolveNode(goal, node);
    if (!solved) t_ = saved;
    return solved;
  }

  bool SolveNode(const Goal* goal, const PatternNode& node) {
    switch (node.kind) {
      case PatternNode::Kind::ConstantHole:
        if (!terms_.ConstantOf(goal->term)) return false;
        [[fallthrough]];
      case PatternNode::Kind::Hole: {
        TermId& bound = bound_[node.hole];
        if (bound != Unbound) return terms_.Equal(bound, goal->term) && Solve(goal->next);
        bound = goal->term;
        if (Solve(goal->next)) return true;
        bound_[node.hole] = Unbound;
        return false;
      }
      case PatternNode::Kind::Number:
      case PatternNode::Kind::Special:
        return IsConstant(goal->term, ir::PatternConstant(node, terms_.TypeOf(goal->term))) &&
               Solve(goal->next);
      case PatternNode::Kind::Computed: {
        if (!terms_.ConstantOf(goal->term)) return false;
        computed_.push_back(goal);
        if (Solve(goal->next)) return true;
        computed_.pop_back();
        return false;
      }
      case PatternNode::Kind::Apply: return SolveApply(goal, node);
    }
    return false;
  }

  bool SolveApply(const Goal* goal, const PatternNode& pattern) {
    const std::optional<ir::Type> saved = t_;
    const TermId first = terms_.First(goal->term);
    TermId member = first;
    do {
      const Terms::Node& node = terms_.node(member);
      member = terms_.Next(member);
      t_ = saved;
      if (SolveMember(goal, pattern, node)) return true;
    } while (member != first && budget_ > 0);
    t_ = saved;
    return false;
  }

  bool SolveMember(const Goal* goal, const PatternNode& pattern, const Terms::Node& node) {
    if (node.kind != Terms::Kind::Apply || node.op != pattern.op || !node.words.empty() ||
        node.children.size() != pattern.children.size() || !Fits(pattern.op_type, node.type))
      return false;
    const std::optional<ir::Type> fitted = t_;
    if (SolveChildren(goal, pattern, node, false)) return true;
    t_ = fitted;
    const bool commutes =
        ir::Info(pattern.op).law == ir::Law::Commutes && node.children.size() == 2;
    return commutes && SolveChildren(goal, pattern, node, true);
  }

  bool SolveChildren(const Goal* goal, const PatternNode& pattern, const Terms::Node& node,
                     bool swapped) {
    std::array<Goal, 5> goals;
    const size_t count = pattern.children.size();
    if (count > goals.size()) return false;
    const Goal* next = goal->next;
    for (size_t i = count; i-- > 0;) {
      goals[i] = {goal->pattern, pattern.children[i], node.children[swapped ? count - 1 - i : i],
                  next};
      next = &goals[i];
    }
    return Solve(next);
  }

  // Binds T where the pattern's type is T and it is not bound yet.
  bool Fits(ir::PatternType pattern, ir::Type type) {
    if (!type.is_scalar()) return false;
    if (!pattern.is_t) return type.scalar == pattern.scalar;
    if (t_) return *t_ == type;
    if (!ir::Contains(rule_.row->types, type.scalar)) return false;
    t_ = type;
    return true;
  }

  bool IsConstant(TermId term, const std::optional<Words>& words) const {
    const auto constant = terms_.ConstantOf(term);
    return words && constant && std::ranges::equal(*constant, *words);
  }

  bool Finish() {
    if (!t_) {  // a rule about bool alone
      if (!std::has_single_bit(rule_.row->types)) return false;
      t_ = ir::Type::Of(static_cast<ir::Scalar>(std::countr_zero(rule_.row->types)));
    }
    if (!RuleIsProved(*rule_.row, t_->scalar)) return false;
    for (const Goal* goal : computed_) {
      const PatternNode& node = goal->pattern->nodes[goal->node];
      if (!IsConstant(goal->term, Evaluate(*goal->pattern, node.children[0]))) return false;
    }
    return std::ranges::all_of(rule_.conditions,
                               [this](const ir::RuleCondition& c) { return Holds(c); });
  }

  bool Holds(const ir::RuleCondition& condition) const {
    switch (condition.kind) {
      case ConditionKind::Signed: return ir::IsSigned(t_->scalar);
      case ConditionKind::Unsigned: return ir::Contains(ir::sets::UInt, t_->scalar);
      case ConditionKind::Arithmetic: return IsArithmetic(bound_[condition.hole]);
      default: break;
    }
    const std::optional<Words> left = Evaluate(condition.left, Root(condition.left));
    if (!left) return false;
    const ir::Type type = TypeAt(condition.left.root().type);
    switch (condition.kind) {
      case ConditionKind::Power: return left->size() == 1 && IsPowerOfTwo((*left)[0], type.scalar);
      case ConditionKind::NonZero:
        return std::ranges::any_of(*left, [](uint64_t word) { return word != 0; });
      case ConditionKind::InWidth: return (*left)[0] < static_cast<uint64_t>(ir::BitsOf(type));
      case ConditionKind::Holds: return (*left)[0] == 1;
      case ConditionKind::Equals: return left == Evaluate(condition.right, Root(condition.right));
      default: return false;
    }
  }

  bool IsArithmetic(TermId term) const {
    if (term == Unbound) return false;
    const ir::Scalar scalar = terms_.TypeOf(term).scalar;
    if (!ir::IsFloat(scalar)) return true;
    if (const auto constant = terms_.ConstantOf(term)) return !IsPayloadNan((*constant)[0], scalar);
    const TermId first = terms_.First(term);
    TermId member = first;
    do {
      const Terms::Node& node = terms_.node(member);
      if (node.kind == Terms::Kind::Apply && GivesArithmetic(node.op)) return true;
      member = terms_.Next(member);
    } while (member != first);
    return false;
  }

  ir::Type TypeAt(ir::PatternType type) const {
    return type.is_t ? *t_ : ir::Type::Of(type.scalar);
  }

  // An expression over constant holes; nothing if a hole is not bound or an op traps.
  std::optional<Words> Evaluate(const Pattern& pattern, uint32_t index) const {
    const PatternNode& node = pattern.nodes[index];
    const ir::Type type = TypeAt(node.type);
    if (node.kind == PatternNode::Kind::ConstantHole) {
      if (bound_[node.hole] == Unbound) return std::nullopt;
      const auto constant = terms_.ConstantOf(bound_[node.hole]);
      return constant ? std::optional<Words>({constant->begin(), constant->end()}) : std::nullopt;
    }
    if (node.kind != PatternNode::Kind::Apply) return ir::PatternConstant(node, type);
    std::array<Words, 5> values;
    std::array<exec::Words, 5> operands;
    if (node.children.size() > values.size()) return std::nullopt;
    for (size_t i = 0; i < node.children.size(); ++i) {
      std::optional<Words> value = Evaluate(pattern, node.children[i]);
      if (!value) return std::nullopt;
      values[i] = std::move(*value);
      operands[i] = values[i];
    }
    Words result(ir::WordsOf(type));
    const ir::Type source = TypeAt(pattern.nodes[node.children[0]].type);
    const exec::ScalarCall call{node.op, TypeAt(node.op_type), source};
    if (exec::EvalScalar(call, std::span(operands).first(node.children.size()), result))
      return std::nullopt;
    return result;
  }

  std::optional<TermId> Build(Terms& terms, uint32_t index) const {
    const PatternNode& node = rule_.right.nodes[index];
    const ir::Type type = TypeAt(node.type);
    if (node.kind == PatternNode::Kind::Hole || node.kind == PatternNode::Kind::ConstantHole)
      return bound_[node.hole] == Unbound ? std::nullopt : std::optional(bound_[node.hole]);
    if (node.kind != PatternNode::Kind::Apply) {
      const std::optional<Words> words = node.kind == PatternNode::Kind::Computed
                                             ? Evaluate(rule_.right, node.children[0])
                                             : ir::PatternConstant(node, type);
      return words ? std::optional(terms.Constant(type, *words)) : std::nullopt;
    }
    std::vector<TermId> children;
    for (const uint32_t child : node.children) {
      const std::optional<TermId> built = Build(terms, child);
      if (!built) return std::nullopt;
      children.push_back(*built);
    }
    return terms.Apply(node.op, TypeAt(node.op_type), type, {}, children);
  }

  const Terms& terms_;
  const ir::Rule& rule_;
  std::vector<TermId> bound_;
  std::optional<ir::Type> t_;
  std::vector<const Goal*> computed_;
  int budget_ = Budget;
};

}  // namespace

bool IsInstance(const Terms& terms, const ir::Rule& rule, TermId left, TermId right) {
  return Matcher(terms, rule).Match(left, right);
}

std::optional<TermId> RightSideOf(Terms& terms, const ir::Rule& rule, TermId left) {
  Matcher matcher(terms, rule);
  if (!matcher.MatchLeft(left)) return std::nullopt;
  return matcher.BuildRight(terms);
}

}  // namespace frazil::verify
