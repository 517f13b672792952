// fork without exec: the child has the files and options already in its memory, and what it made comes back through a
// pipe. Nothing else runs in this process while jobs do, so the child may use everything that the parent could.
#include "aot/jobs.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/deadline.h"

namespace frazil::aot {
namespace {

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  size_t job = 0;
  Deadline deadline;
  bool timed_out = false;
};

void WriteAll(int file, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t wrote = ::write(file, bytes.data() + at, bytes.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) ::_exit(1);
    at += static_cast<size_t>(wrote);
  }
}

class Jobs {
 public:
  Jobs(size_t count, uint64_t limit_ms, const std::function<std::string(size_t)>& job,
       std::string_view what)
      : results_(count), limit_ms_(limit_ms), job_(job), what_(what) {}

  std::vector<JobResult> Run(size_t at_a_time) {
    size_t next = 0;
    while (next < results_.size() || !children_.empty()) {
      while (next < results_.size() && children_.size() < at_a_time) Start(next++);
      if (!children_.empty()) Wait();
    }
    return std::move(results_);
  }

 private:
  void Start(size_t job) {
    int ends[2];
    if (::pipe(ends) != 0) {
      results_[job].reason = fmt::format("no pipe for it: {}", std::strerror(errno));
      return;
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      WriteAll(ends[1], job_(job));
      ::_exit(0);
    }
    ::close(ends[1]);
    if (pid < 0) {
      ::close(ends[0]);
      results_[job].reason = fmt::format("no process for it: {}", std::strerror(errno));
      return;
    }
    children_.push_back({pid, ends[0], job, Deadline::After(limit_ms_)});
  }

  void Wait() {
    std::vector<pollfd> polled;
    Deadline nearest = Deadline::Never();
    for (const Child& child : children_) {
      polled.push_back({child.pipe, POLLIN, 0});
      nearest = std::min(nearest, child.deadline);
    }
    ::poll(polled.data(), polled.size(), nearest.PollMs());
    for (size_t i = polled.size(); i-- > 0;) {
      Child& child = children_[i];
      if (polled[i].revents != 0 ? Read(child) : child.deadline.Passed())
        Finish(i, polled[i].revents == 0);
    }
  }

  // True at the end.
  bool Read(Child& child) {
    char block[64 << 10];
    const ssize_t size = ::read(child.pipe, block, sizeof block);
    if (size > 0) results_[child.job].bytes.append(block, static_cast<size_t>(size));
    return size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN);
  }

  void Finish(size_t i, bool timed_out) {
    const Child child = children_[i];
    children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
    JobResult& result = results_[child.job];
    if (timed_out) ::kill(child.pid, SIGKILL);
    ::close(child.pipe);
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    result.done = !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (timed_out) {
      result.reason = fmt::format("it took longer than {} ms", limit_ms_);
    } else if (WIFSIGNALED(status)) {
      result.signal = WTERMSIG(status);
      result.reason = fmt::format("{} ended by signal {}", what_, result.signal);
    } else if (!result.done) {
      result.reason = fmt::format("{} ended with status {}", what_, WEXITSTATUS(status));
    }
  }

  std::vector<JobResult> results_;
  uint64_t limit_ms_;
  const std::function<std::string(size_t)>& job_;
  std::string_view what_;
  std::vector<Child> children_;
};

}  // namespace

std::vector<JobResult> RunJobs(size_t count, int at_a_time, uint64_t limit_ms,
                               const std::function<std::string(size_t)>& job,
                               std::string_view what) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return Jobs(count, limit_ms, job, what)
      .Run(static_cast<size_t>(at_a_time > 0 ? at_a_time : cores));
}

}  // namespace frazil::aot
