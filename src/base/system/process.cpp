#include "base/system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/sanitized.h"

extern char** environ;

namespace frazil {
namespace {

constexpr uint64_t ReapPatienceMs = 2000;
// How often we look where the kernel cannot wake us.
constexpr int BlindPollMs = 10;
constexpr unsigned SignalProcessGroup = 1u << 2;  // PIDFD_SIGNAL_PROCESS_GROUP
#ifndef P_PIDFD
constexpr auto P_PIDFD = static_cast<idtype_t>(3);
#endif

std::unexpected<std::error_code> SystemError(int error) {
  return std::unexpected(std::error_code(error, std::generic_category()));
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What posix_spawn needs; all of it is freed however the spawn ends.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    // Ignored signals would be inherited.
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // First all descriptors move to their places, then everything else goes, then /dev/null is opened where it is wanted:
  // in this order a full table of descriptors, or a parent that closed its streams, makes no difference.
  int Place(std::span<const int> descriptors) {
    const int count = static_cast<int>(descriptors.size());
    for (int to = 0; to < count; ++to) {
      int from = descriptors[static_cast<size_t>(to)];
      if (from < 0) continue;
      // It lies where another one will be.
      if (from < count && from != to) {
        from = ::fcntl(from, F_DUPFD_CLOEXEC, count);
        if (from < 0) return errno;
        moved_.emplace_back(from);
      }
      // Onto itself: that clears close-on-exec.
      ::posix_spawn_file_actions_adddup2(&actions_, from, to);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, count);
    for (int to = 0; to < count; ++to)
      if (descriptors[static_cast<size_t>(to)] < 0)
        ::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null",
                                           to == 0 ? O_RDONLY : O_WRONLY, 0);
    return 0;
  }

  int Spawn(const Command& command, pid_t& pid) {
    const std::vector<char*> words = Pointers(command.words);
    const std::vector<char*> environment =
        command.environment ? Pointers(*command.environment) : std::vector<char*>();
    return ::posix_spawnp(&pid, command.program.c_str(), &actions_, &attributes_, words.data(),
                          command.environment ? environment.data() : environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<Fd> moved_;
};

void Limit(decltype(RLIMIT_CORE) what, rlim_t most) {
  const rlimit limit{most, most};
  ::setrlimit(what, &limit);
}

}  // namespace

std::string Ending::ToString() const {
  if (!is_known) return "reaped elsewhere";
  if (signal == 0) return fmt::format("exit status {}", status);
  const char* name = ::sigdescr_np(signal);
  return fmt::format("signal {} ({})", signal, name == nullptr ? "unknown" : name);
}

Process::Process(pid_t pid)
    : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      ending_(std::move(other.ending_)) {}

SystemResult<Process> Process::Spawn(const Command& command, std::span<const int> descriptors) {
  SpawnPlan plan;
  pid_t pid = -1;
  int error = plan.Place(descriptors);
  if (error == 0) error = plan.Spawn(command, pid);
  if (error != 0) return SystemError(error);
  return Process(pid);
}

SystemResult<Process> Process::Fork(const std::function<void()>& work, uint64_t memory_bytes) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return SystemError(errno);
  if (pid > 0) return Process(pid);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // Sanitizers map more than any limit.
  if (memory_bytes != 0 && !Sanitized) Limit(RLIMIT_AS, memory_bytes);
  Limit(RLIMIT_CORE, 0);
  work();
  ::_exit(0);
}

Process::~Process() {
  if (pid_ < 0 || reaped()) return;
  Kill();
  Reap();
}

void Process::Kill() {
  const auto send = [&](unsigned flags) {
    return ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, flags) == 0;
  };
  // The kernel knows groups since 6.9; of a process that leads none there is only itself.
  if (pidfd_ && send(SignalProcessGroup)) return;
  // The number may be somebody else's by now, unless it still is a child that was not reaped.
  siginfo_t info{};
  if (Wait(&info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    ::kill(-pid_, SIGKILL);
    if (!pidfd_) ::kill(pid_, SIGKILL);
  }
  if (pidfd_) send(0);
}

int Process::Wait(void* info, int options) const {
  auto* const found = static_cast<siginfo_t*>(info);
  for (;;) {
    int result = -1;
    if (pidfd_) result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), found, options);
    if (!pidfd_ || (result != 0 && errno == EINVAL))
      result = ::waitid(P_PID, static_cast<id_t>(pid_), found, options);
    if (result == 0 || errno != EINTR) return result;
  }
}

int Process::PollMs(Deadline deadline) const {
  return pidfd_ ? deadline.PollMs() : std::min(deadline.PollMs(), BlindPollMs);
}

bool Process::HasEnded() const {
  if (reaped()) return true;
  siginfo_t info{};
  return Wait(&info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

bool Process::WaitForEnd(Deadline deadline) const {
  while (!HasEnded()) {
    if (deadline.Passed()) return false;
    pollfd polled{pidfd_.get(), POLLIN, 0};
    ::poll(&polled, 1, PollMs(deadline));
  }
  return true;
}

bool Process::TryReap() {
  if (reaped()) return true;
  siginfo_t info{};
  if (Wait(&info, WEXITED | WNOHANG) != 0) {
    ending_ = Ending{.is_known = false};
  } else if (info.si_pid != 0) {
    const bool is_exit = info.si_code == CLD_EXITED;
    ending_ =
        Ending{.status = is_exit ? info.si_status : 0, .signal = is_exit ? 0 : info.si_status};
  }
  return reaped();
}

std::optional<Ending> Process::Reap() {
  WaitForEnd(Deadline::After(ReapPatienceMs));
  TryReap();
  return ending_;
}

}  // namespace frazil
