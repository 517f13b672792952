#include "optimize/fusion/index_terms.h"

namespace frazil::optimize {

TermId IndexTerms::Add(const Term& term) {
  const auto [place, is_new] = known_.try_emplace({term.kind, term.number, term.a, term.b},
                                                  static_cast<TermId>(terms_.size()));
  if (is_new) terms_.push_back(term);
  return place->second;
}

TermId IndexTerms::Constant(int64_t number) { return Add({Kind::Constant, number}); }

TermId IndexTerms::Variable(uint32_t number) {
  return Add({Kind::Variable, number, 0, 0, uint64_t{1} << number});
}

// Indices wrap as the ops that they become; only what is never reached does.
TermId IndexTerms::Sum(TermId a, TermId b) {
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::Constant && y.kind == Kind::Constant)
    return Constant(
        static_cast<int64_t>(static_cast<uint64_t>(x.number) + static_cast<uint64_t>(y.number)));
  if (x.kind == Kind::Constant && x.number == 0) return b;
  if (y.kind == Kind::Constant && y.number == 0) return a;
  return Add({Kind::Sum, 0, a, b, x.variables | y.variables});
}

TermId IndexTerms::Times(TermId a, int64_t factor) {
  const Term x = terms_[a];
  if (factor == 1) return a;
  if (factor == 0) return Constant(0);
  if (x.kind == Kind::Constant)
    return Constant(
        static_cast<int64_t>(static_cast<uint64_t>(x.number) * static_cast<uint64_t>(factor)));
  return Add({Kind::Multiple, factor, a, 0, x.variables});
}

TermId IndexTerms::Times(TermId a, ir::Dim size) {
  if (!size.is_symbol()) return Times(a, size.value);
  const Term x = terms_[a];
  if (x.kind == Kind::Constant && x.number == 0) return a;
  return Add({Kind::SizeMultiple, size.value, a, 0, x.variables});
}

uint64_t IndexTerms::VariablesOf(const Point& point) const {
  uint64_t all = 0;
  for (TermId id : point) all |= terms_[id].variables;
  return all;
}

}  // namespace frazil::optimize
