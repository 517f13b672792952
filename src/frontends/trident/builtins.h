// The table of built-in functions as C++.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace frazil::frontends::trident {

enum class Builtin : uint8_t {
#define FRAZIL_BUILTIN(name, ...) name,
#include "frontends/trident/builtins.def"
#undef FRAZIL_BUILTIN
};

// What a call may touch besides its arguments, as bits.
using Effects = uint8_t;
namespace effects {
inline constexpr Effects None = 0, Public = 1, Secret = 2, Ram = 4, Sponge = 8, Assembly = 16;
}

struct BuiltinInfo {
  Builtin id;
  std::string_view name, params, result;
  Effects effect;
  bool intrinsic_only;
  std::string_view meaning;
};

std::span<const BuiltinInfo> AllBuiltins();
const BuiltinInfo* FindBuiltin(std::string_view name);  // null if absent
// It reads or writes RAM, whatever else it does.
bool NeedsRam(Builtin id);

}  // namespace frazil::frontends::trident
