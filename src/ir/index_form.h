// Index arithmetic in a normal form: a sum of products of values with coefficients modulo 2^64, which is
// exactly how `index` wraps. Two indices are the same if their forms are; how an index moves with a loop
// is a coefficient. What is no sum or product stands as itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

}  // namespace frazil::ir
