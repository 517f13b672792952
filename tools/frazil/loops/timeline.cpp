#include "timeline.h"

#include <fmt/format.h>

namespace frazil::cli {

void Timeline::Add(double ms, std::string_view what, std::string_view sentence) {
  Add({{"ms", ms}, {"what", what}, {"sentence", sentence}});
}

void Timeline::Add(double ms, const engine::Event& event, const std::string& sentence) {
  nlohmann::ordered_json json = {
      {"ms", ms}, {"what", engine::VerbName(event.verb)}, {"sentence", sentence}};
  json["site"] = event.site;
  if (!event.who.empty()) json["who"] = event.who;
  if (!event.detail.empty()) json["detail"] = event.detail;
  for (const auto& [quantity, number] : event.numbers)
    json[std::string(engine::QuantityName(quantity))] = number;
  Add(std::move(json));
}

void Timeline::Add(nlohmann::ordered_json json) {
  std::lock_guard lock(mutex_);
  if (!session_.json)
    fmt::print("{:10.2f} ms  {:<9} {}\n", json["ms"].get<double>(), json["what"].get<std::string>(),
               json["sentence"].get<std::string>());
  json_.push_back(std::move(json));
}

}  // namespace frazil::cli
