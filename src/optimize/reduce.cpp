// Each pure value is looked at as a small term, its operands' definitions a few levels deep; the search's own matcher
// finds the rules. A term is looked at in an e-graph of its own without any union, so a match is a match of the term
// as it is written.
#include "optimize/reduce.h"

#include <array>

#include "optimize/egraph/egraph.h"
#include "optimize/egraph/rule_match.h"
#include "optimize/fold.h"
#include "optimize/traps.h"
#include "optimize/value_terms.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using ir::PatternNode;

constexpr int Depth = 4;  // levels of ops that a pattern may have

uint64_t OpWeight(Op op) {
  switch (op) {
    case Op::DivTrunc:
    case Op::RemTrunc:
    case Op::DivChecked:
    case Op::RemChecked: return 24;
    case Op::DivFloor:
    case Op::RemFloor: return 25;
    case Op::FieldDiv:
    case Op::Invert: return 100;
    case Op::Div:
    case Op::Sqrt: return 12;
    case Op::Fma: return 6;
    case Op::Mul:
    case Op::MulHi: return 4;
    case Op::Gt:
    case Op::Ge: return 4;
    case Op::Sub:
    case Op::Not:
    case Op::Xor:
    case Op::Le:
    case Op::Rotr:
    case Op::Select: return 3;
    default: return 2;
  }
}

uint64_t WeightAt(const ir::Pattern& pattern, uint32_t index) {
  const PatternNode& node = pattern.nodes[index];
  if (node.kind != PatternNode::Kind::Apply) return 1;
  uint64_t weight = OpWeight(node.op);
  for (uint32_t child : node.children) weight += WeightAt(pattern, child);
  return weight;
}

// How often the hole is named outside of computed parts.
size_t Uses(const ir::Pattern& pattern, uint32_t index, uint32_t hole) {
  const PatternNode& node = pattern.nodes[index];
  if (node.kind == PatternNode::Kind::Hole || node.kind == PatternNode::Kind::ConstantHole)
    return node.hole == hole;
  if (node.kind != PatternNode::Kind::Apply) return 0;
  size_t uses = 0;
  for (uint32_t child : node.children) uses += Uses(pattern, child, hole);
  return uses;
}

uint32_t RootOf(const ir::Pattern& pattern) {
  return static_cast<uint32_t>(pattern.nodes.size() - 1);
}

using RulesByOp = std::array<std::vector<const DirectedRule*>, ir::OpCount>;

class Reducer : public PassCloner {
 public:
  Reducer(const PassInput& input, const RulesByOp& rules, Proof* const& proof)
      : PassCloner(input), rules_(rules), proof_(proof) {}
  Result<void> Run() { return CopyBody(); }

  // The rule instances, now that it is known where the new values come from.
  void Explain(std::span<const ValueId> origins, uint32_t index) {
    if (proof_ == nullptr) return;
    ValueTerms values(builder_.function(), origins, index, *proof_);
    for (const Step& step : steps_) {
      const std::optional<uint32_t> left = TermOf(step.graph, step.left, values);
      const std::optional<uint32_t> right = TermOf(step.graph, step.right, values);
      if (left && right) proof_->Equal(step.rule, *left, *right);
    }
  }

 private:
  struct Step {
    EGraph graph;  // leaves are new values
    std::string_view rule;
    NodeId left, right;  // as the rule has them
  };

  Result<void> Visit(const Inst& inst) override {
    const std::vector<const DirectedRule*>& rules = rules_[static_cast<size_t>(inst.op)];
    if (rules.empty() || inst.regions.count != 0 || !IsScalarOp(inst.op)) return CopyInst(inst);
    EGraph graph;
    written_of_.clear();
    std::vector<NodeId> children;
    for (ValueId operand : source_.operands_of(inst))
      children.push_back(StateValue(graph, Get(operand), Depth - 1));
    const NodeId root = graph.Apply(inst.op, inst.type, source_.type(Function::result_of(inst)),
                                    source_.words_of(inst), children);
    if (graph.ConstantOf(root) != NoNode) return CopyInst(inst);  // folding has it
    std::vector<std::vector<NodeId>> members(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id) members[graph.Find(id)].push_back(id);
    std::optional<RuleMatch> found;
    RuleMatcher matcher(graph, members);
    for (const DirectedRule* rule : rules) {
      matcher.At(*rule, root, [&](const RuleMatch& match) {
        found = match;
        return false;
      });
      if (found) break;
    }
    if (!found) return CopyInst(inst);
    const NodeId from = State(graph, found->rule->from(), *found),
                 to = State(graph, found->rule->to(), *found);
    if (from == NoNode || to == NoNode) return CopyInst(inst);
    Bind(Function::result_of(inst), Write(graph, to));
    changed_ = true;
    const bool reversed = found->rule->reversed;
    if (proof_ != nullptr)
      steps_.push_back({std::move(graph), found->rule->rule->row->name, reversed ? to : from,
                        reversed ? from : to});
    return {};
  }

