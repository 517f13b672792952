#include "base/system/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>

#include "base/system/test_fork.h"

namespace frazil {
namespace {

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

Command Shell(std::string script) { return {"sh", {"sh", "-c", std::move(script)}}; }

RunResult RunIt(const Command& command, const RunOptions& options = {}) {
  SystemResult<RunResult> result = RunCommand(command, options);
  EXPECT_TRUE(result) << result.error().message();
  return result ? std::move(*result) : RunResult{};
}

TEST(RunCommand, GivesWhatTheProgramSaidAndHowItEnded) {
  const RunResult said = RunIt(Shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(said.output, "out\n");
  EXPECT_EQ(said.messages, "err\n");
  EXPECT_EQ(said.ending.ToString(), "exit status 3");
  EXPECT_FALSE(said.ending.is_success());
  EXPECT_TRUE(RunIt({"true", {"true"}}).ending.is_success());
  EXPECT_EQ(RunIt(Shell("kill -SEGV $$")).ending.ToString(), "signal 11 (Segmentation fault)");
}

TEST(RunCommand, WordsAreNoShell) {
  EXPECT_EQ(RunIt({"printf", {"printf", "%s|", "a b", "$HOME", "; rm x"}}).output,
            "a b|$HOME|; rm x|");
}

TEST(RunCommand, ProgramsThatAreNotThere) {
  const auto missing = RunCommand({"no-such-program-at-all", {"x"}}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  const auto folder = RunCommand({"/", {"x"}}, {});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error(), std::errc::permission_denied);
}

TEST(RunCommand, AMegabyteGoesInAndComesOut) {
  const std::string input(1 << 20, 'x');
  EXPECT_EQ(RunIt({"cat", {"cat"}}, {.input = input}).output, input);
  EXPECT_EQ(RunIt({"cat", {"cat"}}).output, "") << "without input it is at its end";
}

TEST(RunCommand, AProgramThatDoesNotListenIsNoSignal) {
  const std::string input(1 << 20, 'x');
  const RunResult result = RunIt(Shell("exec <&-; exit 4"), {.input = input});
  EXPECT_EQ(result.ending.status, 4);
}

TEST(RunCommand, KeepsNoMoreThanItShould) {
  const RunResult result =
      RunIt(Shell("head -c 1000000 /dev/zero; echo end >&2"), {.most_bytes = 1000});
  EXPECT_EQ(result.output.size(), 1000u);
  EXPECT_EQ(result.messages, "end\n");
  EXPECT_TRUE(result.ending.is_success()) << "it could write all it wanted";
}

TEST(RunCommand, TheEnvironment) {
  Command command = Shell("echo $FRAZIL_TEST_A-$HOME");
  command.program = "/bin/sh";
  command.environment = {"FRAZIL_TEST_A=1"};
  EXPECT_EQ(RunIt(command).output, "1-\n");
}

TEST(RunCommand, WhatItStartedIsKilledWithIt) {
  const RunResult late =
      RunIt(Shell("echo begun; sleep 100 & wait"), {.deadline = Deadline::After(uint64_t{100})});
  EXPECT_TRUE(late.timed_out);
  EXPECT_EQ(late.output, "begun\n");
  // It ends at once, but leaves somebody behind who holds its streams open.
  const RunResult left =
      RunIt(Shell("sleep 100 & echo end"), {.deadline = Deadline::After(uint64_t{50'000})});
  EXPECT_FALSE(left.timed_out);
  EXPECT_EQ(left.output, "end\n");
}

TEST(Process, AKillReachesItsGroup) {
  SystemResult<Pipe> pipe = MakePipe();
  ASSERT_TRUE(pipe);
  SystemResult<Process> process =
      Process::Spawn(Shell("sleep 100 & "), std::array{-1, pipe->write.get()});
  ASSERT_TRUE(process);
  pipe->write.Close();
  ASSERT_TRUE(process->WaitForEnd(Deadline::After(uint64_t{10'000})));
  std::string said;
  EXPECT_TRUE(ReadAvailable(pipe->read, said, 1)) << "the sleeper holds it open";
  process->Kill();
  pollfd polled{pipe->read.get(), POLLIN, 0};
  ::poll(&polled, 1, 10'000);
  EXPECT_FALSE(ReadAvailable(pipe->read, said, 1));
}

TEST(RunCommand, AProgramThatClosesItsStreamsIsWaitedFor) {
  EXPECT_EQ(RunIt(Shell("exec >&- 2>&-; sleep 0.1; exit 5")).ending.status, 5);
  EXPECT_TRUE(RunIt(Shell("exec >&- 2>&-; sleep 100"), {.deadline = Deadline::After(uint64_t{100})})
                  .timed_out);
}

TEST(RunCommand, AProgramThatOnlyListensGetsAllOfIt) {
  const std::string much(1 << 20, 'x');
  RunOptions options;
  options.input = much;
  EXPECT_TRUE(RunIt(Shell("exec >&- 2>&-; test $(wc -c) = 1048576"), options).ending.is_success());
}

TEST(RunCommand, InheritsNothingAndLeavesNothing) {
  const int mine = ::open("/dev/null", O_RDONLY);
  const size_t before = OpenDescriptors();
  // Its own are the three streams and the folder that it reads.
  EXPECT_EQ(RunIt({"ls", {"ls", "/proc/self/fd"}}).output, "0\n1\n2\n3\n");
  (void)RunCommand({"no-such-program-at-all", {"x"}}, {});
  EXPECT_EQ(OpenDescriptors(), before);
  ::close(mine);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

// Its pipes are descriptors 0, 1 and 2 then.
TEST(RunCommand, WorksWithoutStandardStreams) {
  const int status = InForkedChild([] {
    for (int fd : {0, 1, 2}) ::close(fd);
    const auto result = RunCommand(Shell("cat; echo err >&2"), {.input = "in"});
    return result && result->output == "in" && result->messages == "err\n" ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(RunCommand, WorksWhereChildrenAreReapedByOthers) {
  const int status = InForkedChild([] {
    ::signal(SIGCHLD, SIG_IGN);
    const auto result = RunCommand(Shell("echo out; exit 1"), {});
    return result && result->output == "out\n" && !result->ending.is_known ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(RunCommand, SignalsArriveMeanwhile) {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  struct sigaction old;
  ::sigaction(SIGALRM, &action, &old);
  const itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  const std::string input(1 << 18, 'y');
  EXPECT_EQ(RunIt(Shell("sleep 0.1; cat"), {.input = input}).output, input);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &old, nullptr);
}

TEST(Process, SignalsAreAsByDefault) {
  ::signal(SIGPIPE, SIG_IGN);
  const RunResult result = RunIt(Shell("kill -PIPE $$"));
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(result.ending.signal, SIGPIPE);
}

TEST(Process, IsKilledWhenNobodyHoldsIt) {
  pid_t pid = -1;
  {
    SystemResult<Process> process = Process::Spawn({"sleep", {"sleep", "100"}}, {});
    ASSERT_TRUE(process);
    pid = process->pid();
    EXPECT_FALSE(process->HasEnded());
    EXPECT_FALSE(process->TryReap());
    EXPECT_FALSE(process->WaitForEnd(Deadline::After(uint64_t{10})));
    const Process moved = std::move(*process);
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0) << "killed and reaped";
}

TEST(Process, DescriptorsGoWhereTheyShould) {
  SystemResult<Pipe> a = MakePipe();
  SystemResult<Pipe> b = MakePipe();
  ASSERT_TRUE(a && b);
  SystemResult<Process> process =
      Process::Spawn(Shell("echo four >&4; echo five >&5; echo nowhere"),
                     std::array{-1, -1, -1, -1, a->write.get(), b->write.get()});
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->WaitForEnd(Deadline::After(uint64_t{10'000})));
  EXPECT_TRUE(process->Reap()->is_success());
  std::string four, five;
  ReadAvailable(a->read, four, 100);
  ReadAvailable(b->read, five, 100);
  EXPECT_EQ(four, "four\n");
  EXPECT_EQ(five, "five\n");
}

// Each lies where the other belongs.
TEST(Process, DescriptorsThatChangePlaces) {
  const int status = InForkedChild([] {
    // A test's runner may have left more open.
    for (int fd = 0; fd < 32; ++fd) ::close(fd);
    SystemResult<Pipe> a = MakePipe();  // 0 and 1
    SystemResult<Pipe> b = MakePipe();  // 2 and 3
    if (a->write.get() != 1 || b->write.get() != 3) return 2;
    SystemResult<Process> process = Process::Spawn(
        Shell("echo three >&3; echo one >&1"), std::array{-1, b->write.get(), -1, a->write.get()});
    if (!process || !process->WaitForEnd(Deadline::After(uint64_t{10'000}))) return 3;
    std::string one, three;
    ReadAvailable(b->read, one, 100);
    ReadAvailable(a->read, three, 100);
    return one == "one\n" && three == "three\n" ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace frazil
