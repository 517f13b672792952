// The store of terms: polynomials in normal form over interned monomials, found again by hash. Monomials are interned
// because the same few products meet again and again in stack code.
#include "verify/tasm/terms/term.h"

#include <algorithm>
#include <cmath>

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

constexpr size_t MaxTerms = 128;  // monomials of a polynomial; beyond it is opaque
constexpr uint64_t MaxDegree = 1ull
                               << 30;  // beyond it points say too little, and exponents are 32 bits

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e37'79b9'7f4a'7c15u + (hash << 6) + (hash >> 2);
  hash *= 0xbf58'476d'1ce4'e5b9u;
  return hash ^ (hash >> 29);
}

uint64_t HashOf(const Polynomial& poly) {
  uint64_t hash = 1;
  for (auto [monomial, coefficient] : poly) hash = Mix(Mix(hash, monomial), coefficient);
  return hash;
}

uint64_t Saturating(uint64_t a, uint64_t b) {
  return a > MaxDegree - std::min(b, MaxDegree) ? MaxDegree : a + b;
}

}  // namespace

Terms::Terms(const Seed& seed) : points_(seed) {
  monomials_.push_back({});
  Constant(0);
  Constant(1);
}

double Terms::ErrorBound() const {
  return compared_ * std::pow(static_cast<double>(largest_degree_) / static_cast<double>(gl::P),
                              static_cast<double>(Points::Count));
}

Term Terms::Constant(uint64_t value) {
  Polynomial poly;
  if (value != 0) poly.emplace_back(0, value);
  return Intern(std::move(poly));
}

Term Terms::Atom(Base kind, uint32_t token, uint64_t index) {
  return Apply(kind, {}, index, token);
}

Term Terms::Apply(Base kind, std::span<const Term> arguments, uint64_t index, uint32_t token) {
  uint64_t hash = Mix(Mix(Mix(2, static_cast<uint64_t>(kind)), index), token);
  for (Term argument : arguments) hash = Mix(hash, argument);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Node& node = nodes_[it->second];
    if (node.kind == kind && node.index == index && node.token == token &&
        std::equal(node.arguments.begin(), node.arguments.end(), arguments.begin(),
                   arguments.end())) {
      return it->second;
    }
  }
  Node node;
  node.kind = kind;
  node.index = index;
  node.token = token;
  node.arguments.assign(arguments.begin(), arguments.end());
  const Term term = NewBase(std::move(node), true);
  by_hash_.emplace(hash, term);
  return term;
}

Term Terms::NewBase(Node node, bool random) {
  const Term term = static_cast<Term>(nodes_.size());
  if (random) node.values = points_.Next();
  node.support.Add(term);
  for (const Term argument : node.arguments) node.support.Add(nodes_[argument].support);
  nodes_.push_back(std::move(node));
  const uint32_t monomial = InternMonomial({{term, 1}});
  nodes_[term].poly = {{monomial, 1}};
  nodes_[term].lead = monomials_[monomial].guard;
  nodes_[term].weight = monomials_[monomial].weight;
  if (any_inexact_) by_values_.emplace(nodes_[term].values[0], term);
  return term;
}

uint32_t Terms::InternMonomial(std::vector<std::pair<Term, uint32_t>> factors) {
  uint64_t hash = 3;
  for (auto [base, exponent] : factors) hash = Mix(Mix(hash, base), exponent);
  auto [begin, end] = monomials_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (monomials_[it->second].factors == factors) return it->second;
  }
  MonomialNode node;
  for (auto [base, exponent] : factors) {
    const Node& of = nodes_[base];
    node.exact &= of.exact;
    node.support.Add(of.support);
    node.degree = Saturating(node.degree,
                             of.degree >= MaxDegree / exponent ? MaxDegree : of.degree * exponent);
    for (size_t k = 0; k < Points::Count; ++k)
      node.values[k] = gl::Mul(node.values[k], gl::Pow(of.values[k], exponent));
  }
  if (factors.size() == 1 && factors[0].second == 1) {
    const Node& of = nodes_[factors[0].first];
    if (of.kind == Base::IsZero || of.kind == Base::Less) node.guard = factors[0].first;
    if (of.kind == Base::Guarded) node.guard = of.arguments[0];
    if (node.guard != NoTerm) node.weight = 1;
    if (of.kind == Base::Guarded) node.weight += nodes_[of.arguments[1]].weight;
  }
  node.factors = std::move(factors);
  monomials_.push_back(std::move(node));
  const uint32_t id = static_cast<uint32_t>(monomials_.size() - 1);
  monomials_by_hash_.emplace(hash, id);
  return id;
}

