// When a time limit is over, on the clock that never jumps. The one place that adds milliseconds to a clock: limits come
// from users, and 2^64 - 1 of them added as they are lie in the past.
#pragma once

#include <time.h>

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

// How long a search goes on without finding anything, in processor time of the thread that searches: what else the machine does must not
// decide what is found. On the clock it lasts a few times as long at most, for searches that wait for somebody else.
class Patience {
 public:
  explicit Patience(uint64_t ms) : ms_(ms) { Restart(); }

  // Something was found.
  void Restart() {
    begin_ = ThreadNs();
    end_ = Deadline::After(ms_ < UINT64_MAX / MostTimes ? ms_ * MostTimes : ms_);
  }
  bool Over() const { return (ThreadNs() - begin_) / 1'000'000 >= ms_ || end_.Passed(); }

 private:
  static constexpr uint64_t MostTimes = 8;

  static uint64_t ThreadNs() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }

  uint64_t ms_, begin_ = 0;
  Deadline end_ = Deadline::Never();
};

}  // namespace frazil
