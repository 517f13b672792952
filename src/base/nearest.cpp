#include "base/nearest.h"

#include <algorithm>

namespace frazil {
namespace {

// How many letters must be added, left out, changed or swapped with their neighbor.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  size_t least = word.size() <= 3 ? 2 : 3;  // less than so many letters are wrong
  for (const std::string& name : names) {
    const bool begun = word.size() >= 2 && name.starts_with(word);
    const size_t distance = begun ? 1 : Distance(word, name);
    if (distance < std::min(least, name.size())) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace frazil