// Factors are sorted by base. A base and its inverse cancel: the inverse exists only where the base is not 0.
uint32_t Terms::MonomialProduct(uint32_t a, uint32_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a > b) std::swap(a, b);
  const uint64_t key = (uint64_t{a} << 32) | b;
  if (auto found = products_.find(key); found != products_.end()) return found->second;
  std::vector<std::pair<Term, uint32_t>> factors;
  const auto& fa = monomials_[a].factors;
  const auto& fb = monomials_[b].factors;
  size_t i = 0, j = 0;
  while (i < fa.size() || j < fb.size()) {
    if (j == fb.size() || (i < fa.size() && fa[i].first < fb[j].first)) {
      factors.push_back(fa[i++]);
    } else if (i == fa.size() || fb[j].first < fa[i].first) {
      factors.push_back(fb[j++]);
    } else {
      factors.emplace_back(fa[i].first, fa[i].second + fb[j].second);
      ++i, ++j;
    }
  }
  for (auto& [base, exponent] : factors) {
    const Node& node = nodes_[base];
    if (node.kind != Base::Inverse || exponent == 0) continue;
    for (auto& [other, power] : factors) {
      if (other != node.arguments[0]) continue;
      const uint32_t common = std::min(power, exponent);
      power -= common;
      exponent -= common;
    }
  }
  std::erase_if(factors, [](const auto& factor) { return factor.second == 0; });
  const uint32_t id = factors.empty() ? 0 : InternMonomial(std::move(factors));
  products_.emplace(key, id);
  return id;
}

void Terms::Describe(Node& node) const {
  node.constant = node.poly.empty() || (node.poly.size() == 1 && node.poly[0].first == 0);
  node.degree = 0;
  __extension__ using int128 = __int128;
  __extension__ using uint128 = unsigned __int128;
  constexpr int128 Limit = int128{1} << 100;
  int128 low = 0, high = 0;
  bool bounded = true;
  for (auto [id, coefficient] : node.poly) {
    const MonomialNode& monomial = monomials_[id];
    node.exact &= monomial.exact;
    node.support.Add(monomial.support);
    node.degree = std::max(node.degree, monomial.degree);
    if (monomial.guard != NoTerm && (node.lead == NoTerm || monomial.guard > node.lead))
      node.lead = monomial.guard;
    node.weight = std::min(node.weight + monomial.weight, 1u << 20);
    for (size_t k = 0; k < Points::Count; ++k) {
      node.values[k] = gl::Add(node.values[k], gl::Mul(coefficient, monomial.values[k]));
    }
    // The product of canonical values as an integer, if it stays below p.
    uint128 smallest = 1, largest = 1;
    for (auto [base, exponent] : monomial.factors) {
      const Interval range = nodes_[base].range;
      const uint32_t times = range.high <= 1 ? 1 : exponent;  // powers of 0 and 1 are themselves
      for (uint32_t i = 0; i < times && bounded; ++i) {
        smallest *= range.low;
        largest *= range.high;
        if (largest >= uint128{gl::P}) bounded = false;
      }
    }
    if (!bounded) continue;
    const int128 least = static_cast<int128>(smallest), most = static_cast<int128>(largest);
    const int128 factor =
        coefficient > gl::P / 2 ? int128{coefficient} - int128{gl::P} : int128{coefficient};
    if (factor > (int128{1} << 62) || factor < -(int128{1} << 62)) {
      // Too large a factor: only the bare constant is still exact.
      if (id == 0 && node.poly.size() == 1) {
        low = high = coefficient;
        continue;
      }
      bounded = false;
      continue;
    }
    if (most > (int128{1} << 62) && (factor > 1 || factor < -1)) {
      bounded = false;
      continue;
    }
    low += factor * (factor < 0 ? most : least);
    high += factor * (factor < 0 ? least : most);
    if (low < -Limit || high > Limit) bounded = false;
  }
  if (bounded && low < 0 && high < 0) low += int128{gl::P}, high += int128{gl::P};
  if (bounded && low >= 0 && high < int128{gl::P}) {
    node.range = {static_cast<uint64_t>(low), static_cast<uint64_t>(high)};
  }
}

Term Terms::Intern(Polynomial poly) {
  if (poly.size() == 1 && poly[0].second == 1) {
    const auto& factors = monomials_[poly[0].first].factors;
    if (factors.size() == 1 && factors[0].second == 1) return factors[0].first;
  }
  const uint64_t hash = HashOf(poly);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (nodes_[it->second].kind == Base::None && nodes_[it->second].poly == poly) return it->second;
  }
  Node node;
  node.poly = std::move(poly);
  Describe(node);
  largest_degree_ = std::max(largest_degree_, node.degree);
  if (!node.exact || any_inexact_) {
    compared_ += static_cast<double>(nodes_.size());
    auto [first, last] = by_values_.equal_range(node.values[0]);
    for (auto it = first; it != last; ++it) {
      const Node& other = nodes_[it->second];
      if (other.values != node.values || (node.exact && other.exact)) continue;
      inexact_used_ = true;
      return it->second;
    }
  }
  const Term term = static_cast<Term>(nodes_.size());
  if (any_inexact_) by_values_.emplace(node.values[0], term);
  nodes_.push_back(std::move(node));
  by_hash_.emplace(hash, term);
  RangeByCases(term);
  return term;
}

