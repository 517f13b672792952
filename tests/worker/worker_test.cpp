// Whatever a worker does with a request, its client gets a clear error within the time it allowed, and the next
// request is answered.
#include <gmock/gmock.h>

#include <vector>

#include "client.h"

namespace frazil::engine {
namespace {

using ::testing::HasSubstr;

struct Fault {
  const char* order;
  const char* says;  // part of the error
  uint64_t timeout_ms = 10'000;
  bool is_fault = true;  // false: the worker is well, it only says no
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.order; }

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, CostOneRequest) {
  const Fault& fault = GetParam();
  Worker worker(Faulty());
  EXPECT_EQ(worker.spawned(), 0u) << "spawned before it was needed";
  const std::string before = Ask(worker, "pid");
  EXPECT_EQ(worker.TakeComplaint(), "");

  std::string error;
  const double ms = Milliseconds([&] { error = Ask(worker, fault.order, fault.timeout_ms); });
  EXPECT_THAT(error, HasSubstr("failed: "));
  EXPECT_THAT(error, HasSubstr(fault.says));
  if (fault.timeout_ms < 1000 && !Sanitized) {
    EXPECT_GE(ms, static_cast<double>(fault.timeout_ms));
    EXPECT_LE(ms, static_cast<double>(fault.timeout_ms) + 100);
  }
  EXPECT_EQ(worker.pid() == -1, fault.is_fault) << "a worker that went wrong is gone";
  EXPECT_FALSE(worker.busy());

  const std::string after = Ask(worker, "pid");
  EXPECT_EQ(after == before, !fault.is_fault) << after;
  EXPECT_THAT(after, Not(HasSubstr("failed")));
  EXPECT_EQ(worker.spawned(), fault.is_fault ? 2u : 1u);

  Ask(worker, fault.order, fault.timeout_ms);
  const std::string complaint = worker.TakeComplaint();
  EXPECT_EQ(complaint.empty(), !fault.is_fault);
  if (fault.is_fault) {
    EXPECT_THAT(complaint, HasSubstr(fault.says));
  }
  EXPECT_EQ(worker.TakeComplaint(), "") << "told twice";
  worker.Stop();
  EXPECT_FALSE(HasChildren());
}

std::vector<Fault> AllFaults() {
  std::vector<Fault> faults = {
      {"check", "broken invariant"},
      {"exit 0", "exit status 0"},
      {"exit 3", "exit status 3"},
      {"hang", "killed after 60 ms", 60},
      {"sleep 5000", "killed after 80 ms", 80},
      {"half-hang 20", "killed after 60 ms", 60},
      {"half-hang 40", "killed after 60 ms", 60},
      {"half 0", "exit status 0"},
      {"half 1", "exit status 0"},
      {"half 23", "exit status 0"},
      {"half 24", "exit status 0"},
      {"half 30", "exit status 0"},
      {"deaf", "ended in the middle"},
      {"noise-on-wire", "nonsense"},
      {"nonsense-payload", "nonsense"},
      {"nonsense-error", "nonsense"},
      {"wrong-kind", "nonsense"},
      {"wrong-id", "nonsense"},
      {"huge 1152921504606846976", "nonsense"},
      {"huge 18446744073709551615", "nonsense"},
      {"huge 100000000", "killed after 60 ms", 60},
      {"throw", "more memory than the worker may use", 10'000, false},
      {"refuse", "no such op", 10'000, false},
  };
  if (!Sanitized) {
    faults.push_back({"segv", "signal 11 (Segmentation fault)"});
    faults.push_back({"abort", "signal 6 (Aborted)"});
  }
  return faults;
}

INSTANTIATE_TEST_SUITE_P(All, Faults, ::testing::ValuesIn(AllFaults()));

TEST(Worker, AnswersManyRequestsFromOneProcess) {
  Worker worker(Faulty());
  const std::string first = Ask(worker, "pid");
  for (int i = 1; i < 100; ++i) EXPECT_EQ(Ask(worker, "pid"), first);
  EXPECT_EQ(worker.spawned(), 1u);
  EXPECT_EQ(std::to_string(worker.pid()), first);
  EXPECT_EQ(worker.TakeComplaint(), "");
}

TEST(Worker, CarriesLongMessagesBothWays) {
  Worker worker(Faulty());
  WorkRequest request = Order("long 30000000");
  request.foreign_candidate = std::string(20'000'000, 'y');
  const Result<WorkReply> reply = worker.Improve(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply->events.at(0).detail == std::string(30'000'000, 'x'));
}

TEST(Worker, RefusesRequestsThatAreTooLong) {
  Worker worker(Faulty());
  const Result<WorkReply> reply = worker.Improve(Order(std::string(200u << 20, ' ')));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().diag, Diag::LimitReached);
  EXPECT_EQ(worker.spawned(), 0u);
}

TEST(Worker, PassesErrorsOnWhole) {
  Worker worker(Faulty());
  const Result<WorkReply> reply = worker.Improve(Order("refuse"));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().ToString(),
            (Error{Diag::UnknownOp, "no such op", {3, 14}, "f", "h"}).ToString());
}

TEST(Worker, AnUnaskedReplyIsNotTakenForTheNextOne) {
  Worker worker(Faulty());
  EXPECT_EQ(Ask(worker, "twice"), "spoiled");
  const std::string next = Ask(worker, "pid");
  EXPECT_THAT(next, Not(HasSubstr("again")));
}

TEST(Worker, LetsAWorkerGoThatDoubtsItself) {
  Worker worker(Faulty());
  EXPECT_EQ(Ask(worker, "last"), "last words");
  EXPECT_EQ(worker.pid(), -1);
  EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
  EXPECT_EQ(worker.spawned(), 2u);
  EXPECT_EQ(worker.TakeComplaint(), "");
}

TEST(Worker, IsNotStartedForEver) {
  Worker worker(Faulty());
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Ask(worker, "exit 1"), HasSubstr("exit status 1"));
  const double ms =
      Milliseconds([&] { EXPECT_THAT(Ask(worker, "pid"), HasSubstr("5 times in a row")); });
  EXPECT_LT(ms, 5);
  EXPECT_EQ(worker.spawned(), 5u);
  EXPECT_NE(worker.TakeComplaint(), "");
  EXPECT_EQ(worker.TakeComplaint(), "");
  // Until somebody starts anew.
  worker.Stop();
  EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
  EXPECT_EQ(worker.TakeComplaint(), "");
}

TEST(Worker, FailuresCountOnlyInARow) {
  Worker worker(Faulty());
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(Ask(worker, "exit 1"), HasSubstr("exit status 1"));
    EXPECT_THAT(Ask(worker, "pid"), Not(HasSubstr("failed")));
  }
}

TEST(Worker, RunsOutOfMemoryAlone) {
  if (Sanitized) GTEST_SKIP() << "no memory limit under a sanitizer";
  WorkerOptions options = Faulty();
  options.memory_bytes = 128 << 20;
  Worker worker(options);
  EXPECT_THAT(Ask(worker, "memory"), HasSubstr("more memory than the worker may use"));
  EXPECT_EQ(Ask(worker, "limits"), "memory 134217728 core 0 cpu 61");
}

TEST(Worker, UsesUpItsCpuTimeAlone) {
  if (Sanitized) GTEST_SKIP();
  WorkerOptions options = Faulty();
  options.cpu_seconds = 1;
  Worker worker(options);
  EXPECT_THAT(Ask(worker, "hang"), HasSubstr("signal 24 (CPU time limit exceeded)"));
}

}  // namespace
}  // namespace frazil::engine
