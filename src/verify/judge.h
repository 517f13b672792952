// The one maker of Verified<...>. Only verify/ includes this header, and tests that need a verified form to play
// with; a check of the layers says so.
#pragma once

#include <utility>

#include "verify/verified.h"

namespace frazil::verify {

class Judge {
 public:
  template <typename T>
  static Verified<T> Vouch(T value, EvidencePair evidence) {
    return Verified<T>(std::move(value), std::move(evidence));
  }
};

}  // namespace frazil::verify
