// What a text means: a small tree (a graph, where a story uses one amount twice) of typed
// operations. Nodes are stored children first; nothing points, nothing is folded but the sign of a
// literal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontends/words/big.h"

namespace frazil::frontends::words {

enum class Kind : uint8_t {
  Number,
  Truth,
  Add,
  Subtract,
  Multiply,
  Divide,
  WholeDivide,
  Remainder,
  Power,
  Negate,
  Absolute,
  Minimum,
  Maximum,
  Gcd,
  Lcm,
  SquareRoot,
  Factorial,
  Fibonacci,
  Collatz,
  IsPrime,
  Sum,
  Product,
  CountTo,
  Compare,
  Both,
};

enum class Relation : uint8_t { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };

// What a Sum or Product takes of each number of its range.
enum class SeriesTerm : uint8_t { Itself, Square, Cube };

struct ExprId {
  uint32_t index = UINT32_MAX;
  bool valid() const { return index != UINT32_MAX; }
  friend bool operator==(const ExprId&, const ExprId&) = default;
};

struct Node {
  Kind kind;
  ExprId a = {}, b = {};  // b is absent for one operand
  Rational value = {};    // Number; Truth: 0 or 1
  bool percent = false;   // Number: was written as a percentage, value already divided
  Relation relation = Relation::Equal;
  SeriesTerm term = SeriesTerm::Itself;
  int64_t step = 1;        // Sum, Product
  Location location = {};  // of the number or of the operator
};

struct Tree {
  std::vector<Node> nodes;
  ExprId root;

  const Node& at(ExprId id) const { return nodes[id.index]; }
  ExprId Push(Node node) {  // by value: the node may be one of ours
    nodes.push_back(std::move(node));
    return ExprId{static_cast<uint32_t>(nodes.size() - 1)};
  }
  // Every node below `from`, each once, operands before their operation, left before right.
  std::vector<ExprId> PostOrder(ExprId from) const;
  // Gives every use of a written number its own node, as its canonical form would: "200 + 15% *
  // 200". What was computed stays shared.
  void UnshareNumbers();
};

// "subtract", "sum", "greater".
std::string_view OperationName(const Node& node);

// How one operation is written once its operands are: printing follows it bottom up.
struct Written {
  std::string text;
  int precedence = 0;
};
Written WriteNumber(const Node& number);
Written WriteAnswer(std::string text);  // a number as PrintRational writes it
Written WriteOperation(const Node& node, Written a, Written b);

// "50 - 15"; a LimitReached error if sharing makes it absurdly long.
Result<std::string> PrintCanonical(const Tree& tree, ExprId from);
// The operations in the order they happen, "subtract, multiply"; long lists are cut with a count.
std::string PrintOperations(const Tree& tree);

}  // namespace frazil::frontends::words
