// "did you mean": the nearest of some names, for hints.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace frazil::frontends::trident {

// "did you mean 'x'?", or nothing where none of the names is near.
std::string Suggest(std::string_view name, std::span<const std::string_view> known);

}  // namespace frazil::frontends::trident
