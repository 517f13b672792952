// One worker process as its parent holds it: spawned with nothing of the parent's but one end of a socket pair, killed
// and reaped here and nowhere else.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/worker.h"
#include "engine/worker_socket.h"

namespace frazil::engine {

class WorkerProcess {
 public:
  // The descriptor at which the worker finds its socket.
  static constexpr int SocketAtWorker = 3;
  // How it ends after a failed CHECK.
  static constexpr int BrokenInvariantStatus = 70;

  static Result<std::unique_ptr<WorkerProcess>> Spawn(const WorkerOptions& options);
  ~WorkerProcess();  // kills and reaps
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  const Channel& channel() const { return channel_; }
  pid_t pid() const { return pid_; }

  void Kill();  // any thread
  // Waits for the end, but not for ever, and says how it came: "signal 11 (Segmentation fault)", "exit status 1".
  std::string Reap();
  bool TryReap();  // without waiting
  bool reaped() const { return reaped_; }

 private:
  WorkerProcess() = default;

  pid_t pid_ = -1;
  Channel channel_;
  bool reaped_ = false;
  std::string ending_;
};

}  // namespace frazil::engine
