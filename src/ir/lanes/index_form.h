// Index arithmetic in a normal form: a sum of products of values with coefficients modulo 2^64, which is
// exactly how `index` wraps. Two indices are the same if their forms are; how an index moves with a loop
// is a coefficient. What is no sum or product stands as itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace frazil::ir {

class IndexForm {
 public:
  static IndexForm Constant(uint64_t n);
  static IndexForm Of(ValueId value);

  friend IndexForm operator+(const IndexForm& a, const IndexForm& b);
  friend IndexForm operator-(const IndexForm& a, const IndexForm& b);
  friend IndexForm operator*(const IndexForm& a, const IndexForm& b);
  friend bool operator==(const IndexForm&, const IndexForm&) = default;

  std::optional<int64_t> constant() const;  // its value, if it mentions nothing
  bool Mentions(ValueId value) const;
  // c with form = c * value + (something without value); nothing where the value is squared.
  std::optional<IndexForm> Coefficient(ValueId value) const;
  IndexForm Without(ValueId value) const;  // the terms that do not mention it
  // Every value that it mentions, once.
  std::vector<ValueId> Atoms() const;
  size_t size() const { return terms_.size(); }
  uint32_t degree() const;

  // Sorted value numbers of a product, and its coefficient (never 0).
  using Terms = std::map<std::vector<uint32_t>, uint64_t>;
  const Terms& terms() const { return terms_; }

 private:
  void AddTerm(const std::vector<uint32_t>& product, uint64_t coefficient);
  Terms terms_;
};

// The forms of values, each made when it is asked for. They stay small: an expression that grows beyond some terms, or
// that nests deeper than `max_depth`, stands as itself, so that no program can make an analysis slow.
class FormTable {
 public:
  explicit FormTable(uint32_t max_depth) : max_depth_(max_depth) {}

  template <typename Make>
  const IndexForm& Of(ValueId value, const Make& make) {
    auto found = forms_.find(value.index);
    if (found != forms_.end()) return found->second;
    if (depth_ >= max_depth_) return Keep(value, IndexForm::Of(value));
    ++depth_;
    IndexForm form = make(value);
    --depth_;
    return Keep(value, IsSmall(form) ? std::move(form) : IndexForm::Of(value));
  }
  void Clear() { forms_.clear(); }

 private:
  static bool IsSmall(const IndexForm& form) { return form.size() <= 24 && form.degree() <= 6; }
  const IndexForm& Keep(ValueId value, IndexForm form) {
    return forms_.emplace(value.index, std::move(form)).first->second;
  }

  const uint32_t max_depth_;
  uint32_t depth_ = 0;
  std::unordered_map<uint32_t, IndexForm> forms_;
};

// What an op on words of 64 bits gives for forms of its operands, `operand(i)`; nothing where it is no sum or product.
template <typename Operand>
std::optional<IndexForm> FormOfOp(Op op, const Operand& operand) {
  switch (op) {
    case Op::Add: return operand(0) + operand(1);
    case Op::Sub: return operand(0) - operand(1);
    case Op::Neg: return IndexForm::Constant(0) - operand(0);
    case Op::Mul: return operand(0) * operand(1);
    case Op::Shl: {
      const std::optional<int64_t> amount = operand(1).constant();
      if (!amount) return std::nullopt;
      return operand(0) * IndexForm::Constant(uint64_t{1} << (*amount & 63));
    }
    default: return std::nullopt;
  }
}

}  // namespace frazil::ir
