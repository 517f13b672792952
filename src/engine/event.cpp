// Events as people read them.
#include "engine/event.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"
#include "base/grouped.h"

namespace frazil::engine {

std::string_view VerbName(Verb verb) {
  constexpr std::string_view Names[] = {
#define FRAZIL_VERB(name, text) text,
#define FRAZIL_QUANTITY(name, text)
#include "engine/event.def"
#undef FRAZIL_VERB
#undef FRAZIL_QUANTITY
  };
  static_assert(std::size(Names) == static_cast<size_t>(LastVerb) + 1);
  return Names[static_cast<size_t>(verb)];
}

std::string_view QuantityName(Quantity quantity) {
  constexpr std::string_view Names[] = {
#define FRAZIL_QUANTITY(name, text) text,
#define FRAZIL_VERB(name, text)
#include "engine/event.def"
#undef FRAZIL_QUANTITY
#undef FRAZIL_VERB
  };
  static_assert(std::size(Names) == static_cast<size_t>(LastQuantity) + 1);
  return Names[static_cast<size_t>(quantity)];
}

double Event::Number(Quantity quantity) const {
  const auto found = std::ranges::find(numbers, quantity, &std::pair<Quantity, double>::first);
  return found == numbers.end() ? 0 : found->second;
}

std::string Sentence(const Event& event) {
  const auto number = [&](Quantity quantity) { return event.Number(quantity); };
  const auto time = [&](Quantity quantity) { return PrintDuration(number(quantity)); };
  const std::string start = event.who.empty() ? "" : event.who + ": ";
  switch (event.verb) {
    case Verb::Observe:
      return fmt::format("hot after {} calls of {:.1f} us", number(Quantity::Calls),
                         number(Quantity::Ns) / 1000);
    case Verb::Propose:
      if (event.numbers.empty()) return start + event.detail;
      return fmt::format("{}cost {:.4g} -> {:.4g}{}{}", start, number(Quantity::SourceCost),
                         number(Quantity::StaticCost), event.detail.empty() ? "" : " if ",
                         event.detail);
    case Verb::Lower:
      return fmt::format("{}{} bytes of {} code in {:.1f} ms", start,
                         PrintGrouped(static_cast<uint64_t>(number(Quantity::Bytes))), event.detail,
                         number(Quantity::Ms));
    case Verb::Price:
      return fmt::format("{}{} -> {} (median {} -> {})", start, time(Quantity::ReferenceNs),
                         time(Quantity::Ns), time(Quantity::ReferenceMedianNs),
                         time(Quantity::MedianNs));
    case Verb::Dispatch: return fmt::format("solid from {}: {}", event.who, event.detail);
    case Verb::Verify:
    case Verb::Refuse:
    case Verb::Admit:
    case Verb::Keep:
    case Verb::Reopen:
    case Verb::Worker: return start + event.detail;
  }
  return event.detail;
}

}  // namespace frazil::engine
