// What a slot is at, and which way it may go on.
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil::dispatch {

enum class State : uint8_t {
  Fluid,      // the interpreter answers
  Warm,       // the same, and it is called often enough to be watched
  Candidate,  // the same, and a form is being made and judged
  Solid,      // a verified form answers where its guard holds
  Suspect,    // the same, and something spoke against it: cleared or melted next
  Frozen,     // by hand: keeps the forms it has, takes no new ones
  Banned,     // by hand: fluid, and takes no form
};
constexpr int StateCount = 7;
std::string_view StateName(State state);

// Staying is always allowed. Frozen and Banned are entered and left by hand only: MayGo says where to, and
// Slot::SetState refuses to leave them.
bool MayGo(State from, State to);

// Whether a slot in this state has forms: Fluid, Warm, Candidate and Banned have none, Solid and Suspect have some.
constexpr bool HasForms(State state) { return state == State::Solid || state == State::Suspect; }
constexpr bool IsByHand(State state) { return state == State::Frozen || state == State::Banned; }

}  // namespace frazil::dispatch
