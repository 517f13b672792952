// Frames over a stream socket, with a deadline. Used by both sides; a worker waits without one.
#pragma once

#include <chrono>
#include <expected>
#include <string>

#include "engine/worker/wire.h"

namespace frazil::engine {

using Clock = std::chrono::steady_clock;

struct IoFailure {
  enum class Reason {
    Closed,     // the other side is gone
    TimedOut,   // the deadline passed
    Malformed,  // what came is no frame
    System,     // a system call failed
  };
  Reason reason;
  std::string detail;
};

struct Channel {
  int socket = -1;
  // Readable once the other side's process has ended; -1: not known. The socket alone may stay open longer: a fork of
  // the client's process at a bad moment copies the worker's end of it.
  int process = -1;
};

constexpr Clock::time_point Never = Clock::time_point::max();

// Never raises SIGPIPE.
std::expected<void, IoFailure> SendFrame(const Channel& channel, const wire::Frame& frame,
                                         Clock::time_point deadline = Never);
std::expected<wire::Frame, IoFailure> ReceiveFrame(const Channel& channel,
                                                   Clock::time_point deadline = Never);

// Nothing may be said between requests: true if the other side still holds its end, quietly.
bool IsQuiet(const Channel& channel);

}  // namespace frazil::engine
