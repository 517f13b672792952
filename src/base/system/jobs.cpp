// fork without exec: the child has the files and options already in its memory, and what it made comes back through a
// pipe. Nothing else runs in this process while jobs do, so the child may use everything that the parent could.
#include "base/system/jobs.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>

#include "base/system/process.h"

namespace frazil {
namespace {

struct Child {
  Process process;
  Fd answer;
  size_t job;
  Deadline deadline;
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
  Jobs(size_t count, const JobOptions& options, const std::function<std::string(size_t)>& job)
      : results_(count), options_(options), job_(job) {}

  std::vector<JobResult> Run() {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const size_t most = options_.at_a_time > 0 ? static_cast<size_t>(options_.at_a_time) : cores;
    size_t next = 0;
    while (next < results_.size() || !children_.empty()) {
      while (next < results_.size() && children_.size() < most) Start(next++);
      if (!children_.empty()) Wait();
    }
    return std::move(results_);
  }

 private:
  void Start(size_t job) {
    SystemResult<Pipe> pipe = MakePipe();
    if (!pipe) {
      results_[job].reason = fmt::format("no pipe for it: {}", pipe.error().message());
      return;
    }
    SystemResult<Process> process = Process::Fork(
        [&] {
          pipe->read.Close();
          WriteAll(pipe->write.get(), job_(job));
        },
        options_.memory_bytes);
    if (!process) {
      results_[job].reason = fmt::format("no process for it: {}", process.error().message());
      return;
    }
    children_.push_back(
        {std::move(*process), std::move(pipe->read), job, Deadline::After(options_.limit_ms)});
  }

  void Wait() {
    std::vector<pollfd> polled;
    int wait = INT_MAX;
    for (const Child& child : children_) {
      polled.push_back({child.answer.get(), POLLIN, 0});
      polled.push_back({child.process.pidfd(), POLLIN, 0});
      wait = std::min(wait, child.process.PollMs(child.deadline));
    }
    ::poll(polled.data(), polled.size(), wait);
    std::vector<Child> going_on;
    for (Child& child : children_) {
      // Asked before reading: all that it wrote is there then, whoever else has got hold of its pipe.
      const bool ended = child.process.HasEnded();
      const bool is_open = ReadAvailable(child.answer, results_[child.job].bytes, SIZE_MAX);
      if (ended || !is_open || child.deadline.Passed())
        Finish(child);
      else
        going_on.push_back(std::move(child));
    }
    children_ = std::move(going_on);
  }

  void Finish(Child& child) {
    JobResult& result = results_[child.job];
    result.timed_out = !child.process.WaitForEnd(child.deadline);
    if (result.timed_out) child.process.Kill();
    const Ending ending = child.process.Reap().value_or(Ending{.is_known = false});
    // Somebody else reaped it: then its answer is all there is to go by.
    const bool success = ending.is_known ? ending.is_success() : !result.bytes.empty();
    result.done = !result.timed_out && success;
    if (result.timed_out) {
      result.reason = fmt::format("it took longer than {} ms", options_.limit_ms);
    } else if (ending.signal != 0) {
      result.signal = ending.signal;
      result.reason = fmt::format("{} ended by signal {}", options_.what, result.signal);
    } else if (!result.done) {
      result.reason = fmt::format("{} ended with status {}", options_.what, ending.status);
    }
  }

  std::vector<JobResult> results_;
  const JobOptions& options_;
  const std::function<std::string(size_t)>& job_;
  std::vector<Child> children_;
};

}  // namespace

std::vector<JobResult> RunJobs(size_t count, const JobOptions& options,
                               const std::function<std::string(size_t)>& job) {
  return Jobs(count, options, job).Run();
}

}  // namespace frazil
