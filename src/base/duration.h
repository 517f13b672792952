// A time for people.
#pragma once

#include <string>

namespace frazil {

// Three digits and the unit that fits: "4.20 ns", "58.6 us", "391 ms", "12.4 s".
std::string PrintDuration(double ns);

}  // namespace frazil
