// Polynomials with integer coefficients over atoms of any kind, and what ring ops do to values of any kind.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "ir/op.h"
#include "verify/internal/big_int.h"

namespace frazil::verify {

// From products of atoms to what each is multiplied by, which is never 0.
template <typename Atom>
using Polynomial = std::map<std::multiset<Atom>, BigInt>;

template <typename Atom>
void AddTo(Polynomial<Atom>& sum, const std::multiset<Atom>& monomial, const BigInt& coefficient) {
  BigInt& place = sum[monomial];
  place = place + coefficient;
  if (place.is_zero()) sum.erase(monomial);
}

template <typename Atom>
Polynomial<Atom> Plus(Polynomial<Atom> a, const Polynomial<Atom>& b, const BigInt& factor) {
  for (const auto& [monomial, coefficient] : b) AddTo(a, monomial, coefficient * factor);
  return a;
}

template <typename Atom>
Polynomial<Atom> Times(const Polynomial<Atom>& a, const Polynomial<Atom>& b) {
  Polynomial<Atom> product;
  for (const auto& [x, cx] : a) {
    for (const auto& [y, cy] : b) {
      std::multiset<Atom> monomial = x;
      monomial.insert(y.begin(), y.end());
      AddTo(product, monomial, cx * cy);
    }
  }
  return product;
}

// A ring op by plus(a, b, factor), which is a + b or a - b, and times(a, b); Value{} is 0, and b is not looked at where the op
// has one operand. Checked ops give the same where they do not trap. Nothing for other ops.
template <typename Value, typename PlusOf, typename TimesOf>
std::optional<Value> RingResult(ir::Op op, const Value& a, const Value& b, const PlusOf& plus,
                                const TimesOf& times) {
  switch (op) {
    case ir::Op::Add:
    case ir::Op::AddChecked: return plus(a, b, 1);
    case ir::Op::Sub:
    case ir::Op::SubChecked: return plus(a, b, -1);
    case ir::Op::Mul:
    case ir::Op::MulChecked: return times(a, b);
    case ir::Op::Neg:
    case ir::Op::NegChecked: return plus(Value{}, a, -1);
    default: return std::nullopt;
  }
}

}  // namespace frazil::verify
