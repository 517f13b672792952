// Terms, classes and congruence. Two tables: what was stated, word for word, so that a reason can name its terms; and
// the same up to the classes of the children, which is where congruence shows. Operands of commuting ops are sorted in
// the second, so no rule is needed for that law.
#include "optimize/egraph/egraph.h"

#include <algorithm>

#include "base/check.h"
#include "optimize/fold.h"

namespace frazil::optimize {
namespace {

uint64_t TypeWord(ir::Type type) {
  return static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.limbs) << 8;
}

// A NaN with a payload may come from memory; arithmetic gives the one quiet NaN (docs/semantics.md, float.nan).
bool IsFloatArithmetic(const Node& node) {
  if (!ir::IsFloat(node.result.scalar) || node.is_leaf) return false;
  return node.op != ir::Op::Select && node.op != ir::Op::Bitcast && node.op != ir::Op::Const &&
         node.op != ir::Op::Lookup && IsScalarOp(node.op);
}

// A float constant that is no NaN, or the one quiet NaN.
bool IsPlainConstant(const Node& node) {
  if (!node.is_constant()) return false;
  uint64_t infinity = 0, quiet = 0;
  switch (node.result.scalar) {
    case ir::Scalar::F16: infinity = 0x7c00, quiet = 0x7e00; break;
    case ir::Scalar::BF16: infinity = 0x7f80, quiet = 0x7fc0; break;
    case ir::Scalar::F32: infinity = 0x7f800000, quiet = 0x7fc00000; break;
    case ir::Scalar::F64: infinity = 0x7ff0000000000000, quiet = 0x7ff8000000000000; break;
    default: return false;
  }
  const uint64_t sign = uint64_t{1} << (ir::BitsOf(node.result) - 1);
  return (node.words[0] & ~sign) <= infinity || node.words[0] == quiet;
}

}  // namespace

size_t EGraph::KeyHash::operator()(const Key& key) const {
  uint64_t h = key.size();
  for (uint64_t word : key) h = (h ^ word) * 0x9e3779b97f4a7c15ull, h ^= h >> 31;
  return h;
}

NodeId EGraph::Find(NodeId id) const {
  while (up_[id] != id) id = up_[id] = up_[up_[id]];
  return id;
}

EGraph::Key EGraph::KeyOf(const Node& node, bool canonical) const {
  Key key;
  key.reserve(3 + node.words.size() + node.children.size());
  key.push_back(static_cast<uint64_t>(node.op) | static_cast<uint64_t>(node.is_leaf) << 8);
  key.push_back(TypeWord(node.type) << 32 | TypeWord(node.result));
  key.insert(key.end(), node.words.begin(), node.words.end());
  for (NodeId child : node.children) key.push_back(canonical ? Find(child) : child);
  if (canonical && !node.is_leaf && ir::Info(node.op).law == ir::Law::Commutes &&
      key[key.size() - 2] > key.back())
    std::swap(key[key.size() - 2], key.back());
  return key;
}

NodeId EGraph::ClassOf(const Node& node) const {
  auto found = congruent_.find(KeyOf(node, true));
  return found == congruent_.end() ? NoNode : Find(found->second);
}

bool EGraph::IsFirstOfItsKind(NodeId id) const {
  auto found = congruent_.find(KeyOf(nodes_[id], true));
  return found == congruent_.end() || found->second == id;
}

NodeId EGraph::Leaf(uint64_t name, ir::Type type, uint32_t loop_depth) {
  return Add({ir::Op::Const, true, type, type, {name}, {}}, loop_depth);
}

NodeId EGraph::Constant(ir::Type type, std::span<const uint64_t> words) {
  return Add({ir::Op::Const, false, type, type, {words.begin(), words.end()}, {}}, 0);
}

NodeId EGraph::Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
                     std::span<const NodeId> children) {
  return Add(
      {op, false, type, result, {words.begin(), words.end()}, {children.begin(), children.end()}},
      0);
}

