// Names of the four answers.
#include "verify/verdict.h"

#include <array>

namespace frazil::verify {

std::string_view VerdictName(const Verdict& verdict) {
  constexpr std::array<std::string_view, std::variant_size_v<Verdict>> Names = {
      "proved", "tested", "refuted", "unknown"};
  return Names[verdict.index()];
}

}  // namespace frazil::verify
