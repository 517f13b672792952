// Which rule instances an equality rests on. Classes are trees of edges, each with its reason; two equal nodes are
// joined by one path. A rule's edge is an instance to report; an edge of congruence rests on the equality of the
// children, which is explained in turn. Every edge is explained once, so the work is bounded by the number of edges.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "optimize/egraph/egraph.h"

namespace frazil::optimize {

std::vector<Reason> EGraph::Explain(std::span<const std::pair<NodeId, NodeId>> equalities) const {
  std::vector<std::pair<NodeId, NodeId>> open(equalities.begin(), equalities.end());
  std::vector<bool> explained(nodes_.size(), false);  // the edge that starts here
  std::set<std::pair<NodeId, NodeId>> seen;
  std::vector<Reason> reasons;
  auto path_to_root = [&](NodeId id) {
    std::vector<NodeId> path = {id};
    while (edges_[path.back()].to != NoNode) path.push_back(edges_[path.back()].to);
    return path;
  };
  auto explain_edge = [&](NodeId from) {
    if (explained[from]) return;
    explained[from] = true;
    const Edge& edge = edges_[from];
    if (!edge.rule.empty()) {
      reasons.push_back({edge.rule, edge.forward ? from : edge.to, edge.forward ? edge.to : from});
      return;
    }
    const std::vector<NodeId>& a = nodes_[from].children;
    const std::vector<NodeId>& b = nodes_[edge.to].children;
    CHECK(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i)
      open.emplace_back(a[i], edge.swapped ? b[a.size() - 1 - i] : b[i]);
  };
  while (!open.empty()) {
    auto [a, b] = open.back();
    open.pop_back();
    if (a == b || !seen.insert(std::minmax(a, b)).second) continue;
    CHECK(Find(a) == Find(b));
    std::vector<NodeId> up = path_to_root(a), down = path_to_root(b);
    // What both paths share at their ends is no part of the way from a to b.
    while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
      up.pop_back();
      down.pop_back();
    }
    for (size_t i = 0; i + 1 < up.size(); ++i) explain_edge(up[i]);
    for (size_t i = 0; i + 1 < down.size(); ++i) explain_edge(down[i]);
  }
  return reasons;
}

}  // namespace frazil::optimize
