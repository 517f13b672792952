// Products with zero tests and comparisons: sums over the newest one, as in functional decision diagrams, with hash-consed parts.
#include <algorithm>

#include "verify/tasm/terms/term.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;

// Zero tests of terms that differ by a number: not both are 1.
bool Terms::Excludes(Term c, Term other) {
  if (KindOf(c) != Base::IsZero || KindOf(other) != Base::IsZero || c == other) return false;
  const Polynomial &a = nodes_[nodes_[c].arguments[0]].poly,
                   &b = nodes_[nodes_[other].arguments[0]].poly;
  auto body = [](const Polynomial& poly) {
    return std::span(poly).subspan(poly.empty() || poly[0].first != 0 ? 0 : 1);
  };
  return std::ranges::equal(body(a), body(b));
}

Term Terms::Guard(Term c, Term x) {
  // Where c is 1, what excludes it is 0. Only the sum's own parts are looked at.
  if (KindOf(c) == Base::IsZero && nodes_[x].lead != NoTerm) {
    const Polynomial& poly = nodes_[x].poly;
    Polynomial kept;
    for (const auto& part : poly) {
      const Term guard = monomials_[part.first].guard;
      if (guard == NoTerm || !Excludes(c, guard)) kept.push_back(part);
    }
    if (kept.size() < poly.size()) x = Intern(std::move(kept));
  }
  if (IsConstant(x)) return Scale(c, ConstantOf(x));
  const uint64_t factor = nodes_[x].poly.back().second;
  if (factor != 1) x = Scale(x, gl::Invert(factor));
  const Term base = GuardedBase(c, x);
  Restrict(base, {0, nodes_[x].range.high});
  return Scale(base, factor);
}

// Its values at the random points are those of the product.
Term Terms::GuardedBase(Term c, Term x) {
  const size_t before = nodes_.size();
  const Term arguments[] = {c, x};
  const Term base = Apply(Base::Guarded, arguments);
  if (nodes_.size() == before) return base;
  Node& node = nodes_[base];
  node.degree = 0;
  for (const Term argument : arguments) {
    node.exact &= nodes_[argument].exact;
    node.degree += nodes_[argument].degree;
  }
  for (size_t k = 0; k < Points::Count; ++k)
    node.values[k] = gl::Mul(nodes_[c].values[k], nodes_[x].values[k]);
  largest_degree_ = std::max(largest_degree_, node.degree);
  if (any_inexact_) by_values_.emplace(node.values[0], base);
  MonomialNode& monomial = monomials_[node.poly[0].first];
  monomial.values = node.values;
  monomial.exact = node.exact;
  monomial.degree = node.degree;
  return base;
}

// To multiply a sum of many choices by something is to copy all of them, at every product anew. As one base it is a factor
// like any other; the same sum has the same name.
Term Terms::Name(Term a) {
  const uint64_t factor = nodes_[a].poly.back().second;
  const Term x = factor == 1 ? a : Scale(a, gl::Invert(factor));
  // An indeterminate of its own at the random points: what holds for any value holds for this one.
  const Term base = Apply(Base::Named, {&x, 1});
  Restrict(base, nodes_[x].range);
  return Scale(base, factor);
}

void Terms::Split(Term a, Term c, Term& rest, Term& part) {
  part = Constant(0);
  rest = a;
  if (nodes_[a].lead == NoTerm || nodes_[a].lead < c) return;
  const Polynomial& poly = nodes_[a].poly;
  for (size_t i = 0; i < poly.size(); ++i) {
    const MonomialNode& monomial = monomials_[poly[i].first];
    if (monomial.guard != c) continue;
    const Term base = monomial.factors[0].first;
    const uint64_t factor = poly[i].second;
    Polynomial others = poly;
    others.erase(others.begin() + static_cast<long>(i));
    part = base == c ? Constant(factor) : Scale(nodes_[base].arguments[1], factor);
    rest = Intern(std::move(others));
    return;
  }
}

