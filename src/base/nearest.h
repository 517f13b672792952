// The name that a person may have meant who wrote another one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frazil {

// Of the names the one with the fewest wrong letters (added, left out, changed, or swapped with a neighbor), or that begins
// so; empty if none is near.
std::string Nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace frazil
