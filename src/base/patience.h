// How long a search goes on without finding anything, in processor time of the thread that searches: what else the machine does must not
// decide what is found. On the clock it lasts a few times as long at most, for searches that wait for somebody else.
#pragma once

#include <time.h>

#include <cstdint>

#include "base/deadline.h"

namespace frazil {

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
