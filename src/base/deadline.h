// When a time limit is over, on the clock that never jumps. The one place that adds milliseconds to a clock: limits come
// from users, and 2^64 - 1 of them added as they are lie in the past.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace frazil {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline After(uint64_t ms) {
    return Deadline(Clock::now() + std::chrono::milliseconds(std::min(ms, CenturyMs)));
  }
  static Deadline After(std::chrono::milliseconds time) {
    return After(static_cast<uint64_t>(std::max<int64_t>(time.count(), 0)));
  }
  static Deadline Never() { return After(CenturyMs); }

  bool Passed() const { return Clock::now() >= at_; }
  // Whole milliseconds; 0 in the last one.
  uint64_t LeftMs() const {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return left > 0 ? static_cast<uint64_t>(left) : 0;
  }
  // What poll() may wait at a time: 0 only where it has passed.
  int PollMs() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
  }
  // At most that much of what is left.
  Deadline Within(uint64_t ms) const { return std::min(*this, After(ms)); }
  // For waits of the standard library.
  Clock::time_point at() const { return at_; }

  friend auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  // No limit that anybody meets. A clock's largest time would be none either, but what waits for it adds to it.
  static constexpr uint64_t CenturyMs = uint64_t{100} * 365 * 24 * 3600 * 1000;

  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace frazil
