// fork, a pipe, and a watch on the clock.
#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

namespace frazil::mutants {
namespace {

struct Child {
  pid_t process = -1;
  int from = -1;
  std::string rest;  // of a line that has not ended
  std::string last;  // line
};

Child Start(const std::function<void(const Tell&)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process < 0) std::abort();
  if (process == 0) {
    ::close(ends[0]);
    // A crash is expected here and needs no report.
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0) ::dup2(nowhere, 2);
    for (int signal : {SIGABRT, SIGTRAP}) ::signal(signal, SIG_DFL);
    work([&](const std::string& line) {
      std::string text = line + "\n";
      // One line, whatever an engine has to say.
      std::replace(text.begin(), text.end() - 1, '\n', ' ');
      for (size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(ends[1], text.data() + done, text.size() - done);
        if (wrote <= 0) ::_exit(3);
        done += static_cast<size_t>(wrote);
      }
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  return {process, ends[0], {}, {}};
}

// False: there will be no more.
bool Take(Child& child, std::vector<std::string>& lines) {
  char bytes[65536];
  const ssize_t count = ::read(child.from, bytes, sizeof bytes);
  if (count <= 0) return false;
  child.rest.append(bytes, static_cast<size_t>(count));
  for (size_t end; (end = child.rest.find('\n')) != std::string::npos;) {
    lines.push_back(child.last = child.rest.substr(0, end));
    child.rest.erase(0, end + 1);
  }
  return true;
}

}  // namespace

ChildEnd RunChild(const std::function<void(const Tell&)>& work, int silent_ms) {
  Child child = Start(work);
  ChildEnd end;
  while (true) {
    pollfd wait{child.from, POLLIN, 0};
    if (::poll(&wait, 1, silent_ms) == 0) {
      end.fault = fmt::format("no end in {} ms", silent_ms);
      ::kill(child.process, SIGKILL);
      break;
    }
    if (!Take(child, end.lines)) break;
  }
  int status = 0;
  ::waitpid(child.process, &status, 0);
  ::close(child.from);
  if (end.fault.empty() && WIFSIGNALED(status))
    end.fault = fmt::format("signal {}", WTERMSIG(status));
  if (end.fault.empty() && WEXITSTATUS(status) != 0)
    end.fault = fmt::format("exit {}", WEXITSTATUS(status));
  return end;
}

void LetCrash() {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::signal(signal, SIG_DFL);
}

std::vector<std::string> RunAll(size_t count, size_t processes,
                                const std::function<void(size_t number, const Tell&)>& work) {
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<size_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  auto* const next = new (shared) std::atomic<size_t>(0);
  std::vector<Child> children;
  for (size_t i = 0; i < processes; ++i)
    children.push_back(Start([&](const Tell& tell) {
      for (size_t number = (*next)++; number < count; number = (*next)++) work(number, tell);
    }));
  std::vector<std::string> lines;
  size_t open = children.size();
  while (open > 0) {
    std::vector<pollfd> waits;
    for (const Child& child : children) waits.push_back({child.from, POLLIN, 0});
    ::poll(waits.data(), waits.size(), -1);
    for (size_t i = 0; i < children.size(); ++i) {
      if (children[i].from < 0 || (waits[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      if (Take(children[i], lines)) continue;
      int status = 0;
      ::waitpid(children[i].process, &status, 0);
      if (status != 0)
        lines.push_back(fmt::format("fault a process of the test ended with {} after \"{}\"",
                                    status, children[i].last));
      ::close(children[i].from);
      children[i].from = -1;
      --open;
    }
  }
  ::munmap(shared, sizeof(std::atomic<size_t>));
  return lines;
}

}  // namespace frazil::mutants
