// The states and their transitions as one table, so that the picture of a slot's life is in one place.
#include "dispatch/state.h"

namespace frazil::dispatch {
namespace {

constexpr uint8_t To(State state) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(state));
}
constexpr uint8_t ByHand = To(State::Frozen) | To(State::Banned);

struct Row {
  std::string_view name;
  uint8_t next;
};

// In the order of the enumeration. A slot may go from Fluid to Solid at once: the store had a form for it.
constexpr Row Rows[StateCount] = {
    {"fluid", To(State::Warm) | To(State::Candidate) | To(State::Solid) | ByHand},
    {"warm", To(State::Fluid) | To(State::Candidate) | To(State::Solid) | ByHand},
    {"candidate", To(State::Fluid) | To(State::Warm) | To(State::Solid) | ByHand},
    {"solid", To(State::Fluid) | To(State::Suspect) | ByHand},
    {"suspect", To(State::Fluid) | To(State::Solid) | ByHand},
    {"frozen", To(State::Fluid) | To(State::Solid) | To(State::Banned)},
    {"banned", To(State::Fluid)},
};

}  // namespace

std::string_view StateName(State state) { return Rows[static_cast<uint8_t>(state)].name; }

bool MayGo(State from, State to) {
  return from == to || (Rows[static_cast<uint8_t>(from)].next & To(to)) != 0;
}

}  // namespace frazil::dispatch
