// Whatever is claimed of an index expression holds at every place: small sizes and small coefficients, all of them tried.
#include "verify/tensors/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/test_counts.h"
#include "exec/random_arguments.h"

namespace frazil::verify::tensors {
namespace {

constexpr int64_t MostSize = 4;  // of a symbol

int64_t Floor(int64_t x, int64_t d) { return x / d - (x % d != 0 && (x < 0) != (d < 0) ? 1 : 0); }

using Where = std::unordered_map<FormId, int64_t>;  // symbols and open indices

class Place {
 public:
  Place(const Forms& forms, const Where& at) : forms_(forms), at_(at) {}

  int64_t Of(FormId form) const {
    const Node& node = forms_.node(form);
    if (const auto known = at_.find(form); known != at_.end()) return known->second;
    switch (node.kind) {
      case Kind::Constant: return static_cast<int64_t>(node.words[0]);
      case Kind::Quotient: return Floor(Of(node.children[0]), Of(node.children[1]));
      case Kind::Sum: return Of(forms_.PolynomialOf(form));
      default: ADD_FAILURE() << "a form of another kind"; return 0;
    }
  }
  int64_t Of(const Polynomial& polynomial) const {
    int64_t sum = 0;
    for (const auto& [monomial, factor] : polynomial.terms()) {
      int64_t product = factor;
      for (const FormId atom : monomial)
        if (atom != NoForm) product *= Of(atom);
      sum += product;
    }
    return sum;
  }

 private:
  const Forms& forms_;
  const Where& at_;
};

// Symbols, indices of them and of what is made of them, quotients, and sums of products of all these.
class Drawn {
 public:
  explicit Drawn(uint64_t seed) : random_(seed) {
    for (uint32_t i = 0, n = 1 + static_cast<uint32_t>(random_.Below(2)); i < n; ++i) {
      symbols_.push_back(forms_.Param(i));
      // The others may be anything.
      if (random_.Chance(80)) bounds_.SetSize(symbols_.back());
    }
    atoms_ = symbols_;
    for (uint64_t i = 0, n = 1 + random_.Below(3); i < n; ++i) {
      const FormId size = random_.Chance(40)   ? random_.Pick(symbols_)
                          : random_.Chance(60) ? forms_.Number(random_.Between(2, 6))
                                               : forms_.OfPolynomial(Some(2));
      indices_.push_back(forms_.Open(size));
      if (forms_.node(indices_.back()).kind != Kind::Index) {
        indices_.pop_back();
        continue;
      }
      atoms_.push_back(indices_.back());
    }
    for (uint64_t i = 0, n = random_.Below(3); i < n; ++i) Divide();
  }

  Forms& forms() { return forms_; }
  Bounds& bounds() { return bounds_; }
  exec::Random& random() { return random_; }

  Polynomial Some(uint64_t most) {
    Polynomial sum = Polynomial::Number(random_.Between(-3, 6));
    for (uint64_t i = 0, n = random_.Below(most + 1); i < n; ++i) {
      const int64_t factor = random_.Chance(50) ? 1 : random_.Between(-3, 3);
      Polynomial product = Polynomial::Atom(random_.Pick(atoms_));
      if (random_.Chance(35)) product = *product.Times(Polynomial::Atom(random_.Pick(atoms_)));
      sum = *sum.Plus(product, factor);
    }
    return sum;
  }

  // Near a tight bound: what an index of this size leaves free, and products of sizes less what they count.
  Polynomial Likely() {
    Polynomial some = Some(2);
    if (indices_.empty() || random_.Chance(30)) return some;
    const FormId index = random_.Pick(indices_);
    const Polynomial size = forms_.PolynomialOf(forms_.node(index).children[0]);
    Polynomial left = *size.Minus(Polynomial::Atom(index));
    if (random_.Chance(50)) left = *left.Minus(Polynomial::Number(1));
    if (random_.Chance(40)) left = *left.Times(Polynomial::Atom(random_.Pick(atoms_)));
    return random_.Chance(50) ? left : *left.Plus(some);
  }

  // At every place where all indices are open.
  void ForEachPlace(const std::function<void(const Place&)>& look) {
    Where at;
    Symbols(0, at, look);
  }
  uint64_t places = 0;

