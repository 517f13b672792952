// An e-graph over pure scalar terms: many programs for one value at a time. A node is a term as it was stated, with
// the nodes it was stated with; classes are sets of nodes known to be equal, found by Find. Every union remembers its
// reason (a rule at two stated nodes, or congruence), so that any equality can be explained by the rule instances it
// rests on. Bounded by nodes, rounds and time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "ir/op.h"
#include "ir/type.h"
#include "optimize/egraph/rule_set.h"
#include "optimize/optimize.h"

namespace frazil::optimize {

using NodeId = uint32_t;
constexpr NodeId NoNode = UINT32_MAX;

struct Node {
  ir::Op op = ir::Op::Const;  // meaningless in a leaf
  bool is_leaf = false;
  ir::Type type;    // the row's T
  ir::Type result;  // of the value
  std::vector<uint64_t>
      words;  // constants: the value; leaves: what they stand for; else the attributes
  std::vector<NodeId> children;

  bool is_constant() const { return !is_leaf && op == ir::Op::Const; }
};

// left = right by the rule (a row's name, or "fold").
struct Reason {
  std::string_view rule;
  NodeId left = NoNode;
  NodeId right = NoNode;
};

class EGraph {
 public:
  // --- stating terms ---------------------------------------------------------------------------------------
  NodeId Leaf(uint64_t name, ir::Type type, uint32_t loop_depth);
  NodeId Constant(ir::Type type, std::span<const uint64_t> words);
  NodeId Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
               std::span<const NodeId> children);
  void Union(NodeId left, NodeId right, std::string_view rule);
  // Restores congruence after unions.
  void Rebuild();

  // --- looking -----------------------------------------------------------------------------------------------
  const Node& node(NodeId id) const { return nodes_[id]; }
  NodeId Find(NodeId id) const;
  size_t size() const { return nodes_.size(); }
  std::span<const NodeId> Members(NodeId id) const { return classes_[Find(id)].members; }
  NodeId ConstantOf(NodeId id) const { return classes_[Find(id)].constant; }  // or NoNode
  NodeId ArithmeticOf(NodeId id) const {
    return classes_[Find(id)].arithmetic;
  }  // a node that `arith` accepts
  ir::Type TypeOf(NodeId id) const { return nodes_[id].result; }
  uint32_t LoopDepth(NodeId leaf) const { return loop_depth_.at(leaf); }

  // The node that was stated first: what a reason names the class by.
  NodeId OldestOf(NodeId id) const { return classes_[Find(id)].oldest; }
  std::span<const NodeId> Parents(NodeId id) const { return classes_[Find(id)].parents; }
  // The class of a term without stating it; NoNode if nobody has.
  NodeId ClassOf(const Node& node) const;
  // Was no other term with children of the same classes stated before?
  bool IsFirstOfItsKind(NodeId id) const;

  // The rule instances that left = right rests on, each once.
  std::vector<Reason> Explain(std::span<const std::pair<NodeId, NodeId>> equalities) const;

 private:
  struct Class {
    std::vector<NodeId> members;
    std::vector<NodeId> parents;  // nodes with a child in this class
    NodeId oldest = NoNode;
    NodeId constant = NoNode;
    NodeId arithmetic = NoNode;
  };
  // An edge of the forest that explains the classes: this node equals `to`.
  struct Edge {
    NodeId to = NoNode;
    std::string_view rule;  // empty: congruence
    bool forward = true;    // the rule's left side is at this end
    bool swapped = false;   // congruence: of a commuting op, operands in the other order
  };
  using Key = std::vector<uint64_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  NodeId Add(Node node, uint32_t loop_depth);
  Key KeyOf(const Node& node, bool canonical) const;
  void Fold(NodeId id);
  void Merge(NodeId a, NodeId b, std::string_view rule);
  void Reroot(NodeId id);

  std::vector<Node> nodes_;
  mutable std::vector<NodeId> up_;  // union-find
  std::vector<Edge> edges_;
  std::vector<Class> classes_;  // by representative
  std::vector<NodeId> dirty_;
  std::unordered_map<Key, NodeId, KeyHash> stated_;     // by children as stated
  std::unordered_map<Key, NodeId, KeyHash> congruent_;  // by classes of children
  std::unordered_map<NodeId, uint32_t> loop_depth_;     // of leaves
};

// Applies rules until nothing is new, nothing gets cheaper for a while, or a limit is reached.
StopReason Saturate(EGraph& graph, const RuleSet& rules, const Limits& limits,
                    std::span<const NodeId> roots);

// What Extract chose: for each class that the roots need, one node.
struct Extraction {
  std::unordered_map<NodeId, NodeId> best;  // by representative
  double cost = 0;                          // of all of them
};
Extraction Extract(const EGraph& graph, std::span<const NodeId> roots);

}  // namespace frazil::optimize
