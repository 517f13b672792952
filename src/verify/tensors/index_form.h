// Index expressions: polynomials with integer coefficients over atoms, which are forms. Where a coefficient or a degree would
// be too large there is none.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace frazil::verify::tensors {

using FormId = uint32_t;
constexpr FormId NoForm = UINT32_MAX;

// A product of atoms in ascending order, behind them NoForm.
using Monomial = std::array<FormId, 6>;
constexpr Monomial One = {NoForm, NoForm, NoForm, NoForm, NoForm, NoForm};

class Polynomial {
 public:
  Polynomial() = default;
  static Polynomial Number(int64_t number);
  static Polynomial Atom(FormId atom);

  // In ascending order of the products, no factor 0.
  const std::vector<std::pair<Monomial, int64_t>>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  std::optional<int64_t> AsNumber() const;
  std::optional<FormId> AsAtom() const;
  std::vector<FormId> Atoms() const;

  std::optional<Polynomial> Plus(const Polynomial& other, int64_t factor = 1) const;
  std::optional<Polynomial> Minus(const Polynomial& other) const { return Plus(other, -1); }
  std::optional<Polynomial> Times(const Polynomial& other) const;
  // What stands beside the first power of the atom, and the rest; nothing if there is a higher power.
  std::optional<std::pair<Polynomial, Polynomial>> Split(FormId atom) const;
  // With the atom replaced, whatever its power.
  std::optional<Polynomial> With(FormId atom, const Polynomial& value) const;
  // (q, r) with this = q * d + r; q has the products that d divides, if d is a single product.
  std::optional<std::pair<Polynomial, Polynomial>> Divide(const Polynomial& d) const;

  friend bool operator==(const Polynomial&, const Polynomial&) = default;

 private:
  bool Add(const Monomial& monomial, int64_t factor);

  std::vector<std::pair<Monomial, int64_t>> terms_;
};

}  // namespace frazil::verify::tensors