 private:
  void Divide() {
    const Polynomial x = Some(3);
    const FormId whole = forms_.OfPolynomial(x);
    const FormId by =
        random_.Chance(60) ? forms_.Number(random_.Between(1, 5)) : random_.Pick(symbols_);
    // Who divides by a symbol has made sure that it is a size of something that is there.
    if (!forms_.NumberOf(by)) positive_.push_back(by);
    const FormId quotient = bounds_.Quotient(whole, by);
    quotients_.push_back({whole, by, quotient});
    const Node& node = forms_.node(quotient);
    if (node.kind == Kind::Quotient) atoms_.push_back(quotient);
    if (node.kind == Kind::Sum)
      for (const FormId atom : forms_.PolynomialOf(quotient).Atoms())
        if (forms_.node(atom).kind == Kind::Quotient) atoms_.push_back(atom);
  }

  void Symbols(size_t next, Where& at, const std::function<void(const Place&)>& look) {
    if (next == symbols_.size()) return Indices(0, at, look);
    const int64_t least = bounds_.IsSize(symbols_[next]) ? 0 : -2;
    for (int64_t value = least; value <= MostSize; ++value) {
      if (value < 1 && std::ranges::find(positive_, symbols_[next]) != positive_.end()) continue;
      at[symbols_[next]] = value;
      Symbols(next + 1, at, look);
    }
  }
  void Indices(size_t next, Where& at, const std::function<void(const Place&)>& look) {
    const Place place(forms_, at);
    if (next == indices_.size()) {
      ++places;
      for (const auto& [x, d, quotient] : quotients_)
        ASSERT_EQ(place.Of(quotient), Floor(place.Of(x), place.Of(d)));
      return look(place);
    }
    const int64_t size = place.Of(forms_.node(indices_[next]).children[0]);
    for (int64_t value = 0; value < size; ++value) {
      at[indices_[next]] = value;
      Indices(next + 1, at, look);
    }
  }

