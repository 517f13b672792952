// A time for people.
#pragma once

#include <cstdint>
#include <string>

namespace frazil {

// Three digits and the unit that fits: "4.20 ns", "58.6 us", "391 ms", "12.4 s".
std::string PrintDuration(double ns);

// How long ago that was, in seconds since 1970: "now", "5 min ago", "3 h ago", "12 days ago".
std::string PrintAgo(int64_t seconds_since_1970);

}  // namespace frazil
