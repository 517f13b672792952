// What happens to call sites, as data: who, when, which step of the loop, about which proposal, with which numbers. People
// get sentences made of it (Sentence); everybody else reads the fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace frazil::engine {

// The steps of the loop that tell something (engine/improve.cpp).
enum class Verb : uint8_t {
#define FRAZIL_VERB(name, text) name,
#define FRAZIL_QUANTITY(name, text)
#include "engine/event.def"
#undef FRAZIL_VERB
#undef FRAZIL_QUANTITY
};
constexpr Verb LastVerb = Verb::Worker;
std::string_view VerbName(Verb verb);  // "observe"

enum class Quantity : uint8_t {
#define FRAZIL_QUANTITY(name, text) name,
#define FRAZIL_VERB(name, text)
#include "engine/event.def"
#undef FRAZIL_QUANTITY
#undef FRAZIL_VERB
};
constexpr Quantity LastQuantity = Quantity::Ms;
std::string_view QuantityName(Quantity quantity);  // "median_ns"

struct Event {
  double ms = 0;     // since the engine was made
  std::string site;  // the site's short digest; empty: of no site
  Verb verb = Verb::Observe;
  std::string who;     // the proposer, or where a form came from; empty: nobody in particular
  std::string detail;  // in words: a reason, a guard, evidence, kind of code
  std::vector<std::pair<Quantity, double>> numbers = {};

  double Number(Quantity quantity) const;  // 0 where there is none
  friend bool operator==(const Event&, const Event&) = default;
};

// One sentence for people.
std::string Sentence(const Event& event);

}  // namespace frazil::engine
