// What is known of index expressions as integers. An index is at least 0 and less than its size, so that a size is at least 1
// wherever an index of it is open; sizes of tensors are not negative; a quotient is near what is divided.
#pragma once

#include <set>
#include <vector>

#include "verify/tensors/forms.h"

namespace frazil::verify::tensors {

class Bounds {
 public:
  explicit Bounds(Forms& forms) : forms_(forms) {}

  // The form, a size of a tensor that is there, is not negative.
  void SetSize(FormId form) { sizes_.insert(form); }
  // A number may be one that a guard gives, negative ones included.
  bool IsSize(FormId form) const {
    return forms_.NumberOf(form).value_or(-1) >= 0 || sizes_.contains(form);
  }

  // As integers, whatever the indices in them are. False: not known.
  bool IsNonNegative(const Polynomial& polynomial) const;
  bool IsLess(FormId a, FormId b) const;
  bool IsAtLeast(FormId a, int64_t least) const;
  // The integer is the word: it does not wrap.
  bool Fits(FormId form) const;

  // 0 <= index < size where the branches that were taken are taken, so that the word is the integer.
  bool IsWithinHere(FormId index, FormId size) const;

  // The floor of x / d, where both are integers and d >= 1.
  FormId Quotient(FormId x, FormId d);

  // What holds where a branch has been taken. No form depends on it: forms are kept for other places.
  size_t facts() const { return facts_.size(); }
  void Assume(FormId condition, bool holds);
  void Forget(size_t facts) { facts_.resize(facts); }

 private:
  bool Prove(const Polynomial& polynomial, std::set<FormId> positive, int depth) const;
  bool WithoutIndex(const Polynomial& polynomial, FormId index, std::set<FormId> positive,
                    int depth) const;
  bool WithoutQuotient(const Polynomial& polynomial, FormId quotient,
                       const std::set<FormId>& positive, int depth) const;
  bool OfSizes(Polynomial polynomial, const std::set<FormId>& positive) const;
  std::optional<Polynomial> MostOf(Polynomial polynomial) const;

  Forms& forms_;
  std::set<FormId> sizes_;
  std::vector<Polynomial> facts_;    // each is at least 0
  mutable bool uses_facts_ = false;  // only where it is asked about a place
};

}  // namespace frazil::verify::tensors
