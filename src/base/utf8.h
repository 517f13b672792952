// Is a text UTF-8? Readers ask once, up front, so that messages can quote it safely.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace frazil {

// Where the first byte stands that is not part of well-formed UTF-8 (shortest forms only, no surrogates).
std::optional<Location> FindBadUtf8(std::string_view text);

}  // namespace frazil