void Terms::Cofactors(Term a, Term& at0, Term& at1) {
  Term part;
  Split(a, nodes_[a].lead, at0, part);
  at1 = Add(at0, part);
}

bool Terms::CanVanish(Term a, int depth) {
  if (nodes_[a].lead == NoTerm) return nodes_[a].poly.empty();
  if (depth == 0) return true;
  Term at0, at1;
  Cofactors(a, at0, at1);
  return CanVanish(at0, depth - 1) || CanVanish(at1, depth - 1);
}

// c x + c y = c (x + y)
void Terms::MergeGuards(Polynomial& poly) {
  std::vector<std::pair<Term, size_t>> guards;
  for (size_t i = 0; i < poly.size(); ++i) {
    if (const Term guard = monomials_[poly[i].first].guard; guard != NoTerm)
      guards.emplace_back(guard, i);
  }
  std::sort(guards.begin(), guards.end());
  std::vector<std::pair<uint32_t, uint64_t>> merged;
  for (size_t i = 0; i < guards.size();) {
    size_t end = i + 1;
    while (end < guards.size() && guards[end].first == guards[i].first) ++end;
    if (end - i > 1) {
      const Term c = guards[i].first;
      Term sum = Constant(0);
      for (size_t k = i; k < end; ++k) {
        auto& [monomial, coefficient] = poly[guards[k].second];
        const Term base = monomials_[monomial].factors[0].first;
        sum = base == c ? Add(sum, Constant(coefficient))
                        : Combine(sum, 1, nodes_[base].arguments[1], coefficient);
        coefficient = 0;
      }
      const Polynomial& one = nodes_[Guard(c, sum)].poly;
      merged.insert(merged.end(), one.begin(), one.end());
    }
    i = end;
  }
  if (merged.empty() &&
      std::ranges::none_of(poly, [](const auto& part) { return part.second == 0; }))
    return;
  std::erase_if(poly, [](const auto& part) { return part.second == 0; });
  poly.insert(poly.end(), merged.begin(), merged.end());
  std::sort(poly.begin(), poly.end());
}

// (a0 + c a1) (b0 + c b1) = a0 b0 + c (a1 (b0 + b1) + a0 b1), as c c = c.
Term Terms::MulGuarded(Term a, Term b) {
  // Zero tests and comparisons themselves only choose.
  auto chooses = [&](Term term) {
    return nodes_[term].weight > 0 && nodes_[term].poly.size() <= 2 && nodes_[term].weight <= 2 &&
           (nodes_[term].poly.size() == 1 || nodes_[term].poly[0].first == 0);
  };
  if (!chooses(a) && !chooses(b)) {
    constexpr uint64_t MaxWeight = 32;
    const uint64_t wa = nodes_[a].weight, wb = nodes_[b].weight;
    if ((wa + 1) * (wb + 1) > MaxWeight) return wa >= wb ? Mul(Name(a), b) : Mul(a, Name(b));
  }
  const Term la = nodes_[a].lead, lb = nodes_[b].lead;
  const Term c = la == NoTerm ? lb : lb == NoTerm ? la : std::max(la, lb);
  Term a0, a1, b0, b1;
  Split(a, c, a0, a1);
  Split(b, c, b0, b1);
  const Term mixed = Add(Mul(a1, Add(b0, b1)), Mul(a0, b1));
  return Add(Mul(a0, b0), Guard(c, mixed));
}

// The range of a term with one guarded part is that of its two values.
void Terms::RangeByCases(Term a) {
  if (nodes_[a].lead == NoTerm || nodes_[a].range.high < gl::P - 1) return;
  int guards = 0;
  for (const auto& [id, coefficient] : nodes_[a].poly) guards += monomials_[id].guard != NoTerm;
  if (guards != 1) return;
  Term at0, at1;
  Cofactors(a, at0, at1);
  const Interval r0 = nodes_[at0].range, r1 = nodes_[at1].range;
  Restrict(a, {std::min(r0.low, r1.low), std::max(r0.high, r1.high)});
}

}  // namespace frazil::verify::tasm
