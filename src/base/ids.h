// Typed indices into vectors, so that a value can never be mistaken for an instruction.
#pragma once

#include <cstdint>
#include <functional>

namespace frazil {

template <typename Tag>
struct Id {
  uint32_t index = UINT32_MAX;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr bool valid() const { return index != UINT32_MAX; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace frazil

template <typename Tag>
struct std::hash<frazil::Id<Tag>> {
  size_t operator()(frazil::Id<Tag> id) const noexcept { return id.index; }
};
