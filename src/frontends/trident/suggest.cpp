// Distance in single edits and swaps of neighbors; a name of n characters may be n/3 + 1 away, so that short names
// do not suggest everything.
#include "frontends/trident/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace frazil::frontends::trident {
namespace {

size_t Distance(std::string_view a, std::string_view b, size_t most) {
  if (a.size() > b.size() + most || b.size() > a.size() + most) return most + 1;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] =
          std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string Suggest(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > 64) return {};
  size_t best = name.size() / 3 + 2;
  std::string_view nearest;
  for (const std::string_view candidate : known) {
    if (candidate == name) continue;
    const size_t distance = Distance(name, candidate, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() || best >= name.size() ? std::string()
                                                : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace frazil::frontends::trident