  NodeId StateValue(EGraph& graph, ValueId value, int depth) {
    const Inst* def = NewDefinition(value);
    const ir::Type type = builder_.TypeOf(value);
    NodeId node = NoNode;
    if (def != nullptr && def->op == Op::Const) {
      node = graph.Constant(type, ConstantWords(value));
    } else if (def != nullptr && depth > 0 && IsScalarOp(def->op) &&
               !MayTrap(builder_.function(), *def)) {
      std::vector<NodeId> children;
      for (ValueId operand : builder_.function().operands_of(*def))
        children.push_back(StateValue(graph, operand, depth - 1));
      node = graph.Apply(def->op, def->type, type, builder_.function().words_of(*def), children);
    } else {
      node = graph.Leaf(value.index, type, 0);
    }
    written_of_[node] = value;
    return node;
  }

  ValueId Write(const EGraph& graph, NodeId id) {
    const Node& node = graph.node(id);
    if (node.is_leaf) return ValueId(static_cast<uint32_t>(node.words[0]));
    if (auto found = written_of_.find(id); found != written_of_.end()) return found->second;
    if (node.is_constant()) return builder_.Const(node.result, node.words);
    ir::Values operands;
    for (NodeId child : node.children) operands.push_back(Write(graph, child));
    const ir::Type results[] = {node.result};
    return builder_.Emit(node.op, node.type, operands, results, node.words)[0];
  }

  std::optional<uint32_t> TermOf(const EGraph& graph, NodeId id, ValueTerms& values) {
    const Node& node = graph.node(id);
    if (node.is_leaf) return values.Of(ValueId(static_cast<uint32_t>(node.words[0])));
    if (node.is_constant()) return proof_->Constant(node.result, node.words);
    std::vector<uint32_t> children;
    for (NodeId child : node.children) {
      const std::optional<uint32_t> term = TermOf(graph, child, values);
      if (!term) return std::nullopt;
      children.push_back(*term);
    }
    return proof_->Apply(node.op, node.type, node.result, node.words, children);
  }

  const RulesByOp& rules_;
  Proof* const proof_;
  std::vector<Step> steps_;
  std::unordered_map<NodeId, ValueId> written_of_;  // values that the present term is made of
};

}  // namespace

uint64_t WeightOf(const ir::Pattern& pattern) { return WeightAt(pattern, RootOf(pattern)); }

bool MakesLighter(const DirectedRule& rule) {
  if (WeightOf(rule.to()) >= WeightOf(rule.from())) return false;
  for (uint32_t hole = 0; hole < rule.rule->holes.size(); ++hole)
    if (Uses(rule.to(), RootOf(rule.to()), hole) > Uses(rule.from(), RootOf(rule.from()), hole))
      return false;
  return true;
}

uint64_t WeightOf(const ir::Program& program) {
  uint64_t weight = 0;
  for (const Function& function : program.functions)
    for (const Inst& inst : function.insts)
      if (IsScalarOp(inst.op)) weight += OpWeight(inst.op);
  return weight;
}

Result<bool> Reduce(Unit& unit, Proof* proof, const RuleSet& rules) {
  RulesByOp by_op;
  for (const DirectedRule& rule : rules.rules)
    if (MakesLighter(rule)) by_op[static_cast<size_t>(rule.from().root().op)].push_back(&rule);
  return RunPass<Reducer>(unit, by_op, proof);
}

}  // namespace frazil::optimize
