// Other processes: started, killed and reaped here and nowhere else. posix_spawn and not fork for other programs: it
// costs the same however large this process is. A pidfd where the kernel has them: a number may be taken by another
// process, a pidfd may not. Signal dispositions and masks of this process are not touched; where somebody else reaps
// its children (wait(-1), SIGCHLD ignored) that is an ending of which nothing is known, and no error.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/deadline.h"
#include "base/system/fd.h"

namespace frazil {

// Whoever calls knows what was tried, and says it with his own diagnostic.
template <typename T>
using SystemResult = std::expected<T, std::error_code>;

struct Ending {
  bool is_known = true;  // false: somebody else reaped it
  int status = 0;        // of its exit
  int signal = 0;        // that ended it; 0: none
  bool is_success() const { return is_known && status == 0 && signal == 0; }
  std::string ToString() const;  // "exit status 1", "signal 11 (Segmentation fault)"
};

struct Command {
  std::string program;             // a path; a name without '/' is looked for on the PATH
  std::vector<std::string> words;  // from its own name on
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; nothing: ours
};

class Process {
 public:
  // In a process group of its own, so that a Ctrl-C is for this program to handle and a kill reaches what it has
  // started itself; with all signals as they are by default. descriptors[i] is what it has as descriptor i, -1 stands
  // for /dev/null, and it has no others.
  static SystemResult<Process> Spawn(const Command& command, std::span<const int> descriptors);

  // `work` in a copy of this process, in the same group, which ends with it (and with the thread that called). Whoever
  // calls sees to it that no other thread holds what `work` needs (base/system/fork.h).
  static SystemResult<Process> Fork(const std::function<void()>& work, uint64_t memory_bytes = 0);

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();  // kills and reaps

  pid_t pid() const { return pid_; }
  // Readable once it has ended; -1: there is none.
  int pidfd() const { return pidfd_.get(); }
  // What a poll() with pidfd() in it may wait at a time.
  int PollMs(Deadline deadline) const;

  // With its group. Any thread may call it.
  void Kill();
  // Has it ended? It stays to be reaped.
  bool HasEnded() const;
  bool WaitForEnd(Deadline deadline) const;
  // Does not wait. True if there is nothing more to reap.
  bool TryReap();
  // Waits, but not for ever: what was killed is gone within milliseconds, unless it sits in the kernel (nothing).
  std::optional<Ending> Reap();
  bool reaped() const { return ending_.has_value(); }

 private:
  explicit Process(pid_t pid);
  int Wait(void* info, int options) const;

  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<Ending> ending_;
};

struct RunOptions {
  std::string_view input = {};  // on its standard input
  Deadline deadline = Deadline::Never();
  // Of each stream. What comes behind them is read and not kept.
  size_t most_bytes = size_t{256} << 20;
};

struct RunResult {
  std::string output, messages;  // its standard output and error
  Ending ending;
  bool timed_out = false;  // it was killed
};

// Runs a program to its end. What it has left running is killed with it.
SystemResult<RunResult> RunCommand(const Command& command, const RunOptions& options);

struct Pipe {
  Fd read, write;  // `read` does not block
};
// Neither end is inherited by other programs.
SystemResult<Pipe> MakePipe();
// Appends what there is to read, up to `most` bytes in all. False: the stream is at its end.
bool ReadAvailable(const Fd& fd, std::string& text, size_t most);

}  // namespace frazil
