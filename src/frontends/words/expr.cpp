// Canonical text is built bottom up and moved, never copied, for operands that are used once: a
// chain of thousands of steps prints in linear time and without recursion.
#include "frontends/words/expr.h"

#include <fmt/format.h>

namespace frazil::frontends::words {
namespace {

constexpr int Comparing = 1, Adding = 2, Multiplying = 3, Signed = 4, Raising = 5, Atom = 6;
constexpr size_t MaxCanonicalChars = 200'000;

struct KindInfo {
  std::string_view name;    // what --json calls the operation
  std::string_view symbol;  // infix, or the name of a call
  int precedence;           // Atom: written as a call or in its own brackets
};

KindInfo InfoOf(Kind kind) {
  switch (kind) {
    case Kind::Number: return {"number", "", Atom};
    case Kind::Truth: return {"truth", "", Atom};
    case Kind::Add: return {"add", " + ", Adding};
    case Kind::Subtract: return {"subtract", " - ", Adding};
    case Kind::Multiply: return {"multiply", " * ", Multiplying};
    case Kind::Divide: return {"divide", " / ", Multiplying};
    case Kind::WholeDivide: return {"whole divide", "quot", Atom};
    case Kind::Remainder: return {"remainder", "rem", Atom};
    case Kind::Power: return {"power", "^", Raising};
    case Kind::Negate: return {"negate", "-", Signed};
    case Kind::Absolute: return {"absolute value", "abs", Atom};
    case Kind::Minimum: return {"minimum", "min", Atom};
    case Kind::Maximum: return {"maximum", "max", Atom};
    case Kind::Gcd: return {"greatest common divisor", "gcd", Atom};
    case Kind::Lcm: return {"least common multiple", "lcm", Atom};
    case Kind::SquareRoot: return {"square root", "sqrt", Atom};
    case Kind::Factorial: return {"factorial", "factorial", Atom};
    case Kind::Fibonacci: return {"fibonacci", "fibonacci", Atom};
    case Kind::Collatz: return {"collatz steps", "collatz", Atom};
    case Kind::IsPrime: return {"prime test", "is_prime", Atom};
    case Kind::Sum: return {"sum", "sum", Atom};
    case Kind::Product: return {"product", "product", Atom};
    case Kind::CountTo: return {"count", "count", Atom};
    case Kind::Compare: return {"compare", "", Comparing};
    case Kind::Both: return {"both", " and ", 0};
  }
  return {};
}

struct RelationInfo {
  std::string_view name;
  std::string_view symbol;
};

RelationInfo InfoOf(Relation relation) {
  switch (relation) {
    case Relation::Less: return {"less", " < "};
    case Relation::LessEqual: return {"less or equal", " <= "};
    case Relation::Greater: return {"greater", " > "};
    case Relation::GreaterEqual: return {"greater or equal", " >= "};
    case Relation::Equal: return {"equal", " == "};
    case Relation::NotEqual: return {"not equal", " != "};
  }
  return {};
}

void Bracket(Written& operand, int least) {
  if (operand.precedence >= least) return;
  operand.text.insert(0, 1, '(');
  operand.text.push_back(')');
}

std::string WriteRange(const Node& node, const std::string& from, const std::string& to) {
  const std::string_view terms = node.term == SeriesTerm::Square ? "squares, "
                                 : node.term == SeriesTerm::Cube ? "cubes, "
                                                                 : "";
  const std::string step = node.step == 1 ? "" : fmt::format(" step {}", node.step);
  return fmt::format("({}{}..{}{})", terms, from, to, step);
}

}  // namespace

std::vector<ExprId> Tree::PostOrder(ExprId from) const {
  std::vector<ExprId> order;
  std::vector<uint8_t> state(nodes.size());  // 0 unseen, 1 operands pushed, 2 done
  std::vector<ExprId> stack{from};
  while (!stack.empty()) {
    const ExprId id = stack.back();
    if (state[id.index] == 2) {
      stack.pop_back();
    } else if (state[id.index] == 1) {
      state[id.index] = 2;
      order.push_back(id);
      stack.pop_back();
    } else {
      state[id.index] = 1;
      for (ExprId operand : {at(id).b, at(id).a})
        if (operand.valid() && state[operand.index] == 0) stack.push_back(operand);
    }
  }
  return order;
}

void Tree::UnshareNumbers() {
  std::vector<bool> taken(nodes.size());
  for (ExprId id : PostOrder(root)) {
    for (ExprId Node::* operand : {&Node::a, &Node::b}) {
      const ExprId number = nodes[id.index].*operand;
      if (!number.valid() || at(number).a.valid()) continue;
      if (taken[number.index]) nodes[id.index].*operand = Push(at(number));
      taken[number.index] = true;
    }
  }
}

std::string_view OperationName(const Node& node) {
  return node.kind == Kind::Compare ? InfoOf(node.relation).name : InfoOf(node.kind).name;
}

Written WriteNumber(const Node& number) {
  if (number.kind == Kind::Truth) return {number.value.num.is_zero() ? "false" : "true", Atom};
  if (number.percent)
    return {PrintRational(Rational::Of(number.value.num * 100, number.value.den)) + "%", Raising};
  Written written = WriteAnswer(PrintRational(number.value));
  // As the division that it reads back as.
  if (const size_t slash = written.text.find('/'); slash != std::string::npos)
    written.text.replace(slash, 1, " / ");
  return written;
}

Written WriteAnswer(std::string text) {
  const int precedence = text.find('/') != std::string::npos ? Multiplying
                         : text.starts_with('-')             ? Signed
                                                             : Atom;
  return {std::move(text), precedence};
}

Written WriteOperation(const Node& node, Written a, Written b) {
  const KindInfo info = InfoOf(node.kind);
  switch (node.kind) {
    case Kind::Sum:
    case Kind::Product:
    case Kind::CountTo:
      Bracket(a, Adding);
      Bracket(b, Adding);
      return {std::string(info.symbol) + WriteRange(node, a.text, b.text), Atom};
    case Kind::Absolute: return {"abs(" + std::move(a.text) + ")", Atom};
    case Kind::Factorial: Bracket(a, Atom); return {std::move(a.text) + "!", Raising};
    case Kind::Negate: Bracket(a, Raising); return {"-" + std::move(a.text), Signed};
    case Kind::Power:
      Bracket(a, Atom);
      Bracket(b, Raising);
      break;
    case Kind::Compare:
    case Kind::Both:
      Bracket(a, info.precedence + 1);
      Bracket(b, info.precedence + 1);
      break;
    default:
      if (info.precedence == Atom) {
        const std::string second = node.b.valid() ? ", " + std::move(b.text) : "";
        return {fmt::format("{}({}{})", info.symbol, a.text, second), Atom};
      }
      Bracket(a, info.precedence);
      Bracket(b, info.precedence + 1);
      break;
  }
  a.text += node.kind == Kind::Compare ? InfoOf(node.relation).symbol : info.symbol;
  a.text += b.text;
  return {std::move(a.text), info.precedence};
}

Result<std::string> PrintCanonical(const Tree& tree, ExprId from) {
  const std::vector<ExprId> order = tree.PostOrder(from);
  std::vector<uint32_t> uses(tree.nodes.size());
  for (ExprId id : order)
    for (ExprId operand : {tree.at(id).a, tree.at(id).b})
      if (operand.valid()) ++uses[operand.index];
  std::vector<Written> written(tree.nodes.size());
  auto take = [&](ExprId id) -> Written {
    if (!id.valid()) return {};
    return uses[id.index]-- == 1 ? std::move(written[id.index]) : written[id.index];
  };
  for (ExprId id : order) {
    const Node& node = tree.at(id);
    if (!node.a.valid()) {
      written[id.index] = WriteNumber(node);
    } else {
      Written a = take(node.a);
      written[id.index] = WriteOperation(node, std::move(a), take(node.b));
    }
    if (written[id.index].text.size() > MaxCanonicalChars)
      return Fail(Diag::LimitReached, fmt::format("the canonical form is longer than {} characters",
                                                  MaxCanonicalChars));
  }
  return std::move(written[from.index].text);
}

std::string PrintOperations(const Tree& tree) {
  constexpr size_t Shown = 12;
  std::string text;
  size_t count = 0;
  for (ExprId id : tree.PostOrder(tree.root)) {
    if (!tree.at(id).a.valid()) continue;
    if (++count > Shown) continue;
    if (count > 1) text += ", ";
    text += OperationName(tree.at(id));
  }
  if (count == 0) return std::string(OperationName(tree.at(tree.root)));
  if (count > Shown) text += fmt::format(", and {} more", count - Shown);
  return text;
}

}  // namespace frazil::frontends::words
