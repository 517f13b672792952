// Finds where a directed rule applies in an e-graph. The checker of certificates has a matcher of its own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optimize/egraph/egraph.h"
#include "optimize/egraph/rule_set.h"

namespace frazil::optimize {

struct RuleMatch {
  const DirectedRule* rule = nullptr;
  NodeId root = NoNode;  // the class that matched
  ir::Type type;         // what T is
  std::vector<NodeId> holes;
};

class RuleMatcher {
 public:
  // `members`: by class, the nodes worth looking at.
  RuleMatcher(const EGraph& graph, const std::vector<std::vector<NodeId>>& members)
      : graph_(graph), members_(members) {}

  // Calls `found` for every match of the rule at this node; stops when it answers false.
  bool At(const DirectedRule& rule, NodeId node,
          const std::function<bool(const RuleMatch&)>& found);

 private:
  struct Goal {
    uint32_t pattern;
    NodeId node_class;
  };
  bool Solve(size_t goal);
  bool SolveApply(const ir::PatternNode& pattern, NodeId node, size_t goal);
  bool BindType(ir::PatternType pattern, ir::Type type);
  bool Conditions();

  const EGraph& graph_;
  const std::vector<std::vector<NodeId>>& members_;
  const DirectedRule* rule_ = nullptr;
  const std::function<bool(const RuleMatch&)>* found_ = nullptr;
  std::vector<Goal> goals_;
  RuleMatch match_;
  bool typed_ = false;
};

// The class that the rule's result is in already, or NoNode.
NodeId LookUp(const EGraph& graph, const ir::Pattern& pattern, const RuleMatch& match);
// States the pattern with the holes filled; NoNode where a computed part has no value.
NodeId State(EGraph& graph, const ir::Pattern& pattern, const RuleMatch& match);

}  // namespace frazil::optimize