NodeId EGraph::Add(Node node, uint32_t loop_depth) {
  Key stated = KeyOf(node, false);
  if (auto found = stated_.find(stated); found != stated_.end()) return found->second;
  const auto id = static_cast<NodeId>(nodes_.size());
  stated_.emplace(std::move(stated), id);
  Key canonical = KeyOf(node, true);
  nodes_.push_back(std::move(node));
  up_.push_back(id);
  edges_.emplace_back();
  Class& own = classes_.emplace_back();
  own.members = {id};
  own.oldest = id;
  const Node& added = nodes_[id];
  if (added.is_leaf) loop_depth_[id] = loop_depth;
  if (added.is_constant()) own.constant = id;
  if (IsFloatArithmetic(added) || IsPlainConstant(added)) own.arithmetic = id;
  for (NodeId child : added.children) {
    std::vector<NodeId>& parents = classes_[Find(child)].parents;
    if (parents.empty() || parents.back() != id) parents.push_back(id);
  }
  auto [found, is_new] = congruent_.emplace(std::move(canonical), id);
  if (!is_new)
    Merge(id, found->second, "");
  else
    Fold(id);
  return id;
}

void EGraph::Fold(NodeId id) {
  if (ConstantOf(id) != NoNode || nodes_[id].is_leaf || nodes_[id].children.empty()) return;
  std::vector<NodeId> constants;
  for (NodeId child : nodes_[id].children) {
    NodeId constant = ConstantOf(child);
    if (constant == NoNode) return;
    constants.push_back(constant);
  }
  std::vector<FoldOperand> operands;
  for (NodeId constant : constants)
    operands.push_back({nodes_[constant].result, nodes_[constant].words});
  const Node copy = nodes_[id];
  auto words = optimize::Fold(copy.op, copy.type, copy.result, copy.words, operands);
  if (!words) return;
  NodeId right = Constant(copy.result, *words);
  NodeId left = copy.children == constants
                    ? id
                    : Apply(copy.op, copy.type, copy.result, copy.words, constants);
  if (Find(left) != Find(right)) Merge(left, right, "fold");
}

void EGraph::Union(NodeId left, NodeId right, std::string_view rule) {
  if (Find(left) != Find(right)) Merge(left, right, rule);
}

// Makes `id` the root of its tree in the forest of reasons.
void EGraph::Reroot(NodeId id) {
  Edge above = edges_[id];
  edges_[id] = {};
  while (above.to != NoNode) {
    const NodeId next = above.to;
    const Edge further = edges_[next];
    edges_[next] = {id, above.rule, !above.forward, above.swapped};
    id = next;
    above = further;
  }
}

void EGraph::Merge(NodeId a, NodeId b, std::string_view rule) {
  NodeId into = Find(a), from = Find(b);
  if (into == from) return;
  CHECK(nodes_[a].result == nodes_[b].result);
  bool straight = true;
  if (rule.empty())
    for (size_t i = 0; i < nodes_[a].children.size(); ++i)
      straight &= Find(nodes_[a].children[i]) == Find(nodes_[b].children[i]);
  Reroot(a);
  edges_[a] = {b, rule, true, !straight};
  // Of equals the older one stays: a term stated after the search joins its class without renaming it.
  if (classes_[into].members.size() + classes_[into].parents.size() <=
      classes_[from].members.size() + classes_[from].parents.size())
    std::swap(into, from);
  up_[from] = into;
  Class gone = std::move(classes_[from]);
  classes_[from] = {};
  Class& grown = classes_[into];
  grown.members.insert(grown.members.end(), gone.members.begin(), gone.members.end());
  grown.parents.insert(grown.parents.end(), gone.parents.begin(), gone.parents.end());
  grown.oldest = std::min(grown.oldest, gone.oldest);
  if (grown.constant == NoNode) grown.constant = gone.constant;
  if (grown.arithmetic == NoNode) grown.arithmetic = gone.arithmetic;
  dirty_.push_back(into);
}

void EGraph::Rebuild() {
  while (!dirty_.empty()) {
    std::vector<NodeId> changed = std::move(dirty_);
    dirty_.clear();
    for (NodeId& id : changed) id = Find(id);
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (NodeId id : changed) {
      std::vector<NodeId> parents = classes_[Find(id)].parents;
      std::sort(parents.begin(), parents.end());
      parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
      for (NodeId parent : parents) {
        auto [found, is_new] = congruent_.emplace(KeyOf(nodes_[parent], true), parent);
        if (!is_new) Merge(parent, found->second, "");
        Fold(parent);
      }
    }
  }
}

}  // namespace frazil::optimize