Term Terms::Opaque(Base kind, Term a, Term b) {
  if (a > b) std::swap(a, b);
  Node node;
  node.kind = kind;
  node.exact = false;
  node.arguments = {a, b};
  const Node &na = nodes_[a], &nb = nodes_[b];
  node.degree =
      kind == Base::Product ? Saturating(na.degree, nb.degree) : std::max(na.degree, nb.degree);
  // Of too high a degree: a new unknown of which only congruence is known.
  const bool beyond = node.degree >= MaxDegree;
  if (beyond) return Apply(kind, node.arguments);
  for (size_t k = 0; k < Points::Count; ++k) {
    node.values[k] = kind == Base::Product ? gl::Mul(na.values[k], nb.values[k])
                                           : gl::Add(na.values[k], nb.values[k]);
  }
  if (!any_inexact_) {
    any_inexact_ = true;
    for (Term term = 0; term < nodes_.size(); ++term)
      by_values_.emplace(nodes_[term].values[0], term);
  }
  largest_degree_ = std::max(largest_degree_, node.degree);
  compared_ += static_cast<double>(nodes_.size());
  auto [first, last] = by_values_.equal_range(node.values[0]);
  for (auto it = first; it != last; ++it) {
    if (nodes_[it->second].values != node.values) continue;
    inexact_used_ = true;
    return it->second;
  }
  return NewBase(std::move(node), false);
}

Term Terms::Combine(Term a, uint64_t ca, Term b, uint64_t cb) {
  if (ca == 1 && nodes_[b].poly.empty()) return a;
  if (cb == 1 && nodes_[a].poly.empty()) return b;
  Polynomial sum;
  {
    const Polynomial &pa = nodes_[a].poly, &pb = nodes_[b].poly;
    sum.reserve(pa.size() + pb.size());
    size_t i = 0, j = 0;
    auto put = [&](uint32_t monomial, uint64_t coefficient) {
      if (coefficient != 0) sum.emplace_back(monomial, coefficient);
    };
    while (i < pa.size() || j < pb.size()) {
      if (j == pb.size() || (i < pa.size() && pa[i].first < pb[j].first)) {
        put(pa[i].first, gl::Mul(ca, pa[i].second)), ++i;
      } else if (i == pa.size() || pb[j].first < pa[i].first) {
        put(pb[j].first, gl::Mul(cb, pb[j].second)), ++j;
      } else {
        put(pa[i].first, gl::Add(gl::Mul(ca, pa[i].second), gl::Mul(cb, pb[j].second))), ++i, ++j;
      }
    }
  }
  if (nodes_[a].lead != NoTerm && nodes_[b].lead != NoTerm && cb != 0) MergeGuards(sum);
  if (sum.size() > MaxTerms) {
    const Term scaled_a = ca == 1 ? a : Combine(a, ca, a, 0);
    const Term scaled_b = cb == 1 ? b : Combine(b, cb, b, 0);
    return Opaque(Base::Sum, scaled_a, scaled_b);
  }
  return Intern(std::move(sum));
}

Term Terms::Mul(Term a, Term b) {
  if (IsConstant(a)) return Scale(b, ConstantOf(a));
  if (IsConstant(b)) return Scale(a, ConstantOf(b));
  if (nodes_[a].poly.size() * nodes_[b].poly.size() > MaxTerms ||
      nodes_[a].degree + nodes_[b].degree >= MaxDegree) {
    return Opaque(Base::Product, a, b);
  }
  if (nodes_[a].lead != NoTerm || nodes_[b].lead != NoTerm) return MulGuarded(a, b);
  const Polynomial pa = nodes_[a].poly, pb = nodes_[b].poly;
  Polynomial product;
  product.reserve(pa.size() * pb.size());
  for (auto [ma, ca] : pa) {
    for (auto [mb, cb] : pb) product.emplace_back(MonomialProduct(ma, mb), gl::Mul(ca, cb));
  }
  std::sort(product.begin(), product.end());
  size_t out = 0;
  for (size_t i = 0; i < product.size();) {
    uint64_t sum = 0;
    const uint32_t monomial = product[i].first;
    for (; i < product.size() && product[i].first == monomial; ++i)
      sum = gl::Add(sum, product[i].second);
    if (sum != 0) product[out++] = {monomial, sum};
  }
  product.resize(out);
  return Intern(std::move(product));
}

Term Terms::Monic(Term a) {
  const Polynomial& poly = nodes_[a].poly;
  if (poly.empty() || poly.back().second == 1) return a;
  return Scale(a, gl::Invert(poly.back().second));
}

void Terms::Restrict(Term a, Interval range) {
  Interval& own = nodes_[a].range;
  const uint64_t low = std::max(own.low, range.low), high = std::min(own.high, range.high);
  if (low <= high) own = {low, high};
}

bool Terms::BooleanForm(Term a, Term& base, uint64_t& at0, uint64_t& at1) const {
  const Polynomial& poly = nodes_[a].poly;
  if (poly.empty() || poly.size() > 2 || (poly.size() == 2 && poly[0].first != 0)) return false;
  const auto& factors = monomials_[poly.back().first].factors;
  if (factors.size() != 1 || factors[0].second != 1 || !IsBoolean(factors[0].first)) return false;
  base = factors[0].first;
  at0 = poly.size() == 2 ? poly[0].second : 0;
  at1 = gl::Add(at0, poly.back().second);
  return true;
}

}  // namespace frazil::verify::tasm