  struct Quotient {
    FormId x, d, quotient;
  };
  exec::Random random_;
  Forms forms_;
  Bounds bounds_{forms_};
  std::vector<FormId> symbols_, indices_, atoms_, positive_;
  std::vector<Quotient> quotients_;
};

// 10 times as many at night.
uint64_t Seeds() { return SanitizedCount(300) * TestScale(); }

TEST(TensorBounds, ClaimsHoldEverywhere) {
  uint64_t claims = 0, asked = 0, places = 0;
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Drawn drawn(seed);
    std::vector<Polynomial> claimed;
    for (int i = 0; i < 12; ++i) {
      const Polynomial polynomial = drawn.Likely();
      ++asked;
      if (drawn.bounds().IsNonNegative(polynomial)) claimed.push_back(polynomial);
    }
    claims += claimed.size();
    drawn.ForEachPlace([&](const Place& place) {
      for (const Polynomial& polynomial : claimed)
        ASSERT_GE(place.Of(polynomial), 0) << "seed " << seed;
    });
    places += drawn.places;
    if (HasFatalFailure()) return;
  }
  std::printf("%llu of %llu proved, %llu places\n", static_cast<unsigned long long>(claims),
              static_cast<unsigned long long>(asked), static_cast<unsigned long long>(places));
  EXPECT_GT(claims, asked / 20);
}

TEST(TensorBounds, ComparisonsHoldEverywhere) {
  for (uint64_t seed = Seeds(); seed < 2 * Seeds(); ++seed) {
    Drawn drawn(seed);
    struct Claim {
      FormId a, b;
    };
    std::vector<Claim> less, within;
    for (int i = 0; i < 10; ++i) {
      const FormId a = drawn.forms().OfPolynomial(drawn.Some(2));
      const FormId b = drawn.forms().OfPolynomial(drawn.Likely());
      if (drawn.bounds().IsLess(a, b)) less.push_back({a, b});
    }
    // Where a branch was taken.
    const FormId x = drawn.forms().OfPolynomial(drawn.Some(2));
    const FormId y = drawn.forms().OfPolynomial(drawn.Likely());
    const FormId both[] = {x, y};
    const FormId condition =
        drawn.forms().Apply(ir::Op::Lt, ir::types::Index, ir::Scalar::Index, {}, both);
    const bool holds = drawn.random().Chance(50);
    drawn.bounds().Assume(condition, holds);
    const bool is_known = drawn.bounds().facts() > 0;
    for (int i = 0; i < 6; ++i) {
      const FormId a = i == 0 ? x : drawn.forms().OfPolynomial(drawn.Some(2));
      const FormId b = i == 0 ? y : drawn.forms().OfPolynomial(drawn.Likely());
      if (drawn.bounds().IsWithinHere(a, b)) within.push_back({a, b});
    }
    drawn.ForEachPlace([&](const Place& place) {
      for (const Claim& claim : less)
        ASSERT_LT(place.Of(claim.a), place.Of(claim.b)) << "seed " << seed;
      if (is_known && (place.Of(x) < place.Of(y)) != holds) return;
      for (const Claim& claim : within) {
        ASSERT_GE(place.Of(claim.a), 0) << "seed " << seed;
        ASSERT_LT(place.Of(claim.a), place.Of(claim.b)) << "seed " << seed;
      }
    });
    if (HasFatalFailure()) return;
  }
}

// What is called within 64 bits is, where sizes are as large as sizes can be.
TEST(TensorBounds, WhatFitsDoesNotWrap) {
  __extension__ using Wide = __int128;
  uint64_t claims = 0;
  constexpr int64_t Most = INT64_MAX;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    exec::Random random(seed);
    Forms forms;
    Bounds bounds(forms);
    const FormId n = forms.Param(0), m = forms.Param(1);
    bounds.SetSize(n);
    if (random.Chance(50)) bounds.SetSize(m);
    const FormId i = forms.Open(n), j = forms.Open(m), k = forms.Open(forms.Number(5));
    const FormId atoms[] = {n, m, i, j, k};
    Polynomial sum = Polynomial::Number(random.Between(-3, 3));
    for (uint64_t t = 0, terms = 1 + random.Below(4); t < terms; ++t) {
      Polynomial product = Polynomial::Atom(random.Pick(atoms));
      if (random.Chance(20)) product = *product.Times(Polynomial::Atom(random.Pick(atoms)));
      sum = *sum.Plus(product, random.Chance(60) ? 1 : random.Between(-2, 2));
    }
    if (!bounds.Fits(forms.OfPolynomial(sum))) continue;
    ++claims;
    for (const int64_t n_is : {int64_t{1}, int64_t{7}, Most}) {
      for (const int64_t m_is : {int64_t{1}, int64_t{7}, Most}) {
        for (int corner = 0; corner < 8; ++corner) {
          const int64_t at[] = {n_is, m_is, corner & 1 ? n_is - 1 : 0, corner & 2 ? m_is - 1 : 0,
                                corner & 4 ? 4 : 0};
          Wide value = 0;
          for (const auto& [monomial, factor] : sum.terms()) {
            Wide product = factor;
            for (const FormId atom : monomial)
              if (atom != NoForm) product *= at[std::ranges::find(atoms, atom) - atoms];
            value += product;
          }
          ASSERT_TRUE(value >= INT64_MIN && value <= INT64_MAX) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(claims, 1000u);
}

TEST(TensorBounds, PolynomialsAreIntegers) {
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    Drawn drawn(seed);
    const Polynomial a = drawn.Some(3), b = drawn.Some(3);
    const FormId atom = a.Atoms().empty() ? NoForm : a.Atoms()[0];
    const int64_t factor = drawn.random().Between(-3, 3);
    const auto sum = a.Plus(b, factor), product = a.Times(b);
    const auto with = atom == NoForm ? std::nullopt : a.With(atom, b);
    const auto split = atom == NoForm ? std::nullopt : a.Split(atom);
    const auto divided = a.Divide(b);
    const Polynomial again = drawn.forms().PolynomialOf(drawn.forms().OfPolynomial(a));
    EXPECT_EQ(again, a);
    drawn.ForEachPlace([&](const Place& place) {
      const int64_t x = place.Of(a), y = place.Of(b);
      if (sum) ASSERT_EQ(place.Of(*sum), x + factor * y);
      if (product) ASSERT_EQ(place.Of(*product), x * y);
      if (split) ASSERT_EQ(place.Of(split->first) * place.Of(atom) + place.Of(split->second), x);
      if (divided) ASSERT_EQ(place.Of(divided->first) * y + place.Of(divided->second), x);
      if (!with || split == std::nullopt) return;
      ASSERT_EQ(place.Of(*with), place.Of(split->first) * y + place.Of(split->second));
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace frazil::verify::tensors
