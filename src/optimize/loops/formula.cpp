// Hash-consed expressions with the few simplifications that keep formulas readable: constants, 0 and 1.
#include "optimize/loops/formula.h"

#include "ir/text/literal.h"
#include "optimize/cost.h"
#include "optimize/fold.h"

namespace frazil::optimize {

using ir::Op;

ExprId Formula::Make(Node node) {
  auto [found, is_new] = known_.emplace(node, static_cast<ExprId>(nodes_.size()));
  if (is_new) nodes_.push_back(std::move(node));
  return found->second;
}

ExprId Formula::Value(ir::ValueId value, ir::Type type) {
  Node node;
  node.value = value;
  node.type = node.result = type;
  return Make(std::move(node));
}

ExprId Formula::Constant(ir::Type type, std::span<const uint64_t> words) {
  Node node;
  node.type = node.result = type;
  node.words.assign(words.begin(), words.end());
  return Make(std::move(node));
}

ExprId Formula::Number(ir::Type type, int64_t value) {
  return Constant(type, ir::LiteralFromInt(type, value));
}

bool Formula::IsNumber(ExprId id, int64_t value) const {
  const Node& node = nodes_[id];
  return node.is_constant() && node.words == ir::LiteralFromInt(node.result, value);
}

ExprId Formula::Apply(Op op, ir::Type type, ir::Type result, std::vector<ExprId> children) {
  std::vector<FoldOperand> operands;
  for (ExprId child : children)
    if (nodes_[child].is_constant())
      operands.push_back({nodes_[child].result, nodes_[child].words});
  if (operands.size() == children.size())
    if (auto words = Fold(op, type, result, {}, operands)) return Constant(result, *words);
  Node node;
  node.op = op;
  node.type = type;
  node.result = result;
  node.children = std::move(children);
  return Make(std::move(node));
}

ExprId Formula::Add(ExprId a, ExprId b) {
  if (IsNumber(a, 0)) return b;
  if (IsNumber(b, 0)) return a;
  return Apply(Op::Add, TypeOf(a), TypeOf(a), {a, b});
}

ExprId Formula::Sub(ExprId a, ExprId b) {
  if (IsNumber(b, 0)) return a;
  return Apply(Op::Sub, TypeOf(a), TypeOf(a), {a, b});
}

ExprId Formula::Mul(ExprId a, ExprId b) {
  if (IsNumber(a, 0) || IsNumber(b, 1)) return a;
  if (IsNumber(b, 0) || IsNumber(a, 1)) return b;
  return Apply(Op::Mul, TypeOf(a), TypeOf(a), {a, b});
}

ExprId Formula::Cast(ExprId a, ir::Type to) {
  return TypeOf(a) == to ? a : Apply(Op::Cast, to, to, {a});
}

ExprId Formula::Shr(ExprId a, int64_t amount) {
  return Apply(Op::Shr, TypeOf(a), TypeOf(a), {a, Number(TypeOf(a), amount)});
}

ExprId Formula::Or(ExprId a, int64_t bits) {
  return Apply(Op::Or, TypeOf(a), TypeOf(a), {a, Number(TypeOf(a), bits)});
}

ExprId Formula::Less(ExprId a, ExprId b) {
  return Apply(Op::Lt, TypeOf(a), ir::types::Bool, {a, b});
}

ExprId Formula::Select(ExprId condition, ExprId a, ExprId b) {
  if (IsNumber(condition, 1)) return a;
  if (IsNumber(condition, 0)) return b;
  return a == b ? a : Apply(Op::Select, TypeOf(a), TypeOf(a), {condition, a, b});
}

double Formula::Cost(std::span<const ExprId> roots) const {
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<ExprId> open(roots.begin(), roots.end());
  double cost = 0;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    if (!nodes_[id].value.valid()) cost += OpCost(nodes_[id].op, nodes_[id].type);
    open.insert(open.end(), nodes_[id].children.begin(), nodes_[id].children.end());
  }
  return cost;
}

ir::ValueId Formula::Emit(ExprId root, ir::FunctionBuilder& builder,
                          const std::function<ir::ValueId(ir::ValueId)>& value) const {
  std::map<ExprId, ir::ValueId> made;
  const std::function<ir::ValueId(ExprId)> emit = [&](ExprId id) -> ir::ValueId {
    if (auto found = made.find(id); found != made.end()) return found->second;
    const Node& node = nodes_[id];
    ir::Values operands;
    for (ExprId child : node.children) operands.push_back(emit(child));
    const ir::Type results[] = {node.result};
    ir::ValueId result = node.value.valid() ? value(node.value)
                         : node.is_constant()
                             ? builder.Const(node.result, node.words)
                             : builder.Emit(node.op, node.type, operands, results)[0];
    made[id] = result;
    return result;
  };
  return emit(root);
}

std::optional<uint32_t> Formula::Term(ExprId root, ValueTerms& values, Proof& proof) const {
  std::map<ExprId, std::optional<uint32_t>> made;
  const std::function<std::optional<uint32_t>(ExprId)> term =
      [&](ExprId id) -> std::optional<uint32_t> {
    if (auto found = made.find(id); found != made.end()) return found->second;
    const Node& node = nodes_[id];
    std::optional<uint32_t> result;
    if (node.value.valid()) {
      result = values.Of(node.value);
    } else if (node.is_constant()) {
      result = proof.Constant(node.result, node.words);
    } else {
      std::vector<uint32_t> children;
      for (ExprId child : node.children)
        if (std::optional<uint32_t> made_child = term(child)) children.push_back(*made_child);
      if (children.size() == node.children.size())
        result = proof.Apply(node.op, node.type, node.result, {}, children);
    }
    made[id] = result;
    return result;
  };
  return term(root);
}

}  // namespace frazil::optimize
