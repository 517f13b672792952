// What happens during `frazil loop`, line by line as it happens, and as JSON at the end.
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli.h"
#include "engine/event.h"

namespace frazil::cli {

// Lines come from the caller's thread and from the engine's.
class Timeline {
 public:
  explicit Timeline(const Session& session) : session_(session) {}
  void Add(double ms, std::string_view what, std::string_view sentence);
  // The fields of an event, beside what people read.
  void Add(double ms, const engine::Event& event, const std::string& sentence);
  nlohmann::ordered_json& json() { return json_; }

 private:
  void Add(nlohmann::ordered_json json);

  const Session& session_;
  std::mutex mutex_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

}  // namespace frazil::cli
