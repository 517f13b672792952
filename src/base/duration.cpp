// Three digits say more than a measurement of ours knows; a fixed number of decimals would say now less, now more.
#include "base/duration.h"

#include <fmt/format.h>

namespace frazil {

std::string PrintDuration(double ns) {
  static constexpr const char* Units[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  // What would be rounded to 1000 of a unit is 1 of the next.
  while (unit + 1 < std::size(Units) && ns >= 999.5) {
    ns /= 1000;
    ++unit;
  }
  const int decimals = ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", ns, decimals, Units[unit]);
}

}  // namespace frazil
