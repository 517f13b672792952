// Three digits say more than a measurement of ours knows; a fixed number of decimals would say now less, now more.
#include "base/duration.h"

#include <fmt/format.h>

#include <chrono>

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

std::string PrintAgo(int64_t seconds_since_1970) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now).count() - seconds_since_1970;
  if (seconds < 120) return "now";
  if (seconds < 2 * 3600) return fmt::format("{} min ago", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{} h ago", seconds / 3600);
  return fmt::format("{} days ago", seconds / (24 * 3600));
}

}  // namespace frazil
