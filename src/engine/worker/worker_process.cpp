#include "engine/worker/worker_process.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>

#include <array>

#include "engine/worker/find_worker.h"

namespace frazil::engine {

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Spawn(const WorkerOptions& options) {
  const WorkerSearch search = FindWorker(options.program);
  if (search.program.empty()) {
    Error error{Diag::MissingTool, search.Sentence()};
    error.hint = "set FRAZIL_WORKER to its path";
    return std::unexpected(std::move(error));
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Fail(Diag::WorkerFailed, fmt::format("no socket for the worker: {}", ::strerror(errno)));
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  std::array<int, SocketAtWorker + 1> descriptors;
  descriptors.fill(-1);
  descriptors[SocketAtWorker] = theirs.get();
  const Command command{search.program,
                        {"frazil-worker", fmt::format("--memory={}", options.memory_bytes),
                         fmt::format("--cpu={}", options.cpu_seconds)}};
  SystemResult<Process> process = Process::Spawn(command, descriptors);
  if (!process)
    return Fail(Diag::WorkerFailed,
                fmt::format("{} cannot be started: {}", search.program, process.error().message()));
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(ours), std::move(*process)));
}

std::string WorkerProcess::Reap() {
  const std::optional<Ending> ending = process_.Reap();
  if (!ending) return "not ended yet";
  if (ending->status == BrokenInvariantStatus)
    return "a broken invariant of its own (FRAZIL_WORKER_LOG=file keeps what it says)";
  return ending->ToString();
}

}  // namespace frazil::engine
