// Read backwards, the tail repeats with period p over m repetitions if and only if the sequence and the sequence from
// place p on agree for (m - 1) p tokens. The Z algorithm gives all those agreements in one linear pass: it never
// compares a token again that lies within the longest agreement found so far.
#include <algorithm>

#include "profile/profile.h"

namespace frazil::profile {

TokenRing::TokenRing(size_t capacity) : tokens_(std::max<size_t>(capacity, 1)) {}

void TokenRing::Push(uint64_t token) {
  tokens_[next_] = token;
  next_ = next_ + 1 == tokens_.size() ? 0 : next_ + 1;
  count_ = std::min(count_ + 1, tokens_.size());
}

size_t TokenRing::Period(size_t repetitions) const {
  if (repetitions == 0) return 0;
  const size_t longest = count_ / repetitions;
  std::vector<size_t> agree(longest + 1);
  size_t from = 0,
         to = 0;  // the agreement that reaches furthest: [from, to) repeats [0, to - from)
  for (size_t p = 1; p <= longest; ++p) {
    size_t length = p < to ? std::min(agree[p - from], to - p) : 0;
    while (p + length < count_ && at_back(length) == at_back(p + length)) ++length;
    if (p + length > to) {
      from = p;
      to = p + length;
    }
    agree[p] = length;
    if (length >= (repetitions - 1) * p) return p;
  }
  return 0;
}

void TokenRing::Clear() { next_ = count_ = 0; }

}  // namespace frazil::profile
