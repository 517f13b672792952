// Values as terms, closed under congruence: equal children make equal parents. The certificate checker gives every
// pure value a term, merges what it has shown to be equal, and asks whether two values are one class.
//
// A term stands for a total function of its leaves: where an op would trap, its value is some fixed one that
// nobody looks at. Folding is built in: an op on constants is its constant, a select with a constant condition is
// its arm. Nothing is ever taken back, so a checker that fails gives up as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"

namespace frazil::verify {

using TermId = uint32_t;

class Terms {
 public:
  enum class Kind : uint8_t { Leaf, Constant, Apply };
  struct Node {
    Kind kind = Kind::Leaf;
    ir::Op op = ir::Op::Const;
    ir::Type type = {};           // Apply: the row's T
    ir::Type result = {};         // of the value
    std::vector<uint64_t> words;  // of a constant; attributes of an op
    std::vector<TermId> children;
  };

  TermId Leaf(ir::Type type);
  TermId Constant(ir::Type type, std::span<const uint64_t> words);
  TermId Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
               std::span<const TermId> children);

  // States that the two are equal. Types must be the same, else nothing is merged and conflict() is set.
  void Merge(TermId a, TermId b);
  TermId Find(TermId id) const;
  bool Equal(TermId a, TermId b) const { return Find(a) == Find(b); }

  // The constant of its class, if it has one.
  std::optional<std::span<const uint64_t>> ConstantOf(TermId id) const;
  ir::Type TypeOf(TermId id) const { return nodes_[Find(id)].result; }
  const Node& node(TermId id) const { return nodes_[id]; }
  // The members of a class: begin with First(id), go on with Next until it is First again.
  TermId First(TermId id) const { return Find(id); }
  TermId Next(TermId member) const { return next_[member]; }

  // Two different constants, or two types, were said to be equal: what was assumed cannot be.
  bool conflict() const { return conflict_; }
  // Grows with every merge.
  uint64_t merges() const { return merges_; }
  size_t size() const { return nodes_.size(); }

 private:
  static constexpr TermId None = UINT32_MAX;

  TermId Add(Node node);
  uint64_t Hash(const Node& node) const;
  bool Congruent(const Node& a, const Node& b) const;
  TermId Lookup(const Node& node, uint64_t hash) const;
  void Canonical(Node& node) const;
  void Fold(TermId id);
  void MergeOne(TermId a, TermId b);
  void Drain();

  std::vector<Node> nodes_;
  mutable std::vector<TermId> parent_;
  std::vector<uint32_t> size_;
  std::vector<TermId> next_;                // circular list of each class
  std::vector<TermId> constant_;            // by class: a Constant member, or None
  std::vector<std::vector<TermId>> users_;  // by class: Apply nodes with a child in it
  std::unordered_multimap<uint64_t, TermId> table_;
  std::vector<std::pair<TermId, TermId>> pending_;
  uint64_t merges_ = 0;
  bool conflict_ = false;
  bool draining_ = false;
};

// Whether the interpreter's scalar meaning covers the op: what Terms folds.
bool IsScalarOp(ir::Op op);

}  // namespace frazil::verify
