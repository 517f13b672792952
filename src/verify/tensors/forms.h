// Elements as terms over elements of the parameters and index expressions. Equal terms have one number, and equal terms are the
// same bits: no float operation is ever re-associated.
//
// A form stands for a total function of what is open in it: where an op would trap, its value is some fixed one that nobody
// looks at (traps.h looks at traps). Values of 64-bit integer types are words: a cast between such types is no op, and
// sums and products of them are polynomials, equal as integers, hence equal modulo 2^64. What has no such form is a
// node of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "ir/type.h"
#include "verify/tensors/index_form.h"

namespace frazil::verify::tensors {

enum class Kind : uint8_t {
  Constant,  // words: the value's
  Param,     // words: which; a scalar
  Element,   // words: which parameter; children: its indices
  Index,     // words: which of this size; children: its size. 0 <= it < size
  Bound,     // words: its height. What `Index` becomes in the node that closes it
  Apply,     // words: attributes; children: operands
  Sum,       // words: a factor and a degree for each product; children: the atoms of the products
  Quotient,  // children: x, d >= 1: the floor of x / d, both as integers
  Fold,      // words: kind, chains, block; children: count, the element at the bound index
  Chain,     // a matmul's; children: depth, left and right at the bound index
  Trap,      // may trap as `op`; words and children: when
  Loop,      // children: count, traps at the bound index
  Branch,    // words: how many of the first; children: condition, traps if it holds, traps if not
};

struct Node {
  Kind kind = Kind::Constant;
  ir::Op op = ir::Op::Const;
  ir::Type type = {};                  // the row's T; of a constant its type
  ir::Scalar from = ir::Scalar::Bool;  // conversions: of what
  std::vector<uint64_t> words = {};
  std::vector<FormId> children = {};

  friend bool operator==(const Node&, const Node&) = default;
};

// Integers of 64 bits, whose values are words of polynomials.
constexpr bool IsWord(ir::Type type) {
  return type.is_scalar() && (type.scalar == ir::Scalar::Index || type.scalar == ir::Scalar::I64 ||
                              type.scalar == ir::Scalar::U64);
}

class Forms {
 public:
  FormId Constant(ir::Type type, std::span<const uint64_t> words);
  FormId Number(int64_t number);  // as an index
  FormId Param(uint32_t param);
  FormId Element(uint32_t param, std::span<const FormId> indices);
  // A scalar op, in its normal form.
  FormId Apply(ir::Op op, ir::Type type, ir::Scalar from, std::span<const uint64_t> words,
               std::span<const FormId> children);
  FormId Select(ir::Type type, FormId condition, FormId first, FormId second);
  FormId Intern(Node node);

  FormId OfPolynomial(const Polynomial& polynomial);
  Polynomial PolynomialOf(FormId form) const;

  // An index that is not open yet: 0 <= it < size. The only one of size 1 is 0.
  FormId Open(FormId size);
  void Close(FormId index);
  // The node, in whose children from `first` on the index is bound. The name of a bound index is how deep nodes that bind are
  // nested in it, whatever is around it: the same fold is the same node everywhere.
  FormId Bind(Node node, size_t first, FormId index);

  const Node& node(FormId id) const { return nodes_[id]; }
  std::optional<int64_t> NumberOf(FormId id) const;  // of a constant word
  size_t size() const { return nodes_.size(); }
  // Too many forms or indices, or integers that do not fit: nothing is known.
  bool is_exhausted() const { return is_exhausted_; }

 private:
  struct Extra {
    uint64_t open = 0;    // a bit for each index that is open in it
    uint32_t height = 0;  // of nested nodes that bind
  };
  struct Hash {
    size_t operator()(const Node& node) const;
  };

  std::optional<FormId> OfWords(ir::Op op, std::span<const FormId> children);
  FormId Compare(ir::Op op, ir::Type type, FormId a, FormId b);
  FormId Renamed(FormId id, FormId index, FormId name, std::unordered_map<FormId, FormId>& done);

  std::vector<Node> nodes_;
  std::vector<Extra> extras_;
  std::unordered_map<Node, FormId, Hash> ids_;
  std::vector<FormId> open_;
  std::vector<FormId> indices_;  // all there are; the place of one is its bit
  bool is_exhausted_ = false;
};

}  // namespace frazil::verify::tensors
