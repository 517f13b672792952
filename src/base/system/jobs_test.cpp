#include "base/system/jobs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "base/sanitized.h"

namespace frazil {
namespace {

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST(Jobs, AnswersAndFailures) {
  const auto job = [](size_t i) -> std::string {
    if (i == 1) ::raise(SIGKILL);
    if (i == 2) ::_exit(3);
    if (i == 3)
      while (true) ::usleep(1000);
    return std::string(i * 100'000, 'x');
  };
  const size_t before = OpenDescriptors();
  const std::vector<JobResult> results = RunJobs(6, {.limit_ms = 500, .at_a_time = 2}, job);
  EXPECT_TRUE(results[0].done);
  EXPECT_EQ(results[0].bytes, "");
  EXPECT_EQ(results[1].reason, "its compilation ended by signal 9");
  EXPECT_EQ(results[1].signal, SIGKILL);
  EXPECT_EQ(results[2].reason, "its compilation ended with status 3");
  EXPECT_EQ(results[3].reason, "it took longer than 500 ms");
  EXPECT_TRUE(results[3].timed_out);
  EXPECT_EQ(results[3].signal, 0) << "that was ours";
  for (size_t i : {1, 2, 3}) EXPECT_FALSE(results[i].done);
  EXPECT_EQ(results[5].bytes.size(), 500'000u);
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

TEST(Jobs, AJobEndsWithTheProcessThatStartedIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  // The outer job is killed at its time limit; the inner one, which holds the pipe open, must not outlive it.
  const std::vector<JobResult> results = RunJobs(1, {.limit_ms = 200}, [&](size_t) -> std::string {
    RunJobs(1, {.limit_ms = 100'000}, [&](size_t) -> std::string {
      while (true) ::usleep(1000);
    });
    return "";
  });
  EXPECT_TRUE(results[0].timed_out);
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "waits for ever if it does";
  ::close(ends[0]);
}

TEST(Jobs, MemoryHasALimit) {
  if (Sanitized) GTEST_SKIP() << "sanitizers map more than any limit";
  const auto map = [](size_t bytes) -> std::string {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? "no" : "yes";
  };
  const auto ask = [&](uint64_t limit) {
    return RunJobs(1, {.limit_ms = 10'000, .memory_bytes = limit},
                   [&](size_t) { return map(size_t{4} << 30); })[0]
        .bytes;
  };
  EXPECT_EQ(ask(0), "yes");
  EXPECT_EQ(ask(uint64_t{2} << 30), "no");
}

}  // namespace
}  // namespace frazil
