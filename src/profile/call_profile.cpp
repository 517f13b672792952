// Counts, times and constants of one call site. A median of few recent times, because a timed call may have been
// interrupted, and because inputs change.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "profile/profile.h"

namespace frazil::profile {

CallProfile::CallProfile(std::vector<uint32_t> words_per_scalar_parameter,
                         std::vector<uint32_t> first_word)
    : words_(std::move(words_per_scalar_parameter)), first_(std::move(first_word)) {
  CHECK(words_.size() == first_.size());
  ForgetArguments();
}

void CallProfile::ForgetArguments() {
  seen_.assign(words_.size(), {});
  varies_.assign(words_.size(), false);
}

void CallProfile::Add(const uint64_t* arguments, uint64_t calls, double ns) {
  calls_ += calls;
  total_ns_ += static_cast<double>(calls) * ns;
  if (recent_.size() < RecentCount) {
    recent_.push_back(ns);
  } else {
    recent_[next_recent_] = ns;
    next_recent_ = (next_recent_ + 1) % RecentCount;
  }
  for (size_t i = 0; i < words_.size(); ++i) {
    if (varies_[i] || words_[i] == 0) continue;
    const uint64_t* at = arguments + first_[i];
    if (seen_[i].empty()) {
      seen_[i].assign(at, at + words_[i]);
    } else if (!std::equal(seen_[i].begin(), seen_[i].end(), at)) {
      varies_[i] = true;
      seen_[i].clear();
    }
  }
}

double CallProfile::ns_per_call() const {
  if (recent_.empty()) return 0;
  std::vector<double> sorted = recent_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<std::vector<uint64_t>> CallProfile::ConstantArguments() const { return seen_; }

}  // namespace frazil::profile
