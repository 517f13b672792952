// The client inside all kinds of processes: without a worker to start, without descriptors or standard streams left,
// with threads, signals and forks of its own.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "client.h"

namespace frazil::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TemporaryFile(std::string_view name) {
  return (std::filesystem::temp_directory_path() /
          fmt::format("frazil-worker-{}-{}", ::getpid(), name))
      .string();
}

void ExpectUnusable(const std::string& program, const std::string& says) {
  WorkerOptions options = Faulty();
  options.program = program;
  options.start_ms = Sanitized ? 3000 : 200;  // a sanitizer takes its time to exit
  Worker worker(options);
  for (int i = 0; i < 7; ++i) {
    const std::string answer = Ask(worker, "pid");
    EXPECT_THAT(answer, HasSubstr(i < 5 ? says : "5 times in a row"));
  }
  EXPECT_THAT(worker.TakeComplaint(), HasSubstr(says));
  EXPECT_EQ(worker.TakeComplaint(), "");
  EXPECT_EQ(worker.pid(), -1);
  EXPECT_FALSE(HasChildren());
}

TEST(WorkerProgram, Missing) {
  ExpectUnusable("/nonexistent/frazil-worker", "No such file or directory");
}
TEST(WorkerProgram, IsAFolder) { ExpectUnusable("/", "not a file"); }
TEST(WorkerProgram, IsAnotherProgram) { ExpectUnusable("/bin/true", "did not start"); }

TEST(WorkerProgram, IsNotExecutable) {
  const std::string file = TemporaryFile("plain");
  std::ofstream(file) << "text";
  ExpectUnusable(file, "Permission denied");
  ::chmod(file.c_str(), 0700);
  ExpectUnusable(file, "Exec format error");
  std::filesystem::remove(file);
}

TEST(WorkerProgram, GoesWrongAtTheStart) {
  const std::pair<const char*, const char*> ways[] = {
      {"exit", "did not start: exit status 9"},
      {"hang", "did not start: signal 9"},
      {"noise", "malformed"},
      {"version", "version 77 of the protocol"},
  };
  for (const auto& [way, says] : ways) {
    ::setenv("FRAZIL_TEST_START", way, 1);
    ExpectUnusable(FRAZIL_FAULTY_WORKER, says);
    ::unsetenv("FRAZIL_TEST_START");
  }
}

TEST(WorkerProgram, IsFoundByTheEnvironment) {
  ::setenv("FRAZIL_WORKER", FRAZIL_FAULTY_WORKER, 1);
  Worker worker;
  EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
  ::setenv("FRAZIL_WORKER", "/nonexistent", 1);
  Worker other;
  EXPECT_THAT(Ask(other, "pid"), HasSubstr("/nonexistent"));
  ::unsetenv("FRAZIL_WORKER");
}

TEST(WorkerProcess, KilledWhileIdleIsReplaced) {
  Worker worker(Faulty());
  const std::string first = Ask(worker, "pid");
  ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::string second = Ask(worker, "pid");
  EXPECT_THAT(second, Not(HasSubstr("failed")));
  EXPECT_NE(first, second);
  EXPECT_THAT(worker.TakeComplaint(), HasSubstr("signal 9"));
  EXPECT_EQ(worker.TakeComplaint(), "");
}

TEST(WorkerProcess, KilledInTheMiddleOfARequest) {
  Worker worker(Faulty());
  Ask(worker, "pid");
  std::thread killer([pid = worker.pid()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ::kill(static_cast<pid_t>(pid), SIGKILL);
  });
  EXPECT_THAT(Ask(worker, "sleep 5000"), HasSubstr("ended in the middle of a request: signal 9"));
  killer.join();
  EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
}

TEST(WorkerProcess, InheritsNothing) {
  const int leaked = ::open("/dev/null", O_RDONLY);  // without close-on-exec, as programs do
  ASSERT_GE(leaked, 0);
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  Worker worker(Faulty());
  const std::string fds = Ask(worker, "fds");
  // Its own: streams, socket, and the pidfd of its parent.
  if (!Sanitized) {
    EXPECT_EQ(fds, "0 1 2 3 4");
  }
  EXPECT_EQ(Ask(worker, "signals"), "0");
  EXPECT_EQ(Ask(worker, "group"), "true");
  ::sigaction(SIGPIPE, &before, nullptr);
  ::close(leaked);
}

