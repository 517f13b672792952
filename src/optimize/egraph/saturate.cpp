// Rounds of rewriting: find all matches, then apply them, then restore congruence. Rules that make terms larger get a
// limited number of matches in each round, so that a long chain of associative ops runs into the limit on nodes only
// after the rules that help have had their turn.
#include <algorithm>
#include <array>

#include "base/deadline.h"
#include "optimize/egraph/egraph.h"
#include "optimize/egraph/rule_match.h"

namespace frazil::optimize {
namespace {

constexpr size_t MostGrowingMatches = 400;
constexpr size_t MostMatches = 4000;
// A small program needs no large graph: what the last nodes of 20,000 find for ten ops was nothing, at 60 ms.
constexpr uint64_t BaseNodes = 1000;
constexpr uint64_t NodesPerTerm = 30;
// So many rounds without a cheaper term, and the search is over: what is going to help mostly shows in two or three.
constexpr uint64_t Patience = 3;

class Search {
 public:
  Search(EGraph& graph, const RuleSet& rules, const Limits& limits, std::span<const NodeId> roots)
      : graph_(graph),
        rules_(rules),
        limits_(limits),
        roots_(roots),
        most_nodes_(std::min(limits.egraph_nodes, BaseNodes + NodesPerTerm * graph.size())),
        deadline_(Deadline::After(limits.egraph_ms)) {}

  StopReason Run() {
    if (rules_.rules.empty()) return StopReason::NothingToDo;
    double cost = Extract(graph_, roots_).cost;
    for (uint64_t round = 0; round < limits_.egraph_rounds; ++round) {
      if (round != 0 && round % Patience == 0) {
        const double now = Extract(graph_, roots_).cost;
        if (now >= cost) return StopReason::NoGain;
        cost = now;
      }
      Index();
      if (!FindAll()) return StopReason::TimeLimit;
      if (round == 0 && matches_.empty()) return StopReason::NothingToDo;
      const std::optional<StopReason> stop = ApplyAll();
      graph_.Rebuild();
      if (stop) return *stop;
      if (!changed_ && !held_back_) return StopReason::Saturated;
    }
    return StopReason::IterationLimit;
  }

 private:
  bool Late() { return (++ticks_ & 0xff) == 0 && deadline_.Passed(); }

  // Of terms that are equal but for their wording, one is enough.
  void Index() {
    members_.assign(graph_.size(), {});
    for (std::vector<NodeId>& nodes : by_op_) nodes.clear();
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_.node(id);
      if (node.is_leaf || node.is_constant() || graph_.ConstantOf(id) != NoNode) continue;
      if (!graph_.IsFirstOfItsKind(id)) continue;
      members_[graph_.Find(id)].push_back(id);
      by_op_[static_cast<size_t>(node.op)].push_back(id);
    }
  }

  bool FindAll() {
    matches_.clear();
    held_back_ = false;
    RuleMatcher matcher(graph_, members_);
    for (const DirectedRule& rule : rules_.rules) {
      const size_t most = rule.grows ? MostGrowingMatches : MostMatches;
      size_t count = 0;
      bool late = false;
      for (NodeId node : by_op_[static_cast<size_t>(rule.from().root().op)]) {
        const bool on = matcher.At(rule, node, [&](const RuleMatch& match) {
          late = Late();
          if (late) return false;
          if (LookUp(graph_, rule.to(), match) == match.root) return true;
          if (++count > most) return false;
          matches_.push_back(match);
          return true;
        });
        late = late || Late();
        if (late) return false;
        if (!on) break;
      }
      held_back_ |= count > most;
    }
    return true;
  }

  std::optional<StopReason> ApplyAll() {
    changed_ = false;
    for (const RuleMatch& match : matches_) {
      if (graph_.size() >= most_nodes_) return StopReason::NodeLimit;
      if (Late()) return StopReason::TimeLimit;
      const NodeId from = State(graph_, match.rule->from(), match);
      const NodeId to = State(graph_, match.rule->to(), match);
      if (from == NoNode || to == NoNode || graph_.Find(from) == graph_.Find(to)) continue;
      const std::string_view name = match.rule->rule->row->name;
      if (match.rule->reversed)
        graph_.Union(to, from, name);
      else
        graph_.Union(from, to, name);
      changed_ = true;
    }
    return std::nullopt;
  }

  EGraph& graph_;
  const RuleSet& rules_;
  const Limits& limits_;
  const std::span<const NodeId> roots_;
  const uint64_t most_nodes_;
  const Deadline deadline_;
  std::vector<std::vector<NodeId>> members_;
  std::array<std::vector<NodeId>, ir::OpCount> by_op_;
  std::vector<RuleMatch> matches_;
  uint64_t ticks_ = 0;
  bool changed_ = false;
  bool held_back_ = false;  // more matches than a round takes
};

}  // namespace

StopReason Saturate(EGraph& graph, const RuleSet& rules, const Limits& limits,
                    std::span<const NodeId> roots) {
  graph.Rebuild();
  if (graph.size() >= limits.egraph_nodes) return StopReason::NodeLimit;
  return Search(graph, rules, limits, roots).Run();
}

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::Saturated: return "saturated";
    case StopReason::NodeLimit: return "egraph_nodes";
    case StopReason::IterationLimit: return "egraph_rounds";
    case StopReason::TimeLimit: return "egraph_ms";
    case StopReason::NothingToDo: return "nothing to do";
    case StopReason::NoGain: return "no gain";
  }
  return "";
}

}  // namespace frazil::optimize
