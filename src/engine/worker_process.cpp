// Spawning, killing, reaping. posix_spawn and not fork: it costs the same however large the parent is. A pidfd where
// the kernel has them: a number may be taken by another process, a pidfd may not. The parent's signal dispositions and
// masks are not touched; a parent that reaps all its children itself (wait(-1), SIGCHLD ignored) is served too: ECHILD
// means that somebody was faster.
#include "engine/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/find_worker.h"

extern char** environ;

namespace frazil::engine {
namespace {

// A killed process is gone within milliseconds, unless it sits in the kernel.
constexpr auto ReapPatience = std::chrono::seconds(2);
constexpr unsigned SignalProcessGroup = 1u << 2;  // PIDFD_SIGNAL_PROCESS_GROUP
#ifndef P_PIDFD
constexpr auto P_PIDFD = static_cast<idtype_t>(3);
#endif

int PidfdOpen(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// What posix_spawn needs; all of it is freed however the spawn ends.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  explicit SpawnPlan(int socket) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    // First the socket moves to its place (dup2 onto itself clears close-on-exec), then everything else goes, then
    // the standard streams are opened: in this order a full table of descriptors, or a parent that closed its
    // streams, makes no difference.
    ::posix_spawn_file_actions_adddup2(&actions, socket, WorkerProcess::SocketAtWorker);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, WorkerProcess::SocketAtWorker + 1);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    // Ignored signals would be inherited. A group of its own: a Ctrl-C is for the user's program to handle.
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

std::string DescribeEnding(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED && info.si_status == WorkerProcess::BrokenInvariantStatus)
    return "a broken invariant of its own (FRAZIL_WORKER_LOG=file keeps what it says)";
  if (info.si_code == CLD_EXITED) return fmt::format("exit status {}", info.si_status);
  const char* name = ::sigdescr_np(info.si_status);
  return fmt::format("signal {} ({})", info.si_status, name == nullptr ? "unknown" : name);
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Spawn(const WorkerOptions& options) {
  const WorkerSearch search = FindWorker(options.program);
  if (search.program.empty()) {
    Error error{Diag::MissingTool, search.Sentence()};
    error.hint = "set FRAZIL_WORKER to its path";
    return std::unexpected(std::move(error));
  }
  const std::string& path = search.program;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Fail(Diag::WorkerFailed, fmt::format("no socket for the worker: {}", ::strerror(errno)));
  std::string name = "frazil-worker";
  std::string memory = fmt::format("--memory={}", options.memory_bytes);
  std::string cpu = fmt::format("--cpu={}", options.cpu_seconds);
  char* arguments[] = {name.data(), memory.data(), cpu.data(), nullptr};
  pid_t pid = -1;
  int error = 0;
  {
    const SpawnPlan plan(ends[1]);
    error = ::posix_spawn(&pid, path.c_str(), &plan.actions, &plan.attributes, arguments, environ);
  }
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return Fail(Diag::WorkerFailed,
                fmt::format("{} cannot be started: {}", path, ::strerror(error)));
  }
  std::unique_ptr<WorkerProcess> process(new WorkerProcess);
  process->pid_ = pid;
  process->channel_ = {ends[0], PidfdOpen(pid)};
  return process;
}

void WorkerProcess::Kill() {
  if (channel_.process >= 0) {
    // With the whole group, where the kernel can (6.9): a prover may be at work in a process of its own.
    if (::syscall(SYS_pidfd_send_signal, channel_.process, SIGKILL, nullptr, SignalProcessGroup) !=
        0)
      ::syscall(SYS_pidfd_send_signal, channel_.process, SIGKILL, nullptr, 0);
    return;
  }
  // Without a pidfd the number may be somebody else's by now, unless it still is a child that we have not reaped.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    ::kill(pid_, SIGKILL);
}

bool WorkerProcess::TryReap() {
  if (reaped_) return true;
  siginfo_t info{};
  int result = -1;
  if (channel_.process >= 0)
    result = ::waitid(P_PIDFD, static_cast<id_t>(channel_.process), &info, WEXITED | WNOHANG);
  if (channel_.process < 0 || (result != 0 && errno == EINVAL))
    result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  if (result != 0 && errno == ECHILD) {
    reaped_ = true;
    ending_ = "reaped elsewhere";
  } else if (result == 0 && info.si_pid != 0) {
    reaped_ = true;
    ending_ = DescribeEnding(info);
  }
  return reaped_;
}

std::string WorkerProcess::Reap() {
  const Clock::time_point deadline = Clock::now() + ReapPatience;
  while (!TryReap() && Clock::now() < deadline) {
    pollfd polled{channel_.process, POLLIN, 0};
    ::poll(&polled, 1, channel_.process >= 0 ? 100 : 1);
  }
  return reaped_ ? ending_ : "not ended yet";
}

WorkerProcess::~WorkerProcess() {
  ::close(channel_.socket);
  if (!reaped_) {
    Kill();
    Reap();
  }
  if (channel_.process >= 0) ::close(channel_.process);
}

}  // namespace frazil::engine
