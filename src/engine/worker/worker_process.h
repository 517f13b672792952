// One worker process as its parent holds it: spawned with nothing of the parent's but one end of a socket pair, killed
// and reaped when nobody holds it any more.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "base/system/process.h"
#include "engine/worker/worker.h"
#include "engine/worker/worker_socket.h"

namespace frazil::engine {

class WorkerProcess {
 public:
  // The descriptor at which the worker finds its socket.
  static constexpr int SocketAtWorker = 3;
  // How it ends after a failed CHECK.
  static constexpr int BrokenInvariantStatus = 70;

  static Result<std::unique_ptr<WorkerProcess>> Spawn(const WorkerOptions& options);

  Channel channel() const { return {socket_.get(), process_.pidfd()}; }
  pid_t pid() const { return process_.pid(); }

  void Kill() { process_.Kill(); }  // any thread
  // Waits for the end, but not for ever, and says how it came: "signal 11 (Segmentation fault)", "exit status 1".
  std::string Reap();
  bool TryReap() { return process_.TryReap(); }  // without waiting
  bool reaped() const { return process_.reaped(); }

 private:
  WorkerProcess(Fd socket, Process process)
      : process_(std::move(process)), socket_(std::move(socket)) {}

  Process process_;
  Fd socket_;  // closed first: an idle worker ends by itself then
};

}  // namespace frazil::engine
