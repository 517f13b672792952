#include "verify/tensors/bounds.h"

#include <algorithm>

namespace frazil::verify::tensors {

using ir::Op;

namespace {

constexpr int MostSteps = 12;

bool Contains(const Polynomial& polynomial, FormId atom) {
  return std::ranges::binary_search(polynomial.Atoms(), atom);
}

}  // namespace

bool Bounds::IsNonNegative(const Polynomial& polynomial) const {
  if (const auto number = polynomial.AsNumber()) return *number >= 0;
  if (Prove(polynomial, {}, MostSteps)) return true;
  return uses_facts_ && std::ranges::any_of(facts_, [&](const Polynomial& fact) {
           const std::optional<Polynomial> rest = polynomial.Minus(fact);
           return rest && Prove(*rest, {}, MostSteps);
         });
}

bool Bounds::Prove(const Polynomial& polynomial, std::set<FormId> positive, int depth) const {
  if (const auto number = polynomial.AsNumber()) return *number >= 0;
  if (depth == 0) return false;
  // Quotients first: what they divide has indices.
  const std::vector<FormId> atoms = polynomial.Atoms();
  bool has_quotients = false;
  for (const FormId atom : atoms) {
    if (forms_.node(atom).kind != Kind::Quotient) continue;
    if (WithoutQuotient(polynomial, atom, positive, depth)) return true;
    has_quotients = true;
  }
  if (has_quotients) return false;
  for (const FormId atom : atoms)
    if (forms_.node(atom).kind == Kind::Index)
      return WithoutIndex(polynomial, atom, std::move(positive), depth);
  return OfSizes(polynomial, positive);
}

// What is linear in an index has its least value at one of the two ends.
bool Bounds::WithoutIndex(const Polynomial& polynomial, FormId index, std::set<FormId> positive,
                          int depth) const {
  const auto parts = polynomial.Split(index);
  if (!parts) return false;
  const FormId size = forms_.node(index).children[0];
  if (const Kind kind = forms_.node(size).kind;
      kind != Kind::Constant && kind != Kind::Sum && kind != Kind::Quotient)
    positive.insert(size);
  const std::optional<Polynomial> last = forms_.PolynomialOf(size).Minus(Polynomial::Number(1));
  const std::optional<Polynomial> at_last = last ? polynomial.With(index, *last) : std::nullopt;
  const std::optional<int64_t> factor = parts->first.AsNumber();
  if (!factor || *factor < 0)
    if (!at_last || Contains(*at_last, index) || !Prove(*at_last, positive, depth - 1))
      return false;
  if (!factor || *factor > 0) return Prove(parts->second, positive, depth - 1);
  return true;
}

// q = floor(x / d): 0 <= x - d q <= d - 1, and 0 <= q <= the most of x / d.
bool Bounds::WithoutQuotient(const Polynomial& polynomial, FormId quotient,
                             const std::set<FormId>& positive, int depth) const {
  const auto parts = polynomial.Split(quotient);
  if (!parts) return false;
  const Polynomial x = forms_.PolynomialOf(forms_.node(quotient).children[0]);
  const Polynomial d = forms_.PolynomialOf(forms_.node(quotient).children[1]);
  // The same x divided by a part e of d is near q * (d / e) as well.
  std::vector<std::pair<Polynomial, Polynomial>> near = {{x, d}};
  for (const FormId other : polynomial.Atoms()) {
    const Node& node = forms_.node(other);
    if (other == quotient || node.kind != Kind::Quotient ||
        node.children[0] != forms_.node(quotient).children[0])
      continue;
    const auto part = d.Divide(forms_.PolynomialOf(node.children[1]));
    if (part && part->second.is_zero()) near.emplace_back(Polynomial::Atom(other), part->first);
  }
  for (const auto& [whole, step] : near) {
    const auto times = parts->first.Divide(step);
    if (!times || !times->second.is_zero()) continue;
    const std::optional<int64_t> factor = times->first.AsNumber();
    if (!factor) continue;
    // factor * step * q: at least factor * (whole - step + 1), or factor * whole where the factor is negative.
    std::optional<Polynomial> least = parts->second.Plus(whole, *factor);
    if (least && *factor > 0) least = least->Plus(step, -*factor);
    if (least && *factor > 0) least = least->Plus(Polynomial::Number(1), *factor);
    if (least && Prove(*least, positive, depth - 1)) return true;
  }
  const std::optional<int64_t> factor = parts->first.AsNumber();
  const bool at_zero = !factor || *factor > 0, at_most = !factor || *factor < 0;
  if (at_zero && (!Prove(x, {}, depth - 1) || !Prove(parts->second, positive, depth - 1)))
    return false;
  if (!at_most) return true;
  const std::optional<Polynomial> most = MostOf(x);
  const std::optional<Polynomial> above = most ? most->Plus(Polynomial::Number(1)) : std::nullopt;
  if (!above) return false;
  std::optional<Polynomial> last;
  const std::optional<int64_t> number = most->AsNumber(), by = d.AsNumber();
  if (number && by && *number >= 0 && *by > 0) {
    last = Polynomial::Number(*number / *by);
  } else if (const auto whole = above->Divide(d); whole && whole->second.is_zero()) {
    last = whole->first.Minus(Polynomial::Number(1));
  }
  const std::optional<Polynomial> at_last = last ? polynomial.With(quotient, *last) : std::nullopt;
  return at_last && !Contains(*at_last, quotient) && Prove(*at_last, positive, depth - 1);
}

// An upper bound without indices.
std::optional<Polynomial> Bounds::MostOf(Polynomial polynomial) const {
  for (int steps = 0; steps < MostSteps; ++steps) {
    FormId index = NoForm;
    for (const FormId atom : polynomial.Atoms()) {
      if (forms_.node(atom).kind == Kind::Quotient) return std::nullopt;
      if (forms_.node(atom).kind == Kind::Index) index = atom;
    }
    if (index == NoForm) return polynomial;
    const auto parts = polynomial.Split(index);
    if (!parts) return std::nullopt;
    // The factor's sign: a product of sizes is not negative.
    const bool rises = OfSizes(parts->first, {});
    const std::optional<Polynomial> falling = Polynomial().Minus(parts->first);
    if (!rises && !(falling && OfSizes(*falling, {}))) return std::nullopt;
    std::optional<Polynomial> next = parts->second;
    if (rises) {
      const auto last =
          forms_.PolynomialOf(forms_.node(index).children[0]).Minus(Polynomial::Number(1));
      next = last ? polynomial.With(index, *last) : std::nullopt;
    }
    if (!next) return std::nullopt;
    polynomial = std::move(*next);
  }
  return std::nullopt;
}

// Of sizes only, each as at least 0 or, where an index of it is open, as 1 and something.
bool Bounds::OfSizes(Polynomial polynomial, const std::set<FormId>& positive) const {
  for (const FormId atom : positive) {
    const auto shifted = Polynomial::Atom(atom).Plus(Polynomial::Number(1));
    std::optional<Polynomial> next = polynomial.With(atom, *shifted);
    if (!next) return false;
    polynomial = std::move(*next);
  }
  return std::ranges::all_of(polynomial.terms(), [&](const auto& term) {
    return term.second >= 0 && std::ranges::all_of(term.first, [&](FormId atom) {
             return atom == NoForm || sizes_.contains(atom) || positive.contains(atom);
           });
  });
}

bool Bounds::IsLess(FormId a, FormId b) const {
  const auto less = forms_.PolynomialOf(b).Minus(forms_.PolynomialOf(a));
  const auto rest = less ? less->Minus(Polynomial::Number(1)) : std::nullopt;
  return rest && IsNonNegative(*rest);
}

bool Bounds::IsAtLeast(FormId a, int64_t least) const {
  const auto rest = forms_.PolynomialOf(a).Minus(Polynomial::Number(least));
  return rest && IsNonNegative(*rest);
}

bool Bounds::Fits(FormId form) const {
  const Node& node = forms_.node(form);
  if (node.kind == Kind::Quotient) return IsAtLeast(node.children[0], 0) && Fits(node.children[0]);
  if (node.kind != Kind::Sum) return true;
  constexpr int64_t Wide = 1ll << 61;
  if (IsAtLeast(form, -Wide) && IsLess(form, forms_.Number(Wide))) return true;
  // Between less than nothing by a size and a size, of those that are in it or of its indices.
  const Polynomial polynomial = forms_.PolynomialOf(form);
  std::vector<Polynomial> sizes;
  for (const FormId atom : polynomial.Atoms()) {
    const bool is_index = forms_.node(atom).kind == Kind::Index;
    const FormId size = is_index ? forms_.node(atom).children[0] : atom;
    if (sizes_.contains(size) || (is_index && Fits(size)))
      sizes.push_back(forms_.PolynomialOf(size));
  }
  const auto reaches = [&](const Polynomial& size, int64_t sign) {
    const auto rest = size.Plus(polynomial, sign);
    return rest && IsNonNegative(*rest);
  };
  return (IsAtLeast(form, 0) ||
          std::ranges::any_of(sizes, [&](const Polynomial& size) { return reaches(size, 1); })) &&
         std::ranges::any_of(sizes, [&](const Polynomial& size) { return reaches(size, -1); });
}

bool Bounds::IsWithinHere(FormId index, FormId size) const {
  uses_facts_ = true;
  const bool within = IsAtLeast(index, 0) && IsLess(index, size);
  uses_facts_ = false;
  return within;
}

FormId Bounds::Quotient(FormId x, FormId d) {
  const Polynomial by = forms_.PolynomialOf(d);
  const auto parts = forms_.PolynomialOf(x).Divide(by);
  const auto quotient = [&](const Polynomial& rest) {
    return forms_.Intern({.kind = Kind::Quotient,
                          .type = ir::types::Index,
                          .children = {forms_.OfPolynomial(rest), d}});
  };
  if (!parts) return quotient(forms_.PolynomialOf(x));
  const auto& [whole, rest] = *parts;
  const auto below = by.Minus(Polynomial::Number(1));
  const auto left = below ? below->Minus(rest) : std::nullopt;
  // No facts of branches here: a form is the same wherever it is made.
  const auto proved = [&](const Polynomial& polynomial) {
    return Prove(polynomial, {}, MostSteps);
  };
  if (left && proved(rest) && proved(*left)) return forms_.OfPolynomial(whole);
  FormId floor = NoForm;
  const std::optional<int64_t> number = rest.AsNumber(), divisor = by.AsNumber();
  const std::optional<FormId> atom = rest.AsAtom();
  if (number && divisor && *divisor > 0) {
    floor = forms_.Number(*number / *divisor - (*number % *divisor < 0 ? 1 : 0));
  } else if (atom && forms_.node(*atom).kind == Kind::Quotient) {
    // The floor of a floor.
    const Node node = forms_.node(*atom);
    const auto product = forms_.PolynomialOf(node.children[1]).Times(by);
    floor = product ? Quotient(node.children[0], forms_.OfPolynomial(*product)) : quotient(rest);
  } else {
    floor = quotient(rest);
  }
  const auto sum = whole.Plus(forms_.PolynomialOf(floor));
  return sum ? forms_.OfPolynomial(*sum) : quotient(forms_.PolynomialOf(x));
}

void Bounds::Assume(FormId condition, bool holds) {
  const Node& node = forms_.node(condition);
  if (node.kind != Kind::Apply) return;
  if (node.op == Op::Not) return Assume(node.children[0], !holds);
  if (node.op != Op::Lt || node.type != ir::types::Index) return;
  const FormId a = node.children[0], b = node.children[1];
  if (!Fits(a) || !Fits(b)) return;
  // a < b, or b <= a.
  std::optional<Polynomial> fact =
      forms_.PolynomialOf(holds ? b : a).Minus(forms_.PolynomialOf(holds ? a : b));
  if (fact && holds) fact = fact->Minus(Polynomial::Number(1));
  if (fact) facts_.push_back(std::move(*fact));
}

}  // namespace frazil::verify::tensors
