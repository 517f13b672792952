// The nodes that productions of the sentence grammar make.
#include "frontends/words/parser.h"

namespace frazil::frontends::words {

Error Parser::NoAnswer(std::string message, Location location) {
  // A sentence that was read to its end but makes no sense outranks any place in the middle.
  furthest_ = tokens_.size();
  best_ = Error{Diag::NoAnswer, std::move(message), location};
  return *best_;
}

ExprId Parser::Number(Rational value, Location location, bool percent) {
  Node node{Kind::Number};
  node.value = std::move(value);
  node.percent = percent;
  node.location = location;
  return tree_.Push(std::move(node));
}

ExprId Parser::Make(Kind kind, ExprId a, ExprId b) {
  // A sign before a literal belongs to it: "-3" is one constant.
  if (kind == Kind::Negate && NodeOf(a).kind == Kind::Number) {
    Node literal = NodeOf(a);
    literal.value.num = -literal.value.num;
    return tree_.Push(std::move(literal));
  }
  Node node{kind, a, b};
  node.location = NodeOf(a).location;
  return tree_.Push(std::move(node));
}

ExprId Parser::MakeCompare(Relation relation, ExprId a, ExprId b) {
  const ExprId id = Make(Kind::Compare, a, b);
  tree_.nodes[id.index].relation = relation;
  return id;
}

ExprId Parser::MakeRange(Kind kind, const Range& range) {
  const ExprId id = Make(kind, range.from, range.to);
  tree_.nodes[id.index].step = range.step;
  tree_.nodes[id.index].term = range.term;
  return id;
}

ExprId Parser::Fold(Kind kind, const std::vector<ExprId>& items) {
  ExprId result = items[0];
  for (size_t i = 1; i < items.size(); ++i)
    result = kind == Kind::Add ? Change(kind, result, items[i]) : Make(kind, result, items[i]);
  return result;
}

std::optional<int64_t> Parser::Literal(ExprId id) const {
  const Node& node = NodeOf(id);
  if (node.kind != Kind::Number || !node.value.whole()) return std::nullopt;
  return node.value.num.ToInt64();
}

}  // namespace frazil::frontends::words
