// For tests of what happens in a forked child: never waits for ever.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace frazil {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool UnderTsan = true;
#elif defined(__has_feature)
inline constexpr bool UnderTsan = __has_feature(thread_sanitizer);
#else
inline constexpr bool UnderTsan = false;
#endif

// What the body gives as the child's exit status; 128 + a signal where one ended it: 128 + SIGALRM, it hung.
inline int InForkedChild(const std::function<int()>& body, unsigned seconds = 30) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(seconds);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace frazil
