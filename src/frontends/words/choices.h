// Readings of one text. Where the grammar can go on in two ways it asks; the driver parses again
// until every combination was taken. A text is ambiguous if two of its readings differ, never by a
// rule of thumb at the place where they part.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace frazil::frontends::words {

class Choices {
 public:
  // A number below `count`: which way this reading goes.
  uint32_t Ask(uint32_t count, Location location) {
    if (next_ == taken_.size()) taken_.push_back({0, count, location});
    return taken_[next_++].way;
  }
  // Moves on to the next reading; false when all were taken.
  bool Advance() {
    next_ = 0;
    while (!taken_.empty() && taken_.back().way + 1 == taken_.back().count) taken_.pop_back();
    if (taken_.empty()) return false;
    ++taken_.back().way;
    return true;
  }
  // Where this reading first left the first one.
  Location Parting() const {
    for (const Taken& taken : taken_)
      if (taken.way != 0) return taken.location;
    return {};
  }

  // False once all readings together have taken too much work: nested phrases multiply readings.
  bool Spend() { return ++spent_ <= MaxOperands; }

 private:
  static constexpr uint64_t MaxOperands = 200'000;
  struct Taken {
    uint32_t way;
    uint32_t count;
    Location location;
  };
  std::vector<Taken> taken_;
  size_t next_ = 0;
  uint64_t spent_ = 0;
};

}  // namespace frazil::frontends::words
