// A rule is an equality. It is used from left to right, and from right to left where that makes the term smaller and
// the right side says everything the left side needs.
#include "optimize/egraph/rule_set.h"

#include <algorithm>
#include <tuple>

namespace frazil::optimize {
namespace {

using ir::PatternNode;

size_t Ops(const ir::Pattern& pattern) {
  return static_cast<size_t>(std::ranges::count_if(pattern.nodes, [](const PatternNode& node) {
    return node.kind == PatternNode::Kind::Apply;
  }));
}

// Ops below a computed part are no ops of the result.
size_t RunOps(const ir::Pattern& pattern, uint32_t root) {
  const PatternNode& node = pattern.nodes[root];
  if (node.kind != PatternNode::Kind::Apply) return 0;
  size_t count = 1;
  for (uint32_t child : node.children) count += RunOps(pattern, child);
  return count;
}
size_t RunOps(const ir::Pattern& pattern) {
  return RunOps(pattern, static_cast<uint32_t>(pattern.nodes.size() - 1));
}

bool Reversible(const ir::Rule& rule) {
  if (rule.right.root().kind != PatternNode::Kind::Apply) return false;
  std::vector<bool> bound(rule.holes.size(), false);
  for (const PatternNode& node : rule.right.nodes) {
    if (node.kind == PatternNode::Kind::Computed) return false;
    if (node.kind == PatternNode::Kind::Hole || node.kind == PatternNode::Kind::ConstantHole)
      bound[node.hole] = true;
  }
  return std::ranges::all_of(bound, [](bool b) { return b; }) && Ops(rule.right) > Ops(rule.left);
}

template <typename TypesOf>
RuleSet Make(const TypesOf& types_of) {
  RuleSet set;
  for (const ir::Rule& rule : ir::ParsedRules()) {
    const ir::ScalarSet types = types_of(*rule.row);
    if (types == 0 || rule.left.root().kind != PatternNode::Kind::Apply) continue;
    set.rules.push_back({&rule, false, types, RunOps(rule.right) > RunOps(rule.left)});
    if (Reversible(rule)) set.rules.push_back({&rule, true, types, false});
  }
  // Ties in the order of the table.
  auto growth = [](const DirectedRule& rule) {
    const auto ops =
        static_cast<int64_t>(RunOps(rule.to())) - static_cast<int64_t>(RunOps(rule.from()));
    return std::tuple(ops, rule.rule, rule.reversed);
  };
  std::ranges::sort(set.rules, {}, growth);
  return set;
}

}  // namespace

const RuleSet& RuleSet::Proved() {
  static const RuleSet set = Make([](const ir::RuleRow& row) {
    ir::ScalarSet types = 0;
    for (int s = 0; s < ir::ScalarCount; ++s)
      if (ir::RuleRecordedAsProved(row, static_cast<ir::Scalar>(s)))
        types |= ir::Only(static_cast<ir::Scalar>(s));
    return types;
  });
  return set;
}

RuleSet RuleSet::Unproved() {
  return Make([](const ir::RuleRow& row) { return row.types; });
}

}  // namespace frazil::optimize
