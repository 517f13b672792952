#include "runtime/events.h"

#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "base/system/fork.h"

namespace frazil::runtime {
namespace {

struct Listening {
  ForkMutex mutex;
  Listener listener;
  std::set<std::pair<std::string, std::string>> told;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  // Never destroyed: engines tell until their last.
  static Listening& Get() {
    static auto* listening = new Listening;
    return *listening;
  }
};

}  // namespace

void Listen(Listener listener) {
  Listening& listening = Listening::Get();
  const std::lock_guard lock(listening.mutex);
  listening.listener = std::move(listener);
}

double MillisecondsNow() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                   Listening::Get().start)
      .count();
}

void Tell(const engine::Event& event) {
  Listening& listening = Listening::Get();
  const std::lock_guard lock(listening.mutex);
  if (listening.listener) listening.listener(event);
}

void TellOnce(engine::Verb verb, const std::string& who, const std::string& detail) {
  Listening& listening = Listening::Get();
  const std::lock_guard lock(listening.mutex);
  if (!listening.listener || !listening.told.emplace(who, detail).second) return;
  listening.listener({MillisecondsNow(), "", verb, who, detail});
}

}  // namespace frazil::runtime
