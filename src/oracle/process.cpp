// A socket pair serves as both standard streams of the oracle: one descriptor to poll, and writing to a dead
// process is an error code (MSG_NOSIGNAL), not a signal. Request and answer may both be larger than the socket's
// buffers, so reading and writing go on at the same time.
#include "oracle/process.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/deadline.h"

extern char** environ;

namespace frazil::oracle {

Result<std::unique_ptr<Process>> Process::Start(const std::string& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Fail(Diag::EngineFailed, fmt::format("no socket for the oracle: {}", ::strerror(errno)));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::string name = "frazil-oracle";
  char* arguments[] = {name.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return Fail(Diag::EngineFailed,
                fmt::format("{} cannot be started: {}", program, ::strerror(error)));
  }
  return std::unique_ptr<Process>(new Process(ends[0], pid));
}

Process::~Process() {
  ::close(socket_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Process::HowItEnded() {
  int status = 0;
  // The other end is closed, so the process is at its end or about to be.
  ::kill(pid_, SIGKILL);
  const pid_t waited = ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (waited <= 0) return "the oracle ended";
  if (WIFEXITED(status)) return fmt::format("the oracle ended with status {}", WEXITSTATUS(status));
  return fmt::format("the oracle was ended by signal {}; is there enough memory?",
                     WTERMSIG(status));
}

Result<std::string> Process::Exchange(const std::string& line, std::chrono::milliseconds timeout) {
  const std::string request = line + "\n";
  const Deadline deadline = Deadline::After(timeout);
  size_t sent = 0;
  size_t searched = 0;
  for (;;) {
    if (const size_t end = pending_.find('\n', searched); end != std::string::npos) {
      std::string answer = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return answer;
    }
    searched = pending_.size();
    if (deadline.Passed())
      return Fail(Diag::EngineFailed,
                  fmt::format("the oracle did not answer within {} ms", timeout.count()));
    pollfd polled{socket_, static_cast<short>(POLLIN | (sent < request.size() ? POLLOUT : 0)), 0};
    const int ready = ::poll(&polled, 1, deadline.PollMs());
    if (ready < 0 && errno != EINTR)
      return Fail(Diag::EngineFailed,
                  fmt::format("the oracle cannot be waited for: {}", ::strerror(errno)));
    if (ready <= 0) continue;
    if ((polled.revents & POLLOUT) != 0) {
      const ssize_t size = ::send(socket_, request.data() + sent, request.size() - sent,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size > 0) sent += static_cast<size_t>(size);
      if (size < 0 && errno != EAGAIN && errno != EINTR)
        return Fail(Diag::EngineFailed, HowItEnded());
    }
    if ((polled.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      char bytes[65536];
      const ssize_t size = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (size > 0) pending_.append(bytes, static_cast<size_t>(size));
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        return Fail(Diag::EngineFailed, HowItEnded());
    }
  }
}

}  // namespace frazil::oracle
