// Limits and the watch on the parent. Not PR_SET_PDEATHSIG: that signal comes when the *thread* ends that spawned us,
// and the user's threads come and go. A thread of our own waits for the parent's pidfd and for the socket instead; it
// costs 60 us at the start and nothing afterwards.
#include "startup.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

namespace frazil::worker {
namespace {

// A sanitizer's shadow memory is larger than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool Sanitized = true;
#elif defined(__has_feature)
constexpr bool Sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool Sanitized = false;
#endif

constexpr size_t WatchStackBytes = 256 << 10;

void SetLimit(__rlimit_resource resource, uint64_t value) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  ::setrlimit(resource, &limit);
}

// If the kernel must end somebody for lack of memory, let it be us and not the user's program.
void VolunteerForOom() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, "500", 3);
  ::close(file);
}

struct Watched {
  int socket;
  int parent;  // a pidfd, or -1
};

void* Watch(void* argument) {
  const Watched watched = *static_cast<Watched*>(argument);
  while (true) {
    pollfd polled[2] = {{watched.socket, POLLRDHUP, 0}, {watched.parent, POLLIN, 0}};
    if (::poll(polled, 2, -1) > 0) ::_exit(0);
  }
}

}  // namespace

bool ReadOption(std::string_view argument, StartOptions& options) {
  for (const auto& [name, value] :
       {std::pair<std::string_view, uint64_t*>{"--memory=", &options.memory_bytes},
        {"--cpu=", &options.cpu_seconds}}) {
    if (!argument.starts_with(name)) continue;
    const std::string_view number = argument.substr(name.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *value);
    return error == std::errc() && end == number.data() + number.size();
  }
  return false;
}

bool IsWorkerSocket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

void TakeLimits(const StartOptions& options) {
  ::close_range(4, ~0u, 0);
  SetLimit(RLIMIT_CORE, 0);
  if (options.memory_bytes != 0 && !Sanitized) SetLimit(RLIMIT_AS, options.memory_bytes);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  VolunteerForOom();
  if (const char* path = ::secure_getenv("FRAZIL_WORKER_LOG"); path != nullptr && *path != '\0') {
    const int log = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log >= 0) ::dup2(log, 2);
    if (log > 3) ::close(log);
  }
}

void DieWithParent(int socket) {
  const pid_t parent = ::getppid();
  static Watched watched;
  watched = {socket, static_cast<int>(::syscall(SYS_pidfd_open, parent, 0))};
  // It may have ended in between, and its number be somebody else's.
  if (::getppid() != parent) ::_exit(0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, WatchStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (::pthread_create(&thread, &attributes, Watch, &watched) != 0) ::_exit(1);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace frazil::worker
