#include "verify/tensors/index_form.h"

#include <algorithm>

namespace frazil::verify::tensors {
namespace {

constexpr size_t MostTerms = 64;

std::optional<Monomial> Product(const Monomial& a, const Monomial& b) {
  Monomial product = One;
  size_t count = 0;
  for (const Monomial* side : {&a, &b}) {
    for (const FormId atom : *side) {
      if (atom == NoForm) break;
      if (count == product.size()) return std::nullopt;
      product[count++] = atom;
    }
  }
  std::ranges::sort(product);
  return product;
}

// What is left of a product without the atoms of another one; nothing if it has not all of them.
std::optional<Monomial> Without(const Monomial& whole, const Monomial& part) {
  Monomial rest = One;
  size_t count = 0, next = 0;
  for (const FormId atom : whole) {
    if (next < part.size() && part[next] != NoForm && part[next] == atom)
      ++next;
    else
      rest[count++] = atom;
  }
  if (next < part.size() && part[next] != NoForm) return std::nullopt;
  return rest;
}

}  // namespace

Polynomial Polynomial::Number(int64_t number) {
  Polynomial result;
  if (number != 0) result.terms_ = {{One, number}};
  return result;
}

Polynomial Polynomial::Atom(FormId atom) {
  Monomial monomial = One;
  monomial[0] = atom;
  Polynomial result;
  result.terms_ = {{monomial, 1}};
  return result;
}

std::optional<int64_t> Polynomial::AsNumber() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].first == One) return terms_[0].second;
  return std::nullopt;
}

std::optional<FormId> Polynomial::AsAtom() const {
  if (terms_.size() != 1 || terms_[0].second != 1) return std::nullopt;
  const Monomial& monomial = terms_[0].first;
  if (monomial[0] == NoForm || monomial[1] != NoForm) return std::nullopt;
  return monomial[0];
}

std::vector<FormId> Polynomial::Atoms() const {
  std::vector<FormId> atoms;
  for (const auto& [monomial, factor] : terms_)
    for (const FormId atom : monomial)
      if (atom != NoForm) atoms.push_back(atom);
  std::ranges::sort(atoms);
  const auto [first, last] = std::ranges::unique(atoms);
  atoms.erase(first, last);
  return atoms;
}

bool Polynomial::Add(const Monomial& monomial, int64_t factor) {
  const auto at =
      std::ranges::lower_bound(terms_, monomial, {}, &std::pair<Monomial, int64_t>::first);
  if (at == terms_.end() || at->first != monomial) {
    if (factor != 0) terms_.insert(at, {monomial, factor});
    return terms_.size() <= MostTerms;
  }
  if (__builtin_add_overflow(at->second, factor, &at->second)) return false;
  if (at->second == 0) terms_.erase(at);
  return true;
}

std::optional<Polynomial> Polynomial::Plus(const Polynomial& other, int64_t factor) const {
  Polynomial sum = *this;
  for (const auto& [monomial, own] : other.terms_) {
    int64_t product = 0;
    if (__builtin_mul_overflow(own, factor, &product) || !sum.Add(monomial, product))
      return std::nullopt;
  }
  return sum;
}

std::optional<Polynomial> Polynomial::Times(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [left, x] : terms_) {
    for (const auto& [right, y] : other.terms_) {
      int64_t factor = 0;
      const std::optional<Monomial> monomial = Product(left, right);
      if (!monomial || __builtin_mul_overflow(x, y, &factor) || !result.Add(*monomial, factor))
        return std::nullopt;
    }
  }
  return result;
}

std::optional<std::pair<Polynomial, Polynomial>> Polynomial::Split(FormId atom) const {
  Monomial single = One;
  single[0] = atom;
  std::pair<Polynomial, Polynomial> parts;
  for (const auto& [monomial, factor] : terms_) {
    const std::optional<Monomial> rest = Without(monomial, single);
    if (rest && std::ranges::find(*rest, atom) != rest->end()) return std::nullopt;
    Polynomial& part = rest ? parts.first : parts.second;
    if (!part.Add(rest ? *rest : monomial, factor)) return std::nullopt;
  }
  return parts;
}

std::optional<Polynomial> Polynomial::With(FormId atom, const Polynomial& value) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    Polynomial product = Number(factor);
    for (const FormId each : monomial) {
      if (each == NoForm) break;
      std::optional<Polynomial> next = product.Times(each == atom ? value : Atom(each));
      if (!next) return std::nullopt;
      product = std::move(*next);
    }
    std::optional<Polynomial> sum = result.Plus(product);
    if (!sum) return std::nullopt;
    result = std::move(*sum);
  }
  return result;
}

std::optional<std::pair<Polynomial, Polynomial>> Polynomial::Divide(const Polynomial& d) const {
  std::pair<Polynomial, Polynomial> parts;
  if (d.terms_.size() != 1 || d.terms_[0].second <= 0) return std::pair{Polynomial(), *this};
  const auto& [divisor, divisor_factor] = d.terms_[0];
  for (const auto& [monomial, factor] : terms_) {
    const std::optional<Monomial> rest = Without(monomial, divisor);
    const bool goes = rest && factor % divisor_factor == 0;
    const bool added =
        goes ? parts.first.Add(*rest, factor / divisor_factor) : parts.second.Add(monomial, factor);
    if (!added) return std::nullopt;
  }
  return parts;
}

}  // namespace frazil::verify::tensors
