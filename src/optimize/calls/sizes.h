// Which sizes of some instructions may be symbols, and which of them are one: a form with symbols serves every region that has
// the same instructions at other sizes.
//
// Axes that an op joins are one class (rows of a product and of its result), axes that merely happen to be as long are not:
// otherwise a product of two square matrices would be another form than that of any others. A class stays a constant
// where a symbol would leave a question open that the constant answers: sizes 0 and 1, axes that are read at computed
// indices, and what ops with rules of their own make of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace frazil::optimize {

class SizeClasses {
 public:
  // Of these instructions and all inside of them. `first`: values whose classes are numbered first, in this order.
  SizeClasses(const ir::Function& function, std::span<const ir::InstId> insts,
              std::span<const ir::ValueId> first);

  // What each symbol stands for.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  // The symbol of an axis, of a constant; none: it stays a constant.
  static constexpr uint32_t None = UINT32_MAX;
  uint32_t SymbolOf(ir::ValueId tensor, uint32_t axis) const;
  uint32_t SymbolOf(ir::ValueId index) const { return SymbolOf(index, Extent); }
  // Constants that are symbols now.
  const std::vector<ir::ValueId>& constants() const { return constants_; }

 private:
  static constexpr uint32_t Extent = UINT32_MAX;
  using Node = uint32_t;

  Node NodeOf(ir::ValueId value, uint32_t axis);
  Node Root(Node node) const;
  void Unite(Node a, Node b);
  void Fix(Node node) { is_fixed_[Root(node)] = true; }
  void FixAll(ir::ValueId tensor);
  void UniteAxis(ir::ValueId a, uint32_t axis_a, ir::ValueId b, uint32_t axis_b) {
    Unite(NodeOf(a, axis_a), NodeOf(b, axis_b));
  }
  uint32_t RankOf(ir::ValueId tensor) const;
  bool IsIndexOfLoop(ir::ValueId value) const { return values_.contains({value.index, Extent}); }

  void Region(ir::RegionId region);
  void Inst(const ir::Inst& inst);
  void Generate(const ir::Inst& inst);
  void Fold(const ir::Inst& inst);
  void Extract(const ir::Inst& inst);
  void Other(const ir::Inst& inst);
  void Number(std::span<const ir::ValueId> first);

  const ir::Function& function_;
  std::map<std::pair<uint32_t, uint32_t>, Node> values_;  // by value and axis
  mutable std::vector<Node> parents_;
  std::vector<int64_t> lengths_;  // by node; of a class those of its root
  std::vector<bool> is_fixed_;
  std::vector<ir::ValueId> constants_;
  std::map<Node, uint32_t> symbols_;  // by root
  std::vector<int64_t> sizes_;
};

}  // namespace frazil::optimize
