// What executors and their engines tell, as data (engine/event.h). One listener for the process: executors share what they
// run on, and so what happens there happens to several of them.
#pragma once

#include <functional>
#include <string>

#include "engine/event.h"

namespace frazil::runtime {

// Called on any thread, one event at a time; must not call back. Replaces the one before; null: nobody listens.
using Listener = std::function<void(const engine::Event&)>;
void Listen(Listener listener);

void Tell(const engine::Event& event);
// Of no site, and once in this process: what is missing stays missing.
void TellOnce(engine::Verb verb, const std::string& who, const std::string& detail);
// When it happened, for events that are made here.
double MillisecondsNow();

}  // namespace frazil::runtime