TEST(WorkerProcess, IsSilent) {
  const std::string log = TemporaryFile("log");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Worker worker(Faulty());
  EXPECT_EQ(Ask(worker, "noise"), "noisy");
  worker.Stop();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::setenv("FRAZIL_WORKER_LOG", log.c_str(), 1);
  EXPECT_EQ(Ask(worker, "noise"), "noisy");
  ::unsetenv("FRAZIL_WORKER_LOG");
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, "to standard error");
  std::filesystem::remove(log);
}

TEST(WorkerProcess, FullTableOfDescriptors) {
  Worker early(Faulty());
  Ask(early, "pid");
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit low = limit;
  low.rlim_cur = 64;
  ::setrlimit(RLIMIT_NOFILE, &low);
  std::vector<int> all;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) all.push_back(fd);
  EXPECT_THAT(Ask(early, "pid"), Not(HasSubstr("failed"))) << "an open worker needs no more";
  Worker late(Faulty());
  EXPECT_THAT(Ask(late, "pid"), HasSubstr("Too many open files"));
  // Two are enough for a socket pair; without a third there is no pidfd, and it works all the same.
  for (int i = 0; i < 2; ++i) {
    ::close(all.back());
    all.pop_back();
  }
  const std::string answer = Ask(late, "pid");
  EXPECT_THAT(answer, Not(HasSubstr("failed")));
  EXPECT_THAT(Ask(late, "exit 4"), HasSubstr("exit status 4"));
  EXPECT_THAT(Ask(late, "hang", 50), HasSubstr("killed after 50 ms"));
  for (const int fd : all) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_THAT(Ask(late, "pid"), Not(HasSubstr("failed")));
}

TEST(WorkerProcess, SeveralThreadsShareOne) {
  Worker worker(Faulty());
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const bool bad = t == 0 && i % 8 == 7;
        const std::string answer = Ask(worker, bad ? "exit 1" : "pid");
        ++(answer.starts_with("failed") ? failed : answered);
        worker.busy();
        worker.pid();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 3);
  EXPECT_EQ(answered, 97);
  EXPECT_EQ(worker.spawned(), 4u);
  EXPECT_FALSE(worker.busy());
}

