// What a worker does before its first request: takes limits upon itself and sees to it that it does not outlive its
// client.
#pragma once

#include <cstdint>
#include <string_view>

namespace frazil::worker {

struct StartOptions {
  uint64_t memory_bytes = 0;  // 0: no limit
  uint64_t cpu_seconds = 0;   // of one request
};

// "--memory=N", "--cpu=N"; false for anything else.
bool ReadOption(std::string_view argument, StartOptions& options);

// Is the descriptor the end of a socket pair, as Frazil gives it to its worker?
bool IsWorkerSocket(int descriptor);

// Call it first thing. Opens the file that $FRAZIL_WORKER_LOG names as standard error.
void TakeLimits(const StartOptions& options);
// Ends this process as soon as its parent has ended or closed the socket, even in the middle of a request.
void DieWithParent(int socket);

}  // namespace frazil::worker
