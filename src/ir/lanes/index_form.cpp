// Sums of products in a sorted map; a term whose coefficient becomes 0 is gone, so equal forms are equal maps.
#include "ir/lanes/index_form.h"

#include <algorithm>
#include <set>

namespace frazil::ir {

IndexForm IndexForm::Constant(uint64_t n) {
  IndexForm form;
  form.AddTerm({}, n);
  return form;
}

IndexForm IndexForm::Of(ValueId value) {
  IndexForm form;
  form.AddTerm({value.index}, 1);
  return form;
}

void IndexForm::AddTerm(const std::vector<uint32_t>& product, uint64_t coefficient) {
  uint64_t& sum = terms_[product];
  sum += coefficient;
  if (sum == 0) terms_.erase(product);
}

IndexForm operator+(const IndexForm& a, const IndexForm& b) {
  IndexForm sum = a;
  for (const auto& [product, coefficient] : b.terms_) sum.AddTerm(product, coefficient);
  return sum;
}

IndexForm operator-(const IndexForm& a, const IndexForm& b) {
  IndexForm difference = a;
  for (const auto& [product, coefficient] : b.terms_) difference.AddTerm(product, 0 - coefficient);
  return difference;
}

IndexForm operator*(const IndexForm& a, const IndexForm& b) {
  IndexForm product;
  for (const auto& [left, x] : a.terms_)
    for (const auto& [right, y] : b.terms_) {
      std::vector<uint32_t> factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::sort(factors.begin(), factors.end());
      product.AddTerm(factors, x * y);
    }
  return product;
}

std::optional<int64_t> IndexForm::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
  return static_cast<int64_t>(terms_.begin()->second);
}

bool IndexForm::Mentions(ValueId value) const {
  return std::ranges::any_of(terms_, [&](const auto& term) {
    return std::ranges::find(term.first, value.index) != term.first.end();
  });
}

std::optional<IndexForm> IndexForm::Coefficient(ValueId value) const {
  IndexForm result;
  for (const auto& [product, coefficient] : terms_) {
    auto count = std::ranges::count(product, value.index);
    if (count > 1) return std::nullopt;
    if (count == 0) continue;
    std::vector<uint32_t> rest = product;
    rest.erase(std::ranges::find(rest, value.index));
    result.AddTerm(rest, coefficient);
  }
  return result;
}

IndexForm IndexForm::Without(ValueId value) const {
  IndexForm result;
  for (const auto& [product, coefficient] : terms_)
    if (std::ranges::find(product, value.index) == product.end())
      result.AddTerm(product, coefficient);
  return result;
}

std::vector<ValueId> IndexForm::Atoms() const {
  std::set<uint32_t> atoms;
  for (const auto& [product, coefficient] : terms_) atoms.insert(product.begin(), product.end());
  std::vector<ValueId> values;
  for (uint32_t atom : atoms) values.emplace_back(atom);
  return values;
}

uint32_t IndexForm::degree() const {
  size_t degree = 0;
  for (const auto& [product, coefficient] : terms_) degree = std::max(degree, product.size());
  return static_cast<uint32_t>(degree);
}

}  // namespace frazil::ir
