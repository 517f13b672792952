// The cheapest term of each class, a shared subterm counted once: with its best node a class keeps the set of classes
// that the node needs, and its cost is the sum over that set. A node inside a loop weighs as much as the loop's turns,
// so that invariant parts come together and can leave it. Greedy, hence not always the least; the caller compares
// whole programs anyway.
#include <algorithm>
#include <cmath>
#include <deque>

#include "optimize/cost.h"
#include "optimize/egraph/egraph.h"

namespace frazil::optimize {
namespace {

constexpr double LoopWeight = 16;
constexpr double NodeCost = 0.01;  // of two terms with the same ops the smaller one

struct Choice {
  NodeId node = NoNode;
  uint32_t depth = 0;  // of the innermost loop that it depends on
  double own = 0;
  double cost = INFINITY;
  std::vector<NodeId> needs;  // classes below, sorted
};

class Extractor {
 public:
  explicit Extractor(const EGraph& graph) : graph_(graph), choices_(graph.size()) {}

  void Run() {
    std::deque<NodeId> open;
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_.node(id).children.empty() || graph_.ConstantOf(id) != NoNode) open.push_back(id);
    // Costs only fall; the bound is for the cycles that rules make.
    for (size_t left = 40 * graph_.size() + 1000; !open.empty() && left > 0; --left) {
      const NodeId id = open.front();
      open.pop_front();
      if (!Improve(id)) continue;
      for (NodeId parent : graph_.Parents(id)) open.push_back(parent);
    }
  }

  const Choice& Of(NodeId id) const { return choices_[graph_.Find(id)]; }

 private:
  bool Improve(NodeId id) {
    const Node& node = graph_.node(id);
    const NodeId own_class = graph_.Find(id);
    const NodeId constant = graph_.ConstantOf(id);
    if (constant != NoNode && constant != id) return Improve(constant);
    Choice choice;
    choice.node = id;
    if (node.is_leaf) choice.depth = graph_.LoopDepth(id);
    double dearest = 0;
    for (NodeId child : node.children) {
      const Choice& best = Of(child);
      if (best.node == NoNode) return false;
      choice.depth = std::max(choice.depth, best.depth);
      dearest = std::max(dearest, best.cost);
    }
    const double cost = node.is_leaf || node.is_constant() ? 0 : OpCost(node.op, node.type);
    choice.own = (cost + NodeCost) * std::pow(LoopWeight, choice.depth);
    // Whatever is shared, it costs at least its dearest child: most nodes end here.
    if (choice.own + dearest >= choices_[own_class].cost * (1 - 1e-9)) return false;
    std::vector<NodeId> needs, merged;
    for (NodeId child : node.children) {
      merged.clear();
      std::ranges::set_union(needs, Of(child).needs, std::back_inserter(merged));
      std::swap(needs, merged);
      auto place = std::ranges::lower_bound(needs, graph_.Find(child));
      if (place == needs.end() || *place != graph_.Find(child))
        needs.insert(place, graph_.Find(child));
    }
    if (std::binary_search(needs.begin(), needs.end(), own_class)) return false;
    choice.cost = choice.own;
    for (NodeId need : needs) choice.cost += choices_[need].own;
    choice.needs = std::move(needs);
    Choice& best = choices_[own_class];
    if (choice.cost >= best.cost - 1e-9 * best.cost) return false;
    best = std::move(choice);
    return true;
  }

  const EGraph& graph_;
  std::vector<Choice> choices_;
};

}  // namespace

Extraction Extract(const EGraph& graph, std::span<const NodeId> roots) {
  Extractor extractor(graph);
  extractor.Run();
  Extraction extraction;
  std::vector<NodeId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const NodeId id = graph.Find(open.back());
    open.pop_back();
    const Choice& choice = extractor.Of(id);
    if (choice.node == NoNode || !extraction.best.emplace(id, choice.node).second) continue;
    extraction.cost += choice.own;
    for (NodeId child : graph.node(choice.node).children) open.push_back(child);
  }
  return extraction;
}

}  // namespace frazil::optimize
