// Shared by the tests of the worker's client.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <string>

#include "base/sanitized.h"
#include "engine/worker/worker.h"

namespace frazil::engine {

inline WorkerOptions Faulty() {
  WorkerOptions options;
  options.program = FRAZIL_FAULTY_WORKER;
  return options;
}

inline WorkRequest Order(std::string order, uint64_t timeout_ms = 10'000) {
  WorkRequest request;
  request.program = std::move(order);
  request.timeout_ms = timeout_ms;
  return request;
}

// What the worker says, or how the request failed.
inline std::string Ask(Worker& worker, std::string order, uint64_t timeout_ms = 10'000) {
  const Result<WorkReply> reply = worker.Improve(Order(std::move(order), timeout_ms));
  if (!reply) return "failed: " + reply.error().message;
  return reply->events.empty() ? "" : reply->events[0].detail;
}

inline double Milliseconds(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

inline bool HasChildren() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Sanitizers answer signals themselves and need more memory than a limit allows.
}  // namespace frazil::engine
