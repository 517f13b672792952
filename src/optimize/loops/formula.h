// Formulas under construction: terms over values of a function, folded as they are built, written into a program or
// into a certificate.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "ir/builder.h"
#include "ir/program.h"
#include "optimize/value_terms.h"

namespace frazil::optimize {

using ExprId = uint32_t;

class Formula {
 public:
  ExprId Value(ir::ValueId value, ir::Type type);
  ExprId Constant(ir::Type type, std::span<const uint64_t> words);
  ExprId Number(ir::Type type, int64_t value);
  ExprId Add(ExprId a, ExprId b);
  ExprId Sub(ExprId a, ExprId b);
  ExprId Mul(ExprId a, ExprId b);
  ExprId Cast(ExprId a, ir::Type to);  // nothing to do for the same type
  ExprId Shr(ExprId a, int64_t amount);
  ExprId Or(ExprId a, int64_t bits);
  ExprId Less(ExprId a, ExprId b);
  ExprId Select(ExprId condition, ExprId a, ExprId b);

  ir::Type TypeOf(ExprId id) const { return nodes_[id].result; }
  bool IsNumber(ExprId id, int64_t value) const;

  double Cost(std::span<const ExprId> roots) const;
  ir::ValueId Emit(ExprId root, ir::FunctionBuilder& builder,
                   const std::function<ir::ValueId(ir::ValueId)>& value) const;
  std::optional<uint32_t> Term(ExprId root, ValueTerms& values, Proof& proof) const;

 private:
  struct Node {
    ir::Op op = ir::Op::Const;
    ir::Type type, result;
    std::vector<uint64_t> words;
    std::vector<ExprId> children;
    ir::ValueId value;  // a leaf, if valid
    bool is_constant() const { return !value.valid() && op == ir::Op::Const; }
    friend auto operator<=>(const Node& a, const Node& b) {
      auto key = [](const Node& n) {
        return std::tuple(n.op, n.value.index, n.type.scalar, n.type.limbs, n.result.scalar,
                          n.result.limbs);
      };
      if (auto order = key(a) <=> key(b); order != 0) return order;
      if (auto order = a.words <=> b.words; order != 0) return order;
      return a.children <=> b.children;
    }
    friend bool operator==(const Node& a, const Node& b) { return (a <=> b) == 0; }
  };
  ExprId Make(Node node);
  ExprId Apply(ir::Op op, ir::Type type, ir::Type result, std::vector<ExprId> children);

  std::vector<Node> nodes_;
  std::map<Node, ExprId> known_;
};

}  // namespace frazil::optimize
