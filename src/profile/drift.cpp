// Has the share of misses risen above what is normal? Asked after every few calls, for ever, so that a test with a
// fixed sample size would cry wolf sooner or later.
//
// Null hypothesis: whatever happened before, the next call misses with probability p <= p0 (calls need not be
// independent, nor p constant). Bet on an alternative q > p0: a unit of wealth is multiplied by q / p0 at a miss and by
// (1 - q) / (1 - p0) otherwise. Its expected growth is
//     p * q / p0 + (1 - p) * (1 - q) / (1 - p0),
// which is 1 at p = p0 and rises with p, so it is at most 1 under the null: the wealth is a nonnegative
// supermartingale, also when the bets of several calls are settled at once. (The batch's size must not depend on its
// outcome. A thread's countdown does not.)
//
// q is unknown, and so is when the drift begins. Hence the unit is divided before the first call: bet k of grid and
// start t gets w_k * pi_t, with w_k = 1/16 and pi_t = 1 / (t (t + 1)), which sum to 1; money whose start has not come
// waits. A sum of supermartingales is one, and it begins with 1; by Ville's inequality
//     P(the wealth ever reaches 1 / alpha) <= alpha.
// That is the stated rate: over the whole life, at every look, however long. All bets on one q multiply alike, so that
// only their sum is kept:  S_k <- (S_k + w_k pi_t) * factor_k,  and what still waits at step t is 1 / (t + 1).
//
// Delay: a drift to a share r at step t is found when the bet begun there has grown by 16 t (t + 1) / alpha, after
// about ln(16 t^2 / alpha) / KL(r, p0) calls. The ln t^2 is the price for not knowing when; a test whose bets all begin with
// the first call would have to win back everything it lost while all was well.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "profile/profile.h"

namespace frazil::profile {
namespace {

double Logit(double p) { return std::log(p / (1 - p)); }

// From a bit more than expected to nearly always, evenly spaced in log odds.
constexpr double FirstStep = 0.3, LastLogit = 7;

}  // namespace

DriftTest::DriftTest(double expected, double alpha) {
  const double p0 = std::clamp(expected, 1e-9, 0.999);
  threshold_ = 1 / std::clamp(alpha, 1e-300, 1.0);
  const double first = Logit(p0) + FirstStep, last = std::max(LastLogit, first + 1);
  for (size_t k = 0; k < GridSize; ++k) {
    const double logit = first + (last - first) * static_cast<double>(k) / (GridSize - 1);
    // 1 - q from its own formula: near 1 a difference would lose it.
    log_if_miss_[k] = -std::log1p(std::exp(-logit)) - std::log(p0);
    log_if_hit_[k] = -std::log1p(std::exp(logit)) - std::log1p(-p0);
  }
}

bool DriftTest::Add(uint64_t calls, uint64_t misses) {
  if (drifted_ || calls == 0) return drifted_;
  misses = std::min(misses, calls);
  const auto missed = static_cast<double>(misses), hit = static_cast<double>(calls - misses);
  steps_ += 1;
  const double share = 1 / (steps_ * (steps_ + 1) * GridSize);
  for (size_t k = 0; k < GridSize; ++k) {
    // May become 0 or infinite, which is as good: what begins now is never 0, and infinite is a rejection.
    wealth_[k] = (wealth_[k] + share) * std::exp(missed * log_if_miss_[k] + hit * log_if_hit_[k]);
  }
  drifted_ = wealth() >= threshold_;
  return drifted_;
}

double DriftTest::wealth() const {
  return std::accumulate(wealth_.begin(), wealth_.end(), 1 / (steps_ + 1));
}

void DriftTest::Reset() {
  wealth_ = {};
  steps_ = 0;
  drifted_ = false;
}

}  // namespace frazil::profile
