// Indices as terms over the variables of loops that do not exist yet: equal ones have equal numbers.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "ir/type.h"

namespace frazil::optimize {

using TermId = uint32_t;
using Point = std::vector<TermId>;  // one index for each axis

// Variables have numbers below this, so that a set of them is a word.
constexpr uint32_t MostVariables = 64;

class IndexTerms {
 public:
  enum class Kind : uint8_t { Constant, Variable, Sum, Multiple, SizeMultiple };
  struct Term {
    Kind kind;
    int64_t number = 0;  // the constant, the variable, the factor or the symbol of the size
    TermId a = 0, b = 0;
    uint64_t variables = 0;  // a set
  };

  TermId Constant(int64_t number);
  TermId Variable(uint32_t number);
  TermId Sum(TermId a, TermId b);
  TermId Times(TermId a, int64_t factor);
  TermId Times(TermId a, ir::Dim size);

  const Term& operator[](TermId id) const { return terms_[id]; }
  uint64_t VariablesOf(const Point& point) const;

 private:
  TermId Add(const Term& term);

  std::vector<Term> terms_;
  std::map<std::tuple<Kind, int64_t, TermId, TermId>, TermId> known_;
};

}  // namespace frazil::optimize