TEST(WorkerProcess, OutlivesTheThreadThatSpawnedIt) {
  Worker worker(Faulty());
  std::string first;
  std::thread([&] { first = Ask(worker, "pid"); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Ask(worker, "pid"), first);
}

TEST(WorkerProcess, StopEndsARequestThatIsUnderWay) {
  Worker worker(Faulty());
  Ask(worker, "pid");
  std::thread asker([&] { EXPECT_THAT(Ask(worker, "hang"), HasSubstr("stopped")); });
  while (!worker.busy()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double ms = Milliseconds([&] { worker.Stop(); });
  asker.join();
  if (!Sanitized) {
    EXPECT_LT(ms, 500);
  }
  EXPECT_EQ(worker.TakeComplaint(), "") << "a stop is no failure";
  EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
}

// Runs a body in a child process; its exit status.
int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Who has ended and waits for an init process to reap it is not alive.
bool IsAlive(pid_t pid) {
  std::string state;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  for (std::string word; file >> word && word.back() != ')';) {
  }
  return file >> state && state != "Z" && state != "X";
}

bool EndsSoon(pid_t pid) {
  for (int i = 0; i < 200 && IsAlive(pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !IsAlive(pid);
}

TEST(WorkerProcess, AForkedChildGetsAWorkerOfItsOwn) {
  Worker worker(Faulty());
  const std::string parents = Ask(worker, "pid");
  EXPECT_EQ(InChild([&] {
              const std::string own = Ask(worker, "pid");
              if (own.starts_with("failed") || own == parents || worker.spawned() != 1) return 1;
              worker.Stop();
              return 0;
            }),
            0);
  EXPECT_EQ(InChild([&] { return 0; }), 0);
  EXPECT_EQ(Ask(worker, "pid"), parents);
  // A child that destroys what it inherited leaves the parent's worker alone.
  auto* doomed = new Worker(Faulty());
  const std::string kept = Ask(*doomed, "pid");
  EXPECT_EQ(InChild([&] {
              delete doomed;
              return 0;
            }),
            0);
  EXPECT_EQ(Ask(*doomed, "pid"), kept);
  delete doomed;
}

TEST(WorkerProcess, AForkInTheMiddleOfARequest) {
  Worker worker(Faulty());
  Ask(worker, "pid");
  std::thread asker([&] { EXPECT_EQ(Ask(worker, "sleep 200"), "slept"); });
  while (!worker.busy()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (!Sanitized) {
    EXPECT_EQ(InChild([&] { return Ask(worker, "pid").starts_with("failed") ? 1 : 0; }), 0);
  }
  asker.join();
}

// The worker's number comes back through a pipe; the child then ends in the way asked for.
pid_t WorkerOfAChild(const std::string& last_order, const std::function<void(pid_t child)>& end) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    Worker worker(Faulty());
    Ask(worker, "pid");
    const auto pid = static_cast<pid_t>(worker.pid());
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &pid, sizeof(pid));
    Ask(worker, last_order, 60'000);
    ::_exit(0);
  }
  pid_t worker = -1;
  EXPECT_EQ(::read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  end(child);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return worker;
}

TEST(WorkerProcess, EndsWithItsParent) {
  EXPECT_TRUE(EndsSoon(WorkerOfAChild("pid", [](pid_t) {}))) << "idle";
  EXPECT_TRUE(EndsSoon(WorkerOfAChild("hang", [](pid_t child) { ::kill(child, SIGKILL); })))
      << "busy";
}

TEST(WorkerProcess, WorksWithoutStandardStreams) {
  EXPECT_EQ(InChild([] {
              for (int fd = 0; fd < 3; ++fd) ::close(fd);
              Worker worker(Faulty());
              if (Ask(worker, "pid").starts_with("failed")) return 1;
              return Sanitized || Ask(worker, "fds") == "0 1 2 3 4" ? 0 : 2;
            }),
            0);
  EXPECT_EQ(InChild([] {
              ::close(3);
              ::close(4);  // so that the worker's end is descriptor 3 or 4 itself
              Worker worker(Faulty());
              return Ask(worker, "pid").starts_with("failed") ? 1 : 0;
            }),
            0);
}

TEST(WorkerProcess, WorksWhereChildrenAreReapedByOthers) {
  EXPECT_EQ(InChild([] {
              ::signal(SIGCHLD, SIG_IGN);
              Worker worker(Faulty());
              if (Ask(worker, "pid").starts_with("failed")) return 1;
              if (Ask(worker, "exit 1").find("reaped elsewhere") == std::string::npos) return 2;
              if (Ask(worker, "hang", 50).find("killed after 50 ms") == std::string::npos) return 3;
              return Ask(worker, "pid").starts_with("failed") ? 4 : 0;
            }),
            0);
}

// Signals of the user's program arrive while it waits for the worker, and change nothing.
TEST(WorkerProcess, SignalsArriveDuringARequest) {
  EXPECT_EQ(InChild([] {
              static std::atomic<int> arrived = 0;
              struct sigaction action{};
              action.sa_handler = [](int) { ++arrived; };
              ::sigaction(SIGALRM, &action, nullptr);
              const itimerval every{{0, 5'000}, {0, 5'000}};
              ::setitimer(ITIMER_REAL, &every, nullptr);
              Worker worker(Faulty());
              const bool slept = Ask(worker, "sleep 100") == "slept";
              const bool killed =
                  Ask(worker, "hang", 60).find("killed after 60 ms") != std::string::npos;
              return slept && killed && arrived > 10 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace frazil::engine
